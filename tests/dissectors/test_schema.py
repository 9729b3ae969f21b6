"""Tables: every column says what it is, and no nanosecond is lost on the way to pandas."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pyarrow as pa
import pytest
from crafting import RAW, START_NS, V4, Record, data, pcap
from pathscope.dissectors import _core, ledger

CAPTURES = Path(__file__).parents[2] / "fixtures" / "captures"
FAILOVER = CAPTURES / "failover-v6" / "client.pcapng"
DTYPES = {
    "uint8": pd.UInt8Dtype(),
    "uint16": pd.UInt16Dtype(),
    "uint32": pd.UInt32Dtype(),
    "uint64": pd.UInt64Dtype(),
    "int64": pd.Int64Dtype(),
}
TABLES = [name for name in ledger.schemas() if name not in ledger.streamed_names()]


@pytest.fixture(scope="module")
def found() -> ledger.Ledger:
    return ledger.read(FAILOVER)


def test_every_column_is_described() -> None:
    rows = ledger.describe()
    assert [row for row in rows if not row["description"]] == []
    told = [(row["table"], row["column"]) for row in rows]
    assert len(set(told)) == len(told)
    columns = [(name, column.name) for name, s in ledger.schemas().items() for column in s]
    assert told == columns
    # A sentence, not a repetition of the name.
    assert [row for row in rows if not row["description"].endswith(".")] == []
    assert [row for row in rows if row["description"].rstrip(".") == row["column"]] == []


def test_the_streamed_tables_are_the_last_ones() -> None:
    assert list(ledger.schemas()) == [*TABLES, *ledger.streamed_names()]
    assert list(ledger.schemas()) == list(ledger.table_names())


def test_times_and_durations_are_integers_but_for_statistics() -> None:
    floats = {
        (row["table"], row["column"])
        for row in ledger.describe()
        if row["column"].endswith("_ns") and row["type"] not in ("int64", "uint64")
    }
    assert {table for table, _ in floats} == {"rtt"}


@pytest.mark.parametrize("name", TABLES)
def test_tables_have_their_schema(found: ledger.Ledger, name: str) -> None:
    assert found.tables[name].schema.equals(ledger.schemas()[name], check_metadata=True)


def test_ledger_has_every_table_but_the_streamed_ones(found: ledger.Ledger) -> None:
    assert list(found.tables) == TABLES


def test_chunk_batches_have_their_schema() -> None:
    (batch,) = ledger.stream(FAILOVER)
    assert batch.schema.equals(ledger.schemas()[ledger.CHUNKS], check_metadata=True)


def test_chunks_come_in_batches_and_one_at_least(tmp_path: Path) -> None:
    path = tmp_path / "batches.pcap"
    frame = bytes(V4 / data(1))
    for count in (0, 70_000):
        path.write_bytes(pcap([Record(START_NS, frame)] * count, link_type=RAW))
        rows = [batch.num_rows for batch in ledger.stream(path)]
        assert sum(rows) == count
        assert len(rows) == (2 if count else 1)


@pytest.mark.parametrize("name", TABLES)
def test_frames_keep_every_digit(found: ledger.Ledger, name: str) -> None:
    table, frame = found.tables[name], found.frame(name)
    assert list(frame.columns) == table.column_names
    for column in table.schema:
        if pa.types.is_integer(column.type):
            kept = frame[column.name]
            assert pd.api.types.is_integer_dtype(kept.dtype)
            if column.nullable:
                assert kept.dtype == DTYPES[str(column.type)]
            values = [None if value is pd.NA else int(value) for value in kept]
            assert values == table[column.name].to_pylist()


def test_absent_times_are_absent_and_the_others_exact(found: ledger.Ledger) -> None:
    """A float has 53 bits: a time since 1970 in nanoseconds needs 61."""
    acks = found.frame("heartbeats")["ack_ns"]
    assert acks.isna().any()
    assert acks.notna().any()
    assert any(int(value) != int(float(value)) for value in acks.dropna())


def test_rows_by_association(found: ledger.Ledger) -> None:
    groups = found.by_association("paths")
    assert [len(rows) for rows in groups.values()] == [2]
    assert groups[0] == found.rows("paths")


def test_the_extension_is_a_release_build() -> None:
    assert _core.build_profile == "release"
