"""Captures from ladder diagrams: one line of text is one packet of an association.

    0.00  a 1  INIT                     seconds, sender, path, chunks
    0.01  b 1  INIT ACK
    1.00  a 1  DATA 1-2; DATA 3         several chunks in a packet; TSNs count from 1
    1.01  b 1  SACK 1 gaps 3-3 dup 1    also: window 0
    2.00  a 2  HEARTBEAT 7              its information, which the ACK repeats
    2.02  b 2  HEARTBEAT ACK 7
    3.00  a 1  ASCONF 1 ADD 10.0.3.1    serial number, request, address
    3.01  b 1  ASCONF-ACK 1             or: ASCONF-ACK 1 error 0xA0
    4.00  a 1  DATA 4 !copy             the capture repeats the frame
    4.01  a 1  DATA 5 stream 3          also: size 1400, user bytes
    4.02  a 1  DATA 6 !bad              wrong checksum; !zero: none; !adler: that of RFC 2960; !cut:
                                        the capture lacks the last 20 bytes

Path n leads from 10.0.n.1 (a) to 10.0.n.2 (b) and is captured on the interface `path n`; path
`n-m` leads from a's address n to b's address m. What the network loses is not drawn as lost: its
answer is missing. `#` begins a remark. Times must not go backwards.
"""

from __future__ import annotations

import re
import struct
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from crafting import LINK, SECOND, START_NS, Pcapng, Record, chunk, tlv
from pathscope.analyzer.model import Association
from scapy.layers.inet import IP
from scapy.layers.sctp import SCTP
from scapy.packet import Raw

TSN_BASE = {"a": 0xFFFF_FFFA, "b": 0x1000}
"""TSN 0 of each end: a's wraps around after its fifth chunk, which must not matter."""

PORTS = {"a": 6000, "b": 5000}
USER_BYTES = 100
WINDOW_BYTES = 65_536

HANDSHAKE = """
    0.00  a 1  INIT
    0.01  b 1  INIT ACK
    0.02  a 1  COOKIE ECHO
    0.03  b 1  COOKIE ACK
    0.10  a 2  HEARTBEAT 900
    0.14  b 2  HEARTBEAT ACK 900
"""
"""An association over path 1 (round trip 10 ms) that confirms path 2 (40 ms)."""

PARAMETERS = {"ADD": 0xC001, "DELETE": 0xC002, "SET-PRIMARY": 0xC004}
PLAIN = {
    "INIT ACK": 2, "INIT": 1, "HEARTBEAT ACK": 5, "HEARTBEAT": 4, "COOKIE ECHO": 10,
    "COOKIE ACK": 11, "SHUTDOWN ACK": 8, "SHUTDOWN COMPLETE": 14, "SHUTDOWN": 7,
    "ASCONF-ACK": 0x80, "ASCONF": 0xC1, "SACK": 3, "DATA": 0, "ABORT": 6, "ERROR": 9, "AUTH": 15,
}  # fmt: skip
"""Chunk types by name, the longer of two names that begin alike first."""


Play: TypeAlias = Callable[..., Association]
"""The fixture `play`: analyzes the only association of a ladder."""


def nanoseconds(second: float | str) -> int:
    """Return the time of the capture's clock at a second of the ladder."""
    return START_NS + round(float(second) * 1_000_000) * 1_000


def peer(end: str) -> str:
    return "b" if end == "a" else "a"


def address(end: str, path: str) -> str:
    near, _, far = path.partition("-")
    return f"10.0.{near}.1" if end == "a" else f"10.0.{far or near}.2"


@dataclass
class Ladder:
    """Writes packets of one association; `paths` is how many addresses the handshake names."""

    paths: int = 2
    tags: dict[str, int] = field(default_factory=lambda: {"a": 0xA0A0, "b": 0xB0B0})
    records: list[Record] = field(default_factory=list)
    parameters: bytes = b""
    """Of INIT and INIT ACK, beside addresses and cookie."""

    def draw(self, script: str) -> Ladder:
        for line in script.splitlines():
            text = line.partition("#")[0].strip()
            if text:
                self._packet(text)
        return self

    def capture(self) -> bytes:
        file = Pcapng().section()
        for number in range(9):
            file.interface(f"path {number + 1}")
        return file.packets(self.records).bytes()

    def _packet(self, text: str) -> None:
        time, sender, path, rest = text.split(maxsplit=3)
        names, *marks = rest.split("!")
        chunks = [self._chunk(sender, one.strip()) for one in names.split(";")]
        tag = 0 if re.match(r"INIT\b(?! ACK)", names) else self.tags[peer(sender)]
        ip = IP(
            src=address(sender, path),
            dst=address(peer(sender), path),
            id=len(self.records) + 1,
        )
        head = SCTP(sport=PORTS[sender], dport=PORTS[peer(sender)], tag=tag)
        raw = bytes(LINK / ip / head / Raw(b"".join(chunks)))
        raw, captured = _marked(raw, {mark.strip() for mark in marks})
        record = Record(nanoseconds(time), captured, int(path[0]) - 1, len(raw))
        if self.records and record.time_ns < self.records[-1].time_ns:
            raise ValueError(f"time goes backwards: {text}")
        self.records.append(record)
        if "copy" in marks:
            self.records.append(Record(record.time_ns + 1_000, raw, record.interface))

    def _chunk(self, sender: str, text: str) -> bytes:
        name = next(name for name in PLAIN if re.match(rf"{name}(?![\w-])", text))
        words = text[len(name) :].split()
        if name == "DATA":
            first, _, last = words[0].partition("-")
            numbers = range(int(first), int(last or first) + 1)
            how = dict(zip(words[1::2], map(int, words[2::2]), strict=True))
            return b"".join(_data(sender, tsn, **how) for tsn in numbers)
        if name in ("INIT", "INIT ACK"):
            return chunk(PLAIN[name], 0, self._init(sender, name, words))
        return chunk(PLAIN[name], 0, _value(sender, name, words))

    def _init(self, sender: str, name: str, words: list[str]) -> bytes:
        """`INIT new` begins a restart: the end has lost its tag and takes another."""
        if "new" in words:
            self.tags[sender] += 1
        first_tsn = _tsn(sender, words[-1] if words and words[-1].isdecimal() else "1")
        value = struct.pack("!IIHHI", self.tags[sender], WINDOW_BYTES, 10, 10, first_tsn)
        for path in range(1, self.paths + 1):
            parts = address(sender, str(path)).split(".")
            value += tlv(5, bytes(int(part) for part in parts))
        return value + self.parameters + (tlv(7, b"cookie!!") if name == "INIT ACK" else b"")


def _value(sender: str, name: str, words: list[str]) -> bytes:
    match name:
        case "SACK":
            return _sack(sender, words)
        case "HEARTBEAT" | "HEARTBEAT ACK":
            return tlv(1, struct.pack("!Q", int(words[0])))
        case "AUTH":  # RFC 4895 section 4.1: key 1, SHA-256; nobody checks the hash
            return struct.pack("!HH", 1, 3) + bytes(32)
        case "COOKIE ECHO":
            return b"cookie!!"
        case "SHUTDOWN":
            return struct.pack("!I", _tsn(peer(sender), words[0]))
        case "ASCONF":
            return _asconf(sender, words)
        case "ASCONF-ACK":
            return _asconf_ack(words)
        case "ABORT" | "ERROR":
            return b"".join(tlv(int(word, 0)) for word in words)
    return b""


def _tsn(end: str, number: str) -> int:
    return (TSN_BASE[end] + int(number)) % (1 << 32)


def _data(sender: str, number: int, stream: int = 0, size: int = USER_BYTES) -> bytes:
    value = struct.pack("!IHHI", _tsn(sender, str(number)), stream, number % 65_536, 0)
    return chunk(0, 3, value + bytes([number % 256]) * size)


CHECKSUM, PACKET = slice(42, 46), slice(34, None)
"""Behind 14 bytes of Ethernet and 20 of IPv4; the common header's checksum is its third word."""


def _marked(raw: bytes, marks: set[str]) -> tuple[bytes, bytes]:
    """Return a frame as its marks want it, on the wire and in the capture."""
    found = bytearray(raw)
    if "bad" in marks:
        found[42] ^= 0xFF
    if marks & {"zero", "adler"}:
        found[CHECKSUM] = bytes(4)
    if "adler" in marks:
        found[CHECKSUM] = struct.pack("!I", zlib.adler32(found[PACKET]))
    return bytes(found), bytes(found[:-20] if "cut" in marks else found)


def _sack(sender: str, words: list[str]) -> bytes:
    options = dict(zip(words[1::2], words[2::2], strict=True))
    cumulative = int(words[0])
    gaps = [block.split("-") for block in options.get("gaps", "").split(",") if block]
    copies = [tsn for tsn in options.get("dup", "").split(",") if tsn]
    window = int(options.get("window", WINDOW_BYTES))
    value = struct.pack("!IIHH", _tsn(peer(sender), words[0]), window, len(gaps), len(copies))
    for first, last in gaps:
        value += struct.pack("!HH", int(first) - cumulative, int(last) - cumulative)
    return value + b"".join(struct.pack("!I", _tsn(peer(sender), tsn)) for tsn in copies)


def _address(text: str) -> bytes:
    return tlv(5, bytes(int(part) for part in text.split(".")))


def _asconf(sender: str, words: list[str]) -> bytes:
    serial, request, subject = words
    own = _address(address(sender, "1"))
    correlation = struct.pack("!I", int(serial))
    asked = tlv(PARAMETERS[request], correlation + _address(subject))
    return struct.pack("!I", int(serial)) + own + asked


def _asconf_ack(words: list[str]) -> bytes:
    """Without a parameter all is well (RFC 5061, section 4.1.2)."""
    value = struct.pack("!I", int(words[0]))
    if "error" in words:
        value += tlv(0xC003, struct.pack("!I", int(words[0])) + tlv(int(words[-1], 0)))
    return value


def steady(
    first: float, last: float, step: float, path: int, tsn: int, rtt: float, sender: str = "a"
) -> str:
    """Draw a chunk each `step` seconds from `first` to `last`, each acknowledged after `rtt`.

    `rtt` must be shorter than `step`. The last chunk's TSN is
    `tsn + round((last - first) / step)`.
    """
    lines = []
    for number in range(round((last - first) / step) + 1):
        at = first + number * step
        lines.append(f"{at:.6f} {sender} {path} DATA {tsn + number}")
        lines.append(f"{at + rtt:.6f} {peer(sender)} {path} SACK {tsn + number}")
    return "\n".join(lines) + "\n"


def failing(start: float, waits: Sequence[float], tsn: int, path: int = 1, other: int = 2) -> str:
    """Draw a path that dies under the chunk sent at `start`, until new DATA goes elsewhere.

    T3-rtx expires after each of `waits`. The chunk goes again on the other path, which
    acknowledges it 40 ms later. A millisecond after an expiry comes the next chunk: on the
    failing path, after the last one on the other path.
    """
    lines = [f"{start:.6f} a {path} DATA {tsn}"]
    at = start
    for number, wait in enumerate(waits, start=1):
        at += wait
        lines.append(f"{at:.6f} a {other} DATA {tsn}")
        at += 0.001
        tsn += 1
        last = number == len(waits)
        lines.append(f"{at:.6f} a {other if last else path} DATA {tsn}")
        lines.append(f"{at + 0.039:.6f} b {other} SACK {tsn if last else tsn - 1}")
    return "\n".join(lines) + "\n"


def second(ns: int | None) -> float | None:
    """Return the ladder's second of an instant."""
    return None if ns is None else (ns - START_NS) / SECOND
