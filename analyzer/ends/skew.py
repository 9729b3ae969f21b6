"""How much faster one of two clocks runs, from packets that both captures saw.

The skew is the slope under which the packets of each way lie least above their own lower envelope
(Moon, Skelly and Towsley 1999), all ways and both directions taken together as is likeliest where
queues delay packets exponentially, each way by a mean of its own.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from .envelope import Envelope

if TYPE_CHECKING:
    from ..columns import Column

MOST_SKEW = 1e-3
"""Ten times what the oscillators of computers are off, and twice what NTP corrects at most."""

LEAST_PACKETS = 16
"""Of fewer no skew is told."""

WAYS = 32
"""Of so many ways, those with the most packets over the longest time, the skew is estimated."""

TICK_NS = 1_000
"""What the clocks of captures tell apart."""

ALONE = 2
"""One direction has no other that would tell a queue that grows from a clock."""

BLOCKS = 8
"""Parts of the time in which packets without a queue before them are looked for."""


def estimate_skew(x: Column, y: Column, leaving: Column, way: Column) -> tuple[float, float]:
    """Return the skew of two clocks and how far it may be off, in seconds a second.

    Parameters
    ----------
    x, y
        Time by one clock, and that minus the time by the other, in ns.
    leaving
        Whether the packet's delay is in the difference with a plus.
    way
        The same number for packets of one path and direction.
    """
    if len(x) < LEAST_PACKETS:
        return 0.0, MOST_SKEW
    ways = _envelopes(x, y, leaving, way)
    directions = [
        [one for one in ways if one.leaving is out and one.packets >= BLOCKS]
        for out in (True, False)
    ]
    skew = _allowed(_flattest(ways), x, y, leaving)
    if abs(skew) >= MOST_SKEW:
        return 0.0, MOST_SKEW  # a queue that grew all the time, rather than a clock
    found = [
        Direction(
            abs(_flattest(own) - skew),
            min(one.slack(skew, BLOCKS) for one in own),
            min(one.spread(skew) for one in own),
        )
        for own in directions
        if own
    ]
    return skew, min(_error(found), MOST_SKEW)


@dataclass(frozen=True, slots=True)
class Direction:
    """How far off a skew may be by the packets of one direction, in seconds a second.

    `apart` is how far their own skew is from it; `slack` and `spread` are those of the surest way.
    """

    apart: float
    slack: float
    spread: float


def _error(directions: list[Direction]) -> float:
    """Return how far a skew may be off.

    As far as the worse direction allows; or no further than a direction whose packets took much the
    same time allows by itself.
    """
    if not directions:
        return MOST_SKEW
    if len(directions) == 1:
        return ALONE * directions[0].slack
    worse = max(max(one.apart, one.slack) for one in directions)
    return min([worse, *(one.apart + one.spread for one in directions)])


def _envelopes(x: Column, y: Column, leaving: Column, way: Column) -> list[Envelope]:
    numbers, counts = np.unique(way, return_counts=True)
    chosen = numbers[np.argsort(-counts, kind="stable")][: 4 * WAYS]
    found = []
    for number in chosen.tolist():
        own = way == number
        found.append(Envelope.of(x[own], y[own], leaving=bool(leaving[own][0])))
    return sorted(found, key=lambda one: -one.weight)[:WAYS]


def _flattest(ways: list[Envelope]) -> float:
    """Return the slope under which packets lie least above the envelope of their own way.

    The mean height of each is convex in the slope, with corners at the slopes of the envelope's
    edges, and the sum of their logarithms is least at one of them, or from one to the next.
    """
    edges = np.concatenate([way.slopes() for way in ways] + [[-MOST_SKEW, MOST_SKEW]])
    slopes = np.unique(np.clip(edges, -MOST_SKEW, MOST_SKEW))
    likely = [way for way in ways if way.packets >= BLOCKS] or ways
    cost = np.sum([way.packets * np.log(way.height(slopes) + TICK_NS) for way in likely], axis=0)
    least = np.flatnonzero(cost <= cost.min() + 1e-9 * abs(cost.min()))
    return float((slopes[least[0]] + slopes[least[-1]]) / 2)


def _allowed(skew: float, x: Column, y: Column, leaving: Column) -> float:
    """Return the slope nearest to one under which no packet arrives before it was sent.

    Where there is no such slope, the one itself.
    """
    if leaving.all() or not leaving.any():
        return skew
    ways = [
        Envelope.of(x[own], y[own], leaving=out)
        for own, out in ((leaving, True), (~leaving, False))
    ]

    def room(slopes: Column) -> Column:
        """Least delay of both directions together."""
        found: Column = np.sum([way.least(slopes) for way in ways], axis=0)
        return found

    if room(np.array([skew]))[0] >= 0:
        return skew
    slopes = np.concatenate([way.slopes() for way in ways] + [[0.0]])
    slopes = slopes[np.abs(slopes) <= MOST_SKEW]
    found = room(slopes)
    if found.max() < 0:
        return skew
    outside, inside = skew, float(slopes[found.argmax()])
    for _ in range(50):
        middle = (outside + inside) / 2
        if room(np.array([middle]))[0] >= 0:
            inside = middle
        else:
            outside = middle
    return inside
