"""How long packets took: steps of mean and deviation, and one distribution of what is left.

Netem draws a delay as delay + jitter x a value of a table with mean 0 and deviation 1. So delay is
the mean and jitter the standard deviation of a step's packets, and the table is what these packets'
delays are distributed like once both are taken out.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from .model import NO_VALUES, DelayStep
from .stretches import stretches

if TYPE_CHECKING:
    from ....analyzer.columns import Column
    from .model import Resolution

QUANTILES = 256
LEAST_FOR_TABLE = 50
"""Fewer packets do not show the form of a distribution."""

WIDEST = 32767 / 8192
"""Deviations: where netem's tables end, as 8192 of 16 bits are one."""

MOST_CUTS = 20
OFF = 0.04
"""By so much mean and deviation of a table may be off: of profiles it is 0.05."""


def delay_steps(sent_ns: Column, delay_ms: Column, resolution: Resolution) -> list[DelayStep]:
    """Cut the delays of packets, in sending order, into steps."""
    if not len(sent_ns):
        return []
    found = stretches(sent_ns, delay_ms, resolution)
    return [
        DelayStep(
            _start_ns(sent_ns, one.first, resolution.step_ns),
            one.mean_ms,
            one.deviation_ms if one.deviation_ms >= resolution.jitter_ms else 0.0,
            one.packets,
        )
        for one in found
    ]


def table(sent_ns: Column, delay_ms: Column, steps: list[DelayStep]) -> Column:
    """Return quantiles of the delays, standardised by the step of each, ascending.

    Their mean is 0 and their deviation 1, to within `OFF`. Empty where too few packets show any
    jitter, or some that netem cannot make: a few packets that are all of it.
    """
    values = residuals_ms(sent_ns, delay_ms, steps)
    jitter_ms = _by_step(sent_ns, steps, [one.jitter_ms for one in steps])
    varied = jitter_ms > 0
    if int(varied.sum()) < LEAST_FOR_TABLE:
        return NO_VALUES
    values = values[varied] / jitter_ms[varied]
    quantiles = np.quantile(np.clip(values, -WIDEST, WIDEST), np.linspace(0, 1, QUANTILES))
    found: Column = np.round(_standardised(quantiles), 4)
    return found


def _standardised(quantiles: Column) -> Column:
    """Make up for what the tails were cut by, at the cost of the form; empty where that is all.

    What is stretched may reach beyond netem's tables again, and is cut again.
    """
    for _ in range(MOST_CUTS):
        mean, deviation = moments(quantiles)
        if abs(mean) <= OFF and abs(deviation - 1) <= OFF:
            return quantiles
        if deviation == 0:
            break
        quantiles = np.clip((quantiles - mean) / deviation, -WIDEST, WIDEST)
    return NO_VALUES


def moments(quantiles: Column) -> tuple[float, float]:
    """Return mean and deviation of a distribution by quantiles from the least to the greatest.

    They are evenly spaced in probability, and between two of them every value is as likely.
    """
    low, high = quantiles[:-1], quantiles[1:]
    mean = float((low + high).mean() / 2)
    square = float((low**2 + low * high + high**2).mean() / 3)
    return mean, max(0.0, square - mean**2) ** 0.5


def residuals_ms(sent_ns: Column, delay_ms: Column, steps: list[DelayStep]) -> Column:
    """Return what a packet's delay is above that of its step; 0 in a step without jitter."""
    mean_ms, jitter_ms = (
        _by_step(sent_ns, steps, [getattr(one, name) for one in steps])
        for name in ("delay_ms", "jitter_ms")
    )
    found: Column = np.where(jitter_ms > 0, delay_ms - mean_ms, 0.0)
    return found


def _by_step(sent_ns: Column, steps: list[DelayStep], values: list[float]) -> Column:
    """Return for each packet the value of its step."""
    place = np.searchsorted([one.at_ns for one in steps], sent_ns, side="right") - 1
    # The first step is from time 0, before any packet.
    found: Column = np.array(values)[place] if steps else np.zeros(len(sent_ns))
    return found


def _start_ns(sent_ns: Column, first: int, step_ns: int) -> int:
    """Return from when a step is: half way from the packet before, but not long before its first.

    What no packet shows keeps the last value.
    """
    if first == 0:
        return 0
    before_ns, own_ns = int(sent_ns[first - 1]), int(sent_ns[first])
    return max((before_ns + own_ns) // 2, own_ns - step_ns)
