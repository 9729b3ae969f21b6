"""Dynamic address reconfiguration (RFC 5061): what was asked, and what came of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .measure import Instant, elapsed_s
from .model import AsconfExchange

if TYPE_CHECKING:
    from ..dissectors.ledger import Row
    from .context import Context


def exchanges(context: Context) -> tuple[AsconfExchange, ...]:
    """Describe every ASCONF request, in time order."""
    return tuple(_exchange(row) for row in context.asconf)


def _exchange(row: Row) -> AsconfExchange:
    asked = Instant.seen(row["time_ns"], row["frame"])
    answered = _answer(row)
    return AsconfExchange(
        sender=row["sender"],
        request=row["request"],
        address=row["address"],
        path=row["path"],
        at=asked,
        ack=answered,
        transmissions=row["transmissions"],
        outcome=row["outcome"],
        cause=row["cause_name"],
        delay_s=elapsed_s(asked, answered),
    )


def _answer(row: Row) -> Instant:
    if row["ack_ns"] is None:
        return Instant.absent("no ASCONF-ACK in the capture")
    return Instant.seen(row["ack_ns"], row["ack_frame"])
