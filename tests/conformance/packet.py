"""What both sides are told in: frames, and the packet in each."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TypeAlias

Value: TypeAlias = int | str | None
Row: TypeAlias = dict[str, Value]

ADDRESSES = ("source", "destination", "source_port", "destination_port")
HEADERS: dict[str, tuple[str, ...]] = {
    "sctp": (*ADDRESSES, "verification_tag", "checksum"),
    "tcp": (
        *ADDRESSES,
        "sequence",
        "acknowledgement",
        "flags",
        "window",
        "window_bytes",
        "header_bytes",
        "payload_bytes",
        "checksum",
        "urgent",
        "options",
    ),
    "udp": (*ADDRESSES, "length", "payload_bytes", "checksum"),
}
"""The fields that are compared of every packet, by protocol."""


@dataclass
class Packet:
    """One packet: `header` holds the fields of HEADERS, every chunk of SCTP those of its table."""

    protocol: str
    header: Row
    chunks: list[Row] = field(default_factory=list)
    gave_up: bool = False
    """tshark called the packet malformed, or met the capture's cut, and read no further."""


@dataclass
class Frame:
    """One frame, and the packet in it that is read."""

    number: int
    packet: Packet | None = None
    account: str = ""
    """What became of the frame: our outcome and reason, or tshark's protocols."""
    marks: frozenset[str] = frozenset()
    """What tshark finds wrong with it, or out of the ordinary."""


def joined(words: Iterable[str], separator: str = ",") -> str | None:
    """Join words as our tables do: nothing is null."""
    return separator.join(words) or None
