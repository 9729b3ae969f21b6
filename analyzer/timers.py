"""Timer settings, inferred from what a sender did, with the evidence counted."""

from __future__ import annotations

from itertools import pairwise
from statistics import median
from typing import TYPE_CHECKING

from .measure import Measure, seconds
from .model import Timer

if TYPE_CHECKING:
    from ..dissectors.ledger import Row
    from .context import Context
    from .model import End

LATENESS = 0.1
"""A timer fires late by the sender's tick and never early: up to this share of its value."""

DOUBLING = 1.5
"""Two expiries in a row that grow by less than this factor were held by RTO.Max."""

MISSED = 1.8
"""HEARTBEATs this many periods apart have one missing between them."""


PROBE_FACTOR = 1.5
"""A path in PF is probed once an RTO (RFC 7829 section 3.2), give or take half an RTO."""


def infer_timers(
    context: Context, sender: End, given_up_after: list[list[Row]]
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
    """
    timers: dict[str, Timer] = {}
    expiries = [
        row for row in context.sent(context.timeouts, sender) if row["elapsed_ns"] is not None
    ]
    if expiries:
        timers |= _rto(context, sender, expiries)
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


def _rto(context: Context, sender: End, expiries: list[Row]) -> dict[str, Timer]:
    elapsed = [seconds(row["elapsed_ns"]) for row in expiries]
    frames = tuple(row["frame"] for row in expiries)
    first = [seconds(row["elapsed_ns"]) for row in expiries if row["consecutive"] == 1]
    least = min(elapsed)
    value = nominal_s(least)
    rto = Measure(
        value, "inferred", round(least * (1 - LATENESS), 9), least, note="RTO in force at an expiry"
    )
    timers = {
        "rto_s": Timer(
            rto,
            len(elapsed),
            frames,
            f"T3-rtx expired {min(elapsed):.3f} s after it was started"
            if len(elapsed) == 1
            else f"T3-rtx expired {len(elapsed)} times, {min(elapsed):.3f} to {max(elapsed):.3f} s"
            " after it was started",
        )
    }
    calculated = _calculated_rto_s(context, sender)
    if first and calculated is not None and calculated < least * (1 - LATENESS):
        timers["rto_min_s"] = Timer(
            rto,
            len(first),
            frames,
            f"SRTT + 4 RTTVAR would be {calculated:.3f} s, so RTO.Min held it up",
        )
    held = [
        later["elapsed_ns"]
        for earlier, later in pairwise(expiries)
        if later["path"] == earlier["path"]
        and later["consecutive"] == earlier["consecutive"] + 1
        and held_down(earlier, later)
    ]
    if held:
        ceiling = seconds(min(held))
        timers["rto_max_s"] = Timer(
            Measure(nominal_s(ceiling), "inferred", round(ceiling * (1 - LATENESS), 9), ceiling),
            len(held),
            frames,
            "expiries in a row did not double, so RTO.Max held them down",
        )
    return timers


def held_down(earlier: Row, later: Row) -> bool:
    """Tell whether RTO.Max kept the RTO from doubling between two expiries in a row."""
    if earlier["elapsed_ns"] is None or later["elapsed_ns"] is None:
        return False
    return bool(later["elapsed_ns"] < DOUBLING * earlier["elapsed_ns"])


def _calculated_rto_s(context: Context, sender: End) -> float | None:
    """Return what RFC 9260 section 6.3.1 would make of the RTTs seen: mean + 4 deviations."""
    rows = [
        row
        for row in context.sent(context.rtt, sender)
        if row["kind"] == "sack"
        and any(t["path"] == row["path"] for t in context.sent(context.timeouts, sender))
    ]
    if not rows:
        return None
    return max(float(row["mean_ns"] + 4 * row["sd_ns"]) / 1e9 for row in rows)


def _path_max_retrans(given_up_after: list[list[Row]]) -> Timer:
    seen = [len(chain) for chain in given_up_after]
    counts = [len(chain) + _unseen(chain) for chain in given_up_after]
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


def _unseen(chain: list[Row]) -> int:
    """Expiries in a row of which the capture has no retransmission.

    The RTO does not fall from one to the next: a wait that is longer than the one after it was
    several, and something kept their retransmissions from the wire.
    """
    waits = [row["elapsed_ns"] for row in chain]
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
    waits: list[
        float
    ] = []  # the same, if the timer was started by the HEARTBEAT ACK, as Linux does
    found: list[int] = []
    for path in range(len(context.paths)):
        beats = context.sent(context.heartbeats, sender, path)
        expired_ns = min(
            (row["time_ns"] for row in context.sent(context.timeouts, sender, path)), default=None
        )
        for earlier, later in pairwise(beats):
            if context.bins.carried_data(path, sender, earlier["time_ns"], later["time_ns"]):
                continue
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
    measure = Measure(period, "inferred", min(near), max(near))
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
    """Sum of `expiries` time-outs in a row, each double the one before, at most RTO.Max.

    RFC 9260 section 6.3.3 (E2) and 8.2. With PMR + 1 expiries this is the form of Chen 2010 and
    of the RFC, with PMR that of Bokor 2010.
    """
    total, rto = 0.0, rto_s
    for _ in range(expiries):
        total += rto
        rto = rto * 2 if rto_max_s is None else min(rto * 2, max(rto_max_s, rto_s))
    return total
