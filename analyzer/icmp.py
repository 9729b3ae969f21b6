"""ICMP (RFC 792, RFC 1191) and ICMPv6 (RFC 4443) errors, with whose packet each of them quotes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .flow_model import IcmpError, Quoted
from .measure import Instant

if TYPE_CHECKING:
    from ..dissectors.ledger import Row


def describe_icmp(rows: list[Row]) -> tuple[IcmpError, ...]:
    """Describe ICMP errors, in time order."""
    return tuple(
        IcmpError(
            name=row["name"],
            at=Instant.seen(row["time_ns"], row["frame"]),
            source=row["source"],
            destination=row["destination"],
            version=row["version"],
            icmp_type=row["icmp_type"],
            code=row["code"],
            mtu_bytes=row["mtu_bytes"],
            quoted=None if row["quoted_source"] is None else _quoted(row),
        )
        for row in rows
    )


def _quoted(row: Row) -> Quoted:
    return Quoted(
        source=row["quoted_source"],
        destination=row["quoted_destination"],
        protocol=row["quoted_protocol"],
        source_port=row["quoted_source_port"],
        destination_port=row["quoted_destination_port"],
        tag=row["quoted_tag"],
        flow=row["flow"],
        association=row["association"],
        sender=row["sender"],
    )
