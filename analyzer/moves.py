"""The primary timeline: where new DATA moved from one path to another, and whether it stayed."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from statistics import median
from typing import TYPE_CHECKING

from .measure import NS_PER_S

if TYPE_CHECKING:
    from ..dissectors.ledger import Row
    from .context import Context
    from .model import End

BRIEF_NS = NS_PER_S
"""Without any expiry of T3-rtx, a stay on the other path shorter than this is an excursion."""

CONCURRENT_MOVES = 20
"""More moves than these, with a median stay below `BRIEF_NS`: paths are used at once."""

FAILED_EXPIRIES = 2
"""So many expiries in a row give a path up beyond doubt: PF (RFC 7829) needs one by default."""


@dataclass(frozen=True, slots=True)
class Move:
    """New DATA of a sender on `after`'s path after new DATA on `before`'s.

    Attributes
    ----------
    before, after
        Rows of the run table.
    back
        The run that is on the old path again, if the next one is.
    expiries
        Expiries of T3-rtx in a row on the old path that came before the move and after the
        last delivery there; rows of the timeout table.
    explicit
        The acknowledged or pending ASCONF request that asks for the move, if any.
    given_up
        Whether the old path was given up: then the move is a handover though DATA came back.
    """

    before: Row
    after: Row
    back: Row | None
    expiries: list[Row]
    explicit: Row | None
    given_up: bool

    @property
    def is_handover(self) -> bool:
        """A move that stayed, or left a path that was given up."""
        return self.back is None or self.given_up


def is_concurrent(runs: list[Row]) -> bool:
    """Tell whether new DATA alternates between paths all the time (concurrent transfer)."""
    if len(runs) - 1 <= CONCURRENT_MOVES:
        return False
    stays = [later["first_ns"] - run["first_ns"] for run, later in pairwise(runs)]
    return bool(median(stays) < BRIEF_NS)


def find_moves(context: Context, sender: End) -> list[Move]:
    """Find the moves of a sender's new DATA, in time order.

    A run that an excursion ends in continues the path that it came back to, so the next move
    starts from there.
    """
    runs = context.sent(context.runs, sender)
    if is_concurrent(runs):
        return []
    moves: list[Move] = []
    for index, (before, after) in enumerate(pairwise(runs)):
        following = runs[index + 2] if index + 2 < len(runs) else None
        back = following if following is not None and following["path"] == before["path"] else None
        if moves and not moves[-1].is_handover and moves[-1].back is after:
            continue  # the way back of an excursion is part of it
        moves.append(_move(context, sender, before, after, back))
    return moves


def _move(context: Context, sender: End, before: Row, after: Row, back: Row | None) -> Move:
    expiries = _expiries_in_a_row(context, sender, before["path"], after["first_ns"])
    explicit = explicit_request(context, before, after)
    given_up = explicit is not None or len(expiries) >= FAILED_EXPIRIES
    if back is not None and not given_up:
        away_ns = back["first_ns"] - after["first_ns"]
        unanswered = any(
            beat["ack_ns"] is None
            for beat in context.sent(context.heartbeats, sender, before["path"])
            if after["first_ns"] <= beat["time_ns"] < back["first_ns"]
        )
        given_up = unanswered or (not expiries and away_ns >= BRIEF_NS)
    return Move(before, after, back, expiries, explicit, given_up)


def _expiries_in_a_row(context: Context, sender: End, path: int, until_ns: int) -> list[Row]:
    """Return the last expiries on a path, up to the one that found it delivering before."""
    chain: list[Row] = []
    for row in reversed(context.sent(context.timeouts, sender, path)):
        if row["time_ns"] > until_ns:
            continue
        if chain and row["consecutive"] >= chain[-1]["consecutive"]:
            break
        chain.append(row)
        if row["consecutive"] == 1:
            break
    chain.reverse()
    if chain and _delivered_after(context, sender, path, chain[-1]["time_ns"], until_ns):
        return []
    return chain


def _delivered_after(context: Context, sender: End, path: int, start_ns: int, end_ns: int) -> bool:
    """Tell whether the path delivered something between an expiry and the move.

    That is a SACK in between, or DATA sent in between, whenever their SACK came.
    """
    return any(
        ns is not None and start_ns < ns < end_ns
        for row in context.sent(context.runs, sender, path)
        for ns in (row["last_ok_ns"], row["last_sack_ns"])
    ) or any(
        row["ack_ns"] is not None and start_ns < row["ack_ns"] < end_ns
        for row in context.sent(context.heartbeats, sender, path)
    )


def explicit_request(context: Context, before: Row, after: Row) -> Row | None:
    """Find the ASCONF request that explains a move.

    That is the SET-PRIMARY that decided for the new path's address, by either end, although a
    DELETE may have followed before new DATA moved; else the last DELETE of the old path's address.

    It must have been asked while the sender was on the old path, and new DATA must not have
    gone on there for more than a second after it took effect.
    """
    old = set(context.path_addresses(before["path"]))
    new = set(context.path_addresses(after["path"]))
    decided: Row | None = None
    deleted: Row | None = None
    for row in context.asconf:
        asked_ns, effect_ns = row["time_ns"], row["ack_ns"] or row["time_ns"]
        if not before["first_ns"] <= asked_ns <= after["first_ns"]:
            continue
        if before["last_ns"] > effect_ns + NS_PER_S or row["outcome"] == "error":
            continue
        if row["request"] == "set-primary" and row["address"] in new - old:
            decided = decided or row  # asking for the same again decides nothing
        elif row["request"] == "set-primary" and row["address"] in old - new:
            decided = None
        elif row["request"] == "delete" and row["address"] in old - new:
            deleted = row
    return decided or deleted
