"""Time-outs that lead to a handover: how long they took, beside what the formulas say.

Three forms are in use. They differ in the expiries that they count: Bokor 2010 takes
Path.Max.Retrans of them, Chen 2010 and RFC 9260 section 8.2 one more. Every RTO is double the one
before, at most RTO.Max (RFC 9260 section 6.3.3). All begin with the RTO in force at the first
expiry, and take the other settings that behaviour betrays.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .measure import Instant, Measure, seconds
from .model import Prediction, PredictionForm
from .timers import LATENESS, credible, failover_s, nominal_s

if TYPE_CHECKING:
    from .model import Timer
    from .moves import Move

Timers = dict[str, "Timer"]

RFC = "PMR + 1 (RFC 9260, Chen 2010)"
BOKOR = "PMR (Bokor 2010)"

FORMS = (("bokor-2010", 0, BOKOR), ("chen-2010", 1, RFC), ("rfc-9260", 1, RFC))
"""Name, expiries beyond Path.Max.Retrans, and the form in words."""


def predicted(move: Move, timers: Timers, more: int, form: str) -> Measure:
    """Time that Path.Max.Retrans + `more` time-outs take, from the RTO in force at the first.

    The bounds are those of that RTO, RTO.Max and Path.Max.Retrans.
    """
    if not move.expiries:
        return Measure.absent("no time-out led to the move")
    rto, retrans = _rto(move, timers), timers.get("path_max_retrans")
    if rto is None or retrans is None:
        return Measure.absent("RTO or Path.Max.Retrans cannot be inferred")
    ceiling = timers.get("rto_max_s")
    value, low, high = (
        failover_s(
            float(first or 0), None if ceiling is None else float(most or 0), int(count or 0) + more
        )
        for first, most, count in zip(
            _bounds(rto),
            _bounds(ceiling.measure if ceiling else rto),
            _bounds(retrans.measure),
            strict=True,
        )
    )
    count = int(retrans.measure.value or 0) + more
    note = f"{count} = {form} time-outs from RTO {rto.value:g} s"
    return Measure(value, "inferred", low, high, note=note)


def _rto(move: Move, timers: Timers) -> Measure | None:
    """Return the RTO in force at the first expiry: the least wait, for it does not fall in a row.

    A longer one before that was several expiries, whose retransmissions the capture lacks. Where
    the start of no timer was seen, it is the sender's RTO.
    """
    timed = [row for row in move.expiries if row["elapsed_ns"] is not None]
    waits = [row["elapsed_ns"] for row in credible(timed)]
    if not waits:
        return timers["rto_s"].measure if "rto_s" in timers else None
    least_s = seconds(min(waits))
    low = round(least_s * (1 - LATENESS), 9)
    return Measure(nominal_s(least_s), "inferred", low, least_s)


def _bounds(measure: Measure) -> tuple[float | None, float | None, float | None]:
    return measure.value, measure.low, measure.high


def predict(move: Move, timers: Timers) -> Prediction | None:
    """Hold what a sender's time-outs took against every form; None where none led to the move.

    Measured is from the start of the first of the timers that expired in a row to the
    retransmission after the last one, which is t_decision.
    """
    if not move.expiries:
        return None
    first, last = move.expiries[0], move.expiries[-1]
    if first["armed_ns"] is None:
        start = Instant.absent("what started the first timer is not in the capture")
        measured = Measure.absent(start.reason or "")
    else:
        start = Instant.seen(first["armed_ns"], first["armed_frame"])
        measured = Measure.observed(seconds(last["time_ns"] - first["armed_ns"]))
    return Prediction(
        timer_start=start,
        measured_s=measured,
        forms=tuple(
            _form(name, measured, predicted(move, timers, more, text)) for name, more, text in FORMS
        ),
    )


def _form(name: str, measured: Measure, expected: Measure) -> PredictionForm:
    if measured.value is None or expected.value is None:
        missing = measured if measured.value is None else expected
        absent = Measure.absent(missing.reason or "")
        return PredictionForm(name, expected, absent, absent, None)
    granularity_s = expected.value * LATENESS
    difference_s = measured.value - expected.value
    low, high = expected.low or 0, expected.high or 0
    return PredictionForm(
        name,
        expected,
        Measure(difference_s, "inferred", measured.value - high, measured.value - low),
        Measure(granularity_s, "inferred", low * LATENESS, high * LATENESS),
        abs(difference_s) <= granularity_s,
    )
