"""AUTH and zero checksums: what was negotiated, what was not kept to, and what only looks so."""

from __future__ import annotations

import struct
from collections.abc import Callable
from pathlib import Path

import pathscope
import pytest
from crafting import RAW, SECOND, START_NS, Record, chunk, pcap, tlv
from pathscope.analyzer.model import Association, Finding
from pathscope.reports.console import report
from rich.console import Console
from scapy.layers.inet import IP
from scapy.layers.sctp import SCTP
from scapy.packet import Raw

RANDOM, CHUNKS, HMACS, ZERO = 0x8002, 0x8003, 0x8004, 0x8001
AUTH_OF_BOTH = tlv(RANDOM, bytes(32)) + tlv(HMACS, b"\0\3\0\1") + tlv(CHUNKS, b"\xc1\x80")
DTLS = tlv(ZERO, struct.pack("!I", 1))
AUTH = chunk(15, 0, b"\0\1\0\3" + bytes(32))
ASCONF = chunk(0xC1, 0, struct.pack("!I", 1) + tlv(5, bytes([10, 0, 0, 1])))

Capture = Callable[..., Association]


def init(kind: int, tag: int, parameters: bytes) -> bytes:
    return chunk(kind, 0, struct.pack("!IIHHI", tag, 65_536, 1, 1, 1) + parameters)


def data(tsn: int) -> bytes:
    return chunk(0, 3, struct.pack("!IHHI", tsn, 0, tsn, 46) + b"x")


def sack(tsn: int) -> bytes:
    return chunk(3, 0, struct.pack("!IIHH", tsn, 65_536, 0, 0))


@pytest.fixture
def capture(tmp_path: Path) -> Capture:
    """An association: a handshake with parameters of a and b, and then packets.

    A packet is its sender and its bytes; a sender in capitals leaves out the checksum.
    """

    def make(a: bytes, b: bytes, *packets: tuple[str, bytes], zero: str = "") -> Association:
        handshake = [
            ("a", init(1, 10, a)), ("b", init(2, 20, b)), ("a", chunk(10, 0, b"cookie!!")),
            ("b", chunk(11)),
        ]  # fmt: skip
        records = []
        for number, (sender, chunks) in enumerate([*handshake, *packets]):
            end = sender.lower()
            ip, ports = (
                (IP(src="10.0.0.1", dst="10.0.0.2"), (6000, 5000))
                if end == "a"
                else (IP(src="10.0.0.2", dst="10.0.0.1"), (5000, 6000))
            )
            tag = 0 if not number else 20 if end == "a" else 10
            packet = SCTP(sport=ports[0], dport=ports[1], tag=tag) / Raw(chunks)
            if sender.isupper() or end in zero:
                packet.chksum = 0
            records.append(Record(START_NS + number * SECOND // 100, bytes(ip / packet)))
        path = tmp_path / "capture.pcap"
        path.write_bytes(pcap(records, link_type=RAW))
        (found,) = pathscope.analyze(path).associations
        return found

    return make


def the(seen: Association, rule: str) -> Finding:
    (found,) = [finding for finding in seen.findings if finding.rule == rule]
    return found


def test_what_is_authenticated_is_well(capture: Capture) -> None:
    seen = capture(AUTH_OF_BOTH, AUTH_OF_BOTH, ("a", AUTH + ASCONF), ("a", data(1)))
    assert seen.findings == ()
    a, b = seen.authentication["a"], seen.authentication["b"]
    assert a is not None
    assert b is not None
    assert (a.random_bytes, a.hmacs, a.chunks) == (
        32,
        ("SHA-256", "SHA-1"),
        ("ASCONF", "ASCONF-ACK"),
    )
    assert (a.auth_chunks, a.used_hmacs, a.used_keys) == (1, ("SHA-256",), (1,))
    assert (b.auth_chunks, b.used_keys, b.unauthenticated_types) == (0, (), ())


def test_what_should_be_authenticated_and_is_not(capture: Capture) -> None:
    seen = capture(AUTH_OF_BOTH, AUTH_OF_BOTH, ("a", ASCONF), ("a", ASCONF + AUTH))
    found = the(seen, "unauthenticated-chunks")
    assert found.frames == (5,)
    assert found.text.startswith("a sent 2 chunks (ASCONF) without AUTH")


def test_nothing_is_demanded_of_an_end_that_cannot(capture: Capture) -> None:
    seen = capture(b"", AUTH_OF_BOTH, ("a", ASCONF))
    assert seen.findings == ()
    assert seen.authentication["a"] is None


def test_a_negotiated_zero_checksum(capture: Capture) -> None:
    seen = capture(DTLS, DTLS, ("A", data(1)), ("B", sack(1)))
    found = the(seen, "zero-checksum")
    assert (found.severity, found.text) == (
        "note",
        "2 packets carry no checksum: negotiated (RFC 9653)",
    )
    assert seen.zero_checksums == 2
    assert [seen.zero_checksum[end].accepted_method for end in ("a", "b")] == [1, 1]


def test_a_zero_checksum_that_the_receiver_did_not_announce(capture: Capture) -> None:
    """b accepts it; that a may leave it out says nothing of b."""
    seen = capture(b"", DTLS, ("A", data(1)), ("B", sack(1)))
    found = the(seen, "uncovered-zero-checksum")
    assert found.severity == "warning"
    assert found.text.startswith("1 of 3 packets of b carry no checksum and should")
    assert "a did not announce" in found.text
    assert seen.zero_checksum["b"].uncovered_packets == 1
    assert "negotiated" in the(seen, "zero-checksum").text


def test_init_and_cookie_echo_always_need_one(capture: Capture) -> None:
    """A card that fills in checksums later does so for data, too: with some packets valid, look."""
    seen = capture(DTLS, DTLS, ("a", data(1)), ("A", chunk(10, 0, b"another!")))
    found = the(seen, "uncovered-zero-checksum")
    assert "INIT and COOKIE ECHO" in found.text


def test_checksum_offload(capture: Capture) -> None:
    seen = capture(b"", b"", ("a", data(1)), ("b", sack(1)), zero="a")
    found = the(seen, "checksum-offload")
    assert (found.severity, "offload" in found.text) == ("note", True)
    assert found.text.startswith("no packet of a carries a checksum")


def printed(seen: Association) -> str:
    from pathscope.analyzer.model import CaptureResult

    facts = {
        "start_ns": 0, "end_ns": 0, "format": "pcap", "compression": None,
        "frames": {"read": 0, "dissected": 0, "partial": 0, "skipped": {}},
    }  # fmt: skip
    console = Console(width=160)
    with console.capture() as captured:
        console.print(report(CaptureResult("x", facts, (seen,))))
    return captured.get()


def test_the_report_says_it_in_a_line(capture: Capture) -> None:
    seen = capture(AUTH_OF_BOTH + DTLS, AUTH_OF_BOTH, ("a", AUTH + ASCONF), ("B", sack(0)))
    text = printed(seen)
    assert (
        "AUTH: a accepts SHA-256, SHA-1, wants ASCONF, ASCONF-ACK authenticated; sent 1"
        " (SHA-256, key 1)" in text
    )
    assert (
        "AUTH: b accepts SHA-256, SHA-1, wants ASCONF, ASCONF-ACK authenticated; sent none" in text
    )
    assert "zero checksum: a accepts it (SCTP over DTLS); 1 packets without one" in text


def test_the_report_is_silent_where_there_is_nothing_to_say(capture: Capture) -> None:
    text = printed(capture(b"", b"", ("a", data(1)), ("b", sack(1))))
    assert "AUTH" not in text
    assert "zero checksum" not in text
