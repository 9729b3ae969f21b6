"""Sums over windows that cut time bins: never further off than their bounds say."""

from __future__ import annotations

from itertools import accumulate, pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pathscope.analyzer.cuts import SUMS, Cuts, Sum

BIN_NS = 100
EVENTS = st.lists(st.tuples(st.integers(0, 2500), st.integers(1, 50)), min_size=1, max_size=40)
"""When, and how many bytes."""


def cuts(events: list[tuple[int, int]]) -> Cuts:
    """The association lasts from the first event to the last."""
    bins: dict[int, int] = {}
    for time_ns, size in events:
        start_ns = time_ns // BIN_NS * BIN_NS
        bins[start_ns] = bins.get(start_ns, 0) + size
    starts = sorted(bins)
    running = [0, *accumulate(bins[start] for start in starts)]
    times = [time_ns for time_ns, _ in events]
    return Cuts(starts, dict.fromkeys(SUMS, running), BIN_NS, min(times), max(times))


@given(EVENTS, st.integers(0, 2500), st.integers(0, 2500))
def test_what_happened_lies_within_the_bounds(
    events: list[tuple[int, int]], one_ns: int, other_ns: int
) -> None:
    made = cuts(events)
    start_ns, end_ns = sorted((one_ns, other_ns))
    start_ns, end_ns = max(start_ns, made.first_ns), min(end_ns, made.last_ns)
    if start_ns >= end_ns:
        return
    happened = sum(
        size
        for time_ns, size in events
        if start_ns <= time_ns < end_ns or time_ns == end_ns == made.last_ns
    )
    found = made.between("acked_bytes", start_ns, end_ns)
    assert found.low <= happened <= found.high
    assert found.low <= found.value <= found.high + 1e-9
    if start_ns % BIN_NS == 0 and end_ns % BIN_NS == 0:
        assert found.low == found.value == found.high


@given(EVENTS, st.lists(st.integers(0, 2500), max_size=6))
def test_parts_add_up_to_the_whole(events: list[tuple[int, int]], edges_ns: list[int]) -> None:
    made = cuts(events)
    inner = [edge for edge in edges_ns if made.first_ns < edge < made.last_ns]
    borders = [made.first_ns, *sorted(inner), made.last_ns]
    parts = [
        made.between("acked_bytes", start, end) for start, end in pairwise(borders) if start < end
    ]
    if parts:
        assert sum(part.value for part in parts) == pytest.approx(sum(size for _, size in events))


def test_a_bin_counts_by_the_share_of_its_time() -> None:
    made = cuts([(0, 10), (150, 40), (250, 80), (1000, 5)])
    # A quarter of the second bin, half of the third.
    assert made.between("acked_bytes", 175, 250) == Sum(10 + 40, 0, 120)
    # Within one bin.
    assert made.between("acked_bytes", 160, 170) == Sum(4, 0, 40)
    assert made.between("acked_bytes", 300, 900) == Sum(0, 0, 0)
    # The last packet is the last bin's only instant.
    assert made.between("acked_bytes", 900, 1000) == Sum(5, 5, 5)
    assert made.whole("acked_bytes").without(made.between("acked_bytes", 175, 250)) == Sum(
        85, 15, 135
    )


def test_a_rate_is_inferred_only_where_bins_are_cut() -> None:
    second_ns = 1_000_000_000
    assert Sum(10, 10, 10).rate(2 * second_ns, 8).basis == "observed"
    cut = Sum(10, 5, 20).rate(2 * second_ns, 8)
    assert (cut.value, cut.basis, cut.low, cut.high) == (40, "inferred", 20, 80)
    assert Sum(10, 5, 20).rate(0).reason
