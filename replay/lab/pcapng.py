"""Writing pcapng: the blocks that a run's captures need (draft-ietf-opsawg-pcapng).

Section Header (4.1), Interface Description (4.2), Enhanced Packet (4.3) and Interface Statistics
(4.6) blocks, little-endian, times in nanoseconds.
"""

from __future__ import annotations

import struct

SECTION_HEADER = 0x0A0D0D0A
INTERFACE_DESCRIPTION = 1
INTERFACE_STATISTICS = 5
ENHANCED_PACKET = 6

BYTE_ORDER_MAGIC = 0x1A2B3C4D
VERSION = (1, 0)
LENGTH_UNKNOWN = 0xFFFF_FFFF_FFFF_FFFF

END = 0
COMMENT = 1
SHB_OS, SHB_APPLICATION = 3, 4
IF_NAME, IF_DESCRIPTION, IF_TSRESOL = 2, 3, 9
ISB_RECEIVED, ISB_DROPPED = 4, 5

NANOSECONDS = 9
"""if_tsresol: the negative power of ten."""

Options = list[tuple[int, bytes]]


def section(*comments: str, system: str = "", application: str = "") -> bytes:
    """Return the block that a file begins with."""
    head = struct.pack("<IHHQ", BYTE_ORDER_MAGIC, *VERSION, LENGTH_UNKNOWN)
    options = _comments(comments)
    options += [(SHB_OS, system.encode())] if system else []
    options += [(SHB_APPLICATION, application.encode())] if application else []
    return _block(SECTION_HEADER, head, options)


def interface(name: str, link_type: int, snap_bytes: int, description: str = "") -> bytes:
    """Return the block that declares the next interface of the section, from number 0."""
    options: Options = [(IF_NAME, name.encode())]
    options += [(IF_DESCRIPTION, description.encode())] if description else []
    options.append((IF_TSRESOL, bytes([NANOSECONDS])))
    return _block(INTERFACE_DESCRIPTION, struct.pack("<HHI", link_type, 0, snap_bytes), options)


def packet(
    interface_number: int, time_ns: int, data: bytes, wire_bytes: int, *comments: str
) -> bytes:
    """Return the block of a packet; `time_ns` is since 1970."""
    head = struct.pack(
        "<IIIII", interface_number, *_time(time_ns), len(data), max(wire_bytes, len(data))
    )
    return _block(ENHANCED_PACKET, head + _padded(data), _comments(comments))


def statistics(interface_number: int, time_ns: int, received: int, dropped: int) -> bytes:
    """Return the block that says what became of an interface's packets up to a time."""
    head = struct.pack("<III", interface_number, *_time(time_ns))
    counts = [(ISB_RECEIVED, received), (ISB_DROPPED, dropped)]
    options = [(code, struct.pack("<Q", count)) for code, count in counts]
    return _block(INTERFACE_STATISTICS, head, options)


def _time(time_ns: int) -> tuple[int, int]:
    return time_ns >> 32, time_ns & 0xFFFF_FFFF


def _comments(comments: tuple[str, ...]) -> Options:
    return [(COMMENT, comment.encode()) for comment in comments]


def _block(kind: int, head: bytes, options: Options) -> bytes:
    body = head + b"".join(
        struct.pack("<HH", code, len(value)) + _padded(value) for code, value in options
    )
    if options:
        body += struct.pack("<HH", END, 0)
    length = struct.pack("<I", len(body) + 12)
    return struct.pack("<I", kind) + length + body + length


def _padded(value: bytes) -> bytes:
    return value + bytes(-len(value) % 4)
