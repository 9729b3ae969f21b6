"""A capture of the lab with other times, other packets or other addresses: pcapng, little-endian.

Only what these files have is read: sections, interfaces with nanoseconds, Enhanced Packet Blocks.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from crafting import padded

PACKET = 6


@dataclass(frozen=True)
class Captured:
    """One captured packet; `options` are kept as they are."""

    interface: int
    time_ns: int
    wire_length: int
    data: bytes
    options: bytes

    @property
    def source(self) -> bytes:
        """Its IP source address."""
        return self.data[26:30] if self.data[12:14] == b"\x08\x00" else self.data[22:38]

    @property
    def is_sctp(self) -> bool:
        kind = self.data[12:14]
        return (kind, self.data[23]) == (b"\x08\x00", 132) or (
            kind == b"\x86\xdd" and self.data[20] == 132
        )


Change = Callable[[Captured], Captured | list[Captured] | None]
"""What becomes of a packet: another, several, or none."""


def packets(capture: Path) -> list[Captured]:
    return [_packet(body) for kind, body in _blocks(capture.read_bytes()) if kind == PACKET]


def altered(capture: Path, out: Path, *changes: Change) -> Path:
    """Write a capture with every packet changed by each of the changes in turn."""
    parts = []
    for kind, body in _blocks(capture.read_bytes()):
        if kind != PACKET:
            parts.append(_block(kind, body))
            continue
        found = [_packet(body)]
        for change in changes:
            found = [new for one in found for new in _several(change(one))]
        parts += [_block(PACKET, _body(one)) for one in found]
    out.write_bytes(b"".join(parts))
    return out


def _several(found: Captured | list[Captured] | None) -> list[Captured]:
    if found is None:
        return []
    return found if isinstance(found, list) else [found]


def _blocks(raw: bytes) -> Iterator[tuple[int, bytes]]:
    at = 0
    while at < len(raw):
        kind, length = struct.unpack_from("<2I", raw, at)
        yield kind, raw[at + 8 : at + length - 4]
        at += length


def _block(kind: int, body: bytes) -> bytes:
    length = len(body) + 12
    return struct.pack("<2I", kind, length) + body + struct.pack("<I", length)


def _packet(body: bytes) -> Captured:
    interface, high, low, kept, length = struct.unpack_from("<5I", body)
    end = 20 + kept
    return Captured(interface, high << 32 | low, length, body[20:end], body[end + (-kept % 4) :])


def _body(one: Captured) -> bytes:
    high, low = divmod(one.time_ns, 1 << 32)
    head = struct.pack("<5I", one.interface, high, low, len(one.data), one.wire_length)
    return head + padded(one.data) + one.options


def clock(shift_ns: int, ppm: int, origin_ns: int) -> Change:
    """Another clock: ahead by a shift at an instant, and so many microseconds a second fast."""

    def change(one: Captured) -> Captured:
        since_ns = one.time_ns - origin_ns
        return replace(one, time_ns=one.time_ns + shift_ns + since_ns * ppm // 1_000_000)

    return change


def step(at_ns: int, by_ns: int) -> Change:
    """A clock that steps."""
    return lambda one: one if one.time_ns < at_ns else replace(one, time_ns=one.time_ns + by_ns)


def kept(condition: Callable[[Captured], bool]) -> Change:
    """Only packets of a kind."""
    return lambda one: one if condition(one) else None


def cut(snap_length: int) -> Change:
    """A capture that keeps less of every packet."""
    return lambda one: replace(one, data=one.data[:snap_length])
