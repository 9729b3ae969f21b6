"""How an association's packets are protected: AUTH (RFC 4895) and the checksum (RFC 9653).

What the ends announced, what they sent, and the rules for where the two do not go together.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .context import ENDS, other
from .evidence import evidence
from .model import Authentication, Finding, ZeroChecksum

if TYPE_CHECKING:
    from collections.abc import Iterator

    from .context import Context
    from .findings import Analysed
    from .model import End

METHODS = {1: "SCTP over DTLS"}
"""Error detection methods by identifier (IANA's registry of RFC 9653, section 8)."""


def method_name(method: int) -> str:
    """Return an error detection method in words."""
    return METHODS.get(method, f"method {method}")


def authentication(context: Context) -> dict[End, Authentication | None]:
    """Describe AUTH by end; None for an end that neither announced nor sent it."""
    rows = {row["sender"]: row for row in context.authentication}
    return {
        end: Authentication(
            random_bytes=rows[end]["random_bytes"],
            hmacs=_words(rows[end]["hmacs"]),
            chunks=_words(rows[end]["chunks"]),
            auth_chunks=rows[end]["auth_chunks"],
            used_hmacs=_words(rows[end]["used_hmacs"]),
            used_keys=tuple(int(key) for key in rows[end]["used_keys"].split(",") if key),
            unauthenticated_chunks=rows[end]["unauthenticated_chunks"],
            unauthenticated_types=_words(rows[end]["unauthenticated_types"]),
        )
        if end in rows
        else None
        for end in ENDS
    }


def _words(text: str) -> tuple[str, ...]:
    return tuple(text.split(", ")) if text else ()


def zero_checksum(context: Context) -> dict[End, ZeroChecksum]:
    """Describe packets without a checksum by end: what it accepts, what it should not have sent."""
    row = context.row
    return {
        end: ZeroChecksum(
            row[f"{end}_zero_checksum_method"], row[f"{end}_uncovered_zero_checksums"]
        )
        for end in ENDS
    }


def unauthenticated_chunks(context: Context, _: Analysed) -> Iterator[Finding]:
    """Chunks without AUTH of a type that the peer wants authenticated."""
    for row in context.authentication:
        if row["unauthenticated_chunks"]:
            end = row["sender"]
            yield Finding(
                "unauthenticated-chunks",
                "warning",
                f"{end} sent {row['unauthenticated_chunks']} chunks"
                f" ({row['unauthenticated_types']}) without AUTH before them, although"
                f" {other(end)} wants these types authenticated: it discards them"
                " (RFC 4895 section 6.3)",
                (row["first_unauthenticated_frame"],),
            )


def zero_checksums(context: Context, _: Analysed) -> Iterator[Finding]:
    """Packets without a checksum: negotiated, left to the network card, or a fault."""
    row = context.row
    uncovered = {end: row[f"{end}_uncovered_zero_checksums"] for end in ENDS}
    covered = row["zero_checksums"] - sum(uncovered.values())
    if covered:
        yield Finding(
            "zero-checksum",
            "note",
            f"{covered} packets carry no checksum: negotiated (RFC 9653)",
            evidence(context.odd("zero-checksum")),
        )
    for end, count in uncovered.items():
        if not count:
            continue
        packets = context.packets(end)
        if count == packets:
            yield Finding(
                "checksum-offload",
                "note",
                f"no packet of {end} carries a checksum, and that is not negotiated:"
                " checksum offload at the capturing host",
                evidence(context.odd("uncovered-zero-checksum", end)),
            )
        else:
            yield Finding(
                "uncovered-zero-checksum",
                "warning",
                f"{count} of {packets} packets of {end} carry no checksum and should:"
                f" {_why_uncovered(context, end)}; a fault, or checksum offload at the capturing"
                " host for some of them",
                evidence(context.odd("uncovered-zero-checksum", end)),
            )


def _why_uncovered(context: Context, end: End) -> str:
    if context.row[f"{other(end)}_zero_checksum_method"] is not None:
        return "INIT and COOKIE ECHO always need one, others until it is negotiated (RFC 9653)"
    if context.row["seen_handshake"]:
        return f"{other(end)} did not announce that it accepts that (RFC 9653)"
    return (
        f"the capture does not show whether {other(end)} announced that it accepts that (RFC 9653)"
    )
