"""The timeline of study N: set-up, first DATA, and each handover that ASCONF asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .measure import Instant, elapsed_s
from .model import HandoffPhase, HandoffTimeline

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..dissectors.ledger import Row
    from .context import Context
    from .model import Handover

ASKED = ("set-primary", "address-deleted")


def handoff_timeline(context: Context, handovers: Sequence[Handover]) -> HandoffTimeline:
    """Return when the association was set up, first sent DATA, and was asked to hand over.

    Parameters
    ----------
    context
        The association.
    handovers
        Its handovers, by t_first_new.
    """
    begun, established = _init(context), _established(context)
    first = min(context.runs, key=lambda row: row["first_ns"], default=None)
    sent = (
        Instant.absent("no DATA in the capture")
        if first is None
        else Instant.seen(first["first_ns"], first["first_frame"])
    )
    return HandoffTimeline(
        instants={"t_init": begun, "t_ass": established, "t_snt1": sent},
        metrics={
            "association_setup_s": elapsed_s(begun, established),
            "setup_to_data_s": elapsed_s(established, sent),
        },
        phases=tuple(
            _phase(context, handovers, number)
            for number, handover in enumerate(handovers)
            if handover.cause in ASKED
        ),
    )


def _init(context: Context) -> Instant:
    rows = [row for row in context.control if row["chunk"] == "INIT"]
    if not rows:
        return Instant.absent("no INIT in the capture")
    return Instant.seen(rows[0]["time_ns"], rows[0]["frame"])


def _established(context: Context) -> Instant:
    row = context.row
    if row["established_ns"] is None:
        return Instant.absent("no COOKIE ACK in the capture")
    return Instant.seen(row["established_ns"], row["established_frame"])


def _phase(context: Context, handovers: Sequence[Handover], number: int) -> HandoffPhase:
    handover = handovers[number]
    moved = handover.instants["t_first_new"]
    decided = (
        handover.instants["t_decision"]
        if handover.cause == "set-primary"
        else Instant.absent("no SET-PRIMARY asked for the move")
    )
    instants = {
        "t_add": _added(context, handover),
        "t_set": decided,
        "t_ho": moved,
        "t_del": _deleted(context, handovers, number),
    }
    return HandoffPhase(
        handover=number,
        instants=instants,
        metrics={
            f"{first}_to_{then}_s": elapsed_s(instants[f"t_{first}"], instants[f"t_{then}"])
            for first, then in (("add", "set"), ("set", "ho"), ("ho", "del"), ("add", "del"))
        },
    )


def _requests(context: Context, kind: str, own: int, other: int) -> list[Row]:
    """Return requests that were not refused, about an address of one path and not the other."""
    addresses = set(context.path_addresses(own)) - set(context.path_addresses(other))
    return [
        row
        for row in context.asconf
        if row["request"] == kind and row["outcome"] != "error" and row["address"] in addresses
    ]


def _added(context: Context, handover: Handover) -> Instant:
    """Return the last ADD of the new path's address before the decision."""
    until_ns = handover.instants["t_decision"].ns or 0
    rows = [
        row
        for row in _requests(context, "add", handover.to_path, handover.from_path)
        if row["time_ns"] <= until_ns
    ]
    if not rows:
        return Instant.absent("no ADD of the new path's address before the move was asked for")
    return Instant.seen(rows[-1]["time_ns"], rows[-1]["frame"])


def _deleted(context: Context, handovers: Sequence[Handover], number: int) -> Instant:
    """Return the first DELETE of the old path's address, before DATA is on that path again."""
    handover = handovers[number]
    since_ns = handover.instants["t_decision"].ns or 0
    again = [
        one.instants["t_first_new"].ns or 0
        for one in handovers[number + 1 :]
        if (one.sender, one.to_path) == (handover.sender, handover.from_path)
    ]
    rows = [
        row
        for row in _requests(context, "delete", handover.from_path, handover.to_path)
        if row["time_ns"] >= since_ns and not (again and row["time_ns"] > again[0])
    ]
    if not rows:
        return Instant.absent("no DELETE of the old path's address after the move was asked for")
    return Instant.seen(rows[0]["time_ns"], rows[0]["frame"])
