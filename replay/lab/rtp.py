"""Numbers for datagrams: RTP's header (RFC 3550 section 5.1), by which their receiver tells losses.

It needs nothing but the standard library, as the ends of a run do.
"""

from __future__ import annotations

import struct

HEADER = struct.Struct("!BBHII")

VERSION_2 = 0x80

PAYLOAD_TYPE = 96
"""The first of the dynamic ones (RFC 3551 section 6)."""

CLOCK_HZ = 90_000

SOURCE = 0x70617468
"""Of no meaning: one source in a flow is all that a receiver needs to know."""


def numbered(message: bytes, number: int, time_s: float) -> bytes:
    """Return a message of the same length whose first bytes are RTP's header.

    One that is shorter than the header stays as it is.

    Parameters
    ----------
    message
        What would be sent.
    number
        Its number in the flow, from 0.
    time_s
        When it is sent, on any clock.
    """
    if len(message) < HEADER.size:
        return message
    timestamp = int(time_s * CLOCK_HZ) & 0xFFFFFFFF
    header = HEADER.pack(VERSION_2, PAYLOAD_TYPE, number & 0xFFFF, timestamp, SOURCE)
    return header + message[HEADER.size :]
