"""When a link failed and when it came back: annotated, or bounded by what the packets show."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .context import other
from .measure import Instant

if TYPE_CHECKING:
    from .context import Context
    from .model import End
    from .moves import Move


SACK_DELAY_NS = 500_000_000
"""The longest that a receiver may put a SACK off; every second packet is answered at once (RFC 9260
section 6.2)."""


def link_failure(context: Context, sender: End, move: Move) -> Instant:
    """Return when the old path's link failed, for a move that time-outs led to.

    Annotated: the last link-down of the path before the move. Otherwise between the last DATA
    that the path delivered and the time by which the first packet of DATA after it that stayed
    unanswered must have been answered: a packet that is heard on the path does not show that DATA
    still went out on it, and DATA without a SACK may have arrived, its SACK being put off until the
    next packet of DATA or for `SACK_DELAY_NS`, and lost then.
    """
    before, after = move.before, move.after
    path = before["path"]
    down = [
        event
        for event in context.link_events[path]
        if before["first_ns"] <= event.ns <= after["first_ns"]
    ]
    if down and not down[-1].up:
        return Instant.annotated(down[-1].ns)
    if not move.expiries:
        return Instant.absent("no failure: no T3-rtx expired before the move")
    low_ns = before["last_ok_ns"]
    if low_ns is None:
        return Instant.absent("the old path is not seen alive in this capture")
    unanswered = {
        row["previous_ns"]
        for row in context.sent(context.retransmissions, sender)
        if row["previous_path"] == path
        and row["previous_ns"] is not None
        and low_ns <= row["previous_ns"] <= after["first_ns"]
    }
    if not unanswered:
        return Instant.absent("no unanswered DATA bounds the failure")
    first_ns, *later_ns = sorted(unanswered)
    due_ns = min([first_ns + SACK_DELAY_NS, *later_ns[:1]]) + (
        context.rtt_max_ns(sender, path) or 0
    )
    return Instant.inferred(low_ns, min(due_ns, after["first_ns"]))


def link_return(context: Context, sender: End, path: int, until_ns: int) -> Instant:
    """Return when a path that had been given up came back, before new DATA was on it again.

    Annotated: the last link-up of the path. Otherwise between the last HEARTBEAT that stayed
    unanswered and the first packet heard on the path after its silence.
    """
    up = [event for event in context.link_events[path] if event.ns <= until_ns]
    if up and up[-1].up:
        return Instant.annotated(up[-1].ns)
    beats = [
        row for row in context.sent(context.heartbeats, sender, path) if row["time_ns"] <= until_ns
    ]
    lost = [row for row in beats if row["ack_ns"] is None]
    heard = [
        row
        for row in context.sent(context.silences, other(sender), path)
        if row["end_ns"] <= until_ns and (not lost or row["end_ns"] > lost[-1]["time_ns"])
    ]
    answered = [
        row["ack_ns"]
        for row in beats
        if row["ack_ns"] is not None and (not lost or row["ack_ns"] > lost[-1]["time_ns"])
    ]
    signs = [row["end_ns"] for row in heard] + answered
    if not signs:
        return Instant.absent("no packet on the path shows its return")
    high_ns = min(signs)
    if not lost:
        return Instant.absent("no unanswered HEARTBEAT bounds the return from below")
    return Instant.inferred(lost[-1]["time_ns"], high_ns)
