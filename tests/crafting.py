"""Captures and packets made byte by byte, where Scapy's own writers leave no choice.

Times are integer nanoseconds since 1970, like everywhere in pathscope.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Literal

from scapy.layers.inet import IP
from scapy.layers.inet6 import IPv6
from scapy.layers.l2 import Ether
from scapy.layers.sctp import SCTP, SCTPChunkData
from scapy.packet import Packet, Raw

Order = Literal["<", ">"]

SECOND = 1_000_000_000
START_NS = 1_700_000_000 * SECOND

# LINKTYPE_ values of draft-ietf-opsawg-pcaplinktype.
NULL, ETHERNET, RAW, LOOP, LINUX_SLL, IPV4, IPV6, LINUX_SLL2 = 0, 1, 101, 108, 113, 228, 229, 276
PPP, PPP_HDLC, C_HDLC, WLAN, PRISM, RADIOTAP, AVS = 9, 50, 104, 105, 119, 127, 163
PPP_WITH_DIR = 204

# With both ends given, Scapy need not ask the network who they are.
LINK = Ether(src="02:00:00:00:00:01", dst="02:00:00:00:00:02")
V4 = IP(src="10.0.0.1", dst="10.0.0.2")
V6 = IPv6(src="2001:db8::1", dst="2001:db8::2")


def padded(raw: bytes) -> bytes:
    return raw + bytes(-len(raw) % 4)


def tlv(kind: int, value: bytes = b"") -> bytes:
    """A parameter or error cause (RFC 9260, section 3.2.1)."""
    return padded(struct.pack("!HH", kind, len(value) + 4) + value)


def chunk(kind: int, flags: int = 0, value: bytes = b"") -> bytes:
    """A chunk (RFC 9260, section 3.2)."""
    return padded(struct.pack("!BBH", kind, flags, len(value) + 4) + value)


def sctp(*chunks: Packet | bytes, source_port: int = 1000, tag: int = 0x11223344) -> Packet:
    """One SCTP packet; chunks are Scapy's or bytes."""
    value = b"".join(bytes(one) for one in chunks)
    return SCTP(sport=source_port, dport=2000, tag=tag) / Raw(value)


def data(tsn: int, user_bytes: int = 8) -> Packet:
    """An SCTP packet with one DATA chunk."""
    one = SCTPChunkData(
        beginning=1,
        ending=1,
        tsn=tsn,
        stream_id=1,
        stream_seq=0,
        proto_id=0,
        data=b"x" * user_bytes,
    )
    return sctp(one)


def fragments(packet: Packet, most_bytes: int) -> list[Packet]:
    """Cut an IPv4 packet into pieces of at most so many bytes of payload."""
    found: list[Packet] = packet.fragment(most_bytes)
    return found


@dataclass(frozen=True)
class Record:
    """One captured packet."""

    time_ns: int
    data: bytes
    interface: int = 0
    wire_length: int | None = None
    comment: str | None = None

    @property
    def length(self) -> int:
        return len(self.data) if self.wire_length is None else self.wire_length


def ethernet_records(count: int, step_ns: int = SECOND) -> list[Record]:
    """Packets with the TSNs 1, 2, ... `step_ns` apart, at whole microseconds."""
    first = START_NS + 123_456_000
    return [Record(first + n * step_ns, bytes(LINK / V4 / data(n + 1))) for n in range(count)]


def pcap(
    records: Iterable[Record],
    *,
    order: Order = "<",
    nanosecond: bool = True,
    link_type: int = ETHERNET,
) -> bytes:
    """A pcap file."""
    magic, unit = (0xA1B23C4D, 1) if nanosecond else (0xA1B2C3D4, 1000)
    parts = [struct.pack(f"{order}IHHiIII", magic, 2, 4, 0, 0, 262_144, link_type)]
    for record in records:
        seconds, fraction = divmod(record.time_ns, SECOND)
        sizes = (len(record.data), record.length)
        parts.append(struct.pack(f"{order}4I", seconds, fraction // unit, *sizes))
        parts.append(record.data)
    return b"".join(parts)


@dataclass
class Pcapng:
    """A pcapng file, block after block (draft-ietf-opsawg-pcapng)."""

    order: Order = "<"
    parts: list[bytes] = field(default_factory=list)

    def block(self, kind: int, body: bytes) -> Pcapng:
        length = 12 + len(padded(body))
        head = struct.pack(f"{self.order}2I", kind, length)
        self.parts.append(head + padded(body) + struct.pack(f"{self.order}I", length))
        return self

    def option(self, code: int, value: bytes) -> bytes:
        return padded(struct.pack(f"{self.order}2H", code, len(value)) + value)

    def section(self, *options: bytes) -> Pcapng:
        body = struct.pack(f"{self.order}IHHq", 0x1A2B3C4D, 1, 0, -1)
        return self.block(0x0A0D0D0A, body + b"".join(options))

    def interface(
        self,
        name: str | None = None,
        *,
        link_type: int = ETHERNET,
        resolution: int | None = 9,
        offset_s: int | None = None,
    ) -> Pcapng:
        """`resolution` and `offset_s` are if_tsresol and if_tsoffset; None leaves one out."""
        options = b""
        if name is not None:
            options += self.option(2, name.encode())
        if resolution is not None:
            options += self.option(9, bytes([resolution]))
        if offset_s is not None:
            options += self.option(14, struct.pack(f"{self.order}q", offset_s))
        end = self.option(0, b"") if options else b""
        return self.block(1, struct.pack(f"{self.order}HHI", link_type, 0, 0) + options + end)

    def packet(self, record: Record, units: int | None = None) -> Pcapng:
        """An Enhanced Packet Block; `units` is its time where the unit is not 1 ns."""
        high, low = divmod(record.time_ns if units is None else units, 1 << 32)
        sizes = (len(record.data), record.length)
        body = struct.pack(f"{self.order}5I", record.interface, high, low, *sizes)
        body += padded(record.data)
        if record.comment is not None:
            body += self.option(1, record.comment.encode()) + self.option(0, b"")
        return self.block(6, body)

    def packets(self, records: Iterable[Record]) -> Pcapng:
        for record in records:
            self.packet(record)
        return self

    def bytes(self) -> bytes:
        return b"".join(self.parts)
