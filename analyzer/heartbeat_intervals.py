"""Times between HEARTBEATs of an idle path, against what the standard makes of the settings.

RFC 9260 section 8.3: one RTO of the path plus HB.Interval, varied by up to half an RTO.
"""

from __future__ import annotations

from itertools import pairwise
from statistics import median
from typing import TYPE_CHECKING

from .measure import Measure, seconds

if TYPE_CHECKING:
    from .context import Context
    from .model import End, Timer

LATENESS = 0.1
"""A timer fires late by the sender's tick, up to this share of the RTO."""

NAMES = ("interval_median_s", "interval_low_s", "interval_high_s", "interval_in_bounds_ratio")


def heartbeat_intervals(
    context: Context, sender: End, path: int, timers: dict[str, Timer]
) -> dict[str, Measure]:
    """Count the intervals of an idle path, and those that lie in the bounds."""
    gaps = idle_gaps_s(context, sender, path)
    count = {"interval_samples": Measure.observed(len(gaps))}
    if not gaps:
        return count | dict.fromkeys(NAMES, Measure.absent("no two HEARTBEATs on the idle path"))
    middle = {"interval_median_s": Measure.observed(median(gaps))}
    rto_s, hb_s = _path_rto_s(context, sender, path, timers), _value(timers, "hb_interval_s")
    if rto_s is None or hb_s is None:
        reason = "needs RTO and HB.Interval, inferred from expiries and HEARTBEATs"
        return count | middle | dict.fromkeys(NAMES[1:], Measure.absent(reason))
    low, high = hb_s + rto_s / 2, hb_s + rto_s * 1.5
    inside = sum(low <= gap <= high + LATENESS * rto_s for gap in gaps)
    share = inside / len(gaps)
    return (
        count
        | middle
        | {
            "interval_low_s": Measure(low, "inferred", low, low),
            "interval_high_s": Measure(high, "inferred", high, high),
            "interval_in_bounds_ratio": Measure(share, "inferred", share, share),
        }
    )


def idle_gaps_s(context: Context, sender: End, path: int) -> list[float]:
    """Times from one HEARTBEAT to the next with no DATA of the sender on the path in between."""
    return [
        seconds(later["time_ns"] - earlier["time_ns"])
        for earlier, later in pairwise(context.sent(context.heartbeats, sender, path))
        if not context.bins.carried_data(path, sender, earlier["time_ns"], later["time_ns"])
    ]


def _path_rto_s(context: Context, sender: End, path: int, timers: dict[str, Timer]) -> float | None:
    """RTO of the path: by its round trips between RTO.Min and RTO.Max, else that of expiries."""
    totals = context.bins.totals.get((path, sender))
    least, most = _value(timers, "rto_min_s"), _value(timers, "rto_max_s")
    if totals is None or totals.rto_model_ns is None or least is None:
        return _value(timers, "rto_s")
    rto_s = max(seconds(totals.rto_model_ns), least)
    return rto_s if most is None else min(rto_s, max(most, least))


def _value(timers: dict[str, Timer], name: str) -> float | None:
    timer = timers.get(name)
    return None if timer is None or timer.measure.value is None else float(timer.measure.value)
