"""Handovers: their instants, their cause with its evidence, and how long each part took."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING

from .context import other
from .failure import link_failure, link_return
from .measure import Instant, Measure, elapsed_s, seconds
from .model import Excursion, Handover, Timeout
from .moves import FAILED_EXPIRIES
from .prediction import BOKOR, RFC, predict, predicted
from .rto import clamped_s, unclamped_s
from .timers import held_down
from .vantage import captured_at

if TYPE_CHECKING:
    from ..dissectors.ledger import Row
    from .context import Context
    from .model import Cause, End, Timer
    from .moves import Move

PROBE_FACTOR = 1.5
"""A path in PF is probed by a HEARTBEAT within an RTO (RFC 7829 section 3.2), which HEARTBEATs
vary by half (RFC 9260 section 8.3)."""


@dataclass(frozen=True, slots=True)
class Reason:
    """A cause with what shows it."""

    cause: Cause
    text: str
    frames: tuple[int, ...]


def describe_move(
    context: Context,
    sender: End,
    move: Move,
    earlier: list[Move],
    timers: dict[str, Timer],
) -> Handover | Excursion:
    """Describe one move of a sender's new DATA.

    Parameters
    ----------
    context
        The association.
    sender
        Whose DATA moved.
    move
        The move.
    earlier
        The sender's handovers before it, for moves back to a path that had been given up.
    timers
        What is inferred of the sender's timers.
    """
    reason = find_cause(context, sender, move, earlier)
    if reason.cause == "path-returned":
        move = replace(move, expiries=[])  # one that led nowhere, if any
    after = move.after
    if not move.is_handover and move.back is not None:
        return Excursion(
            sender=sender,
            from_path=move.before["path"],
            to_path=after["path"],
            cause=reason.cause,
            cause_text=reason.text,
            start=Instant.seen(after["first_ns"], after["first_frame"]),
            end=Instant.seen(move.back["first_ns"], move.back["first_frame"]),
            chunks=after["chunks"],
        )
    instants = _instants(context, sender, move, reason)
    return Handover(
        sender=sender,
        from_path=move.before["path"],
        to_path=after["path"],
        cause=reason.cause,
        cause_text=reason.text,
        cause_frames=reason.frames,
        instants=instants,
        metrics=_metrics(context, sender, move, instants, timers),
        timeouts=tuple(
            Timeout(
                Instant.seen(row["time_ns"], row["frame"]),
                None if row["elapsed_ns"] is None else seconds(row["elapsed_ns"]),
                row["consecutive"],
                row["retransmission_path"],
                unclamped_s(row, captured_at(context)),
                clamped_s(row, timers, captured_at(context)),
            )
            for row in move.expiries
        ),
        prediction=predict(move, timers),
        explanation=_explanation(context, sender, move, reason, timers),
    )


def find_cause(context: Context, sender: End, move: Move, earlier: list[Move]) -> Reason:
    """Find why new DATA moved, by the strongest evidence there is."""
    if move.explicit is not None:
        return _asked_for(move.explicit)
    old, new = move.before["path"], move.after["path"]
    confirmed = _confirmation(context, sender, move, earlier)
    if move.expiries and not _came_between(confirmed, move):
        return _timed_out(context, sender, move)
    if confirmed is not None:
        return Reason(
            "path-returned",
            f"HEARTBEAT ACK in frame {confirmed['ack_frame']} showed that"
            f" {context.labels[new]}, which had been given up, is back",
            (confirmed["frame"], confirmed["ack_frame"]),
        )
    alive = _alive_after(context, sender, old, move.after["first_ns"])
    if alive is not None:
        return Reason(
            "user-change",
            f"{context.labels[old]} went on working (frame {alive}), no timer expired and no"
            " ASCONF asked for it: the application changed its primary path",
            (alive,),
        )
    text = f"no expiry, no ASCONF, and {context.labels[old]} is not seen working right afterwards"
    if captured_at(context) == other(sender):
        text += "; time-outs can be told only from a capture at the sender"
    return Reason("unknown", text, ())


def _came_between(confirmed: Row | None, move: Move) -> bool:
    """Tell whether the HEARTBEAT ACK came after an expiry that alone gives no path up."""
    return (
        confirmed is not None
        and len(move.expiries) < FAILED_EXPIRIES
        and confirmed["ack_ns"] > move.expiries[-1]["time_ns"]
    )


def _asked_for(row: Row) -> Reason:
    frames = tuple(frame for frame in (row["frame"], row["ack_frame"]) if frame is not None)
    if row["request"] == "delete":
        return Reason(
            "address-deleted",
            f"ASCONF DELETE of {row['address']} in frame {row['frame']}, {row['outcome']}",
            frames,
        )
    return Reason(
        "set-primary",
        f"ASCONF SET-PRIMARY of {row['address']} in frame {row['frame']}, {row['outcome']}",
        frames,
    )


def _timed_out(context: Context, sender: End, move: Move) -> Reason:
    frames = tuple(row["frame"] for row in move.expiries)
    label = context.labels[move.before["path"]]
    times = "once" if len(frames) == 1 else f"{len(frames)} times in a row"
    if _is_probed_fast(context, sender, move):
        return Reason(
            "potentially-failed",
            f"T3-rtx of {label} expired {times}, which makes a path potentially failed (RFC 7829)",
            frames,
        )
    return Reason("timeout", f"T3-rtx of {label} expired {times}", frames)


def _is_probed_fast(context: Context, sender: End, move: Move) -> bool:
    """Tell PF from INACTIVE: in PF, HEARTBEATs follow the RTO, not HB.Interval + RTO.

    The RTO doubles at an expiry of T3-rtx or of a HEARTBEAT's timer (RFC 9260 sections 6.3.3 and
    8.3), unless expiries in a row show that RTO.Max holds it. A path that was left at its first
    expiry counts as PF, the default of RFC 7829, unless the HEARTBEATs deny it.
    """
    last = move.expiries[-1]
    rto_ns = last["elapsed_ns"]
    if rto_ns is None:
        return len(move.expiries) == 1
    growth = 1 if len(move.expiries) > 1 and held_down(move.expiries[-2], last) else 2
    beats = [
        row["time_ns"]
        for row in context.sent(context.heartbeats, sender, move.before["path"])
        if row["time_ns"] >= last["time_ns"]
    ]
    instants = [last["time_ns"], *beats[:2]]
    fast = []
    for start, later in pairwise(instants):
        rto_ns *= growth
        fast.append(later - start <= PROBE_FACTOR * rto_ns)
    if len(move.expiries) > 1:
        return len(fast) == 2 and all(fast)
    watched_ns = context.row["end_ns"] - last["time_ns"]
    return all(fast) if fast else watched_ns <= PROBE_FACTOR * growth * rto_ns


def _confirmation(context: Context, sender: End, move: Move, earlier: list[Move]) -> Row | None:
    """Return the first answered HEARTBEAT on a path between its loss and the move back to it."""
    path = move.after["path"]
    lost_ns = [one.after["first_ns"] for one in earlier if one.before["path"] == path]
    found = [
        row
        for row in context.sent(context.heartbeats, sender, path)
        if lost_ns and row["ack_ns"] and lost_ns[-1] < row["ack_ns"] <= move.after["first_ns"]
    ]
    return found[0] if found else None


def _alive_after(context: Context, sender: End, path: int, since_ns: int) -> int | None:
    """Return a frame that shows the path working: a SACK for its DATA, an answered HEARTBEAT.

    A HEARTBEAT of either end that stays unanswered before that shows that the path was gone
    meanwhile; then there is no such frame.
    """
    for row in context.sent(context.runs, sender, path):
        if row["first_ns"] < since_ns < (row["last_sack_ns"] or since_ns):
            return int(row["last_sack_frame"])
    for row in context.heartbeats:
        if row["path"] != path or row["time_ns"] <= since_ns:
            continue
        if row["ack_ns"] is None:
            return None
        if row["sender"] == sender:
            return int(row["ack_frame"])
    return None


def _instants(context: Context, sender: End, move: Move, reason: Reason) -> dict[str, Instant]:
    before, after = move.before, move.after
    first_timeout = (
        Instant.seen(move.expiries[0]["time_ns"], move.expiries[0]["frame"])
        if move.expiries
        else Instant.absent("no T3-rtx expired before the move")
    )
    returned = reason.cause == "path-returned"
    dead = "the old path is not seen to deliver anything"
    no_return = Instant.absent("the move is not back to a path that had been given up")
    return {
        "t_last_ok": _instant(before, "last_ok", dead),
        "t_last_sack": _instant(before, "last_sack", dead),
        "t_last_data_old": _instant(after, "previous_data", "no DATA on the old path"),
        "t_fail": link_failure(context, sender, move),
        "t_first_timeout": first_timeout,
        "t_decision": _decision(context, move, reason),
        "t_first_new": Instant.seen(after["first_ns"], after["first_frame"]),
        "t_first_arrival": Instant.seen(after["first_ns"], after["first_frame"])
        if captured_at(context) == other(sender)
        else Instant.absent("needs a capture at the receiver"),
        "t_first_ack": _instant(
            after, "first_ack", "no SACK covers the first DATA on the new path"
        ),
        "t_recovered": _instant(
            after,
            "recovered",
            "nothing was outstanding at the move"
            if after["outstanding_tsn"] is None
            else "what was outstanding at the move is not acknowledged in this capture",
        ),
        "t_return_link": link_return(context, sender, after["path"], after["first_ns"])
        if returned
        else no_return,
        "t_return_packet": _return_packet(context, sender, move) if returned else no_return,
        "t_return_data": Instant.seen(after["first_ns"], after["first_frame"])
        if returned
        else no_return,
    }


def first_heard(context: Context, sender: End, move: Move) -> Row | None:
    """Return the silence of the peer on the new path that ended before new DATA was on it again."""
    ended = [
        row
        for row in context.sent(context.silences, other(sender), move.after["path"])
        if row["end_ns"] <= move.after["first_ns"]
    ]
    return ended[-1] if ended else None


def _return_packet(context: Context, sender: End, move: Move) -> Instant:
    heard = first_heard(context, sender, move)
    if heard is None:
        return Instant.absent("the peer was not silent on the path")
    return Instant.seen(heard["end_ns"], heard["end_frame"])


def _instant(row: Row, name: str, reason: str) -> Instant:
    ns, frame = row[f"{name}_ns"], row[f"{name}_frame"]
    return Instant.absent(reason) if ns is None else Instant.seen(ns, frame)


def _decision(context: Context, move: Move, reason: Reason) -> Instant:
    if move.explicit is not None:
        return Instant.seen(move.explicit["time_ns"], move.explicit["frame"])
    if move.expiries:
        return Instant.seen(move.expiries[-1]["time_ns"], move.expiries[-1]["frame"])
    if reason.cause == "path-returned":
        ack_frame = reason.frames[-1]
        row = next(row for row in context.heartbeats if row["ack_frame"] == ack_frame)
        return Instant.seen(row["ack_ns"], ack_frame)
    return Instant.absent("the sender decided without a sign on the wire")


def _metrics(
    context: Context,
    sender: End,
    move: Move,
    instants: dict[str, Instant],
    timers: dict[str, Timer],
) -> dict[str, Measure]:
    first_new, decision, fail = (
        instants[f"t_{name}"] for name in ("first_new", "decision", "fail")
    )
    arrival = instants["t_first_arrival"]
    interrupted = arrival if arrival.ns is not None else first_new
    return {
        "handover_delay_s": elapsed_s(decision, first_new),
        "data_interruption_s": elapsed_s(
            instants["t_last_data_old"],
            interrupted,
            note="to the sending of the first DATA, not its arrival"
            if arrival.ns is None
            else "from the arrival of the last DATA on the old path, not its sending",
        ),
        "delivery_gap_s": _delivery_gap(context, sender, move, instants),
        "link_failure_recovery_s": elapsed_s(fail, first_new),
        "failure_detection_s": elapsed_s(fail, decision)
        if move.expiries
        else Measure.absent("no time-out detected a failure"),
        "recovery_completion_s": elapsed_s(fail, instants["t_recovered"]),
        "link_recognition_s": elapsed_s(instants["t_return_link"], instants["t_return_data"]),
        "timeouts_before_move": Measure.observed(len(move.expiries)),
        "predicted_failover_s": predicted(move, timers, 1, RFC),
        "predicted_failover_bokor_s": predicted(move, timers, 0, BOKOR),
    }


def _delivery_gap(
    context: Context, sender: End, move: Move, instants: dict[str, Instant]
) -> Measure:
    """Longest stop of the cumulative TSN between the last delivery on p and recovery."""
    after = move.after
    gaps = []
    if after["gap_start_ns"] is not None and after["gap_end_ns"] is not None:
        gaps.append(after["gap_end_ns"] - after["gap_start_ns"])
    start_ns = instants["t_last_sack"].ns or after["first_ns"]
    end_ns = instants["t_recovered"].ns or after["first_ns"]
    gaps += [
        row["end_ns"] - row["start_ns"]
        for row in context.sent(context.stalls, sender)
        if row["start_ns"] < end_ns and row["end_ns"] > start_ns
    ]
    if not gaps:
        return Measure.absent("the cumulative TSN is not seen to advance on both sides of the move")
    return Measure.observed(seconds(max(gaps)))


def _explanation(
    context: Context, sender: End, move: Move, reason: Reason, timers: dict[str, Timer]
) -> tuple[str, ...]:
    """Return why it took as long as it did, one part a sentence."""
    lines = [reason.text]
    if reason.cause in ("timeout", "potentially-failed"):
        waits = [
            f"{seconds(row['elapsed_ns']):.3f} s" for row in move.expiries if row["elapsed_ns"]
        ]
        if waits:
            joined = " + ".join(waits)
            lines.append(f"the sender waited {joined} for acknowledgements before it moved")
        lines += [timers[name].text for name in ("path_max_retrans", "rto_max_s") if name in timers]
    if reason.cause == "path-returned":
        lines += _probes(context, sender, move)
    if reason.cause in ("set-primary", "address-deleted") and move.explicit is not None:
        ack_ns = move.explicit["ack_ns"]
        if ack_ns is not None:
            wait = seconds(ack_ns - move.explicit["time_ns"])
            lines.append(f"the ASCONF-ACK came {wait * 1000:.3f} ms after the ASCONF")
            if move.after["first_ns"] > ack_ns:
                rest = seconds(move.after["first_ns"] - ack_ns)
                lines.append(f"the next new DATA was sent {rest * 1000:.3f} ms after that")
    return tuple(lines)


def _probes(context: Context, sender: End, move: Move) -> list[str]:
    path, label = move.after["path"], context.labels[move.after["path"]]
    tried = [
        row
        for row in context.sent(context.heartbeats, sender, path)
        if row["time_ns"] <= move.after["first_ns"] and row["ack_ns"] is None
    ]
    heard = first_heard(context, sender, move)
    lines = []
    if heard is not None:
        lines.append(
            f"the first packet heard on {label} again was a {heard['first_chunk']}"
            f" (frame {heard['end_frame']})"
        )
    waited = f"; {len(tried)} earlier HEARTBEATs on {label} were not" if tried else ""
    lines.append(f"DATA waits for an own HEARTBEAT to be answered{waited}")
    return lines
