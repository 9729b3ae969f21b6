"""From the link to SCTP: link headers, IP headers, fragments and UDP, against Scapy and tshark."""

from __future__ import annotations

import struct
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest
from cases import Read, frames, packets_by_tshark, read_cases
from crafting import (
    ETHERNET,
    IPV4,
    IPV6,
    LINK,
    LINUX_SLL,
    LINUX_SLL2,
    LOOP,
    NULL,
    RAW,
    V4,
    V6,
    data,
)
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pathscope.dissectors import ledger
from reading import chunk_rows
from scapy.layers import inet6 as v6
from scapy.layers.inet import IP, UDP, IPOption_NOP, IPOption_Router_Alert, fragment
from scapy.layers.inet6 import fragment6
from scapy.layers.l2 import LLC, SNAP, CookedLinux, CookedLinuxV2, Dot1AD, Dot1Q, Dot3
from scapy.packet import Packet

# Numbers of IP protocols; Scapy does not set them where an extension header comes before SCTP.
SCTP, NO_NEXT = 132, 59
MANY_BYTES = 3000
BELOW = {"src": LINK.src, "dst": LINK.dst}


def ipv6(*headers: Packet) -> Packet:
    """IPv6 with extension headers, then SCTP."""
    headers[-1].nh = SCTP
    whole = V6.copy()
    for header in headers:
        whole = whole / header
    return whole


def padding_option() -> list[Packet]:
    return [v6.PadN(optdata=b"\0\0")]


@dataclass(frozen=True)
class Case:
    """Something that ends in SCTP, on one link type."""

    link_type: int
    below: Packet | bytes

    def frame(self, tsn: int) -> bytes:
        if isinstance(self.below, Packet):
            return bytes(self.below / data(tsn))
        return self.below + bytes((V6 if self.below[-4:] in AF_INET6 else V4) / data(tsn))


AF_INET6 = {struct.pack(order + "I", family) for order in "<>" for family in (10, 24, 28, 30)}

CASES = {
    "ethernet-v4": Case(ETHERNET, LINK / V4),
    "ethernet-v6": Case(ETHERNET, LINK / V6),
    "ethernet-llc-snap": Case(ETHERNET, Dot3(**BELOW) / LLC() / SNAP() / V4),
    "vlan": Case(ETHERNET, LINK / Dot1Q(vlan=7) / V4),
    "vlan-v6": Case(ETHERNET, LINK / Dot1Q(vlan=7) / V6),
    "qinq": Case(ETHERNET, LINK / Dot1AD(vlan=100) / Dot1Q(vlan=7) / V4),
    "sll": Case(LINUX_SLL, CookedLinux(src=bytes(6)) / V4),
    "sll-v6": Case(LINUX_SLL, CookedLinux(src=bytes(6)) / V6),
    "sll2": Case(LINUX_SLL2, CookedLinuxV2(ifindex=3, src=bytes(6)) / V4),
    "sll2-v6": Case(LINUX_SLL2, CookedLinuxV2(ifindex=3, src=bytes(6)) / V6),
    "raw-v4": Case(RAW, V4),
    "raw-v6": Case(RAW, V6),
    "ipv4": Case(IPV4, V4),
    "ipv6": Case(IPV6, V6),
    "null-little": Case(NULL, struct.pack("<I", 2)),
    "null-big": Case(NULL, struct.pack(">I", 2)),
    "null-v6-netbsd": Case(NULL, struct.pack("<I", 24)),
    "null-v6-freebsd": Case(NULL, struct.pack("<I", 28)),
    "null-v6-macos": Case(NULL, struct.pack("<I", 30)),
    "loop": Case(LOOP, struct.pack(">I", 2)),
    "loop-v6": Case(LOOP, struct.pack(">I", 24)),
    "v4-options": Case(
        RAW, IP(src=V4.src, dst=V4.dst, options=[IPOption_Router_Alert(), IPOption_NOP()])
    ),
    "hop-by-hop": Case(RAW, ipv6(v6.IPv6ExtHdrHopByHop(options=padding_option()))),
    "destination-options": Case(RAW, ipv6(v6.IPv6ExtHdrDestOpt(options=padding_option()))),
    # Segments left 0: the destination is that of the IPv6 header.
    "routing": Case(RAW, ipv6(v6.IPv6ExtHdrRouting(addresses=["2001:db8::7"], segleft=0))),
    "all-extensions": Case(
        RAW,
        ipv6(
            v6.IPv6ExtHdrHopByHop(options=padding_option()),
            v6.IPv6ExtHdrRouting(addresses=["2001:db8::7"], segleft=0),
            v6.IPv6ExtHdrFragment(offset=0, m=0, id=9),
            v6.IPv6ExtHdrDestOpt(options=padding_option()),
        ),
    ),
    "udp": Case(RAW, V4 / UDP(sport=9899, dport=9899)),
    "udp-v6-one-port": Case(RAW, V6 / UDP(sport=40_000, dport=9899)),
    "udp-on-vlan": Case(ETHERNET, LINK / Dot1Q(vlan=7) / V4 / UDP(sport=9899, dport=31_000)),
}


@pytest.fixture(scope="module")
def read(tmp_path_factory: pytest.TempPathFactory) -> Read:
    return read_cases(tmp_path_factory.mktemp("links") / "cases.pcapng", CASES)


@pytest.mark.parametrize("name", CASES)
def test_sctp_is_found(read: Read, name: str) -> None:
    row = read.row(name)
    ends = (row["source"], row["destination"])
    assert ends in {("10.0.0.1", "10.0.0.2"), ("2001:db8::1", "2001:db8::2")}


@pytest.mark.parametrize("name", CASES)
def test_tshark_finds_the_same(read: Read, name: str) -> None:
    read.agrees(name)


def test_udp_ports_are_told(tmp_path: Path) -> None:
    path = frames(tmp_path / "udp", [bytes(V4 / UDP(sport=40_000, dport=9899) / data(1))])
    (association,) = ledger.read(path).rows("associations")
    assert (association["a_udp_port"], association["b_udp_port"]) == (40_000, 9899)


def test_udp_ports_are_an_option(tmp_path: Path) -> None:
    path = frames(tmp_path / "udp", [bytes(V4 / UDP(sport=5000, dport=5001) / data(1))])
    assert ledger.read(path).capture["frames"]["skipped"] == {"not SCTP": 1}
    for port in (5000, 5001):
        assert len(chunk_rows(path, ledger.ReadOptions(udp_ports=(port,)))) == 1
    # The option replaces the registered port.
    assert chunk_rows(path, ledger.ReadOptions(udp_ports=(9899,))) == []


@pytest.mark.parametrize(
    ("frame", "link_type", "reason"),
    [
        (bytes(V4 / UDP(dport=53)), RAW, "not SCTP"),
        (bytes(LINK) + b"\x08\x06" + bytes(28), ETHERNET, "not IP"),
        (bytes(V6.__class__(src=V6.src, dst=V6.dst, nh=NO_NEXT)), RAW, "not SCTP"),
        (bytes(60), 147, "link type not supported"),
    ],
    ids=["udp", "arp", "no-next-header", "link-type"],
)
def test_what_is_no_sctp_is_counted_by_reason(
    tmp_path: Path, frame: bytes, link_type: int, reason: str
) -> None:
    path = frames(tmp_path / "other", [frame] * 3, link_type)
    counted = ledger.read(path).capture["frames"]
    assert counted == {"read": 3, "dissected": 0, "partial": 0, "skipped": {reason: 3}}


def test_what_is_no_flow_is_counted_by_reason(tmp_path: Path) -> None:
    header = IP(src=V4.src, dst=V4.dst, proto=89)
    path = frames(tmp_path / "ospf", [bytes(header / bytes(20))])
    counted = ledger.read(path, ledger.ReadOptions(flows=True)).capture["frames"]
    assert counted["skipped"] == {"another protocol": 1}


def fragments_of(packet: Packet, size: int) -> list[bytes]:
    # Scapy annotates neither of the two.
    split: Callable[[Packet, int], list[Packet]] = fragment if IP in packet else fragment6
    return [bytes(one) for one in split(packet, size)]


FRAGMENTS_V4 = fragments_of(V4 / data(7, MANY_BYTES), 600)
FRAGMENTS_V6 = fragments_of(
    V6 / v6.IPv6ExtHdrFragment(id=0xBEEF, nh=SCTP) / data(7, MANY_BYTES), 700
)


@pytest.mark.parametrize("fragments", [FRAGMENTS_V4, FRAGMENTS_V6], ids=["v4", "v6"])
def test_fragments_in_any_order_make_a_packet(tmp_path: Path, fragments: list[bytes]) -> None:
    assert len(fragments) > 4

    @settings(max_examples=30)
    @given(st.permutations(fragments))
    def holds(shuffled: list[bytes]) -> None:
        path = frames(tmp_path / "fragments", shuffled)
        (row,) = chunk_rows(path)
        assert (row["frame"], row["tsn"], row["user_bytes"]) == (len(shuffled), 7, MANY_BYTES)
        assert row["checksum"] == "valid"
        counted = ledger.read(path).capture["frames"]
        assert counted["skipped"] == {"fragment kept for reassembly": len(shuffled) - 1}

    holds()


@pytest.mark.parametrize("fragments", [FRAGMENTS_V4, FRAGMENTS_V6], ids=["v4", "v6"])
def test_fragments_are_what_tshark_makes_of_them(tmp_path: Path, fragments: list[bytes]) -> None:
    path = frames(tmp_path / "fragments", reversed(fragments))
    ((frame, packet),) = packets_by_tshark(path).items()
    (row,) = chunk_rows(path)
    assert frame == row["frame"]
    assert {field: row[field] for field in packet.chunks[0]} == packet.chunks[0]


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=20)
@given(missing=st.integers(0, len(FRAGMENTS_V4) - 1))
def test_an_incomplete_datagram_is_no_packet(tmp_path: Path, missing: int) -> None:
    kept = [one for n, one in enumerate(FRAGMENTS_V4) if n != missing]
    path = frames(tmp_path / "fragments", kept)
    found = ledger.read(path).capture
    assert found["frames"]["skipped"] == {"fragment kept for reassembly": len(kept)}
    assert found["sctp_packets"] == 0


def test_fragmented_udp_encapsulation(tmp_path: Path) -> None:
    whole = V4 / UDP(sport=9899, dport=9899) / data(7, MANY_BYTES)
    path = frames(tmp_path / "fragments", fragments_of(whole, 600))
    (row,) = chunk_rows(path)
    assert (row["tsn"], row["user_bytes"], row["checksum"]) == (7, MANY_BYTES, "valid")
