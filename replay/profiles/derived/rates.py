"""The rate of a link, where a queue shows it, and what of a delay is that queue.

A queue of a constant rate is first in, first out: a packet leaves it bytes / rate after the later
of its own arrival there and the leaving of the packet before. So packets that were sent closer
together than they arrived came out of it one after the other, and the time between them is that of
their bytes. Jitter parts packets, too, but not in proportion to their bytes. What the queue makes
of a delay is known once the rate is (Lindley's recursion), and must explain it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from .losses import DEVIATIONS
from .model import NS_PER_MS, Interval, Rate, RateStep, Resolution
from .stretches import stretches

if TYPE_CHECKING:
    from ....analyzer.columns import Column

BITS_NS = 8 * 1_000_000_000
"""Bits of a byte times nanoseconds of a second."""

LEAST_PAIRS = 20
SPREAD_OUT = (1.5, 1.1)
"""A pair that arrives with so much more between it than it was sent with has waited in a queue.

Bursts are spread out by far more, and told from jitter by that. The queue of a load that is barely
too much spreads out by little: that is looked for second.
"""

LEAST_GAP_NS = 10_000
"""Below, the gap between two packets is that of interrupts and clocks rather than of a link."""

WIDEST = 0.2
"""Of one rate, half of the pairs are within this share of the median."""

CHANGE = 0.1
"""Of a rate, which makes it another."""

FIT = 0.05
"""By how much of it the fit may move a rate away from that of its pairs."""

LEAST_EXPLAINED = 0.5
"""Of the delay's variance."""

_NO_QUEUE = "packets that were sent close together arrived so: no queue held them"
_NO_RATE = "the time between packets that were parted on the way does not follow their bytes"


def rate(sent_ns: Column, arrived_ns: Column, wire_bytes: Column, step_ns: int) -> Rate:
    """Look for a queue of a constant rate, or of one that changes in steps.

    Parameters
    ----------
    sent_ns, arrived_ns, wire_bytes
        Of the packets that arrived, in sending order.
    step_ns
        Of the cells in which it may change.
    """
    first, *others = (
        _rate(sent_ns, arrived_ns, wire_bytes, step_ns, apart) for apart in SPREAD_OUT
    )
    return next((one for one in others if one.steps and not first.steps), first)


def _rate(
    sent_ns: Column, arrived_ns: Column, wire_bytes: Column, step_ns: int, apart: float
) -> Rate:
    gap = np.diff(arrived_ns)
    waited = np.flatnonzero((gap > apart * np.diff(sent_ns)) & (gap >= LEAST_GAP_NS))
    pairs = len(waited)
    if pairs < LEAST_PAIRS:
        few = f"{pairs} packets arrived further apart than they were sent, fewer than {LEAST_PAIRS}"
        return Rate((), pairs, None, few if pairs else _NO_QUEUE)
    steps = _steps(sent_ns[waited + 1], wire_bytes[waited + 1], gap[waited], step_ns)
    if not steps:
        return Rate((), pairs, None, _NO_RATE)
    delay_ns = arrived_ns - sent_ns
    factor = _fitted(sent_ns, delay_ns, wire_bytes, steps)
    left_ns = delay_ns - queueing_ns(sent_ns, wire_bytes, steps, factor)
    variance = float(delay_ns.var())
    explained = 1 - float(left_ns.var()) / variance if variance > 0 else 0.0
    if explained < LEAST_EXPLAINED:
        bps = steps[0].bps.value
        reason = f"they would be of {bps / 1000:.0f} kbit/s, and such a queue explains no delay"
        return Rate((), pairs, max(explained, 0.0), f"{_NO_RATE}: {reason}")
    return Rate(tuple(_moved(one, factor) for one in steps), pairs, explained)


def queueing_ns(
    sent_ns: Column, wire_bytes: Column, steps: list[RateStep], factor: float = 1.0
) -> Column:
    """Return how long each packet waits in a queue and is sent, in ns; the rates times a factor.

    Each leaves at max over j <= i of (sent j + the time of all bytes from j to i).
    """
    place = np.searchsorted([one.at_ns for one in steps], sent_ns, side="right") - 1
    bps = np.array([one.bps.value for one in steps])[place] * factor
    own_ns = wire_bytes * BITS_NS / bps
    done_ns = np.cumsum(own_ns)
    since_ns = sent_ns - sent_ns[0]
    found: Column = np.maximum.accumulate(since_ns - (done_ns - own_ns)) + done_ns - since_ns
    return found


def _steps(at_ns: Column, wire_bytes: Column, gap_ns: Column, step_ns: int) -> list[RateStep]:
    """Cut pairs into stretches of one rate; those whose pairs do not agree say nothing."""
    each_bps = BITS_NS * wire_bytes / gap_ns
    # In logarithms, so that a change is a share; the stretches of delays know how to find them.
    change = float(np.log1p(CHANGE))
    resolution = Resolution(step_ns, delay_ms=change, delay_ratio=0, jitter_ms=change)
    found: list[tuple[float, list[slice]]] = []
    for one in stretches(at_ns, np.log(each_bps), resolution):
        part = slice(one.first, one.end)
        low, middle, high = np.quantile(each_bps[part], (0.25, 0.5, 0.75))
        if one.packets < LEAST_PAIRS or max(high - middle, middle - low) > WIDEST * middle:
            continue
        if found and abs(np.log(middle / found[-1][0])) <= change:
            found[-1][1].append(part)  # it only scatters more, or less
        else:
            found.append((middle, [part]))
    return [
        _step(
            int(at_ns[parts[0].start]) if number else 0, middle, each_bps, wire_bytes, gap_ns, parts
        )
        for number, (middle, parts) in enumerate(found)
    ]


def _step(
    at_ns: int,
    middle: float,
    each_bps: Column,
    wire_bytes: Column,
    gap_ns: Column,
    parts: list[slice],
) -> RateStep:
    """Return the rate of pairs: all their bytes by all their time, but for those far off."""
    rows = np.concatenate([np.arange(part.start, part.stop) for part in parts])
    rows = rows[np.abs(each_bps[rows] / middle - 1) <= WIDEST]
    bps = float(BITS_NS * wire_bytes[rows].sum() / gap_ns[rows].sum())
    error = float(DEVIATIONS * each_bps[rows].std() / np.sqrt(len(rows)))
    return RateStep(at_ns, Interval(bps, bps - error, bps + error))


def _fitted(sent_ns: Column, delay_ns: Column, wire_bytes: Column, steps: list[RateStep]) -> float:
    """Return the factor on the rates with which their queues leave the least of the delay.

    In a queue that is never empty, a rate that is off by a thousandth moves the delay by a
    millisecond every second.
    """
    from scipy.optimize import minimize_scalar

    def left(factor: float) -> float:
        rest_ms = (delay_ns - queueing_ns(sent_ns, wire_bytes, steps, factor)) / NS_PER_MS
        return float(rest_ms.var())

    best = minimize_scalar(
        left, bounds=(1 - FIT, 1 + FIT), method="bounded", options={"xatol": 1e-6}
    )
    return float(best.x) if best.fun < left(1.0) else 1.0


def _moved(step: RateStep, factor: float) -> RateStep:
    """Return a step at the rate of the fit; what pairs say otherwise is within its interval."""
    pairs, error = step.bps.value, step.bps.high - step.bps.value
    bps = pairs * factor
    half = max(error, abs(bps - pairs))
    return RateStep(step.at_ns, Interval(bps, bps - half, bps + half))
