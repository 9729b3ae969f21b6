"""The states a sender must see its paths in: UNCONFIRMED, ACTIVE, PF, INACTIVE."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .measure import Instant
from .model import State

if TYPE_CHECKING:
    from .context import Context
    from .model import End, Handover


def path_states(
    context: Context, sender: End, path: int, handovers: tuple[Handover, ...]
) -> tuple[State, ...]:
    """Return a path's states as its sender must see them, in time order.

    The path that carried the handshake is ACTIVE from its end. Another is UNCONFIRMED until a
    HEARTBEAT on it is answered (RFC 9260 section 5.4). A handover that time-outs led to makes
    the old path INACTIVE (section 8.2) or PF (RFC 7829); the next answered HEARTBEAT makes it
    ACTIVE again (section 8.3).
    """
    states = [_first_state(context, sender, path)]
    changes = [*_failures(sender, path, handovers), *_answers(context, sender, path)]
    for state in sorted(changes, key=lambda state: state.at.ns or 0):
        if state.state != states[-1].state and (state.at.ns or 0) >= (states[0].at.ns or 0):
            states.append(state)
    return tuple(states)


def _first_state(context: Context, sender: End, path: int) -> State:
    row = context.paths[path]
    if path == 0 and context.row["established_ns"] is not None:
        at = Instant.seen(context.row["established_ns"], context.row["established_frame"])
        return State("ACTIVE", at, "the handshake was on it")
    at = Instant.seen(row["first_ns"], row["first_frame"])
    if context.row["seen_handshake"]:
        return State("UNCONFIRMED", at, "first packet on it; not probed yet")
    if any(context.sent(context.runs, sender, path)):
        return State("ACTIVE", at, "DATA is on it where the capture starts")
    return State("UNCONFIRMED", at, "first packet on it in a capture without the handshake")


def _failures(sender: End, path: int, handovers: tuple[Handover, ...]) -> list[State]:
    return [
        State(
            "INACTIVE" if handover.cause == "timeout" else "PF",
            handover.instants["t_decision"],
            handover.cause_text,
        )
        for handover in handovers
        if handover.sender == sender
        and handover.from_path == path
        and handover.cause in ("timeout", "potentially-failed")
    ]


def _answers(context: Context, sender: End, path: int) -> list[State]:
    answered = [
        State(
            "ACTIVE",
            Instant.seen(row["ack_ns"], row["ack_frame"]),
            f"HEARTBEAT in frame {row['frame']} answered",
        )
        for row in context.sent(context.heartbeats, sender, path)
        if row["ack_ns"] is not None
    ]
    delivered = [
        State(
            "ACTIVE",
            Instant.seen(row["first_ack_ns"], row["first_ack_frame"]),
            "DATA on it acknowledged",
        )
        for row in context.sent(context.runs, sender, path)
        if row["first_ack_ns"] is not None
    ]
    return answered + delivered
