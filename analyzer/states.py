"""The states a sender must see its paths in: UNCONFIRMED, ACTIVE, PF, INACTIVE."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from .measure import Instant
from .model import State

if TYPE_CHECKING:
    from .context import Context
    from .model import Cause, End, Excursion, Handover

_STATE_AFTER: dict[Cause, Literal["PF", "INACTIVE"]] = {
    "timeout": "INACTIVE",
    "potentially-failed": "PF",
}


def path_states(
    context: Context,
    sender: End,
    path: int,
    handovers: tuple[Handover, ...],
    excursions: tuple[Excursion, ...],
) -> tuple[State, ...]:
    """Return a path's states as its sender must see them, in time order.

    The path that carried the handshake is ACTIVE from its end. Another is UNCONFIRMED until a
    HEARTBEAT on it is answered (RFC 9260 section 5.4). A handover that time-outs led to makes
    the old path INACTIVE (section 8.2) or PF (RFC 7829), and so does an excursion; the next
    answered HEARTBEAT makes it ACTIVE again (section 8.3).
    """
    states = [_first_state(context, sender, path)]
    changes = [
        *_failures(sender, path, handovers),
        *_brief_failures(context, sender, path, excursions),
        *_answers(context, sender, path),
    ]
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


def _brief_failures(
    context: Context, sender: End, path: int, excursions: tuple[Excursion, ...]
) -> list[State]:
    states = []
    for excursion in excursions:
        if (excursion.sender, excursion.from_path) != (sender, path):
            continue
        if excursion.cause not in _STATE_AFTER or excursion.start.ns is None:
            continue
        expiries = [
            row
            for row in context.sent(context.timeouts, sender, path)
            if row["time_ns"] <= excursion.start.ns
        ]
        at = Instant.seen(expiries[-1]["time_ns"], expiries[-1]["frame"])
        states.append(State(_STATE_AFTER[excursion.cause], at, excursion.cause_text))
    return states


def _failures(sender: End, path: int, handovers: tuple[Handover, ...]) -> list[State]:
    return [
        State(
            _STATE_AFTER[handover.cause],
            handover.instants["t_decision"],
            handover.cause_text,
        )
        for handover in handovers
        if handover.sender == sender
        and handover.from_path == path
        and handover.cause in _STATE_AFTER
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
