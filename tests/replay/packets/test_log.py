"""The log of a replay: written as it comes, and read up to where it was cut."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pathscope.replay.packets import log
from pathscope.replay.packets.orders import Orders, Outlet

BASE = log.Base(5_000, 1_700_000_000_000_005_000)
ORDERS = Orders(("x.pcap",), (), (Outlet("wlan", "to_server", "wlan", "client"),))
HEADER = log.header(ORDERS, BASE, {"x.pcap": "00"}, command=["pathscope", "replay"], seed=4)


def rows(first: int, count: int) -> pa.RecordBatch:
    numbers = range(first, first + count)
    columns: dict[str, list[Any]] = {
        "frame": [number + 1 for number in numbers],
        "loop": [0] * count,
        "route": [0] * count,
        "due_ns": [number * 1000 for number in numbers],
        "sent_ns": [None if number % 7 == 6 else number * 1000 + 5 for number in numbers],
        "bytes": [60] * count,
        "fingerprint": [2**64 - 1 - number for number in numbers],
        "outcome": [number % 7 // 6 for number in numbers],
    }
    arrays = [pa.array(columns[field.name], field.type) for field in log.schema()]
    return pa.record_batch(arrays, schema=log.schema())


def written(path: Path, batches: int) -> Path:
    with log.LogWriter(path, HEADER) as writer:
        for number in range(batches):
            writer.write(rows(number * 10, 10))
    return path


def test_what_is_written_is_read(tmp_path: Path) -> None:
    found = log.read(written(tmp_path / "log", 3))
    assert found.header == json.loads(json.dumps(HEADER))
    assert found.cut is None
    assert found.table.to_pylist() == pa.Table.from_batches([rows(0, 30)]).to_pylist()
    assert found.table["sent_ns"].null_count == 4
    assert found.table.schema.names == log.schema().names


def test_the_header() -> None:
    assert HEADER["format"] == "pathscope.replay-log/1"
    assert HEADER["routes"] == [
        {"path": "wlan", "direction": "to_server", "device": "wlan", "netns": "client"}
    ]
    assert (HEADER["seed"], HEADER["base_monotonic_ns"]) == (4, 5_000)
    assert HEADER["versions"].keys() == {"pathscope", "python", "kernel"}


def test_every_column_says_what_it_means() -> None:
    assert all((field.metadata or {}).get(b"description") for field in log.schema())


def test_empty_batches_leave_nothing(tmp_path: Path) -> None:
    with log.LogWriter(tmp_path / "log", HEADER) as writer:
        writer.write(rows(0, 0))
        writer.write(rows(0, 2))
    assert log.read(tmp_path / "log").table.num_rows == 2


def test_a_log_whose_writer_is_gone(tmp_path: Path) -> None:
    writer = log.LogWriter(tmp_path / "log", HEADER)
    for number in range(2):
        writer.write(rows(number * 10, 10))
        # What was written is there, whatever becomes of the writer.
        found = log.read(tmp_path / "log")
        assert found.table.num_rows == (number + 1) * 10
        assert found.cut is not None
        assert "not closed by its writer" in found.cut
    writer.close()


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    return written(tmp_path_factory.mktemp("log") / "whole", 5).read_bytes()


HEADER_ENDS = len(log.schema().with_metadata({log.KEY: json.dumps(HEADER).encode()}).serialize())


@given(share=st.floats(0, 1, exclude_max=True))
def test_cut_anywhere(tmp_path_factory: pytest.TempPathFactory, whole: bytes, share: float) -> None:
    path = tmp_path_factory.getbasetemp() / "cut"
    path.write_bytes(whole[: int(len(whole) * share)])
    if share * len(whole) < HEADER_ENDS:
        with pytest.raises(log.LogError, match=path.name):
            log.read(path)
        return
    found = log.read(path)
    assert found.cut is not None
    count = found.table.num_rows
    assert count % 10 == 0
    expected = pa.Table.from_batches([rows(0, 50)]).slice(0, count)
    assert found.table.to_pylist() == expected.to_pylist()


@pytest.mark.parametrize("raw", [b"", b"no arrow", b"ARROW1\0\0"])
def test_what_is_no_log(tmp_path: Path, raw: bytes) -> None:
    (tmp_path / "log").write_bytes(raw)
    with pytest.raises(log.LogError, match="log"):
        log.read(tmp_path / "log")


@pytest.mark.parametrize(
    "metadata",
    [None, {b"pathscope": b'{"format": "pathscope.replay-log/2"}'}, {b"pathscope": b"["}],
)
def test_another_format(tmp_path: Path, metadata: dict[bytes, bytes] | None) -> None:
    schema = log.schema().with_metadata(metadata)
    with pa.OSFile(str(tmp_path / "log"), "wb") as file, pa.ipc.new_stream(file, schema):
        pass
    with pytest.raises(log.LogError, match="log"):
        log.read(tmp_path / "log")


def test_columns_of_another_kind(tmp_path: Path) -> None:
    metadata = {log.KEY: json.dumps({"format": log.FORMAT}).encode()}
    schema = pa.schema([("frame", pa.string())], metadata=metadata)
    with pa.OSFile(str(tmp_path / "log"), "wb") as file, pa.ipc.new_stream(file, schema):
        pass
    with pytest.raises(log.LogError, match="columns"):
        log.read(tmp_path / "log")


def test_digests(tmp_path: Path) -> None:
    (tmp_path / "x").write_bytes(b"abc")
    found = log.digests([str(tmp_path / "x"), "-"])
    # FIPS 180-2, appendix B.1
    expected = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
    assert found == {str(tmp_path / "x"): expected}
