"""Lines end where nothing was seen: no segment of one leads over a time of something else."""

from __future__ import annotations

from collections.abc import Iterator

import figuring
import numpy as np
import pytest
from figuring import CASES
from hypothesis import given
from hypothesis import strategies as st
from pathscope.reports.figures import bins, rtt, tsn, window
from pathscope.reports.figures.columns import Floats
from pathscope.reports.figures.part import Window

BIN_NS = 100_000_000


def segments(x: Floats, y: Floats) -> Iterator[tuple[float, float]]:
    """Yield from where to where a line is drawn, piece by piece."""
    for place in np.flatnonzero(~np.isnan(y[:-1]) & ~np.isnan(y[1:])).tolist():
        yield float(x[place]), float(x[place + 1])


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("by_chunk", [True, False])
def test_no_path_has_a_line_while_another_was_in_use(case: str, by_chunk: bool) -> None:
    part = figuring.part(case)
    found = tsn.inputs(figuring.with_chunks(part, case) if by_chunk else part)
    assert found is not None
    for line in found.lines:
        others = [
            part.seconds(row["first_ns"])
            for row in part.rows("runs", "a").to_pylist()
            if row["path"] != line.path
        ]
        for start, end in segments(line.x, line.y):
            assert not any(start < at < end for at in others), (line.path, start, end)
            assert end - start <= bins.LONGEST_GAP * found.bin_s + found.bin_s


def test_the_old_path_has_no_line_during_a_failover() -> None:
    part = figuring.with_chunks(figuring.part("failover-v6"), "failover-v6")
    found = tsn.inputs(part)
    assert found is not None
    left, back = (one["instants"] for one in part.association["handovers"])
    last, first = (
        part.seconds(one["ns"]) for one in (left["t_last_data_old"], back["t_first_new"])
    )
    (old,) = (line for line in found.lines if line.path == 0)
    assert not any(end > last and start < first for start, end in segments(old.x, old.y))
    assert set(old.x[~np.isnan(old.y)].tolist()) >= {last, first}


@pytest.mark.parametrize("case", CASES)
def test_bytes_are_outstanding_only_where_data_were_sent(case: str) -> None:
    part = figuring.part(case)
    found = window.inputs(part)
    assert found is not None
    for path, line in found.flight:
        rows = [row for row in part.rows("intervals", "a").to_pylist() if row["path"] == path]
        with_data = {row["start_ns"] for row in rows if row["data_chunks"]}
        drawn = sum(end - start for start, end in segments(line.x, line.y))
        assert drawn == pytest.approx(len(with_data) * part.bin_ns / 1e9)
        starts = {round(one * 1e9) + part.origin_ns for one, _ in segments(line.x, line.y)}
        assert {one for one in starts if one in with_data} == with_data


@pytest.mark.parametrize("case", CASES)
def test_round_trips_are_joined_over_short_pauses_only(case: str) -> None:
    found = rtt.inputs(figuring.part(case))
    assert found is not None
    for one in found.paths:
        known = ~np.isnan(one.mean_ms)
        x, y = bins.broken(one.x[known], found.bin_s, one.mean_ms[known])
        lengths = [end - start for start, end in segments(x, y)]
        assert max(lengths, default=0.0) <= bins.LONGEST_GAP * found.bin_s


@given(st.lists(st.integers(0, 40), unique=True, max_size=20))
def test_levels_last_as_long_as_their_bins(places: list[int]) -> None:
    starts = np.array(sorted(places), np.int64) * BIN_NS
    values = np.arange(1.0, len(starts) + 1)
    found = bins.levels(starts, values, BIN_NS, 0)
    drawn = {}
    for place in np.flatnonzero(~np.isnan(found.y[:-1]) & ~np.isnan(found.y[1:])).tolist():
        start, end = found.x[place : place + 2]
        if end > start:
            drawn[round(start * 10)] = found.y[place]
            assert round((end - start) * 10) == 1
    assert drawn == dict(zip((starts // BIN_NS).tolist(), values.tolist(), strict=True))


def test_what_was_sent_again_is_drawn_without_new_data() -> None:
    part = figuring.part("failover-v6")
    at_ns = part.association["handovers"][0]["instants"]["t_first_timeout"]["ns"]
    seen = Window(at_ns - 1_000_000, at_ns + 1_000_000)
    found = tsn.inputs(figuring.with_chunks(part, "failover-v6", seen), seen)
    assert found is not None
    assert not any(len(line.x) for line in found.lines)
    assert figuring.named(tsn.draw(found, figuring.LOOKS[0]), "sent again: t3")
