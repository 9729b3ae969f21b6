"""Every chunk type and parameter agrees with tshark, whole and cut by the capture."""

import struct
from pathlib import Path

from conformance.crafted import agrees
from crafting import LINK, chunk, sctp, tlv
from scapy.layers.inet import IP, UDP
from scapy.layers.inet6 import IPv6
from scapy.layers.l2 import Ether
from scapy.packet import Raw

V4, V6 = tlv(5, bytes([10, 0, 1, 9])), tlv(6, bytes.fromhex("20010db8000100000000000000000009"))
INIT = struct.pack("!IIHHI", 0xCAFE, 100_000, 10, 20, 0xFFFFFFF0)
EXTENSIONS = tlv(0x8000) + tlv(0x8008, b"\xc1\x80\x82") + tlv(0xC000) + tlv(0xC006, bytes(4))

CHUNKS = {
    "data": chunk(0, 0x03, struct.pack("!IHHI", 0xFFFFFFFF, 7, 65535, 46) + b"hello"),
    "data-unordered-first": chunk(0, 0x0E, struct.pack("!IHHI", 1, 7, 0, 0) + b"hell"),
    "init": chunk(1, 0, INIT + V4 + V6 + tlv(12, b"\0\5\0\6") + EXTENSIONS),
    "init-ack": chunk(2, 0, INIT + V6 + tlv(7, bytes(30)) + tlv(8, tlv(0xC123, b"x"))),
    "sack": chunk(3, 0, struct.pack("!IIHH4H2I", 9, 5000, 2, 2, 2, 3, 5, 5, 8, 9)),
    "heartbeat": chunk(4, 0, tlv(1, bytes(17))),
    "heartbeat-ack": chunk(5, 0, tlv(1, bytes(17))),
    "abort": chunk(6, 1, tlv(13, b"because") + tlv(12, b"user")),
    "shutdown": chunk(7, 0, struct.pack("!I", 77)),
    "shutdown-ack": chunk(8, 0),
    "error": chunk(9, 0, tlv(1, b"\0\3\0\0") + tlv(6, chunk(77, 0, b"abcd")) + tlv(3, bytes(4))),
    "cookie-echo": chunk(10, 0, bytes(33)),
    "cookie-ack": chunk(11, 0),
    "ecne": chunk(12, 0, struct.pack("!I", 5)),
    "cwr": chunk(13, 0, struct.pack("!I", 6)),
    "shutdown-complete": chunk(14, 1),
    "auth": chunk(15, 0, struct.pack("!HH", 1, 1) + bytes(20)),
    "nr-sack": chunk(16, 0, struct.pack("!IIHHHH4HI", 9, 5000, 1, 1, 1, 0, 2, 3, 5, 5, 8)),
    "i-data-first": chunk(64, 0x02, struct.pack("!IHHII", 7, 1, 0, 42, 51) + b"hello"),
    "i-data-last": chunk(64, 0x01, struct.pack("!IHHII", 8, 1, 0, 42, 3) + b"hello"),
    "asconf-ack": chunk(
        128, 0, bytes(4) + tlv(0xC005, bytes(4)) + tlv(0xC003, bytes(4) + tlv(0xA0, V4))
    ),
    "packet-drop": chunk(129, 0, bytes(12)),
    "re-config-outgoing": chunk(130, 0, tlv(13, struct.pack("!3I2H", 1, 2, 3, 4, 5))),
    "re-config-others": chunk(
        130, 0, tlv(14, bytes(4)) + tlv(16, struct.pack("!2I", 1, 1)) + tlv(17, bytes(8))
    ),
    "pad": chunk(132, 0, bytes(9)),
    "forward-tsn": chunk(192, 0, struct.pack("!IHH", 1000, 1, 2)),
    "asconf": chunk(
        193,
        0,
        bytes([0, 0, 0, 7]) + V4 + tlv(0xC001, bytes(4) + V4) + tlv(0xC002, bytes(4) + V6)
        + tlv(0xC004, bytes(4) + tlv(5, bytes(4))),
    ),
    "i-forward-tsn": chunk(194, 0, struct.pack("!IHHI", 1000, 1, 1, 2)),
    "unknown": chunk(200, 5, bytes(10)),
}  # fmt: skip


def test_every_chunk_agrees(tmp_path: Path) -> None:
    below = (IP(src="10.0.0.1", dst="10.0.0.2"), IPv6(src="2001:db8::1", dst="2001:db8::2"))
    agrees(tmp_path, [LINK / ip / sctp(one) for ip in below for one in CHUNKS.values()])


def test_bundle_agrees(tmp_path: Path) -> None:
    agrees(tmp_path, [LINK / IP() / sctp(*CHUNKS.values())])


def test_udp_encapsulation_agrees(tmp_path: Path) -> None:
    inside = UDP(sport=9899, dport=9899) / Raw(bytes(sctp(CHUNKS["data"])))
    agrees(tmp_path, [LINK / IP() / inside])


def test_cut_captures_agree(tmp_path: Path) -> None:
    whole = bytes(LINK / IP() / sctp(CHUNKS["sack"], CHUNKS["data"], CHUNKS["init"]))
    # Of a packet whose first chunk is cut, tshark shows no chunk at all.
    cuts = range(14 + 20 + 12 + len(CHUNKS["sack"]), len(whole))
    agrees(tmp_path, [Ether(whole[:cut]) for cut in cuts], [len(whole)] * len(cuts))
