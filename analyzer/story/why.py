"""Why a handover took as long as it did: the parts that weigh, and what decides them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..circumstances import FAILURES
from ..measure import seconds

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ..model import Association, Handover
    from .model import Phase

WORTH_A_WORD = 0.1
"""From this share of the whole on, a part that no timer decides is mentioned."""


def tell_why(
    association: Association, handover: Handover, phases: Sequence[Phase]
) -> tuple[str, ...]:
    """Return the reasons, the heaviest part first."""
    if not phases:
        return (handover.cause_text,)
    if handover.cause in FAILURES:
        return tuple(_failure(association, handover, phases))
    if handover.cause == "path-returned":
        return tuple(_return(association, handover, phases))
    return (handover.cause_text, *_others(phases))


def _failure(
    association: Association, handover: Handover, phases: Sequence[Phase]
) -> Iterator[str]:
    total_s = _total_s(phases)
    waits_s = [one.elapsed_s for one in handover.timeouts if one.elapsed_s is not None]
    detected_s = sum(_s(phase) for phase in phases if phase.name in ("first-wait", "back-off"))
    count = len(handover.timeouts)
    what = (
        "a path is potentially failed at expiry PotentiallyFailed.Max.Retrans + 1"
        if handover.cause == "potentially-failed"
        else "a path is given up at expiry Path.Max.Retrans + 1"
    )
    if waits_s:
        waits = " + ".join(f"{wait:.3f}" for wait in waits_s)
        yield (
            f"{detected_s:.3f} s of {total_s:.3f} s ({_share(detected_s, total_s)}) went by in"
            f" waiting for T3-rtx, {waits} s: {what} = {count}"
        )
    timers = association.timers[handover.sender]
    if "rto_min_s" in timers:
        least = timers["rto_min_s"]
        yield f"RTO.Min of {least.measure.value:g} s set the first wait: {least.text}"
    if len(waits_s) > 1:
        held = "rto_max_s" in timers
        yield (
            f"RTO.Max of {timers['rto_max_s'].measure.value:g} s kept the RTO from doubling"
            if held
            else "the RTO doubled at each expiry: the last wait is as long as all before it"
        )
    yield from _others(phases)


def _return(association: Association, handover: Handover, phases: Sequence[Phase]) -> Iterator[str]:
    total_s = _total_s(phases)
    waited_s = sum(_s(phase) for phase in phases if phase.name == "unprobed")
    yield handover.cause_text
    if waited_s:
        yield (
            f"{waited_s:.3f} s of {total_s:.3f} s ({_share(waited_s, total_s)}) went by before a"
            " HEARTBEAT was sent: they are HB.interval + RTO apart, and the link does not tell"
        )
    interval = association.timers[handover.sender].get("hb_interval_s")
    if interval is not None:
        yield f"HB.interval is about {interval.measure.value:g} s"
    yield from _others(phases)


def _others(phases: Sequence[Phase]) -> Iterator[str]:
    """Parts that no timer decides, where they weigh."""
    total_s = _total_s(phases)
    for phase in phases:
        weighs = _s(phase) >= WORTH_A_WORD * total_s
        if weighs and phase.name in ("unnoticed", "moving", "recovery", "request", "quiet"):
            yield f"{_s(phase):.3f} s ({_share(_s(phase), total_s)}) {phase.text}"


def _s(phase: Phase) -> float:
    return seconds(phase.end_ns - phase.start_ns)


def _total_s(phases: Sequence[Phase]) -> float:
    return sum(_s(phase) for phase in phases)


def _share(part_s: float, total_s: float) -> str:
    return f"{part_s / total_s:.0%}"
