"""Whatever Scapy builds is rewritten to what Scapy would have built, and tshark finds it right."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from crafting import ETHERNET, LINUX_SLL, NULL, RAW, START_NS, Record, chunk, pcap, tlv
from hypothesis import given, settings
from hypothesis import strategies as st
from oracle import Fields, fields
from pathscope.replay import _native
from pathscope.replay.packets.orders import Mapping, Orders, Outlet, Pair
from scapy.layers.inet import ICMP, IP, TCP, UDP
from scapy.layers.inet6 import (
    ICMPv6DestUnreach,
    ICMPv6EchoRequest,
    ICMPv6ND_NA,
    ICMPv6ND_NS,
    IPv6,
    IPv6ExtHdrDestOpt,
    IPv6ExtHdrFragment,
    fragment6,
)
from scapy.layers.l2 import Dot1Q, Ether
from scapy.layers.sctp import SCTP
from scapy.packet import Packet, Raw
from scapy.utils import rdpcap

GOOD, BAD = "1", "0"
"""tshark's status of a checksum; others are "not checked" and "none there"."""

STATUSES = tuple(
    f"{name}.checksum.status" for name in ("ip", "tcp", "udp", "icmp", "icmpv6", "sctp")
)
ADDRESSES = (
    "ip.addr",
    "ipv6.addr",
    "sctp.parameter_ipv4_address",
    "sctp.parameter_ipv6_address",
    "icmpv6.nd.ns.target_address",
    "icmpv6.nd.na.target_address",
)
PORTS = ("tcp.port", "udp.port", "sctp.port")
VERIFYING = ("ip.check_checksum", "tcp.check_checksum", "udp.check_checksum")
PREFERENCES = (*(f"{name}:TRUE" for name in VERIFYING), "sctp.checksum:CRC 32c")

MACS: dict[str, Any] = {"src": "02:00:00:00:00:01", "dst": "02:00:00:00:00:02"}
MADE: dict[str, Any] = {"src": "02:00:00:00:00:0a", "dst": "02:00:00:00:00:0b"}
TUNNELING = 9899


@dataclass(frozen=True)
class Ends:
    """Addresses and ports that packets are built with."""

    v4: str
    v6: str
    ports: tuple[int, int]

    def ip(self, *, v6: bool) -> Packet:
        if v6:
            return IPv6(src=f"{self.v6}::1", dst=f"{self.v6}::2")
        return IP(src=f"{self.v4}.1", dst=f"{self.v4}.2", id=7)

    def sctp(self, *chunks: bytes) -> Packet:
        source, destination = self.ports
        return SCTP(sport=source, dport=destination, tag=9) / Raw(b"".join(chunks))

    def parameters(self) -> bytes:
        """An address of either family."""
        v4 = bytes(IP(src=f"{self.v4}.7", dst=f"{self.v4}.7"))[16:]
        v6 = bytes(IPv6(src=f"{self.v6}::7", dst=f"{self.v6}::7"))[24:]
        return tlv(5, v4) + tlv(6, v6)


TRACE = Ends("10.0.1", "fd00:1", (5000, 6000))
WIRE = Ends("10.9.3", "fd00:9", (5001, 7000))
MAPPING = Mapping(
    addresses=(("10.0.1.0/24", "10.9.3.0/24"), ("fd00:1::/32", "fd00:9::/32")),
    ports=((5000, 5001), (6000, 7000)),
)
BACK = Mapping(
    addresses=tuple((after, before) for before, after in MAPPING.addresses),
    ports=tuple((after, before) for before, after in MAPPING.ports),
)

Build = Callable[[Ends], Packet]
"""An IP packet between two ends; whichever they are, all else is the same."""

Link = tuple[int, Callable[[bytes], bytes], Packet]
"""A LINKTYPE, what it puts in front of an IP packet, and the Ethernet of what is sent."""


def orders(ends: Ends = TRACE, **options: Any) -> Orders:
    """Everything that the client sends, over one path."""
    pairs = tuple(
        Pair(f"{prefix}1", f"{prefix}2", "p") for prefix in (f"{ends.v4}.", f"{ends.v6}::")
    )
    mtu = options.pop("mtu", 9000)
    outlets = (Outlet("p", "to_server", "none", mtu=mtu),)
    return Orders(trace=(), pairs=pairs, outlets=outlets, **options)


def rewritten(
    trace: bytes, asked: Orders, folder: Path, name: str = "out.pcap"
) -> tuple[Path, dict[str, Any]]:
    """Write a trace, and what is made of it."""
    before, after = folder / "in.pcap", folder / name
    before.write_bytes(trace)
    return after, _native.rewrite(asked.to_json(), before, after)


def checked(capture: Path, *names: str) -> list[Fields]:
    """Return fields of every frame, after tshark has found no checksum bad in any of them."""
    every = fields(capture, (*STATUSES, "udp.checksum.zero", *names), verify=PREFERENCES)
    for number, frame in enumerate(every, 1):
        bad = [name for name in STATUSES if BAD in frame[name]]
        assert not bad, f"frame {number}: {bad}"
        assert not frame["udp.checksum.zero"], f"frame {number}"
    return every


# What is in the packets. Each is a function of the ends, so that Scapy builds it twice.

user = st.binary(min_size=1, max_size=200)
versions = st.booleans()


@st.composite
def chunks(draw: st.DrawFn) -> Callable[[Ends], bytes]:
    """Chunks with addresses, and without."""
    kind = draw(st.sampled_from(["data", "init", "init ack", "asconf", "asconf ack", "abort"]))
    payload, number = draw(user), draw(st.integers(0, 2**32 - 1)).to_bytes(4, "big")

    def asconf(ends: Ends) -> bytes:
        requests = b"".join(tlv(kind, number + ends.parameters()) for kind in (0xC001, 0xC002))
        return ends.parameters()[:8] + requests + tlv(0xC004, number + ends.parameters()[8:])

    def build(ends: Ends) -> bytes:
        match kind:
            case "data":
                return chunk(0, 3, number + bytes(8) + payload)
            case "init" | "init ack":
                fixed = number + bytes([0, 1, 0, 0, 0, 5, 0, 5]) + number
                cookie = tlv(7, payload) if kind == "init ack" else b""
                return chunk(1 + len(kind) // 8, 0, fixed + ends.parameters() + cookie)
            case "asconf":
                return chunk(193, 0, number + asconf(ends))
            case "asconf ack":
                cause = tlv(0xA0, tlv(0xC002, number + ends.parameters()[:8]))
                return chunk(128, 0, number + tlv(0xC003, number + cause))
            case _:
                return chunk(6, 0, tlv(11, ends.parameters()))

    return build


@st.composite
def uppers(draw: st.DrawFn, *, v6: bool, quotes: bool) -> Build:
    """Transport packets, with ICMP errors among them or not."""
    payload, build_chunk = draw(user), draw(chunks())
    options = draw(st.sampled_from([[], [("MSS", 1460), ("WScale", 7)], [("Timestamp", (1, 2))]]))
    flags = draw(st.sampled_from(["S", "A", "PA", "FA"]))

    def echo(_: Ends) -> Packet:
        return (ICMPv6EchoRequest() if v6 else ICMP()) / Raw(payload)

    def error(ends: Ends) -> Packet:
        quoted = ends.ip(v6=v6) / UDP(sport=ends.ports[0], dport=ends.ports[1]) / Raw(payload)
        return (ICMPv6DestUnreach() if v6 else ICMP(type=3, code=1)) / Raw(bytes(quoted))

    def neighbour(ends: Ends) -> Packet:
        kind = ICMPv6ND_NS if len(payload) % 2 else ICMPv6ND_NA
        return kind(tgt=f"{ends.v6}::9") if v6 else echo(ends)

    def udp(ends: Ends) -> Packet:
        return UDP(sport=ends.ports[0], dport=ends.ports[1]) / Raw(payload)

    def tcp(ends: Ends) -> Packet:
        ports: dict[str, Any] = {"sport": ends.ports[0], "dport": ends.ports[1]}
        return TCP(**ports, flags=flags, options=options) / Raw(payload)

    def sctp(ends: Ends) -> Packet:
        return ends.sctp(build_chunk(ends))

    def tunneled(ends: Ends) -> Packet:
        return UDP(sport=TUNNELING, dport=TUNNELING) / Raw(bytes(sctp(ends)))

    def inside(ends: Ends) -> Packet:
        return ends.ip(v6=not v6) / tcp(ends)

    kinds = [echo, neighbour, udp, tcp, sctp, sctp, tunneled, inside]
    return draw(st.sampled_from([*kinds, error] if quotes else kinds))


@st.composite
def packets(draw: st.DrawFn, *, quotes: bool = True) -> Build:
    """IP packets."""
    v6, extended = draw(versions), draw(st.booleans())
    upper = draw(uppers(v6=v6, quotes=quotes))

    def build(ends: Ends) -> Packet:
        header = ends.ip(v6=v6)
        return (header / IPv6ExtHdrDestOpt() if v6 and extended else header) / upper(ends)

    return build


@st.composite
def links(draw: st.DrawFn) -> Link:
    """Links of a trace."""
    tags = draw(st.integers(0, 2))
    made = Ether(**MADE)

    def ethernet() -> Packet:
        frame: Packet = Ether(**MACS)
        for number in range(tags):
            frame = frame / Dot1Q(vlan=number + 5)
        return frame

    def ether_type(packet: bytes) -> bytes:
        return b"\x86\xdd" if packet[0] >> 4 == 6 else b"\x08\x00"

    def family(packet: bytes) -> bytes:
        return bytes([30 if packet[0] >> 4 == 6 else 2, 0, 0, 0])

    kinds: list[Link] = [
        (ETHERNET, lambda packet: framed(ethernet(), packet), ethernet()),
        (RAW, lambda packet: packet, made),
        (NULL, lambda packet: family(packet) + packet, made),
        (LINUX_SLL, lambda packet: bytes(14) + ether_type(packet) + packet, made),
    ]
    return draw(st.sampled_from(kinds))


def framed(link: Packet, packet: bytes) -> bytes:
    return bytes(link / (IPv6(packet) if packet[0] >> 4 == 6 else IP(packet)))


SPOILS: dict[str, Callable[[bytes, bytes], bytes]] = {
    "right": lambda _, field: field,
    "zero": lambda _, field: bytes(len(field)),
    "other": lambda packet, field: bytes(byte ^ packet[-1] ^ 0x5A for byte in field),
}
PLACES = {1: (2, 2), 6: (16, 2), 58: (2, 2), 132: (8, 4)}
"""By IP protocol: where the checksum is, and of how many bytes."""


def spoiled(packet: bytes, how: str) -> bytes:
    """Change the checksum of an IP packet's transport; UDP's zero means none, so it is left out."""
    v6 = packet[0] >> 4 == 6
    protocol, start = (packet[6], 40) if v6 else (packet[9], 20)
    if protocol not in PLACES:
        return packet
    at, size = PLACES[protocol]
    at += start
    field = SPOILS[how](packet, packet[at : at + size])
    return packet[:at] + field + packet[at + size :]


def trace(frames: list[bytes], link_type: int = ETHERNET) -> bytes:
    return pcap(
        [Record(START_NS + number, frame) for number, frame in enumerate(frames)],
        link_type=link_type,
    )


@settings(max_examples=8)
@given(st.lists(st.tuples(packets(), st.sampled_from(list(SPOILS))), min_size=20), links())
def test_a_mapped_packet_is_as_if_it_had_been_built_so(
    drawn: list[tuple[Build, str]],
    link: Link,
) -> None:
    link_type, in_front, sent_link = link
    frames = [in_front(spoiled(bytes(build(TRACE)), how)) for build, how in drawn]
    with TemporaryDirectory() as folder:
        asked = orders(mapping=MAPPING)
        out, told = rewritten(trace(frames, link_type), asked, Path(folder))
        expected = [framed(sent_link, bytes(build(WIRE))) for build, _ in drawn]
        assert [bytes(frame) for frame in rdpcap(str(out))] == expected
        assert told["frames"]["planned"] == len(drawn)
        for frame in checked(out, *ADDRESSES, *PORTS):
            assert GOOD in {status for name in STATUSES for status in frame[name]}
            of_trace = ("10.0.1.", "fd00:1::")
            assert not [a for name in ADDRESSES for a in frame[name] if a.startswith(of_trace)]
            assert not {"5000", "6000"} & {port for name in PORTS for port in frame[name]}


@settings(max_examples=5)
@given(st.lists(st.tuples(packets(), st.sampled_from(list(SPOILS))), min_size=20))
def test_there_and_back_keeps_what_was_wrong(drawn: list[tuple[Build, str]]) -> None:
    frames = [framed(Ether(**MACS), spoiled(bytes(build(TRACE)), how)) for build, how in drawn]
    with TemporaryDirectory() as folder:
        there = orders(mapping=MAPPING, keep_bad_checksums=True)
        out, _ = rewritten(trace(frames), there, Path(folder))
        back = orders(WIRE, mapping=BACK, keep_bad_checksums=True)
        again, _ = rewritten(out.read_bytes(), back, Path(folder), "back.pcap")
        assert [bytes(frame) for frame in rdpcap(str(again))] == frames


# A quote cannot be right any more when it is padded: nobody ever sent such a packet.
@settings(max_examples=5)
@given(
    st.lists(st.tuples(packets(quotes=False), st.integers(1, 60)), min_size=20),
    st.sampled_from([Mapping(), MAPPING]),
)
def test_what_was_cut_is_padded(drawn: list[tuple[Build, int]], mapping: Mapping) -> None:
    whole = [framed(Ether(**MACS), bytes(build(TRACE))) for build, _ in drawn]
    records = [
        Record(START_NS, frame[: max(len(frame) - cut, 80)], wire_length=len(frame))
        for frame, (_, cut) in zip(whole, drawn, strict=True)
    ]
    with TemporaryDirectory() as folder:
        padding = orders(mapping=mapping, truncated="pad")
        out, told = rewritten(pcap(records), padding, Path(folder))
        sent = [bytes(frame) for frame in rdpcap(str(out))]
        assert [len(frame) for frame in sent] == [len(frame) for frame in whole]
        checked(out)
        cut = sum(len(record.data) < record.length for record in records)
        assert told["rewriting"].get("padded to the length on the wire", 0) == cut
        _, told = rewritten(pcap(records), replace(padding, truncated="refuse"), Path(folder))
        assert told["frames"]["not_sent"].get("truncated by the capture", 0) == cut


def large(ends: Ends, payload: bytes, number: int) -> Packet:
    """Packets larger than any MTU here, with a DATA chunk where they are of SCTP."""
    ports: dict[str, Any] = {"sport": ends.ports[0], "dport": ends.ports[1]}
    udp, tcp = UDP(**ports) / Raw(payload), TCP(**ports, seq=9, flags="PA") / Raw(payload)
    message = ends.sctp(chunk(0, 3, bytes(12) + payload))
    echo = [ICMP() / Raw(payload), ICMPv6EchoRequest() / Raw(payload)]
    v6, kind = number % 2 == 1, number // 2 % 4
    return ends.ip(v6=v6) / [udp, tcp, message, echo[v6]][kind]


@pytest.mark.parametrize("mtu", [1280, 1500])
@settings(max_examples=3)
@given(st.lists(st.integers(1600, 5000), min_size=8, max_size=8))
def test_what_is_too_large_is_split(mtu: int, sizes: list[int]) -> None:
    pattern = bytes(range(251)) * 22
    payloads = [pattern[size % 251 :][:size] for size in sizes]
    built = [large(TRACE, payload, number) for number, payload in enumerate(payloads)]
    with TemporaryDirectory() as folder:
        asked = orders(mapping=MAPPING, above_mtu="split", mtu=mtu)
        frames = [framed(Ether(**MACS), bytes(packet)) for packet in built]
        out, told = rewritten(trace(frames), asked, Path(folder))
        assert all(len(bytes(frame)) <= mtu + 14 for frame in rdpcap(str(out)))
        found = checked(out, "tcp.payload")
        # tshark puts fragments together, so what it verified are the sums over all of them.
        whole = Counter(name for frame in found for name in STATUSES if GOOD in frame[name])
        assert [whole[name] for name in STATUSES[2:]] == [2, 1, 1, 2]
        segments = "".join(value for frame in found for value in frame["tcp.payload"])
        assert segments == (payloads[2] + payloads[3]).hex()
        for kind in ("split into TCP segments", "split into IP fragments"):
            assert told["rewriting"][kind] == {"TCP": 2, "IP": 6}[kind.split()[2]]


def test_fragments_come_together_mapped(tmp_path: Path) -> None:
    payload = bytes(range(250)) * 10
    ports: dict[str, Any] = {"sport": 5000, "dport": 6000}
    v4 = (TRACE.ip(v6=False) / UDP(**ports) / Raw(payload)).fragment(1000)
    large6 = TRACE.ip(v6=True) / IPv6ExtHdrFragment(id=5) / UDP(**ports) / Raw(payload)
    v6 = fragment6(large6, 1280)  # type: ignore[no-untyped-call]
    frames = [framed(Ether(**MACS), bytes(packet)) for packet in (*v4, *v6)]
    out, told = rewritten(trace(frames), orders(mapping=MAPPING), tmp_path)
    found = [frame for frame in checked(out, "udp.srcport", "udp.payload") if frame["udp.payload"]]
    assert [frame["udp.srcport"] for frame in found] == [["5001"], ["5001"]]
    assert [frame["udp.payload"] for frame in found] == [[payload.hex()]] * 2
    assert [frame["udp.checksum.status"] for frame in found] == [[GOOD], [GOOD]]
    assert told["warnings"]["checksum not verified"] == 2


def test_fragments_of_sctp_are_not_sent_when_ports_change(tmp_path: Path) -> None:
    whole = TRACE.ip(v6=False) / TRACE.sctp(chunk(0, 3, bytes(3000)))
    frames = [framed(Ether(**MACS), bytes(packet)) for packet in whole.fragment(1000)]
    out, told = rewritten(trace(frames), orders(mapping=MAPPING), tmp_path)
    assert told["frames"]["not_sent"] == {"mapping inside an SCTP fragment": 1}
    addresses = replace(MAPPING, ports=())
    out, told = rewritten(trace(frames), orders(mapping=addresses), tmp_path)
    assert not told["frames"]["not_sent"]
    found = [frame["sctp.checksum.status"] for frame in checked(out)]
    assert [status for status in found if status] == [[GOOD]]


@pytest.mark.parametrize(
    ("addresses", "told"),
    [
        ((("10.0.2.1", "fd00::1"),), "not of the same family"),
        ((("10.0.2.0/24", "10.0.0.0/16"),), "prefixes of different lengths"),
        ((("10.0.2.1/24", "10.0.3.0/24"),), "bits are set after the prefix"),
    ],
)
def test_a_mapping_that_cannot_be_followed_is_refused(
    tmp_path: Path, addresses: tuple[tuple[str, str], ...], told: str
) -> None:
    frame = framed(Ether(**MACS), bytes(TRACE.ip(v6=False) / UDP()))
    with pytest.raises(ValueError, match=told):
        rewritten(trace([frame]), orders(mapping=Mapping(addresses=addresses)), tmp_path)
