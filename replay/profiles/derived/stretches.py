"""Packets in sending order, cut into stretches of one delay."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from .segments import segments

if TYPE_CHECKING:
    from ....analyzer.columns import Column
    from .model import Resolution

LEAST_PACKETS = 3
"""Of fewer packets a step cannot be told from jitter."""

MOST_LONE = 0.02
"""A greater share of packets that stand alone are what this route's delays are like."""

LEAST_FOR_DEVIATION = 10
_LEAST_MS = 1e-6
_PRIOR = 4
"""So many packets of the usual variance stand beside those of a cell, which may be one alone."""


@dataclass(frozen=True, slots=True)
class Stretch:
    """Packets `first` to `end` - 1: their number, mean delay, and sum of squares around it."""

    first: int
    end: int
    mean_ms: float
    squares: float

    @property
    def packets(self) -> int:
        """How many they are."""
        return self.end - self.first

    @property
    def deviation_ms(self) -> float:
        """The standard deviation; 0 of one packet."""
        return float(np.sqrt(self.squares / (self.packets - 1))) if self.packets > 1 else 0.0

    def joined(self, later: Stretch) -> Stretch:
        """Return both together."""
        packets = self.packets + later.packets
        apart = later.mean_ms - self.mean_ms
        return Stretch(
            self.first,
            later.end,
            self.mean_ms + apart * later.packets / packets,
            self.squares + later.squares + apart**2 * self.packets * later.packets / packets,
        )


def stretches(sent_ns: Column, delay_ms: Column, resolution: Resolution) -> list[Stretch]:
    """Cut packets into stretches of one delay; at least one packet, in sending order."""
    found = _without_short(_joined(sent_ns, delay_ms, resolution))
    return _refined(found, sent_ns, delay_ms, resolution)


def lone(sent_ns: Column, delay_ms: Column, resolution: Resolution) -> Column:
    """Say which packets stand alone: one or two that differ from all around them.

    None do where they are more than a few: then they belong to what is usual here.
    """
    found = np.zeros(len(sent_ns), bool)
    for one in _joined(sent_ns, delay_ms, resolution) if len(sent_ns) else ():
        if one.packets < LEAST_PACKETS:
            found[one.first : one.end] = True
    few = found.sum() <= MOST_LONE * len(found)
    return found if few else np.zeros(len(sent_ns), bool)


def _joined(sent_ns: Column, delay_ms: Column, resolution: Resolution) -> list[Stretch]:
    cells = _cells(sent_ns, delay_ms, resolution.step_ns)
    usual = _usual_variance(cells, resolution)

    def of_means(one: Stretch, other: Stretch) -> float:
        return _of_means(one, other, usual, resolution)

    tails = _tails(segments(cells, of_means), delay_ms)

    def of_both(one: Stretch, other: Stretch) -> float:
        return max(of_means(one, other), _of_deviations(one, other, tails, resolution))

    return segments(cells, of_both)


def _tails(found: list[Stretch], delay_ms: Column) -> float:
    """Return the excess kurtosis around the means: how much a few packets make a deviation."""
    means = np.repeat([one.mean_ms for one in found], [one.packets for one in found])
    squares = (delay_ms - means) ** 2
    variance = float(squares.mean())
    return max(0.0, float((squares**2).mean()) / variance**2 - 3) if variance > 0 else 0.0


def _cells(sent_ns: Column, delay_ms: Column, step_ns: int) -> list[Stretch]:
    starts = np.flatnonzero(np.diff(sent_ns // step_ns, prepend=-1))
    ends = np.append(starts[1:], len(sent_ns))
    counts = ends - starts
    means = np.add.reduceat(delay_ms, starts) / counts
    squares = np.add.reduceat((delay_ms - np.repeat(means, counts)) ** 2, starts)
    columns = (starts, ends, means, squares)
    rows = zip(*(column.tolist() for column in columns), strict=True)
    return [Stretch(*row) for row in rows]


def _usual_variance(cells: list[Stretch], resolution: Resolution) -> float:
    """Return the median variance within a cell; never less than what is too little to matter."""
    least = (resolution.jitter_ms / 2) ** 2
    found = [one.squares / (one.packets - 1) for one in cells if one.packets > 1]
    if not found:
        # One packet a cell: neighbours differ by twice the variance.
        apart = np.diff([one.mean_ms for one in cells])
        found = (apart**2 / 2).tolist() or [least]
    return max(float(np.median(found)), least)


def _of_means(one: Stretch, other: Stretch, usual: float, resolution: Resolution) -> float:
    apart = abs(one.mean_ms - other.mean_ms)
    least = min(abs(one.mean_ms), abs(other.mean_ms))
    same = max(resolution.delay_ms, resolution.delay_ratio * least)
    if apart <= same:
        return apart / same  # below what any difference gives: the most alike first
    freedom = one.packets + other.packets - 2
    variance = (one.squares + other.squares + _PRIOR * usual) / (freedom + _PRIOR)
    return float(apart**2 / (variance * (1 / one.packets + 1 / other.packets)))


def _of_deviations(one: Stretch, other: Stretch, tails: float, resolution: Resolution) -> float:
    """Compare deviations by the logarithm of their ratio.

    That of a deviation has the variance (kurtosis + 2) / 4 (n - 1).
    """
    both = (one.deviation_ms, other.deviation_ms)
    if min(one.packets, other.packets) < LEAST_FOR_DEVIATION:
        return 0.0
    if abs(both[0] - both[1]) <= max(resolution.jitter_ms, min(both) / 4):
        return 0.0
    least = resolution.jitter_ms / 2
    ratio = np.log(max(both[0], least) / max(both[1], least))
    variance = (tails + 2) / 4 * (1 / (one.packets - 1) + 1 / (other.packets - 1))
    return float(ratio**2 / variance)


def _without_short(found: list[Stretch]) -> list[Stretch]:
    """Give up a stretch of too few packets, and one that only passes from one delay to another.

    The latter is a cell in the middle of which a step was. It goes to the stretch before, and
    `_refined` finds the packet of the step; the former goes to the more alike neighbour.
    """
    kept = list(found)
    at = 0
    while at < len(kept) and len(kept) > 1:
        own, near = kept[at], [kept[to] for to in (at - 1, at + 1) if 0 <= to < len(kept)]
        low, high = min(one.mean_ms for one in near), max(one.mean_ms for one in near)
        passes = low <= own.mean_ms <= high and 2 * own.packets <= min(one.packets for one in near)
        if own.packets >= LEAST_PACKETS and not passes:
            at += 1
            continue
        alike = min(near, key=lambda one: abs(one.mean_ms - own.mean_ms))
        first = at if at == 0 or (alike is near[-1] and not passes and len(near) > 1) else at - 1
        kept[first : first + 2] = [kept[first].joined(kept[first + 1])]
        at = max(first - 1, 0)
    return kept


def _refined(
    found: list[Stretch], sent_ns: Column, delay_ms: Column, resolution: Resolution
) -> list[Stretch]:
    """Move each boundary to the packet where two normal distributions part best."""
    bounds = [found[0].first]
    for one, other in pairwise(found):
        edge_ns, reach_ns = int(sent_ns[other.first]), 2 * resolution.step_ns
        low, high = np.searchsorted(sent_ns, (edge_ns - reach_ns, edge_ns + reach_ns))
        low, high = max(int(low), bounds[-1] + 1), min(int(high), other.end - 1)
        near = delay_ms[low:high]
        before, after = (_unlikely(near, each, resolution.jitter_ms / 2) for each in (one, other))
        worse = np.concatenate(([0.0], np.cumsum(before - after)))
        bounds.append(low + int(np.argmin(worse)))
    ends = [*bounds[1:], found[-1].end]
    return [_stretch(delay_ms, first, end) for first, end in zip(bounds, ends, strict=True)]


def _unlikely(delay_ms: Column, stretch: Stretch, least_ms: float) -> Column:
    """Return how unlikely delays are in a stretch: minus twice the logarithm, but for a constant.

    By the mean, which a packet from beyond the boundary moves little.
    """
    deviation = max(stretch.deviation_ms, least_ms, _LEAST_MS)
    found: Column = ((delay_ms - stretch.mean_ms) / deviation) ** 2 + 2 * np.log(deviation)
    return found


def _stretch(delay_ms: Column, first: int, end: int) -> Stretch:
    own = delay_ms[first:end]
    return Stretch(first, end, float(own.mean()), float(((own - own.mean()) ** 2).sum()))
