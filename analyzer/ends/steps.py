"""Whether a clock stepped inside a capture, and where.

When one clock steps, the least difference that packets of one direction show and the greatest that
those of the other show move together, and stay there. A path that gets longer moves them apart; a
queue that builds up moves one of them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from ..columns import Column

LEAST_STEP_NS = 1_000_000
"""A smaller step cannot be told from the beginning of one queue and the end of another."""

MOST_BLOCKS = 128
PACKETS = 8
"""Packets to a block, at least: among so many one that met no queue is likely."""

LEAST_BLOCKS = 8
"""Among fewer none stands out."""

AROUND = 3
"""Blocks before and after the one with the step, from which on both must have moved together."""

APART = 0.25
"""The two moves may differ by this share: what is left is for queues."""

NOISE = 8
"""A step is so many times what either bound moves by between other blocks."""


NEGATIVE = 1000
"""How much rather a packet is late than early."""


def find_step(other_ns: Column, delta_ns: Column, leaving: Column, way: Column) -> int | None:
    """Return the place of the first packet after the greatest step; None where there is none.

    Parameters
    ----------
    other_ns, delta_ns
        Time by one clock, and that minus the time by the other; int64, in the order of a capture.
    leaving
        Whether the packet's delay is in the difference with a plus.
    way
        The same number for packets of one path and direction, which have one least delay.
    """
    blocks = min(MOST_BLOCKS, len(delta_ns) // PACKETS)
    if blocks < LEAST_BLOCKS:
        return None
    edges = np.linspace(0, len(delta_ns), blocks + 1).astype(int)
    level = (delta_ns - int(np.median(delta_ns))).astype(float)
    x = (other_ns - int(other_ns[0])).astype(float)
    kept, above, below = _bounds(level, leaving, edges)
    if len(kept) < LEAST_BLOCKS:
        return None
    level = level - _trend(x[edges[kept]], (above + below) / 2) * x
    level = _above_least(level, leaving, way)
    kept, above, below = _bounds(level, leaving, edges)
    moves = np.array([_moves(above, below, at) for at in range(1, len(kept) - 1)])
    together = np.array([_together(*both) for both in moves])
    most = int(together.argmax())
    if together[most] < max(LEAST_STEP_NS, NOISE * float(np.median(np.abs(moves).max(axis=1)))):
        return None
    at = most + 1
    window = slice(int(edges[kept[at - 1]]), int(edges[kept[at + 1] + 1]))
    return window.start + _border(level[window], leaving[window], above, below, at)


def _bounds(level: Column, leaving: Column, edges: Column) -> tuple[Column, Column, Column]:
    """Return the blocks that have both directions, and the bounds that each sets there."""
    above = np.minimum.reduceat(np.where(leaving, level, np.inf), edges[:-1])
    below = np.maximum.reduceat(np.where(leaving, -np.inf, level), edges[:-1])
    kept = np.flatnonzero(np.isfinite(above) & np.isfinite(below))
    return kept, above[kept], below[kept]


def _trend(x: Column, middle: Column) -> float:
    """Skew by the median over pairs of blocks, of which steps are between a minority."""
    apart = max(len(x) // 4, 1)
    spans = x[apart:] - x[:-apart]
    usable = spans > 0
    rises = (middle[apart:] - middle[:-apart])[usable]
    return float(np.median(rises / spans[usable])) if usable.any() else 0.0


def _above_least(level: Column, leaving: Column, way: Column) -> Column:
    """Take from each packet the least delay of its way, so that all ways are alike."""
    _, number = np.unique(way, return_inverse=True)
    delay = np.where(leaving, level, -level)
    least = np.full(int(number.max()) + 1, np.inf)
    np.minimum.at(least, number, delay)
    found: Column = np.where(leaving, 1, -1) * (delay - least[number])
    return found


def _moves(above: Column, below: Column, at: int) -> tuple[float, float]:
    """By how much both bounds moved in a block."""
    before, after = slice(max(at - AROUND, 0), at), slice(at + 1, at + 1 + AROUND)
    rise = float(above[after].min() - above[before].min())
    lift = float(below[after].max() - below[before].max())
    return rise, lift


def _together(rise: float, lift: float) -> float:
    """By how much both bounds moved the same way; 0 where they did not."""
    together = min(abs(rise), abs(lift))
    if rise * lift <= 0 or abs(rise - lift) > max(APART * together, LEAST_STEP_NS / 5):
        return 0.0
    return together


def _border(level: Column, leaving: Column, above: Column, below: Column, at: int) -> int:
    """Return how many packets are before the step: those whose delays then are the least together.

    A delay that would be negative counts `NEGATIVE` times.
    """
    before, after = slice(max(at - AROUND, 0), at), slice(at + 1, at + 1 + AROUND)
    costs = []
    for part in (before, after):
        delay = np.where(leaving, level - above[part].min(), below[part].max() - level)
        costs.append(np.where(delay < 0, -NEGATIVE * delay, delay))
    total = np.concatenate(([0.0], np.cumsum(costs[0] - costs[1])))
    return int(total.argmin())
