"""WLAN, serial lines and tunnels down to the innermost SCTP, against Scapy and tshark."""

from __future__ import annotations

import struct
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import crafting
import pytest
from cases import Read, frames, packets_by_tshark, read_cases
from crafting import ETHERNET, LINK, RAW, START_NS, V4, V6, Record, data, pcap
from pathscope.dissectors import ledger
from reading import chunk_rows
from scapy.contrib.geneve import GENEVE, GeneveOptions
from scapy.contrib.gtp import GTP_U_Header, GTPPDUSessionContainer
from scapy.contrib.mpls import MPLS
from scapy.layers.dot11 import Dot11, Dot11QoS, PrismHeader, RadioTap
from scapy.layers.inet import IP, UDP, fragment
from scapy.layers.inet6 import IPv6
from scapy.layers.l2 import GRE, LLC, SNAP, Dot1AH, Dot1Q, Ether
from scapy.layers.ppp import HDLC, PPP, PPPoE
from scapy.layers.vxlan import VXLAN
from scapy.packet import Packet, Raw

# What is inside has addresses of its own, so that it cannot be taken for what is outside.
I4 = IP(src="172.16.0.1", dst="172.16.0.2")
I6 = IPv6(src="2001:db8:1::1", dst="2001:db8:1::2")
INSIDE = {("172.16.0.1", "172.16.0.2"), ("2001:db8:1::1", "2001:db8:1::2")}
# tshark tells a pseudowire's frame by its manufacturers.
FRAME = Ether(src="00:1b:21:00:00:01", dst="00:1b:21:00:00:02")
SNAP_IP = LLC() / SNAP()

IP_IN_IP, IPV6_IN_IP, GRE_IN_IP = 4, 41, 47
BRIDGED, MPLS_TYPE = 0x6558, 0x8847
TO_DS, FROM_DS, MORE_FRAGMENTS, PROTECTED, ORDER = 0x01, 0x02, 0x04, 0x40, 0x80
G_PDU, END_MARKER = 255, 254
MOST_TUNNELS = 8


def wlan(flags: int = TO_DS, subtype: int = 0) -> Packet:
    """An 802.11 data frame's header."""
    one, other = LINK.src, LINK.dst
    return Dot11(
        type=2, subtype=subtype, FCfield=flags, addr1=one, addr2=other, addr3=one, addr4=other
    )


def qos_bytes(flags: int, after: bytes) -> bytes:
    """A QoS header with what Scapy does not know behind it, and SNAP."""
    return bytes(wlan(flags, subtype=8) / Dot11QoS()) + after + bytes(LLC() / SNAP(code=0x0800))


def radiotap(flags: int) -> bytes:
    return struct.pack("<BBHIB", 0, 0, 9, 2, flags)


def outer(protocol: int, packet: Packet = V4) -> Packet:
    """An IP header with a tunnel's protocol, which Scapy does not always guess."""
    if IP in packet:
        return IP(src=packet.src, dst=packet.dst, proto=protocol)
    return IPv6(src=packet.src, dst=packet.dst, nh=protocol)


def udp(port: int, packet: Packet = V4) -> Packet:
    return packet / UDP(sport=40_000, dport=port)


def gtp(sequence: int = 0, extension: int = 0) -> Packet:
    """A user packet's header, with the optional fields that are not 0."""
    header = GTP_U_Header(teid=7, gtp_type=G_PDU, seq=sequence, next_ex=extension)
    header.S, header.E = int(sequence > 0), int(extension > 0)
    return udp(2152) / header


RADIOTAP_TIME = struct.pack("<BBHIQB", 0, 0, 17, 3, 1, 0)
# tshark expects HT control only from a radio that knows MCS.
RADIOTAP_MCS = struct.pack("<BBHI3B", 0, 0, 11, 1 << 19, 7, 0, 4)
AVS_HEADER = struct.pack(">II", 0x80211001, 64) + bytes(56)
TO_MPLS = Ether(src=LINK.src, dst=LINK.dst, type=MPLS_TYPE)
PDU_SESSION = GTPPDUSessionContainer(type=0, QFI=5)


@dataclass(frozen=True)
class Case:
    """Something that ends in SCTP, on one link type."""

    link_type: int
    below: Packet
    before: bytes = b""
    after: bytes = b""

    def frame(self, tsn: int) -> bytes:
        return self.before + bytes(self.below / data(tsn)) + self.after


CASES = {
    "wlan-to-ds": Case(crafting.WLAN, wlan() / SNAP_IP / I4),
    "wlan-from-ds-v6": Case(crafting.WLAN, wlan(FROM_DS) / SNAP_IP / I6),
    "wlan-no-ds": Case(crafting.WLAN, wlan(0) / SNAP_IP / I4),
    "wlan-both-ds": Case(crafting.WLAN, wlan(TO_DS | FROM_DS) / SNAP_IP / I4),
    "wlan-qos": Case(crafting.WLAN, wlan(subtype=8) / Dot11QoS(TID=5) / SNAP_IP / I4),
    "wlan-qos-both-ds": Case(
        crafting.WLAN, wlan(TO_DS | FROM_DS, subtype=8) / Dot11QoS() / SNAP_IP / I6
    ),
    "wlan-ht-control": Case(
        crafting.RADIOTAP, I4, RADIOTAP_MCS + qos_bytes(TO_DS | ORDER, bytes(4))
    ),
    "wlan-vlan": Case(crafting.WLAN, wlan() / LLC() / SNAP(code=0x8100) / Dot1Q(vlan=7) / I4),
    "radiotap": Case(crafting.RADIOTAP, RadioTap() / wlan() / SNAP_IP / I4),
    "radiotap-fcs": Case(crafting.RADIOTAP, wlan() / SNAP_IP / I4, radiotap(0x10), bytes(4)),
    "radiotap-time": Case(crafting.RADIOTAP, wlan() / SNAP_IP / I4, RADIOTAP_TIME),
    "radiotap-data-pad": Case(crafting.RADIOTAP, I4, radiotap(0x20) + qos_bytes(TO_DS, bytes(2))),
    "prism": Case(crafting.PRISM, PrismHeader() / wlan() / SNAP_IP / I4),
    "prism-avs": Case(crafting.PRISM, wlan() / SNAP_IP / I4, AVS_HEADER),
    "avs": Case(crafting.AVS, wlan() / SNAP_IP / I4, AVS_HEADER),
    "ppp": Case(crafting.PPP, HDLC() / PPP() / I4),
    "ppp-v6": Case(crafting.PPP, HDLC() / PPP(proto=0x57) / I6),
    "ppp-bare": Case(crafting.PPP, I4, b"\x00\x21"),
    "ppp-compressed": Case(crafting.PPP, I4, b"\xff\x03\x21"),
    "ppp-mpls": Case(crafting.PPP, MPLS(ttl=9) / I4, b"\xff\x03\x02\x81"),
    "ppp-with-direction": Case(crafting.PPP_WITH_DIR, HDLC() / PPP() / I4, b"\x01"),
    "ppp-hdlc": Case(crafting.PPP_HDLC, HDLC() / PPP() / I4),
    "c-hdlc": Case(crafting.C_HDLC, I4, b"\x0f\x00\x08\x00"),
    "c-hdlc-v6": Case(crafting.C_HDLC, I6, b"\x8f\x00\x86\xdd"),
    "pppoe": Case(ETHERNET, LINK / PPPoE(sessionid=7) / PPP() / I4),
    "pppoe-vlan-v6": Case(ETHERNET, LINK / Dot1Q(vlan=7) / PPPoE() / PPP(proto=0x57) / I6),
    "802.1ah": Case(ETHERNET, LINK / Dot1AH(isid=9) / FRAME / I4),
    "mpls": Case(ETHERNET, LINK / MPLS(label=16, ttl=9) / I4),
    "mpls-stack-v6": Case(
        ETHERNET, LINK / MPLS(label=16, s=0) / MPLS(label=17, s=0) / MPLS(label=18) / I6
    ),
    "mpls-pseudowire": Case(ETHERNET, FRAME / I4, bytes(TO_MPLS / MPLS(label=16)) + bytes(4)),
    "ip-in-ip": Case(RAW, outer(IP_IN_IP) / I4),
    "v6-in-v4": Case(RAW, outer(IPV6_IN_IP) / I6),
    "v4-in-v6": Case(RAW, outer(IP_IN_IP, V6) / I4),
    "v6-in-v6": Case(RAW, outer(IPV6_IN_IP, V6) / I6),
    "gre": Case(RAW, outer(GRE_IN_IP) / GRE() / I4),
    "gre-v6": Case(RAW, outer(GRE_IN_IP, V6) / GRE() / I6),
    "gre-options": Case(
        RAW,
        outer(GRE_IN_IP)
        / GRE(chksum_present=1, key_present=1, key=5, seqnum_present=1, sequence_number=6)
        / I4,
    ),
    "gre-bridged": Case(
        RAW, outer(GRE_IN_IP) / GRE(proto=BRIDGED, key_present=1, key=5) / FRAME / I4
    ),
    "gre-mpls": Case(RAW, outer(GRE_IN_IP) / GRE(proto=MPLS_TYPE) / MPLS(label=16) / I4),
    "vxlan": Case(ETHERNET, LINK / udp(4789) / VXLAN(vni=7) / FRAME / I4),
    "vxlan-vlan-v6": Case(RAW, udp(4789, V6) / VXLAN(vni=7) / FRAME / Dot1Q(vlan=7) / I6),
    "geneve": Case(RAW, udp(6081) / GENEVE(vni=7, proto=BRIDGED) / FRAME / I4),
    "geneve-options": Case(
        RAW,
        udp(6081) / GENEVE(vni=7, proto=0x0800, options=[GeneveOptions(data=bytes(8))]) / I4,
    ),
    "gtp": Case(RAW, gtp() / I4),
    "gtp-v6": Case(RAW, gtp() / I6),
    "gtp-sequence": Case(RAW, gtp(sequence=9) / I4),
    "gtp-extension": Case(RAW, gtp(extension=0x85) / PDU_SESSION / I4),
    "gtp-on-vlan": Case(ETHERNET, LINK / Dot1Q(vlan=7) / gtp() / I4),
    "sctp-in-udp": Case(RAW, outer(GRE_IN_IP) / GRE() / I4 / UDP(sport=9899, dport=9899)),
    "three-deep": Case(
        ETHERNET,
        LINK / udp(4789) / VXLAN(vni=7) / FRAME / outer(GRE_IN_IP, V6) / GRE() / gtp() / I4,
    ),
}


@pytest.fixture(scope="module")
def read(tmp_path_factory: pytest.TempPathFactory) -> Read:
    return read_cases(tmp_path_factory.mktemp("tunnels") / "cases.pcapng", CASES)


@pytest.mark.parametrize("name", CASES)
def test_the_innermost_sctp_is_found(read: Read, name: str) -> None:
    row = read.row(name)
    assert (row["source"], row["destination"]) in INSIDE


@pytest.mark.parametrize("name", CASES)
def test_tshark_finds_the_same(read: Read, name: str) -> None:
    read.agrees(name)


def skipped(path: Path, link_type: int, *packets: bytes) -> dict[str, int]:
    read = ledger.read(frames(path, packets, link_type))
    found: dict[str, int] = read.capture["frames"]["skipped"]
    return found


@pytest.mark.parametrize(
    ("link_type", "frame", "reason"),
    [
        (crafting.WLAN, bytes(Dot11(type=0, subtype=8)), "not IP"),
        (crafting.WLAN, bytes(wlan(subtype=4)), "not IP"),
        (crafting.WLAN, bytes(wlan(TO_DS | PROTECTED) / Raw(bytes(40))), "encrypted"),
        (crafting.WLAN, bytes(wlan(TO_DS | MORE_FRAGMENTS) / SNAP_IP / I4), "802.11 fragment"),
        (
            crafting.WLAN,
            bytes(wlan(subtype=8) / Dot11QoS(A_MSDU_Present=1) / Raw(bytes(40))),
            "802.11 A-MSDU",
        ),
        (crafting.WLAN, b"\x09" + bytes(wlan())[1:], "unknown link"),
        (crafting.RADIOTAP, radiotap(0x40) + bytes(wlan()), "frame check sequence is bad"),
        (crafting.RADIOTAP, b"\0\0\7\0" + bytes(60), "malformed link"),
        (ETHERNET, bytes(LINK / MPLS(label=16, s=0)), "malformed link"),
        (RAW, bytes(outer(GRE_IN_IP) / Raw(b"\x30\x01\x88\x0b" + bytes(8))), "unknown tunnel"),
        (RAW, bytes(outer(GRE_IN_IP) / Raw(b"\x20\0\x08\0")), "malformed tunnel"),
        (RAW, bytes(udp(2152) / GTP_U_Header(gtp_type=END_MARKER)), "not SCTP"),
        (RAW, bytes(udp(2152) / Raw(b"\x30\xff\0\x50" + bytes(40))), "malformed tunnel"),
        (RAW, bytes(udp(4789) / Raw(b"some other protocol")), "not SCTP"),
        (RAW, bytes(outer(IP_IN_IP) / Raw(b"\x45")), "malformed ip"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_what_is_no_sctp_is_counted_by_reason(
    tmp_path: Path, link_type: int, frame: bytes, reason: str
) -> None:
    assert skipped(tmp_path / "other.pcap", link_type, frame) == {reason: 1}


def test_a_cut_tunnel_header_is_truncated(tmp_path: Path) -> None:
    path = tmp_path / "cut.pcap"
    whole = bytes(gtp(sequence=9) / I4 / data(1))
    record = Record(START_NS, whole[: 20 + 8 + 6], wire_length=len(whole))
    path.write_bytes(pcap([record], link_type=RAW))
    assert ledger.read(path).capture["frames"]["skipped"] == {"truncated tunnel": 1}


def test_tunnels_end_at_a_fixed_depth(tmp_path: Path) -> None:
    packet: Packet = I4 / data(1)
    for _ in range(MOST_TUNNELS):
        packet = outer(IP_IN_IP) / packet
    path = tmp_path / "deep.pcap"
    assert skipped(path, RAW, bytes(packet)) == {}
    deeper = bytes(outer(IP_IN_IP) / packet)
    assert skipped(path, RAW, deeper) == {"tunnels nested too deep": 1}


def in_gre(key: int) -> Callable[[Packet], Packet]:
    return lambda one: outer(GRE_IN_IP) / GRE(key_present=1, key=key) / one


def in_gtp(number: int, one: Packet) -> Packet:
    below = IP(src=V4.src, dst=V4.dst, id=number + 1) / UDP(sport=2152, dport=2152)
    return below / GTP_U_Header(gtp_type=G_PDU, teid=7) / one


def pieces_of(packet: Packet) -> list[Packet]:
    # Scapy does not annotate it.
    split: Callable[[Packet, int], list[Packet]] = fragment
    return split(packet, 400)


MANY_BYTES = 1500
INNER_PIECES = pieces_of(I4 / data(7, MANY_BYTES))


@pytest.mark.parametrize(
    "pieces",
    [
        [in_gre(1)(one) for one in INNER_PIECES],
        pieces_of(in_gre(1)(I4) / data(7, MANY_BYTES)),
        [piece for n, one in enumerate(INNER_PIECES) for piece in pieces_of(in_gtp(n, one))],
    ],
    ids=["inside", "outside", "both"],
)
def test_fragments_inside_and_outside_of_tunnels(tmp_path: Path, pieces: list[Packet]) -> None:
    assert len(pieces) > 3
    path = frames(tmp_path / "fragments", (bytes(one) for one in pieces))
    (row,) = chunk_rows(path)
    assert (row["frame"], row["tsn"], row["user_bytes"]) == (len(pieces), 7, MANY_BYTES)
    assert row["checksum"] == "valid"
    ((frame, packet),) = packets_by_tshark(path).items()
    assert frame == row["frame"]
    assert {field: row[field] for field in packet.header} == packet.header


def test_fragments_of_different_tunnels_do_not_mix(tmp_path: Path) -> None:
    mixed = [bytes(in_gre(n)(one)) for n, one in enumerate(INNER_PIECES)]
    kept = {"fragment kept for reassembly": len(mixed)}
    assert skipped(tmp_path / "mixed", RAW, *mixed) == kept
