"""The same few packets in containers of every kind."""

from __future__ import annotations

import struct
from pathlib import Path

from crafting import SECOND, Pcapng, Record, ethernet_records, padded, pcap

RECORDS = ethernet_records(5)
TSNS = [1, 2, 3, 4, 5]
TIMES = [record.time_ns for record in RECORDS]


def snoop(records: list[Record], *, datalink: int = 4) -> bytes:
    """RFC 1761."""
    parts = [b"snoop\0\0\0", struct.pack("!2I", 2, datalink)]
    for number, record in enumerate(records):
        seconds, fraction = divmod(record.time_ns, SECOND)
        size = len(record.data)
        room = 24 + len(padded(record.data))
        parts.append(struct.pack("!6I", size, size, room, number, seconds, fraction // 1000))
        parts.append(padded(record.data))
    return b"".join(parts)


WRITTEN = {
    "pcap": pcap(RECORDS),
    "pcapng": Pcapng().section().interface("eth0").packets(RECORDS).bytes(),
    "snoop": snoop(RECORDS),
}


def written(path: Path, raw: bytes) -> Path:
    """Write a file; return its path."""
    path.write_bytes(raw)
    return path
