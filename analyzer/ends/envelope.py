"""The lower envelope of the delays of one way, under any skew of the clocks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from ..columns import Column

BINS = 2048
"""Of each part of the time only the least delay can be on the envelope, as nearly as counts."""


@dataclass(frozen=True, slots=True)
class Envelope:
    """Packets of one way: times x and delays y, but for a line that is the same for all ways.

    y is turned over where packets come back, so that delays are never negative: then the line's
    slope counts the other way round (`sign`).
    """

    x: Column
    y: Column
    hull: Column
    packets: int
    leaving: bool

    @classmethod
    def of(cls, x: Column, y: Column, *, leaving: bool) -> Envelope:
        """Make it of a way's packets."""
        upright = y if leaving else -y
        return cls(x, upright, lower_hull(x, upright), len(x), leaving)

    @property
    def sign(self) -> int:
        """How the slope of the clocks' line counts here."""
        return 1 if self.leaving else -1

    @property
    def weight(self) -> float:
        """How much it says of the skew: packets times the time that they span."""
        return self.packets * float(np.ptp(self.x))

    def slopes(self) -> Column:
        """Slopes of its edges, as slopes of the clocks' line."""
        x, y = self.x[self.hull], self.y[self.hull]
        found: Column = self.sign * np.diff(y) / np.diff(x)
        return found

    def least(self, slopes: Column) -> Column:
        """Least of y above a line of each slope through the origin."""
        x, y = self.x[self.hull], self.y[self.hull]
        found: Column = (y[:, None] - self.sign * np.outer(x, slopes)).min(axis=0)
        return found

    def height(self, slopes: Column) -> Column:
        """Mean height of the packets above the line of each slope that touches them from below."""
        mean = self.y.mean() - self.sign * slopes * self.x.mean()
        found: Column = mean - self.least(slopes)
        return found

    def slack(self, skew: float, blocks: int) -> float:
        """Return by how much the slope may be off, as far as these packets tell.

        The line touches packets that waited in some queue, too: for about as long as the least in
        each of some parts of the time lies above the line, of which the median counts. Two packets
        that the line touches are seldom nearer to each other than a quarter of the time.
        """
        span = float(np.ptp(self.x)) or 1.0
        part = np.minimum((self.x - self.x.min()) / span * blocks, blocks - 1).astype(int)
        least = np.full(blocks, np.inf)
        np.minimum.at(least, part, self._above(skew))
        return float(np.median(least[np.isfinite(least)])) / (span / 4)

    def spread(self, skew: float) -> float:
        """Return the same by how far half of all packets lie above the line, at most."""
        return float(np.median(self._above(skew))) / ((float(np.ptp(self.x)) or 1.0) / 4)

    def _above(self, skew: float) -> Column:
        """How far each packet lies above the line that touches them from below."""
        level = self.y - self.sign * skew * self.x
        found: Column = level - level.min()
        return found


def lower_hull(x: Column, y: Column) -> Column:
    """Return the places of the corners of the lower convex hull, from left to right.

    Of packets at the same time the lowest counts; of a bin (`BINS` to the time) likewise.
    """
    places = _least_of_bins(x, y)
    corners: list[int] = []
    for place in places[np.lexsort((y[places], x[places]))].tolist():
        if corners and x[place] == x[corners[-1]]:
            continue
        while len(corners) > 1 and _is_above(x, y, corners[-2], corners[-1], place):
            corners.pop()
        corners.append(place)
    return np.array(corners, np.int64)


def _least_of_bins(x: Column, y: Column) -> Column:
    if len(x) <= BINS:
        return np.arange(len(x))
    span = float(np.ptp(x)) or 1.0
    part = np.minimum((x - x.min()) / span * BINS, BINS - 1).astype(np.int64)
    order = np.lexsort((y, part))
    firsts = np.flatnonzero(np.diff(part[order], prepend=-1))
    found: Column = order[firsts]
    return found


def _is_above(x: Column, y: Column, left: int, middle: int, right: int) -> bool:
    """Whether the middle is on or above the line from left to right."""
    rise = (y[middle] - y[left]) * (x[right] - x[left])
    return bool(rise >= (y[right] - y[left]) * (x[middle] - x[left]))
