"""The folder of results: all or nothing, and readable by what people read tables with."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import duckdb
import pandas as pd
import pathscope
import pytest
from pathscope.dissectors import ledger
from pathscope.dissectors.index import identity
from pathscope.reports import folder
from pathscope.reports.contract import result
from pathscope.reports.folder import write_folder
from pathscope.reports.result_tables import schemas, tables
from pyarrow import csv, parquet
from running import ASCONF, FAILOVER, MIXED, inside

FORMS = ("parquet", "csv")


def names(place: Path) -> set[str]:
    return {path.relative_to(place).as_posix() for path in place.rglob("*") if path.is_file()}


def read(place: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((place / "manifest.json").read_text())
    return found


@pytest.mark.parametrize("form", FORMS)
def test_all_of_it(tmp_path: Path, form: str) -> None:
    place = tmp_path / "deep" / "out"
    captures = (FAILOVER, MIXED)
    found = inside("analyze", *captures, "--json", "--out", place, "--tables", form)
    assert found.exit_code == 0
    document = json.loads(found.stdout)
    assert json.loads((place / "result.json").read_text()) == document
    manifest = read(place)
    assert manifest["schema"] == "pathscope.results/1"
    assert manifest["tool"] == document["tool"]
    assert manifest["captures"] == [
        {"files": [{"path": str(path), "identity": identity(path)}]} for path in captures
    ]
    files = {one["file"]: one for one in manifest["tables"]}
    files["result.json"] = manifest["result"]
    assert names(place) == {*files, "manifest.json"}
    for name, one in files.items():
        assert (place / name).stat().st_size == one["bytes"]
    kept = set(ledger.table_names()) - set(ledger.streamed_names())
    assert {one["name"] for one in manifest["tables"] if one["kind"] == "ledger"} == kept
    results = {one["name"]: one["rows"] for one in manifest["tables"] if one["kind"] == "results"}
    assert results == {name: table.num_rows for name, table in tables(document).items()}


def test_parquet_gives_every_table_back(tmp_path: Path) -> None:
    found = [pathscope.analyze(capture) for capture in (FAILOVER, ASCONF)]
    document = result([one.result for one in found])
    write_folder(tmp_path, document, [one.ledger for one in found])
    for name, table in tables(document).items():
        stored = parquet.read_table(tmp_path / "results" / f"{name}.parquet")
        assert stored.equals(table), name
        meaning = stored.schema.field(0).metadata[b"description"]
        assert meaning == schemas()[name].field(0).metadata[b"description"]
    for name, table in found[1].ledger.tables.items():
        stored = parquet.read_table(tmp_path / "ledger" / f"{name}.parquet")
        own = stored.filter(stored["capture"].to_numpy() == 1).drop_columns("capture")
        assert own.to_pylist() == table.to_pylist(), name
        assert stored.num_rows == sum(one.ledger.tables[name].num_rows for one in found)


def test_csv_gives_every_table_back(tmp_path: Path) -> None:
    found = pathscope.analyze(MIXED)
    write_folder(tmp_path, found.to_dict(), [found.ledger], "csv")
    for name, table in tables(found.to_dict()).items():
        options = csv.ConvertOptions(
            column_types=table.schema, strings_can_be_null=True, quoted_strings_can_be_null=False
        )
        parse = csv.ParseOptions(newlines_in_values=True)
        path = tmp_path / "results" / f"{name}.csv"
        stored = csv.read_csv(path, convert_options=options, parse_options=parse)
        assert stored.to_pylist() == table.to_pylist(), name


def test_pandas_and_duckdb_read_it(tmp_path: Path) -> None:
    """A number from each is the one of the result."""
    found = pathscope.analyze(FAILOVER)
    write_folder(tmp_path, found.to_dict(), [found.ledger])
    delay = found.associations[0].handovers[0].metrics["link_failure_recovery_s"].value
    handovers = tmp_path / "results" / "handovers.parquet"
    assert pd.read_parquet(handovers)["link_failure_recovery_s"][0] == delay
    query = f"SELECT link_failure_recovery_s FROM '{handovers}' ORDER BY handover LIMIT 1"  # noqa: S608
    assert duckdb.connect().execute(query).fetchall() == [(delay,)]
    runs = tmp_path / "ledger" / "runs.parquet"
    query = f"SELECT sum(chunks)::BIGINT FROM '{runs}' WHERE sender = 'a'"  # noqa: S608
    assert duckdb.connect().execute(query).fetchall() == [(1500,)]


def test_without_a_manifest_nothing_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Writing anew takes the old manifest away first, and writes the new one last."""
    found = pathscope.analyze(ASCONF)
    write_folder(tmp_path, found.to_dict(), [found.ledger])
    (tmp_path / "notes.txt").write_text("mine")
    assert (tmp_path / "manifest.json").is_file()

    def fail(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(folder, "write_table", fail)
    with pytest.raises(OSError, match="No space"):
        write_folder(tmp_path, found.to_dict(), [found.ledger], "csv", force=True)
    assert names(tmp_path) == {"notes.txt"}
    monkeypatch.undo()
    write_folder(tmp_path, found.to_dict(), [found.ledger], "csv", force=True)
    assert {name.rpartition(".")[2] for name in names(tmp_path)} == {"csv", "json", "txt"}


def test_a_folder_in_use_is_not_written_to(tmp_path: Path) -> None:
    (tmp_path / "mine").touch()
    found = inside("analyze", ASCONF, "--out", tmp_path)
    assert found.exit_code == 2
    assert f"{tmp_path} is not empty; --force overwrites what is in the way" in found.stderr
    assert names(tmp_path) == {"mine"}


def test_standard_input_is_no_file(tmp_path: Path) -> None:
    found = pathscope.analyze(ASCONF)
    found.ledger.capture["files"][0]["path"] = "standard input"
    write_folder(tmp_path, found.to_dict(), [found.ledger])
    assert read(tmp_path)["captures"] == [{"files": [{"path": "standard input", "identity": None}]}]


def test_a_format_without_a_folder_is_a_slip() -> None:
    found = inside("analyze", ASCONF, "--tables", "csv")
    assert found.exit_code == 2
    assert "--tables says how --out writes: give --out, too" in found.stderr
