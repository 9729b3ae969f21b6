"""Every TCP option, and TCP and UDP on every way to them, agree with tshark and with Scapy."""

import struct
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from conformance import ours
from conformance.compare import compare
from conformance.crafted import agrees
from crafting import LINK, V4, V6
from scapy.layers.inet import ICMP, IP, TCP, UDP, fragment, in4_pseudoheader
from scapy.layers.inet6 import ICMPv6DestUnreach, IPv6ExtHdrDestOpt, IPv6ExtHdrFragment, fragment6
from scapy.layers.l2 import GRE, Dot1Q, Ether
from scapy.layers.vxlan import VXLAN
from scapy.packet import Packet, Raw
from scapy.utils import wrpcap

KEYS = bytes(range(16))


def option(kind: int, value: bytes = b"") -> bytes:
    return bytes([kind, len(value) + 2]) + value


def multipath(subtype: int, low: int, rest: bytes = b"") -> bytes:
    """An MPTCP option (RFC 8684, section 3)."""
    return option(30, bytes([subtype << 4 | low]) + rest)


# The bytes, and our words for them; what is None is malformed and left out.
OPTIONS: dict[str, tuple[bytes, str | None]] = {
    "none": (b"", None),
    "mss": (option(2, b"\x05\xb4"), "mss=1460"),
    "ws": (option(3, b"\x07"), "ws=7"),
    "ws-beyond-14": (option(3, b"\x0f"), "ws=15"),
    "sack-permitted": (option(4), "sack-permitted"),
    "sack": (option(5, struct.pack("!4I", 0xFFFFFFFF, 5, 7, 9)), "sack=4294967295-5,7-9"),
    "ts": (option(8, struct.pack("!2I", 7, 9)), "ts=7,9"),
    "no-operation-between": (b"\1\1" + option(4) + b"\1" + option(3, b"\2"), "sack-permitted;ws=2"),
    "after-the-end": (option(4) + b"\0" + option(3, b"\2"), "sack-permitted"),
    "md5": (option(19, KEYS), f"kind-19={KEYS.hex()}"),
    "fast-open-request": (option(34), "kind-34"),
    "fast-open": (option(34, KEYS[:8]), f"kind-34={KEYS[:8].hex()}"),
    "user-time-out": (option(28, b"\x80\x05"), "kind-28=8005"),
    "unknown": (option(200, b"abc"), "kind-200=616263"),
    "mss-of-another-length": (option(2, b"\5") + option(4), "sack-permitted"),
    "length-below-2": (b"\x08\1\0\0", None),
    "length-beyond-the-header": (b"\x08\x0a\0\0", None),
    "mp-capable-syn": (multipath(0, 1, b"\x81"), "mp_capable=version:1,flags:0x81"),
    "mp-capable-version-0": (
        multipath(0, 0, b"\x01" + KEYS[:8]),
        "mp_capable=version:0,flags:0x01,sender_key:0x0001020304050607",
    ),
    "mp-capable-data": (
        multipath(0, 1, b"\x01" + KEYS + b"\0\x09"),
        (
            "mp_capable=version:1,flags:0x01,sender_key:0x0001020304050607,"
            "receiver_key:0x08090a0b0c0d0e0f,length:9"
        ),
    ),
    "mp-join-syn": (
        multipath(1, 1, b"\x03" + KEYS[:8]),
        "mp_join=address_id:3,backup,token:0x00010203",
    ),
    "mp-join-syn-ack": (multipath(1, 0, b"\x04" + KEYS[:12]), "mp_join=address_id:4"),
    "mp-join-ack": (multipath(1, 0, b"\0" + KEYS + KEYS[:4]), "mp_join"),
    "dss-ack": (multipath(2, 0, b"\x01" + struct.pack("!I", 7)), "dss=ack:7"),
    "dss-fin": (multipath(2, 0, b"\x13" + struct.pack("!Q", 1 << 40)), "dss=fin,ack:1099511627776"),
    "dss-map": (
        multipath(2, 0, b"\x0f" + struct.pack("!QQIH", 9, 1 << 33, 3, 4)),
        "dss=ack:9,sequence:8589934592,subflow:3,length:4",
    ),
    "dss-checksum": (
        multipath(2, 0, b"\x04" + struct.pack("!IIHH", 5, 3, 4, 0xABCD)),
        "dss=sequence:5,subflow:3,length:4",
    ),
    "add-addr": (
        multipath(3, 0, b"\x02\x0a\0\0\x09\0\x50" + KEYS[:8]),
        "add_addr=address_id:2,address:10.0.0.9,port:80",
    ),
    "add-addr-echo": (
        multipath(3, 1, b"\x02" + bytes.fromhex("20010db8000000000000000000000009")),
        "add_addr=address_id:2,echo,address:2001:db8::9",
    ),
    "remove-addr": (multipath(4, 0, b"\1\2"), "remove_addr=address_id:1,address_id:2"),
    "mp-prio": (multipath(5, 1), "mp_prio=backup"),
    "mp-fail": (multipath(6, 0, b"\0" + struct.pack("!Q", 5)), "mp_fail=sequence:5"),
    "mp-fastclose": (
        multipath(7, 0, b"\0" + KEYS[:8]),
        "mp_fastclose=receiver_key:0x0001020304050607",
    ),
    "mp-tcprst": (multipath(8, 1, b"\x03"), "mp_tcprst=flags:0x1,reason:3"),
}


def with_options(options: bytes, number: int) -> Packet:
    """A segment of a flow of its own; the options are written as they are."""
    words = (len(options) + 3) // 4
    header = TCP(sport=1000 + number, dport=80, seq=number, dataofs=5 + words, chksum=0)
    raw = bytearray(bytes(header)[:20] + options.ljust(4 * words, b"\0") + b"payload")
    pseudo = in4_pseudoheader(6, V4, len(raw))
    struct.pack_into("!H", raw, 16, internet_checksum(pseudo + bytes(raw)))
    return LINK / IP(src=V4.src, dst=V4.dst, proto=6) / Raw(bytes(raw))


def internet_checksum(data: bytes) -> int:
    """RFC 1071, in its plainest form."""
    padded = data + bytes(len(data) % 2)
    total: int = sum(struct.unpack(f"!{len(padded) // 2}H", padded))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return 0xFFFF - total


def test_every_option_agrees(tmp_path: Path) -> None:
    segments = [with_options(raw, number) for number, (raw, _) in enumerate(OPTIONS.values())]
    result = agrees(tmp_path, segments)
    rows = list(ours.rows_of(result.capture, "segments"))
    assert {name: row["options"] for name, row in zip(OPTIONS, rows, strict=True)} == {
        name: words for name, (_, words) in OPTIONS.items()
    }
    assert {row["checksum"] for row in rows} == {"valid"}


def test_every_flag_agrees(tmp_path: Path) -> None:
    frames = [
        LINK / V4 / TCP(sport=1000 + bit, dport=80, flags=1 << bit, urgptr=bit, ack=7, reserved=0)
        for bit in range(9)
    ]
    rows = list(ours.rows_of(agrees(tmp_path, frames).capture, "segments"))
    assert "".join(row["flag_letters"] for row in rows) == "FSRPAUECN"
    assert [row["flags"] for row in rows] == [1 << bit for bit in range(9)]


SEGMENT = TCP(sport=1000, dport=80, seq=0xFFFFFFFF, ack=1, flags="PA", window=0) / Raw(b"odd")
DATAGRAM = UDP(sport=5000, dport=6000) / Raw(b"even")
WAYS = {
    "ipv4": LINK / V4,
    "ipv4-options": LINK / IP(src="10.0.0.1", dst="10.0.0.2", options=b"\x01\x01\x01\x00"),
    "ipv6": LINK / V6,
    "ipv6-extension": LINK / V6 / IPv6ExtHdrDestOpt(),
    "ipv6-whole-fragment": LINK / V6 / IPv6ExtHdrFragment(),
    "vlan": LINK / Dot1Q(vlan=7) / V4,
    "q-in-q": LINK / Dot1Q(vlan=7, type=0x8100) / Dot1Q(vlan=8) / V6,
    "ip-in-ip": LINK / IP(src="192.0.2.1", dst="192.0.2.2") / V4,
    "gre": LINK / IP(src="192.0.2.1", dst="192.0.2.2") / GRE() / V6,
    "vxlan": LINK
    / IP(src="192.0.2.1", dst="192.0.2.2")
    / UDP(sport=7777)
    / VXLAN(vni=3)
    / LINK
    / V4,
}


@pytest.mark.parametrize("transport", [SEGMENT, DATAGRAM], ids=["tcp", "udp"])
@pytest.mark.parametrize("way", WAYS)
def test_every_way_agrees(tmp_path: Path, way: str, transport: Packet) -> None:
    agrees(tmp_path, [WAYS[way] / transport])


@pytest.mark.parametrize("transport", [SEGMENT, DATAGRAM], ids=["tcp", "udp"])
def test_fragments_agree(tmp_path: Path, transport: Packet) -> None:
    pieces = fragment(V4 / transport / Raw(bytes(4000)), 1400)  # type: ignore[no-untyped-call]
    pieces6 = fragment6(V6 / IPv6ExtHdrFragment(id=9) / transport / Raw(bytes(4000)), 1400)  # type: ignore[no-untyped-call]
    frames = [LINK / piece for piece in (*pieces, *pieces6)]
    path = tmp_path / "fragments.pcap"
    result = agrees_in_some(path, frames)
    assert result == {len(pieces): "valid", len(frames): "valid"}


def agrees_in_some(path: Path, frames: Sequence[Packet]) -> dict[int, str]:
    """Compare frames of which only some complete a packet; give the verdicts on those."""
    wrpcap(str(path), list(frames))
    assert compare(path).disagreements == []
    rows = (row for name in ("segments", "datagrams") for row in ours.rows_of(path, name))
    return {row["frame"]: row["checksum"] for row in rows}


def test_checksums_agree(tmp_path: Path) -> None:
    zero: Any = {"chksum": 0}
    wrong: Any = {"chksum": 0x1234}
    partial = internet_checksum(in4_pseudoheader(6, V4, 20)) ^ 0xFFFF
    frames = [
        LINK / V4 / UDP(sport=1, dport=6000, **zero) / Raw(b"x"),
        LINK / V6 / UDP(sport=2, dport=6000, **zero) / Raw(b"x"),
        LINK / V4 / UDP(sport=3, dport=6000, **wrong) / Raw(b"x"),
        LINK / V6 / UDP(sport=4, dport=6000) / Raw(b"odd"),
        LINK / V4 / TCP(sport=5, dport=80, **wrong),
        LINK / V4 / TCP(sport=6, dport=80, **zero),
        LINK / V4 / TCP(sport=7, dport=80, chksum=partial),
        # A datagram's own length ends it, and what its checksum covers.
        LINK / V4 / UDP(sport=8, dport=6000) / Raw(b"x") / Raw(b""),
    ]
    capture = agrees(tmp_path, frames).capture
    datagrams = [row["checksum"] for row in ours.rows_of(capture, "datagrams")]
    assert datagrams == ["zero", "zero", "bad", "valid", "valid"]
    segments = [row["checksum"] for row in ours.rows_of(capture, "segments")]
    assert segments == ["bad", "bad", "partial"]


def test_windows_agree_once_both_ends_scale(tmp_path: Path) -> None:
    def a(**fields: Any) -> Packet:
        return LINK / IP(src="10.0.0.1", dst="10.0.0.2") / TCP(sport=1000, dport=80, **fields)

    def b(**fields: Any) -> Packet:
        return LINK / IP(src="10.0.0.2", dst="10.0.0.1") / TCP(sport=80, dport=1000, **fields)

    frames = [
        a(flags="S", seq=1, window=500, options=[("WScale", 7)]),
        b(flags="SA", seq=9, ack=2, window=600, options=[("WScale", 2)]),
        a(flags="A", seq=2, ack=10, window=501),
        b(flags="A", seq=10, ack=2, window=601),
    ]
    rows = ours.rows_of(agrees(tmp_path, frames).capture, "segments")
    assert [row["window_bytes"] for row in rows] == [500, 600, 501 << 7, 601 << 2]


def test_cut_captures_agree(tmp_path: Path) -> None:
    for transport, header in ((SEGMENT, 20), (DATAGRAM, 8)):
        whole = bytes(LINK / V4 / transport)
        cuts = range(14 + 20 + header, len(whole))
        agrees(tmp_path, [Ether(whole[:cut]) for cut in cuts], [len(whole)] * len(cuts))


def test_what_an_icmp_error_quotes_is_no_packet(tmp_path: Path) -> None:
    quoted, quoted6 = V4 / SEGMENT, V6 / DATAGRAM
    frames = [
        LINK / V4 / ICMP(type=3, code=3) / quoted,
        LINK / V6 / ICMPv6DestUnreach() / quoted6,
    ]
    assert agrees_in_some(tmp_path / "icmp.pcap", frames) == {}
