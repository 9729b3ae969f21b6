"""How far what a replay made is from what was to be replayed: delays, and losses.

Two runs of one netem are not the same either. What distance chance alone gives, and what a
machine's timers are allowed, is the tolerance; it is stated beside every distance.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import log, sqrt
from typing import TYPE_CHECKING

import numpy as np

from .losses import gilbert
from .model import NS_PER_MS, Resolution
from .outages import outages
from .stretches import stretches

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ....analyzer.columns import Column
    from .model import Direction, Series

CHANCE = 0.01
"""How often two runs of one netem may be told apart although nothing is wrong."""

DEVIATIONS = 2.575829
"""Of that chance, to both sides of a normal distribution."""

SHIFT_MS = 0.5
"""By so much may every delay differ: what the lab's constant delays are held to."""


@dataclass(frozen=True, slots=True)
class Row:
    """One number of a route: how far two runs are apart, and how far they may be.

    `what` is "delay" (a distance of Kolmogorov and Smirnov, 0 to 1, of delays told apart to
    `SHIFT_MS`) or "loss" (a difference of two ratios). `exact` is the distance without that
    allowance; `sizes` are the packets of the original and of the replay, `worth` as how many
    independent ones they count. A row without `distance` has a reason.
    """

    path: str
    direction: Direction
    what: str
    original: float | None
    replayed: float | None
    distance: float | None
    tolerance: float | None
    exact: float | None
    sizes: tuple[int, int]
    worth: tuple[float, float]
    reason: str | None = None

    @property
    def within(self) -> bool | None:
        """Whether the distance is within the tolerance; None where there is none."""
        if self.distance is None or self.tolerance is None:
            return None
        return self.distance <= self.tolerance


def closed_loop(original: Iterable[Series], replayed: Iterable[Series]) -> list[Row]:
    """Compare what a replay did to each route with what had been measured there.

    Outages are taken out of the losses first: they are compared by their instants.

    Parameters
    ----------
    original, replayed
        What crossed the routes (`series.series`), of either run.
    """
    others = {(one.path, one.direction): one for one in replayed}
    found = []
    for one in original:
        other = others.get((one.path, one.direction))
        found += [_delay(one, other), _loss(one, other)]
    return found


def ks(one: Column, other: Column, shift: float = 0.0) -> float:
    """Return the two-sample distance of Kolmogorov and Smirnov.

    Parameters
    ----------
    one, other
        Samples, at least one value each.
    shift
        In their unit: the least distance that the samples have if every value of one may be moved
        by so much. With 0 it is what `scipy.stats.ks_2samp` gives.
    """
    return max(_above(one, other, shift), _above(other, one, shift))


def critical(one: float, other: float, chance: float = CHANCE) -> float:
    """Return the distance that two samples of one distribution exceed with a chance, about.

    Smirnov's limit: sqrt(-ln(chance / 2) / 2) sqrt((n + m) / n m).
    """
    return min(1.0, sqrt(-log(chance / 2) / 2) * sqrt((one + other) / (one * other)))


def independent(values: Column) -> float:
    """Return how many independent values say as much: fewer, where neighbours are alike.

    As of an autoregression of first order: n (1 - r) / (1 + r), r the correlation of neighbours.
    """
    if len(values) < 3 or float(values.std()) == 0:
        return float(len(values))
    apart = values - values.mean()
    near = float((apart[1:] * apart[:-1]).sum() / (apart**2).sum())
    return max(1.0, len(values) * (1 - max(near, 0.0)) / (1 + max(near, 0.0)))


def _above(one: Column, other: Column, shift: float) -> float:
    """How far the distribution of one, moved up by the shift, is above the other's."""
    values = np.sort(one)
    higher = np.searchsorted(np.sort(other), values + shift, side="right") / len(other)
    return max(0.0, float((np.arange(1, len(one) + 1) / len(one) - higher).max()))


def _delay(one: Series, other: Series | None) -> Row:
    samples = [np.zeros(0) if each is None else _delays_ms(each) for each in (one, other)]
    sizes = (len(samples[0]), len(samples[1]))
    if other is None or not min(sizes):
        missing = "nothing arrived in the replay" if sizes[0] else "nothing had arrived"
        return _absent(one, "delay", sizes, missing)
    worth = (_worth(one, samples[0]), _worth(other, samples[1]))
    medians = [float(np.median(each)) for each in samples]
    return Row(
        path=one.path,
        direction=one.direction,
        what="delay",
        original=medians[0],
        replayed=medians[1],
        distance=ks(samples[0], samples[1], SHIFT_MS),
        tolerance=critical(*worth),
        exact=ks(samples[0], samples[1]),
        sizes=sizes,
        worth=worth,
    )


def _loss(one: Series, other: Series | None) -> Row:
    counts = [(0, 0, 0.0) if each is None else _losses(each) for each in (one, other)]
    (lost, sent, worth), (lost_again, sent_again, worth_again) = counts
    if not sent or not sent_again:
        missing = "nothing was sent in the replay" if sent else "nothing had been sent"
        return _absent(one, "loss", (sent, sent_again), missing)
    ratios = (lost / sent, lost_again / sent_again)
    both = (lost + lost_again) / (sent + sent_again)
    error = DEVIATIONS * sqrt(both * (1 - both) * (1 / worth + 1 / worth_again))
    # The counts are whole: half a packet of either is no difference.
    error += 0.5 / worth + 0.5 / worth_again
    apart = abs(ratios[0] - ratios[1])
    return Row(
        path=one.path,
        direction=one.direction,
        what="loss",
        original=ratios[0],
        replayed=ratios[1],
        distance=apart,
        tolerance=min(1.0, error),
        exact=apart,
        sizes=(sent, sent_again),
        worth=(worth, worth_again),
    )


def _absent(one: Series, what: str, sizes: tuple[int, int], reason: str) -> Row:
    worth = (float(sizes[0]), float(sizes[1]))
    return Row(one.path, one.direction, what, None, None, None, None, None, sizes, worth, reason)


def _delays_ms(series: Series) -> Column:
    arrived = series.arrived
    found: Column = (series.arrived_ns[arrived] - series.sent_ns[arrived]) / NS_PER_MS
    return found


def _worth(series: Series, delay_ms: Column) -> float:
    """Return how many independent delays say as much; steps make no neighbours alike."""
    found = stretches(series.sent_ns[series.arrived], delay_ms, Resolution())
    means = np.repeat([one.mean_ms for one in found], [one.packets for one in found])
    return independent(delay_ms - means)


def _losses(series: Series) -> tuple[int, int, float]:
    """Packets lost and sent outside outages, and how many independent ones say as much."""
    lost = ~series.arrived
    _, inside = outages(series.sent_ns, lost)
    sent = int((~inside).sum())
    p, r = gilbert(lost, inside)
    near = max(0.0, 1 - p.value - r.value) if p is not None and r is not None else 0.0
    return int((lost & ~inside).sum()), sent, max(1.0, sent * (1 - near) / (1 + near))
