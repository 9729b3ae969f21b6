"""Loss outside outages: how much, in what bursts, and when it changed.

Gilbert's model has two states, in one of which all is lost: p is the share of packets after an
arrival that are lost, r that of packets after a loss that arrive. The mean burst is 1 / r.
Intervals of 95 % are Wilson's (1927); where losses come in bursts, a ratio is known as well as of
as many fewer independent packets as their correlation 1 - p - r says.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import log, sqrt
from typing import TYPE_CHECKING

import numpy as np

from .model import Interval, Loss, LossStep
from .segments import segments

if TYPE_CHECKING:
    from ....analyzer.columns import Column
    from .model import Resolution

DEVIATIONS = 1.959964
"""Of 95 %."""


@dataclass(frozen=True, slots=True)
class Cell:
    """Packets of a stretch of time: of so many sent, so many lost."""

    at_ns: int
    lost: int
    sent: int

    @property
    def percent(self) -> float:
        """The share lost, in percent."""
        return 100 * self.lost / self.sent

    def joined(self, later: Cell) -> Cell:
        """Return both together."""
        return Cell(self.at_ns, self.lost + later.lost, self.sent + later.sent)


def loss(sent_ns: Column, lost: Column, inside: Column, resolution: Resolution) -> Loss:
    """Describe losses; packets `inside` outages do not count."""
    outside = ~inside
    counts = (int((lost & outside).sum()), int(outside.sum()))
    p, r = gilbert(lost, inside)
    correlation = max(0.0, 1 - p.value - r.value) if p and r else 0.0
    worth = (1 - correlation) / (1 + correlation)
    ratio = wilson(*counts, worth) if counts[1] else None
    return Loss(
        *counts,
        ratio,
        p,
        r,
        _burst(r, ratio),
        loss_steps(sent_ns[outside], lost[outside], worth, resolution),
    )


def wilson(hits: float, of: int, worth: float = 1.0) -> Interval:
    """Return a share and its 95 % interval; each of them is worth so much of an independent one."""
    share, size, z = hits / of, of * worth, DEVIATIONS
    middle = (share + z**2 / (2 * size)) / (1 + z**2 / size)
    half = z / (1 + z**2 / size) * sqrt(share * (1 - share) / size + z**2 / (4 * size**2))
    # At the ends rounding would leave a little.
    return Interval(
        share,
        max(0.0, middle - half) if hits else 0.0,
        min(1.0, middle + half) if hits < of else 1.0,
    )


def loss_steps(
    sent_ns: Column, lost: Column, worth: float, resolution: Resolution
) -> tuple[LossStep, ...]:
    """Cut a route's packets into steps of one loss; the first is from time 0."""
    if not len(sent_ns):
        return ()
    starts = np.flatnonzero(np.diff(sent_ns // resolution.step_ns, prepend=-1))
    sent = np.diff(np.append(starts, len(sent_ns)))
    hits = np.add.reduceat(lost.astype(np.int64), starts)
    columns = (sent_ns[starts], hits, sent)
    rows = zip(*(column.tolist() for column in columns), strict=True)
    return merged([Cell(*row) for row in rows], worth, resolution)


def merged(cells: list[Cell], worth: float, resolution: Resolution) -> tuple[LossStep, ...]:
    """Join cells of one loss to steps; none of no cells."""

    def difference(one: Cell, other: Cell) -> float:
        apart = abs(one.percent - other.percent)
        if apart <= resolution.loss_percent:
            return apart / resolution.loss_percent
        return worth * _likelihood_ratio(one, other)

    found = segments(cells, difference)
    return tuple(
        LossStep(one.at_ns if number else 0, one.lost, one.sent) for number, one in enumerate(found)
    )


def gilbert(lost: Column, inside: Column) -> tuple[Interval | None, Interval | None]:
    """Return p and r, by packets that are outside outages as the one before them is."""
    pairs = ~(inside[1:] | inside[:-1])
    before, after = lost[:-1][pairs], lost[1:][pairs]
    losses, arrivals = int(before.sum()), int((~before).sum())
    return (
        wilson(int((~before & after).sum()), arrivals) if arrivals else None,
        wilson(int((before & ~after).sum()), losses) if losses else None,
    )


def _burst(leave: Interval | None, ratio: Interval | None) -> Interval | None:
    """Return the mean burst, where bursts are longer than independent losses make them."""
    if leave is None or ratio is None or leave.low <= 0 or leave.high >= 1 - ratio.value:
        return None
    return Interval(1 / leave.value, 1 / leave.high, 1 / leave.low)


def _likelihood_ratio(one: Cell, other: Cell) -> float:
    """Return G, twice the logarithm of how much likelier two losses are than one."""
    whole = one.joined(other)
    return 2 * (_likelihood(one) + _likelihood(other) - _likelihood(whole))


def _likelihood(cell: Cell) -> float:
    found = 0.0
    for count in (cell.lost, cell.sent - cell.lost):
        if count > 0:
            found += count * log(count / cell.sent)
    return found
