"""Files appear whole or not at all, and nothing is overwritten without leave."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pathscope
import pyarrow as pa
import pytest
from pathscope.dissectors import ledger
from pathscope.reports.export import prepare_folder, whole_file, write_table
from pyarrow import csv, parquet
from running import ASCONF, ROOT

TABLES = ["associations", "runs", "asconf", "chunks"]


def read_back(path: Path, form: str, schema: pa.Schema) -> pa.Table:
    if form == "parquet":
        return parquet.read_table(path)
    if form == "csv":
        options = csv.ConvertOptions(
            column_types=schema, strings_can_be_null=True, quoted_strings_can_be_null=False
        )
        return csv.read_csv(path, convert_options=options)
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    return pa.Table.from_pylist(rows, schema)


@pytest.mark.parametrize("form", ["csv", "json", "parquet"])
@pytest.mark.parametrize("table", TABLES)
def test_every_format_gives_the_table_back(tmp_path: Path, form: str, table: str) -> None:
    schema = ledger.schemas()[table]
    batches = list(pathscope.dissect(ASCONF, table))
    path = tmp_path / "out"
    with path.open("wb") as stream:
        rows = write_table(batches, schema, form, stream)  # type: ignore[arg-type]
    whole = pa.Table.from_batches(batches, schema)
    assert rows == whole.num_rows > 0
    assert read_back(path, form, schema).to_pylist() == whole.to_pylist()


def test_the_same_table_gives_the_same_bytes(tmp_path: Path) -> None:
    files = set()
    for number in range(4):
        path = tmp_path / str(number)
        schema = ledger.schemas()["chunks"]
        with path.open("wb") as stream:
            write_table(pathscope.dissect(ASCONF), schema, "parquet", stream)
        files.add(path.read_bytes())
    assert len(files) == 1


def test_meaning_of_columns_travels_with_parquet(tmp_path: Path) -> None:
    path = tmp_path / "runs.parquet"
    with path.open("wb") as stream:
        write_table(pathscope.dissect(ASCONF, "runs"), ledger.schemas()["runs"], "parquet", stream)
    field = parquet.read_schema(path).field("chunks")
    assert field.metadata[b"description"] == b"New DATA chunks."


def test_interrupted_writing_leaves_nothing(tmp_path: Path) -> None:
    path = tmp_path / "out"
    path.write_text("old")

    def write_half() -> None:
        with whole_file(path, force=True) as stream:
            stream.write(b"half of the n")
            raise RuntimeError

    with pytest.raises(RuntimeError):
        write_half()
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_nothing_is_overwritten_without_force(tmp_path: Path) -> None:
    path = tmp_path / "out"
    path.write_text("old")
    with (
        pytest.raises(FileExistsError, match="out exists; --force overwrites it"),
        whole_file(path, force=False),
    ):
        pass
    with whole_file(path, force=True) as stream:
        stream.write(b"new")
    assert path.read_text() == "new"


def test_permissions_are_those_of_an_ordinary_file(tmp_path: Path) -> None:
    path = tmp_path / "out"
    before = os.umask(0o027)
    try:
        with whole_file(path, force=False) as stream:
            stream.write(b"new")
    finally:
        os.umask(before)
    assert path.stat().st_mode & 0o777 == 0o640


def test_a_device_is_written_to_and_not_replaced() -> None:
    path = Path("/dev/full")
    with (
        pytest.raises(OSError, match="No space left on device") as raised,
        whole_file(path, force=True) as stream,
    ):
        stream.write(b"something")
    assert raised.value.filename == "/dev/full"
    assert path.is_char_device()


def test_a_folder_is_no_file(tmp_path: Path) -> None:
    with pytest.raises(IsADirectoryError) as raised, whole_file(tmp_path, force=True):
        pass
    assert raised.value.filename == str(tmp_path)


def test_errors_name_the_file_asked_for(tmp_path: Path) -> None:
    path = tmp_path / "missing" / "out"
    with pytest.raises(FileNotFoundError) as raised, whole_file(path, force=False):
        pass
    assert raised.value.filename == str(path)


def test_a_folder_in_use_is_left_alone(tmp_path: Path) -> None:
    folder = tmp_path / "deep" / "results"
    prepare_folder(folder, force=False)
    (folder / "something").touch()
    with pytest.raises(FileExistsError, match="is not empty; --force"):
        prepare_folder(folder, force=False)
    prepare_folder(folder, force=True)


def test_a_file_is_as_open_as_others_and_no_other_thread_sees_a_mask(tmp_path: Path) -> None:
    with whole_file(tmp_path / "ordinary", force=False) as stream:
        stream.write(b"x")
    (tmp_path / "other").touch()
    modes = {(tmp_path / name).stat().st_mode for name in ("ordinary", "other")}
    assert len(modes) == 1
    sources = [path for place in ("reports", "dissectors") for path in (ROOT / place).rglob("*.py")]
    # The mask is the whole process's: a server's other threads would make files for everybody.
    assert not [path.name for path in sources if "umask(" in path.read_text()]


def test_a_link_is_replaced_and_what_it_leads_to_stays(tmp_path: Path) -> None:
    (tmp_path / "precious").write_text("mine")
    (tmp_path / "result").symlink_to(tmp_path / "precious")
    with whole_file(tmp_path / "result", force=True) as stream:
        stream.write(b"new")
    assert (tmp_path / "precious").read_text() == "mine"
    assert not (tmp_path / "result").is_symlink()
