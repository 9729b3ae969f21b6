"""Timer settings, inferred from what a sender did, with the evidence counted."""

from __future__ import annotations

from itertools import pairwise
from statistics import median
from typing import TYPE_CHECKING

from .heartbeat_intervals import idle_pairs
from .measure import Measure, seconds
from .model import Timer
from .rto import unclamped_s

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..dissectors.ledger import Row
    from .context import Context
    from .model import End

LATENESS = 0.1
"""A timer fires late by the sender's tick and never early: up to this share of its value."""

STAMPED_LATE = 1e-4
"""A tap stamps the packet that starts a timer a little after the start, so that the time until an
expiry is short by up to this share."""

MODEL_DOUBT = 1.5
"""The sender's RTO may differ from what is made of the round trips seen by this factor: it times
other chunks, in ticks."""

DOUBLING = 1.5
"""Two expiries in a row that grow by less than this factor were held by RTO.Max."""

MISSED = 1.8
"""HEARTBEATs this many periods apart have one missing between them."""


PROBE_FACTOR = 1.5
"""A path in PF is probed once an RTO (RFC 7829 section 3.2), give or take half an RTO."""


def infer_timers(
    context: Context, sender: End, given_up_after: list[list[Row]], vantage: str
) -> dict[str, Timer]:
    """Infer RTO, RTO.Min, RTO.Max, PMR, HEARTBEAT period and HB.Interval of a sender.

    Parameters
    ----------
    context
        The association.
    sender
        Whose timers.
    given_up_after
        For each handover away from a path that stopped answering, the expiries of T3-rtx in a
        row that led to it.
    vantage
        Where the capture was taken: in the receiver's, the sender's round trips are not seen.
    """
    timers: dict[str, Timer] = {}
    expiries = [
        row for row in context.sent(context.timeouts, sender) if row["elapsed_ns"] is not None
    ]
    if expiries:
        timers |= _rto(expiries, vantage)
    if given_up_after:
        timers["path_max_retrans"] = _path_max_retrans(given_up_after)
    timers |= _heartbeats(context, sender, timers.get("rto_s"))
    return timers


def nominal_s(measured_s: float) -> float:
    """Return the round setting that a late timer betrays.

    The largest number of one significant digit, else of two, that is at most `measured_s` and at
    most 10 % below it; `measured_s` itself when there is none (which cannot be: two digits
    always reach).
    """
    if measured_s <= 0:
        return measured_s
    exponent = 0
    while measured_s / 10.0**exponent >= 10:
        exponent += 1
    while measured_s / 10.0**exponent < 1:
        exponent -= 1
    for digits in (0, 1):
        step = 10.0 ** (exponent - digits)
        candidate = int(measured_s / step + 1e-9) * step
        if candidate >= measured_s * (1 - LATENESS):
            return round(candidate, 9)
    return measured_s


def _rto(expiries: list[Row], vantage: str) -> dict[str, Timer]:
    # What a gap block did to the timer is in doubt; such expiries count where there are no others.
    expiries = credible(expiries)
    certain = [row for row in expiries if row["earliest_armed_ns"] is None] or expiries
    elapsed = [seconds(row["elapsed_ns"]) for row in expiries]
    timers = {
        "rto_s": _setting(
            certain,
            "RTO in force at an expiry",
            f"T3-rtx expired {min(elapsed):.3f} s after it was started"
            if len(elapsed) == 1
            else f"T3-rtx expired {len(elapsed)} times, {min(elapsed):.3f} to {max(elapsed):.3f} s"
            " after it was started",
            shown=expiries,
        )
    }
    modelled = [(row, unclamped_s(row, vantage)) for row in certain]
    # RTO.Min is below every expiry: one much later than another was not held up by it, or was
    # the second of two of which the capture lacks the first.
    shortest_s = min(seconds(row["elapsed_ns"]) for row in certain)
    raised = [
        (row, model)
        for row, model in modelled
        if model is not None
        and not row["doublings"]
        and model * MODEL_DOUBT < seconds(row["elapsed_ns"]) < DOUBLING * shortest_s
    ]
    if raised:
        timers["rto_min_s"] = _setting(
            [row for row, _ in raised],
            "RTO in force at an expiry",
            f"SRTT + 4 RTTVAR was at most {max(model for _, model in raised):.3f} s, so RTO.Min"
            " held it up",
        )
    # RTO.Max bounds every expiry: one much sooner than another was not held down by it.
    longest_s = max(seconds(row["elapsed_ns"]) for row in certain)
    held = {
        row["frame"]: row
        for row, model in modelled
        if model is not None
        and model > MODEL_DOUBT * seconds(row["elapsed_ns"])
        and longest_s < DOUBLING * seconds(row["elapsed_ns"])
    }
    level = {
        later["frame"]: later
        for earlier, later in pairwise(certain)
        if later["path"] == earlier["path"]
        and later["consecutive"] == earlier["consecutive"] + 1
        and held_down(earlier, later)
    }
    if held or level:
        words = ["expiries in a row did not double"] * bool(level) + [
            "expiries came sooner than SRTT + 4 RTTVAR, doubled by those before"
        ] * bool(held)
        timers["rto_max_s"] = _setting(
            list((held | level).values()),
            None,
            f"{' and '.join(words)}, so RTO.Max held them down",
        )
    return timers


def credible(expiries: list[Row]) -> list[Row]:
    """Leave out expiries that came too soon after those before them in a row on their path.

    RTO does not fall while nothing is acknowledged. A longer wait before can have been that of
    several expiries, which sent nothing that the capture has: then it is a multiple. Else the timer
    was not started when it seems to have been: some senders keep it running for chunks that wait
    to be sent again.
    """
    too_soon = {
        id(later)
        for earlier, later in pairwise(expiries)
        if later["path"] == earlier["path"]
        and later["consecutive"] == earlier["consecutive"] + 1
        and later["elapsed_ns"] < (1 - LATENESS) * earlier["elapsed_ns"]
        and not _is_multiple(earlier["elapsed_ns"] / max(later["elapsed_ns"], 1))
    }
    return [row for row in expiries if id(row) not in too_soon]


def _is_multiple(ratio: float) -> bool:
    nearest = round(ratio)
    return nearest > 1 and abs(ratio - nearest) <= LATENESS * nearest


def _setting(rows: list[Row], note: str | None, text: str, shown: list[Row] | None = None) -> Timer:
    """Make a setting of the least time to an expiry; `shown` are the rows in evidence."""
    shown = rows if shown is None else shown
    least = min(seconds(row["elapsed_ns"]) for row in rows)
    value = nominal_s(least * (1 + STAMPED_LATE))
    low = round(least * (1 - LATENESS), 9)
    return Timer(
        Measure(value, "inferred", low, max(least, value), note=note),
        len(shown),
        tuple(row["frame"] for row in shown),
        text,
    )


def held_down(earlier: Row, later: Row) -> bool:
    """Tell whether RTO.Max kept the RTO from doubling between two expiries in a row."""
    if earlier["elapsed_ns"] is None or later["elapsed_ns"] is None:
        return False
    return bool(later["elapsed_ns"] < DOUBLING * earlier["elapsed_ns"])


def _path_max_retrans(given_up_after: list[list[Row]]) -> Timer:
    seen = [len(chain) for chain in given_up_after]
    counts = [
        len(chain) + unseen_expiries([row["elapsed_ns"] for row in chain])
        for chain in given_up_after
    ]
    frames = tuple(row["frame"] for chain in given_up_after for row in chain)
    text = (
        f"the path was given up at expiry {' and '.join(map(str, sorted(set(counts))))} in a row:"
        " one more than Path.Max.Retrans (RFC 9260 section 8.2)"
    )
    if hidden := sum(counts) - sum(seen):
        text += f"; {hidden} of them sent nothing that the capture has: a wait longer than one RTO"
    return Timer(
        Measure(min(counts) - 1, "inferred", min(seen) - 1, max(counts) - 1),
        len(counts),
        frames,
        text,
    )


def unseen_expiries(waits: Sequence[float | None]) -> int:
    """Expiries in a row of which the capture has no retransmission, by the times each took.

    The RTO does not fall from one to the next: a wait that is longer than the one after it was
    several, and something kept their retransmissions from the wire.
    """
    return sum(
        round(earlier / later) - 1
        for earlier, later in pairwise(waits)
        if earlier is not None and later is not None and earlier > DOUBLING * later
    )


def _heartbeats(context: Context, sender: End, rto: Timer | None) -> dict[str, Timer]:
    """HEARTBEAT period on idle paths: RTO + HB.Interval, +- half an RTO (RFC 9260 section 8.3).

    What may be the probing of a path in PF says nothing of HB.Interval, and is left out.
    """
    rto_value = None if rto is None else rto.measure.value
    gaps: list[float] = []
    # The same, if the timer was started by the HEARTBEAT ACK, as Linux does.
    waits: list[float] = []
    found: list[int] = []
    for path in range(len(context.paths)):
        expired_ns = min(
            (row["time_ns"] for row in context.sent(context.timeouts, sender, path)), default=None
        )
        for earlier, later in idle_pairs(context, sender, path):
            gap = seconds(later["time_ns"] - earlier["time_ns"])
            has_expired = expired_ns is not None and expired_ns <= later["time_ns"]
            if has_expired and rto_value is not None and gap <= PROBE_FACTOR * rto_value:
                continue
            gaps.append(gap)
            waits.append(gap - seconds(earlier["rtt_ns"] or 0))
            found.append(later["frame"])
    if len(gaps) < 2:
        return {}
    period, frames = median(gaps), tuple(found)
    # A HEARTBEAT that was lost before the tap leaves a gap of several periods.
    near = [gap for gap in gaps if gap < MISSED * period]
    text = f"{len(gaps)} HEARTBEATs on an idle path, median {period:.3f} s apart"
    # Of two that are far apart, the median lies between what is near and what is not.
    measure = Measure(period, "inferred", min(near), max(*near, period))
    timers = {"heartbeat_period_s": Timer(measure, len(gaps), frames, text)}
    if rto is not None and rto.measure.value is not None:
        rto_s = float(rto.measure.value)
        low, high = max(0.0, min(waits) - 1.5 * rto_s), max(0.0, max(near) - 0.5 * rto_s)
        value = min(max(low, round(period - rto_s, 3)), high)
        timers["hb_interval_s"] = Timer(
            Measure(value, "inferred", low, high),
            len(gaps),
            frames,
            f"the period less the RTO of {rto_s:g} s",
        )
    return timers


def failover_s(rto_s: float, rto_max_s: float | None, expiries: int) -> float:
    """Sum of `time_outs_s`: with PMR + 1 expiries the form of Chen 2010 and RFC 9260 section 8.2.

    With PMR expiries it is that of Bokor 2010.
    """
    return sum(time_outs_s(rto_s, rto_max_s, expiries))


def time_outs_s(rto_s: float, rto_max_s: float | None, expiries: int) -> tuple[float, ...]:
    """Return so many time-outs in a row, each double the one before, at most RTO.Max.

    RFC 9260 section 6.3.3 (E2). RTO.Max does not lower the first.
    """
    found, rto = [], rto_s
    for _ in range(expiries):
        found.append(rto)
        rto = rto * 2 if rto_max_s is None else min(rto * 2, max(rto_max_s, rto_s))
    return tuple(found)
