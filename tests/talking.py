"""TCP and UDP conversations packet by packet, made by Scapy, with sequence numbers kept.

Times are milliseconds from the beginning.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Any

from crafting import RAW, START_NS, Record, pcap
from pathscope.analyzer.model import End
from scapy.layers.inet import IP, TCP, UDP
from scapy.layers.inet6 import IPv6
from scapy.packet import Packet, Raw

MS = 1_000_000

Socket = tuple[str, int]
Option = tuple[Any, Any]

MPTCP = 30
"""Option kind of RFC 8684."""


@dataclass
class Scene:
    """Packets of several conversations; each IPv4 packet has a fresh identification."""

    records: list[Record] = field(default_factory=list)

    def packet(self, time_ms: float, source: str, destination: str, inner: Packet) -> bytes:
        """Add a packet; returns its bytes, for who wants to quote them."""
        if ":" in source:
            data = bytes(IPv6(src=source, dst=destination) / inner)
        else:
            data = bytes(IP(src=source, dst=destination, id=len(self.records) + 1) / inner)
        self.records.append(Record(START_NS + round(time_ms * MS), data))
        return data

    def frames(self) -> Iterable[Record]:
        """The packets in time order, which is that of their frame numbers."""
        return sorted(self.records, key=lambda record: record.time_ns)

    def write(self, path: Path) -> Path:
        path.write_bytes(pcap(self.frames(), link_type=RAW))
        return path


@dataclass
class Tcp:
    """One TCP connection. Numbers are relative: the first byte of either end has number 1."""

    scene: Scene
    a: Socket
    b: Socket
    initial: dict[End, int] = field(default_factory=lambda: {"a": 1000, "b": 5000})
    next: dict[End, int] = field(default_factory=lambda: {"a": 0, "b": 0})

    def send(
        self,
        time_ms: float,
        sender: End,
        flags: str = "A",
        size: int = 0,
        *,
        seq: int | None = None,
        ack: int | None = None,
        window: int = 8000,
        options: tuple[Option, ...] = (),
        lost: bool = False,
    ) -> None:
        """Send a segment; `lost` ones take their numbers, but the capture has them not."""
        peer: End = "b" if sender == "a" else "a"
        number = self.next[sender] if seq is None else seq
        units = size + ("S" in flags) + ("F" in flags)
        if "R" not in flags:
            self.next[sender] = max(self.next[sender], number + units)
        if lost:
            return
        source, destination = (self.a, self.b) if sender == "a" else (self.b, self.a)
        acked = self.next[peer] if ack is None else ack
        tcp = TCP(
            sport=source[1],
            dport=destination[1],
            flags=flags,
            seq=self.initial[sender] + number,
            ack=self.initial[peer] + acked if "A" in flags else 0,
            window=window,
            options=list(options),
        )
        self.scene.packet(time_ms, source[0], destination[0], tcp / Raw(sender.encode() * size))

    def handshake(
        self, time_ms: float, round_trip_ms: float = 20, *options: tuple[Option, ...]
    ) -> None:
        """Take one round trip; the capture is at a. `options` are of the three segments."""
        syn, syn_ack, ack = options or ((), (), ())
        self.send(time_ms, "a", "S", options=syn)
        self.send(time_ms + round_trip_ms, "b", "SA", options=syn_ack)
        self.send(time_ms + round_trip_ms, "a", options=ack)


def udp(scene: Scene, time_ms: float, source: Socket, destination: Socket, payload: bytes) -> bytes:
    datagram = UDP(sport=source[1], dport=destination[1]) / Raw(payload)
    return scene.packet(time_ms, source[0], destination[0], datagram)


def rtp(number: int, *, clock_units: int = 160, ssrc: int = 77, size: int = 160) -> bytes:
    """Payload type 0, whose clock runs at 8000 Hz (RFC 3551)."""
    return struct.pack("!BBHII", 0x80, 0, number, number * clock_units, ssrc) + bytes(size)


def capable(*keys: int) -> Option:
    """MP_CAPABLE of version 1, without checksums."""
    return MPTCP, bytes([0x01, 0x01]) + b"".join(key.to_bytes(8) for key in keys)


def token(key: int) -> bytes:
    return sha256(key.to_bytes(8)).digest()[:4]


def first_data_sequence(key: int) -> int:
    """The low 32 bits, as a narrow DSS carries them."""
    return (int.from_bytes(sha256(key.to_bytes(8)).digest()[-4:]) + 1) % 2**32


def join(key: int, address_id: int, *, backup: bool = False) -> tuple[Option, Option, Option]:
    """MP_JOIN of the three segments, to the owner of the key; nobody checks the HMACs."""
    low = 0x10 | backup
    return (
        (MPTCP, bytes([low, address_id]) + token(key) + bytes(4)),
        (MPTCP, bytes([low, 0]) + bytes(12)),
        (MPTCP, bytes([0x10, 0]) + bytes(20)),
    )


def mapping(data_sequence: int, subflow_number: int, length: int, data_ack: int = 0) -> Option:
    """DSS with a data ACK and a mapping, both of 32 bits."""
    numbers = (data_ack, data_sequence % 2**32, subflow_number, length)
    return MPTCP, bytes([0x20, 0x05]) + struct.pack("!IIIH", *numbers)


def reset_reason(reason: int) -> Option:
    """MP_TCPRST."""
    return MPTCP, bytes([0x80, reason])
