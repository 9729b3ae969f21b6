"""What a failover depended on: the sender's settings, and what settings do not decide."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import fmean
from typing import TYPE_CHECKING

from .measure import NS_PER_S, Instant, Measure, elapsed_s
from .settings import SUGGESTED, Setting, Settings
from .timers import nominal_s, unseen_expiries

if TYPE_CHECKING:
    from .model import Association, End, Handover, Path, Timeout, Timer

FAILURES = ("timeout", "potentially-failed")
"""Causes of handovers that time-outs led to."""

USUAL_SACK_DELAY_S = 0.2
"""RFC 9260 section 6.2 wants SACKs within 200 ms; a packet that comes alone waits so long."""

Span = tuple[float, float, float]
"""A value with its least and greatest, in seconds."""


@dataclass(frozen=True, slots=True)
class Circumstances:
    """What a failover depends on beside its settings, as seen in one handover.

    Attributes
    ----------
    expiries
        Of T3-rtx in a row before the move.
    lead_s
        From the failure to the start of the timer that expired first; less than 0 where the timer
        ran already. Absent where one of them is not known.
    pause_s
        Mean time from an expiry to the timer's next start.
    move_s
        From the decision to the first new DATA on the new path.
    filling_s
        How long after the last start of the timer DATA still went out on the old path: until the
        window was full.
    calculated_rto_s
        SRTT + 4 RTTVAR, before RTO.Min and RTO.Max bound it; None where no round trip was measured
        on the path, so that RTO.Initial counts.
    rtt_s
        Round trip on the path.
    send_s
        Longest that the sender took from a HEARTBEAT ACK to new DATA on the path; else move_s.
    answer_s
        A round trip on the new path, where a single packet's SACK is put off.
    down_s
        From the decision to the link's return; None where it is not seen to return.
    """

    expiries: int
    lead_s: Measure
    pause_s: float
    move_s: float
    filling_s: float
    calculated_rto_s: Span | None
    rtt_s: Span
    send_s: float
    answer_s: float
    down_s: float | None


def can_predict(handover: Handover) -> bool:
    """Whether time-outs led to a handover, so that settings of timers decide what it costs."""
    return handover.cause in FAILURES and bool(handover.timeouts)


def settings_of(association: Association, handover: Handover) -> Settings:
    """Return the settings that a failover shows; the RFC's suggestion for those it does not."""
    timers = association.timers[handover.sender]
    waits = [one.elapsed_s for one in handover.timeouts]
    count = len(waits) + unseen_expiries(waits)
    left_early = handover.cause == "potentially-failed"
    limit = Setting(count - 1, "inferred")
    rto_s = _first_rto_s(handover)
    ceiling = timers.get("rto_max_s")
    seen_s = max((nominal_s(wait) for wait in waits if wait is not None), default=0.0)
    measured = _calculated_rto_s(association, handover) is not None
    return Settings(
        rto_initial=SUGGESTED.rto_initial
        if measured or rto_s is None
        else Setting(rto_s, "inferred"),
        rto_min=_of_timer(timers.get("rto_min_s")) or _not_above(SUGGESTED.rto_min, rto_s),
        rto_max=_of_timer(ceiling) or _not_below(SUGGESTED.rto_max, seen_s),
        pmr=_not_below(SUGGESTED.pmr, count) if left_early else limit,
        pf=limit if left_early else Setting(None, "inferred"),
        hb_interval=_of_timer(timers.get("hb_interval_s")) or SUGGESTED.hb_interval,
    )


def _of_timer(timer: Timer | None) -> Setting | None:
    if timer is None or timer.measure.value is None:
        return None
    return Setting(timer.measure.value, "inferred", timer.measure.low, timer.measure.high)


def _not_above(suggested: Setting, seen: float | None) -> Setting:
    """Keep to the RFC's suggestion unless what was seen denies it."""
    if seen is None or suggested.value is None or suggested.value <= seen:
        return suggested
    return Setting(seen, "inferred", 0.0, seen)


def _not_below(suggested: Setting, seen: float) -> Setting:
    if suggested.value is None or suggested.value >= seen:
        return suggested
    return Setting(seen, "inferred")


def circumstances(association: Association, handover: Handover) -> Circumstances:
    """Return what a failover depended on beside its settings.

    Raises
    ------
    ValueError
        When no time-out led to the handover.
    """
    if not can_predict(handover):
        raise ValueError(f"no time-out led to this handover, but {handover.cause}")
    waits, instants = handover.timeouts, handover.instants
    first, last = waits[0], waits[-1]
    starts = [_started_ns(one) for one in waits]
    pauses = [
        max(0, start - (earlier.at.ns or 0)) / NS_PER_S
        for earlier, start in zip(waits, starts[1:], strict=False)
        if start is not None
    ]
    interrupted = handover.metrics["data_interruption_s"].value or 0.0
    move_s = handover.metrics["handover_delay_s"].value or 0.0
    path = association.paths[handover.from_path]
    back = way_back(association, handover)
    return Circumstances(
        expiries=len(waits),
        lead_s=_lead_s(instants["t_fail"], first),
        pause_s=fmean(pauses) if pauses else 0.0,
        move_s=move_s,
        filling_s=max(0.0, (last.elapsed_s or interrupted) + move_s - interrupted),
        calculated_rto_s=_calculated_rto_s(association, handover),
        rtt_s=_round_trip_s(path, handover.sender),
        send_s=move_s if back is None else back.metrics["handover_delay_s"].value or 0.0,
        answer_s=_answer_s(association, handover),
        down_s=None if back is None else _down_s(handover, back),
    )


def _first_rto_s(handover: Handover) -> float | None:
    """RTO in force at the failure: the RTO does not fall, so that a longer wait was several."""
    waits = [one.elapsed_s for one in handover.timeouts if one.elapsed_s is not None]
    return nominal_s(min(waits)) if waits else None


def _started_ns(timeout: Timeout) -> int | None:
    if timeout.elapsed_s is None or timeout.at.ns is None:
        return None
    return timeout.at.ns - round(timeout.elapsed_s * NS_PER_S)


def _lead_s(fail: Instant, first: Timeout) -> Measure:
    start_ns = _started_ns(first)
    if start_ns is None:
        return Measure.absent("the start of the timer that expired first is not in the capture")
    return elapsed_s(fail, Instant.seen(start_ns, first.at.frame or 0))


def _calculated_rto_s(association: Association, handover: Handover) -> Span | None:
    """SRTT + 4 RTTVAR before the failure, as far as one capture tells it.

    The mean and deviation of the path's round trips stand for SRTT and RTTVAR where RTO.Min held
    the RTO up; else what was in force is the calculated one.
    """
    metrics = association.paths[handover.from_path].directions[handover.sender].metrics
    names = ("rtt_mean_ns", "rtt_sd_ns", "rtt_min_ns", "rtt_max_ns")
    found = [metrics[name].value for name in names]
    if found[0] is None:
        return None
    mean, deviation, least, most = (float(one or 0) / NS_PER_S for one in found)
    value, high = mean + 4 * deviation, most + 4 * (most - least)
    in_force = _first_rto_s(handover)
    if in_force is None:
        return value, least, high
    if "rto_min_s" not in association.timers[handover.sender]:
        return in_force, min(value, in_force), in_force
    return min(value, in_force), min(least, in_force), min(high, in_force)


def _round_trip_s(path: Path, sender: End) -> Span:
    metrics = path.directions[sender].metrics
    least, mean, most = (
        float(metrics[f"rtt_{name}_ns"].value or 0) / NS_PER_S for name in ("min", "mean", "max")
    )
    return mean, least, most


def _answer_s(association: Association, handover: Handover) -> float:
    path = association.paths[handover.to_path]
    return _round_trip_s(path, handover.sender)[1] + USUAL_SACK_DELAY_S


def way_back(association: Association, handover: Handover) -> Handover | None:
    """Return the first handover back to the path after its link's return, if that is seen."""
    for later in association.handovers:
        if (later.sender, later.to_path) != (handover.sender, handover.from_path):
            continue
        down_s = _down_s(handover, later)
        if down_s is not None and down_s >= 0:
            return later
    return None


def _down_s(handover: Handover, back: Handover) -> float | None:
    decision_ns = handover.instants["t_decision"].ns
    returned_ns = back.instants["t_return_link"].ns
    if decision_ns is None or returned_ns is None:
        return None
    return (returned_ns - decision_ns) / NS_PER_S
