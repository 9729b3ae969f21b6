"""Outages of a path: what one end sent stayed unanswered, and the other end was not heard.

A silence alone is none: a path may have nothing to carry. Only what asks for an answer and gets
none tells an outage: a HEARTBEAT without its ACK, or DATA that had to be sent again.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from typing import TYPE_CHECKING

from .context import ENDS, other
from .measure import Measure, seconds
from .receiver_model import Moment, Outage

if TYPE_CHECKING:
    from .context import Context
    from .model import End

SILENCE_NS = 500_000_000
"""A stretch without packets that counts; the ledger's own bound."""


def path_outages(context: Context, path: int) -> tuple[Outage, ...]:
    """Return the outages of a path: those that a noticed, then those that b noticed."""
    return tuple(outage for end in ENDS for outage in _outages(context, end, path))


def outage_s(outages: tuple[Outage, ...], sender: End) -> Measure:
    """Sum the outages that one end noticed on a path."""
    own = [one.duration_s for one in outages if one.sender == sender]
    if not own:
        return Measure.observed(0.0)
    value, low, high = (
        sum(float(bound) for one in own if (bound := getattr(one, name)) is not None)
        for name in ("value", "low", "high")
    )
    return Measure(value, "inferred", low, high)


def _outages(context: Context, sender: End, path: int) -> list[Outage]:
    lost = sorted(_unanswered(context, sender, path), key=lambda one: one.ns)
    times_ns = [one.ns for one in lost]
    found = []
    for start, end in _silences(context, other(sender), path) if lost else ():
        end_ns = context.row["end_ns"] if end is None else end.ns
        inside = lost[bisect_left(times_ns, start.ns) : bisect_right(times_ns, end_ns)]
        if inside:
            duration_s = Measure(
                seconds(end_ns - start.ns),
                "inferred",
                seconds(inside[-1].ns - inside[0].ns),
                seconds(end_ns - start.ns),
                note="to the end of the association" if end is None else None,
            )
            found.append(Outage(sender, start, end, inside[0], inside[-1], duration_s))
    return found


def _silences(context: Context, silent: End, path: int) -> list[tuple[Moment, Moment | None]]:
    """Stretches of 0.5 s or more in which an end was not heard on a path, the last one open."""
    found: list[tuple[Moment, Moment | None]] = [
        (Moment(row["start_ns"], row["start_frame"]), Moment(row["end_ns"], row["end_frame"]))
        for row in context.sent(context.silences, silent, path)
    ]
    totals = context.bins.totals.get((path, silent))
    if totals is not None and totals.last_ns is not None:
        last = Moment(totals.last_ns, None)
    else:
        last = Moment(context.paths[path]["first_ns"], context.paths[path]["first_frame"])
    if context.row["end_ns"] - last.ns >= SILENCE_NS:
        found.append((last, None))
    return found


def _unanswered(context: Context, sender: End, path: int) -> list[Moment]:
    """What asked for an answer on the path and got none there."""
    beats = [
        Moment(row["time_ns"], row["frame"])
        for row in context.sent(context.heartbeats, sender, path)
        if row["ack_ns"] is None
    ]
    return beats + [
        # Of the transmission before a retransmission, the ledger has the frame if it was the first.
        Moment(row["previous_ns"], row["first_frame"] if row["transmission"] == 2 else None)
        for row in context.sent(context.retransmissions, sender)
        if row["previous_path"] == path and row["previous_ns"] is not None and not row["spurious"]
    ]
