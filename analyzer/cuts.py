"""Sums over a window of time that does not begin and end with a time bin.

A bin that an edge of the window cuts counts by the share of its time that lies within, as if what
happened in it had been spread evenly; how far that can be wrong, the bounds say: all of the cut
bin, or nothing.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from .columns import ranked
from .measure import Measure, seconds

if TYPE_CHECKING:
    from .context import Context
    from .model import End

SUMS = ("wire_bytes", "acked_bytes", "acked_chunks")


@dataclass(frozen=True, slots=True)
class Sum:
    """A sum over a window, and the least and the most that it can be."""

    value: float
    low: int
    high: int

    def __add__(self, other: Sum) -> Sum:
        return Sum(self.value + other.value, self.low + other.low, self.high + other.high)

    def without(self, part: Sum) -> Sum:
        """Return the rest of a whole that is known exactly."""
        return Sum(self.value - part.value, self.low - part.high, self.high - part.low)

    def rate(self, time_ns: int, factor: int = 1) -> Measure:
        """Return `factor` times the sum by second."""
        if time_ns <= 0:
            return Measure.absent("no time to measure in")
        value, low, high = (
            one * factor / seconds(time_ns) for one in (self.value, self.low, self.high)
        )
        if self.low == self.high:
            return Measure.observed(high)
        return Measure(
            min(max(value, low), high), "inferred", low, high, note="time bins are cut at an edge"
        )


NOTHING = Sum(0.0, 0, 0)


@dataclass(frozen=True, slots=True)
class Cuts:
    """The time bins of one sender over all its paths, as long as its association lasts.

    `running` has the sums of all bins before each, so that a window costs no more than its edges.
    """

    starts: list[int]
    running: dict[str, list[int]]
    bin_ns: int
    first_ns: int
    last_ns: int

    @classmethod
    def of(cls, context: Context, sender: End) -> Cuts:
        """Add up the bins of a sender."""
        columns = context.bins.columns
        own = columns["is_b"] == (sender == "b")
        starts, places = ranked(columns["start_ns"][own])
        running = {}
        for name in SUMS:
            sums = np.zeros(len(starts), np.int64)
            np.add.at(sums, places, columns[name][own].astype(np.int64))
            running[name] = [0, *np.cumsum(sums).tolist()]
        row = context.row
        return cls(starts.tolist(), running, context.bins.bin_ns, row["start_ns"], row["end_ns"])

    def whole(self, name: str) -> Sum:
        """Return the sum of all bins."""
        total = self.running[name][-1]
        return Sum(total, total, total)

    def between(self, name: str, start_ns: int, end_ns: int) -> Sum:
        """Return the sum over [start_ns, end_ns); the last packet belongs to what ends with it."""
        running = self.running[name]
        first = bisect_right(self.starts, start_ns - self.bin_ns)
        ends_all = end_ns >= self.last_ns
        end = len(self.starts) if ends_all else bisect_left(self.starts, end_ns)
        total = NOTHING
        inner = [first, end]
        for side, index in ((0, first), (1, end - 1)):
            if index < inner[0] or index >= inner[1]:
                continue
            share = self._share(index, start_ns, end_ns)
            if share == 1:
                continue
            size = running[index + 1] - running[index]
            total += Sum(share * size, 0, size if share > 0 else 0)
            inner[side] += 1 if side == 0 else -1
        full = running[inner[1]] - running[inner[0]] if inner[1] > inner[0] else 0
        return total + Sum(full, full, full)

    def _share(self, index: int, start_ns: int, end_ns: int) -> float:
        """Share of a bin's time that is in a window; a bin's time is the association's."""
        begin = max(self.starts[index], self.first_ns)
        end = min(self.starts[index] + self.bin_ns, self.last_ns)
        if end <= begin:
            return 1.0
        return max(0, min(end, end_ns) - max(begin, start_ns)) / (end - begin)
