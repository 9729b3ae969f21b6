"""What a failover would have cost at other settings: a model of RFC 9260 sections 6.3 and 8.

From the failure on, the first DATA that stays unanswered waits for T3-rtx. It expires after the
RTO, which doubles at every expiry up to RTO.Max (section 6.3.3). At expiry Path.Max.Retrans + 1 the
path is given up (section 8.2), or left already at expiry PotentiallyFailed.Max.Retrans + 1 (RFC
7829), and new DATA goes elsewhere. Back to it leads the next HEARTBEAT after the link's return, one
each RTO +- 50 % + HB.interval (section 8.3). What settings do not decide (when the timer
was started, what the sender did between expiries, how soon it had DATA to send) is taken from the
handover that was seen.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from .measure import Measure
from .timers import LATENESS, time_outs_s

if TYPE_CHECKING:
    from collections.abc import Iterator

    from .circumstances import Circumstances, Span
    from .settings import Settings

JITTER = 0.5
"""Share of the RTO by which HEARTBEATs vary (RFC 9260 section 8.3)."""


@dataclass(frozen=True, slots=True)
class Prediction:
    """What a handover would cost at some settings.

    Attributes
    ----------
    settings
        All of them.
    time_outs_s
        The time-outs until new DATA would leave the path, as the RFC has them.
    metrics
        `failure_detection_s`, `link_failure_recovery_s`, `data_interruption_s`,
        `link_recognition_s`, each with its bounds or the reason why it cannot be told.
    caveats
        What makes the model's word doubtful at these settings.
    """

    settings: Settings
    time_outs_s: tuple[float, ...]
    metrics: dict[str, Measure]
    caveats: tuple[str, ...]


def predict(seen: Circumstances, settings: Settings) -> Prediction:
    """Say what a failover in these circumstances would cost at these settings."""
    waits = _waits(seen, settings)
    late = (*waits[:2], tuple(wait * (1 + LATENESS) for wait in waits[2]))
    pauses_s = seen.pause_s * (len(waits[0]) - 1)
    value, least, most = (sum(one) for one in late)
    detection = _sum(_lead_s(seen), (value + pauses_s, least, most + 2 * pauses_s))
    recovery = _sum(detection, (seen.move_s, seen.move_s, seen.move_s))
    return Prediction(
        settings,
        waits[0],
        {
            "failure_detection_s": detection,
            "link_failure_recovery_s": recovery,
            "data_interruption_s": _interruption(seen, settings, late),
            "link_recognition_s": _recognition(seen, settings, waits),
        },
        tuple(_caveats(seen, waits[0])),
    )


def _caveats(seen: Circumstances, waits: tuple[float, ...]) -> Iterator[str]:
    if waits[0] <= seen.answer_s:
        yield (
            f"the RTO of {waits[0]:g} s is not above the other path's round trip and a SACK delay,"
            f" {seen.answer_s:.3f} s: T3-rtx expires there too, for nothing, and what it sends"
            " back to the failed path can pass for a sign of life"
        )


def _waits(seen: Circumstances, settings: Settings) -> tuple[tuple[float, ...], ...]:
    """Return the time-outs until the path is left: as they should be, at least and at most."""
    ceilings = (settings.rto_max.value, *settings.rto_max.bounds)
    floors = (settings.rto_min.value, *settings.rto_min.bounds)
    found = []
    initial_s = settings.rto_initial.value or 0.0
    calculated = seen.calculated_rto_s or (initial_s, initial_s, initial_s)
    for calculated_s, least_s, most_s in zip(calculated, floors, ceilings, strict=True):
        ceiling_s = most_s or 0.0
        rto_s = min(max(calculated_s, least_s or 0.0), ceiling_s)
        found.append(time_outs_s(rto_s, ceiling_s, expiries_to_move(settings)))
    return found[0], found[1], found[2]


def expiries_to_move(settings: Settings) -> int:
    """Return at which expiry in a row new DATA leaves a path."""
    given_up = int(settings.pmr.value or 0) + 1
    if settings.pf.value is None:
        return given_up
    return min(given_up, int(settings.pf.value) + 1)


def _lead_s(seen: Circumstances) -> Measure:
    """The failure could as well have fallen elsewhere between two packets of DATA."""
    lead = seen.lead_s
    if lead.value is None:
        return lead
    spread = abs(lead.value)
    low = lead.value if lead.low is None else lead.low
    high = lead.value if lead.high is None else lead.high
    return Measure(lead.value, "inferred", min(low, -spread), max(high, spread))


def _interruption(
    seen: Circumstances, settings: Settings, waits: tuple[tuple[float, ...], ...]
) -> Measure:
    """From the last DATA on the old path to the first on the new one.

    After an expiry the window is one packet (RFC 9260 section 7.2.3), which DATA that queued fills
    at once: then it is the last wait. While the first timer runs, DATA goes on until the window
    that the path had is full.
    """
    last, least, most = (one[-1] for one in waits)
    is_first = len(waits[0]) == 1
    is_alike = len(waits[0]) == seen.expiries
    filling_s = seen.filling_s if is_alike else 0.0
    value = last / 2 if is_first and not is_alike else max(0.0, last - filling_s)
    # A HEARTBEAT that falls into the wait can take waiting DATA with it: Linux does so.
    is_probed = last > (settings.hb_interval.value or 0.0)
    low = 0.0 if is_probed or not is_alike else max(0.0, least - filling_s)
    high = most if is_first or not is_alike else max(0.0, most - filling_s)
    return Measure(value + seen.move_s, "inferred", low + seen.move_s, high + seen.move_s)


def _recognition(
    seen: Circumstances, settings: Settings, waits: tuple[tuple[float, ...], ...]
) -> Measure:
    """From the link's return to new DATA on it: a round trip, and the wait for the next HEARTBEAT.

    That comes at once, or as late as two HEARTBEATs can be apart.
    """
    rtt, least, most = seen.rtt_s
    interval_s, rto_s = _probing(seen, settings, waits[0][0], 1.0)
    longest = 0.0
    for first in waits:
        for spread in (1 - JITTER, 1.0, 1 + JITTER):
            widest_s, backed_off_s = _probing(seen, settings, first[0], spread)
            longest = max(longest, widest_s + (1 + JITTER) * backed_off_s)
    interval = settings.hb_interval
    late = longest + (interval.bounds[1] or 0.0) - (interval.value or 0.0)
    return Measure(
        (interval_s + rto_s) / 2 + rtt,
        "inferred",
        least,
        late * (1 + LATENESS) + most + seen.send_s,
        note="the return falls anywhere between two HEARTBEATs"
        + ("" if seen.down_s is not None else "; taken to be as soon as the path was left"),
    )


def _probing(
    seen: Circumstances, settings: Settings, rto_s: float, spread: float
) -> tuple[float, float]:
    """HB.interval and RTO in force at the link's return, HEARTBEATs being `spread` RTOs apart.

    Each that stays unanswered doubles the RTO (RFC 9260 section 8.3), as each expiry did before.
    In PF, HEARTBEATs come at every RTO, without HB.interval (RFC 7829 section 3.2), until the
    error count exceeds Path.Max.Retrans.
    """
    ceiling_s = max(settings.rto_max.value or 0.0, rto_s)
    errors = expiries_to_move(settings)
    rto_s = time_outs_s(rto_s, ceiling_s, errors + 1)[-1]
    remaining_s = seen.down_s or 0.0
    while True:
        in_pf = settings.pf.value is not None and errors <= (settings.pmr.value or 0)
        interval_s = 0.0 if in_pf else settings.hb_interval.value or 0.0
        period_s = interval_s + spread * rto_s
        settled = not in_pf and rto_s >= ceiling_s
        if settled or period_s >= remaining_s:
            return interval_s, rto_s
        remaining_s -= period_s
        errors += 1
        rto_s = min(2 * rto_s, ceiling_s)


def _sum(first: Measure, more: Span) -> Measure:
    if first.value is None:
        return first
    low = first.value if first.low is None else first.low
    high = first.value if first.high is None else first.high
    value, least, most = more
    return Measure(first.value + value, "inferred", low + least, high + most)
