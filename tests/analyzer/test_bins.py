"""Sums over time bins."""

from __future__ import annotations

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pathscope.analyzer.bins import Bins, split_bins
from pathscope.dissectors import ledger

BIN_NS = 100
COUNTS = st.tuples(st.integers(0, 1), st.integers(0, 2), st.sampled_from("ab"), st.integers(0, 20),
                   st.integers(0, 3))  # fmt: skip


def intervals(rows: list[tuple[int, int, str, int, int]]) -> pa.Table:
    """Association, path, sender, bin number and DATA chunks; one packet a chunk."""
    schema = ledger.schemas()["intervals"]
    filled = []
    for association, path, sender, number, chunks in rows:
        row = {field.name: None if field.nullable else 0 for field in schema} | {
            "association": association,
            "path": path,
            "sender": sender,
            "start_ns": number * BIN_NS,
            "packets": chunks,
            "data_chunks": chunks,
            "new_chunks": chunks,
        }
        if chunks:
            row |= {"first_ns": number * BIN_NS + 1, "last_ns": number * BIN_NS + 99}
        filled.append(row)
    return pa.Table.from_pylist(filled, schema=schema)


@given(st.lists(COUNTS, max_size=30))
def test_totals_are_sums(rows: list[tuple[int, int, str, int, int]]) -> None:
    split = split_bins(intervals(rows), BIN_NS)
    assert set(split) == {row[0] for row in rows}
    for association, bins in split.items():
        for (path, sender), totals in bins.totals.items():
            chosen = [row for row in rows if row[:3] == (association, path, sender)]
            assert totals.sums["data_chunks"] == sum(row[4] for row in chosen)
            numbers = [row[3] for row in chosen if row[4]]
            assert totals.first_ns == (min(numbers) * BIN_NS + 1 if numbers else None)
            assert totals.last_ns == (max(numbers) * BIN_NS + 99 if numbers else None)
            assert totals.active_ns == ((totals.last_ns or 0) - (totals.first_ns or 0))


@given(st.lists(COUNTS, max_size=30), st.integers(0, 2500), st.integers(1, 2500))
def test_carried_data_looks_at_every_bin_that_overlaps(
    rows: list[tuple[int, int, str, int, int]], start_ns: int, length_ns: int
) -> None:
    end_ns = start_ns + length_ns
    for association, bins in split_bins(intervals(rows), BIN_NS).items():
        expected = any(
            row[:3] == (association, 0, "a")
            and row[4] > 0
            and row[3] * BIN_NS < end_ns
            and (row[3] + 1) * BIN_NS > start_ns
            for row in rows
        )
        assert bins.carried_data(0, "a", start_ns, end_ns) == expected


def test_an_association_without_bins() -> None:
    bins = Bins.empty(BIN_NS)
    assert bins.totals == {}
    assert not bins.carried_data(0, "a", 0, 10)


@pytest.mark.parametrize("order", [[3, 1, 2], [1, 2, 3]])
def test_bins_out_of_order_are_found(order: list[int]) -> None:
    """A clock step can open an earlier bin after a later one."""
    table = intervals([(0, 0, "a", number, 1) for number in order])
    bins = split_bins(table, BIN_NS)[0]
    assert bins.carried_data(0, "a", 100, 110)
    assert not bins.carried_data(0, "a", 0, 100)
