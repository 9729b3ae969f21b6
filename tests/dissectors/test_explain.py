"""Our own decoder against tshark, frame by frame: the main fields have the same values."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from crafting import LINK, START_NS, V4, V6, Pcapng, Record, chunk, sctp, tlv
from oracle import Fields, fields
from pathscope.dissectors import _core
from running import ASCONF, FAILOVER, LOSSY
from scapy.layers.inet import ICMP, TCP, UDP
from scapy.layers.l2 import GRE, Dot1Q
from scapy.layers.vxlan import VXLAN

Node = dict[str, Any]
Values = list[int | str]

# Our layer and field, and tshark's name; the values of a frame are compared in their order.
SAME = {
    ("Frame", "number"): "frame.number",
    ("Frame", "captured"): "frame.cap_len",
    ("Frame", "on the wire"): "frame.len",
    ("Frame", "interface"): "frame.interface_name",
    ("Ethernet", "destination"): "eth.dst",
    ("Ethernet", "source"): "eth.src",
    ("VLAN tag", "identifier"): "vlan.id",
    ("VLAN tag", "priority"): "vlan.priority",
    ("IPv4", "source"): "ip.src",
    ("IPv4", "destination"): "ip.dst",
    ("IPv4", "DSCP"): "ip.dsfield.dscp",
    ("IPv4", "ECN"): "ip.dsfield.ecn",
    ("IPv4", "total length"): "ip.len",
    ("IPv4", "identification"): "ip.id",
    ("IPv4", "time to live"): "ip.ttl",
    ("IPv4", "header checksum"): "ip.checksum",
    ("IPv4", "protocol"): "ip.proto",
    ("IPv6", "source"): "ipv6.src",
    ("IPv6", "destination"): "ipv6.dst",
    ("IPv6", "DSCP"): "ipv6.tclass.dscp",
    ("IPv6", "ECN"): "ipv6.tclass.ecn",
    ("IPv6", "flow label"): "ipv6.flow",
    ("IPv6", "payload length"): "ipv6.plen",
    ("IPv6", "hop limit"): "ipv6.hlim",
    ("UDP", "source port"): "udp.srcport",
    ("UDP", "destination port"): "udp.dstport",
    ("UDP", "length"): "udp.length",
    ("UDP", "checksum"): "udp.checksum",
    ("VXLAN", "network identifier"): "vxlan.vni",
    ("GRE", "key"): "gre.key",
    ("ICMP", "type"): "icmp.type",
    ("ICMP", "code"): "icmp.code",
    ("ICMP", "MTU"): "icmp.mtu",
    ("ICMPv6", "type"): "icmpv6.type",
    ("ICMPv6", "code"): "icmpv6.code",
    ("TCP", "source port"): "tcp.srcport",
    ("TCP", "destination port"): "tcp.dstport",
    ("TCP", "sequence number"): "tcp.seq_raw",
    ("TCP", "acknowledgement number"): "tcp.ack_raw",
    ("TCP", "flags"): "tcp.flags",
    ("TCP", "window"): "tcp.window_size_value",
    ("TCP", "checksum"): "tcp.checksum",
    ("TCP", "urgent pointer"): "tcp.urgent_pointer",
    ("TCP", "payload length"): "tcp.len",
    ("options", "maximum segment size"): "tcp.options.mss_val",
    ("options", "window scale"): "tcp.options.wscale.shift",
    ("timestamps", "value"): "tcp.options.timestamp.tsval",
    ("timestamps", "echo reply"): "tcp.options.timestamp.tsecr",
    ("SCTP", "source port"): "sctp.srcport",
    ("SCTP", "destination port"): "sctp.dstport",
    ("SCTP", "verification tag"): "sctp.verification_tag",
    ("SCTP", "checksum"): "sctp.checksum",
    ("chunk", "type"): "sctp.chunk_type",
    ("chunk", "flags"): "sctp.chunk_flags",
    ("chunk", "length"): "sctp.chunk_length",
    ("DATA", "TSN"): "sctp.data_tsn_raw",
    ("DATA", "stream"): "sctp.data_sid",
    ("DATA", "stream sequence number"): "sctp.data_ssn",
    ("DATA", "payload protocol"): "sctp.data_payload_proto_id",
    ("SACK", "cumulative TSN ack"): "sctp.sack_cumulative_tsn_ack_raw",
    ("SACK", "a_rwnd"): "sctp.sack_a_rwnd",
    ("INIT", "initiate tag"): "sctp.init_initiate_tag",
    ("INIT", "a_rwnd"): "sctp.init_credit",
    ("INIT", "outbound streams"): "sctp.init_nr_out_streams",
    ("INIT", "inbound streams"): "sctp.init_nr_in_streams",
    ("INIT", "initial TSN"): "sctp.init_initial_tsn",
    ("INIT ACK", "initiate tag"): "sctp.initack_initiate_tag",
    ("INIT ACK", "a_rwnd"): "sctp.initack_credit",
    ("INIT ACK", "outbound streams"): "sctp.initack_nr_out_streams",
    ("INIT ACK", "inbound streams"): "sctp.initack_nr_in_streams",
    ("INIT ACK", "initial TSN"): "sctp.initack_initial_tsn",
    ("SHUTDOWN", "cumulative TSN ack"): "sctp.shutdown_cumulative_tsn_ack",
    ("ASCONF", "serial number"): "sctp.asconf_seq_nr_number",
    ("ASCONF-ACK", "serial number"): "sctp.asconf_ack_seq_nr_number",
    ("request", "correlation ID"): "sctp.correlation_id",
    ("cause", "code"): "sctp.cause_code",
    ("FORWARD-TSN", "new cumulative TSN"): "sctp.forward_tsn_tsn",
    ("AUTH", "shared key identifier"): "sctp.shared_key_id",
    ("AUTH", "HMAC identifier"): "sctp.hmac_id",
}
GAPS = ("sctp.sack_gap_block_start", "sctp.sack_gap_block_end")
ADDRESSES = ("sctp.parameter_ipv4_address", "sctp.parameter_ipv6_address")
OTHERS = ("frame.time_epoch", "sctp.checksum.status", *GAPS, *ADDRESSES)


def nodes(layers: Iterable[Node], inside: str = "") -> Iterator[tuple[str, Node]]:
    """Yield every node with the name of what it is in."""
    for node in layers:
        yield inside, node
        yield from nodes(node.get("fields", ()), node["name"])


def group(node: Node) -> str | None:
    names = {field["name"] for field in node.get("fields", ())}
    if {"type", "flags", "length"} <= names:
        return "chunk"
    if "correlation ID" in names:
        return "request"
    return "cause" if {"code", "length"} <= names else None


def ours(layers: list[Node], layer: str, name: str) -> Values:
    owners = [node for _, node in nodes(layers) if layer in (node["name"], group(node))]
    inner = [field for node in owners for field in node.get("fields", ())]
    return [field["value"] for field in inner if field["name"] == name]


def plain(value: int | str) -> int | str:
    """Make numbers of what both sides write as decimal or as 0x..."""
    try:
        return int(str(value), 0)
    except ValueError:
        return str(value)


def check(path: Path, frames: list[Fields], numbers: Iterable[int]) -> set[str]:
    """Compare frames; returns the fields of tshark that had a value to compare."""
    compared = set()
    for number in numbers:
        theirs = frames[number - 1]
        layers = _core.explain(path, number, udp_ports=[9899])["layers"]
        for (layer, name), field in SAME.items():
            expected = [plain(value) for value in theirs[field]]
            assert [plain(v) for v in ours(layers, layer, name)] == expected, (number, layer, name)
            compared |= {field} if expected else set()
        (time_ns,) = ours(layers, "Frame", "time")
        assert time_ns == Decimal(theirs["frame.time_epoch"][0]) * 10**9
        check_sctp(layers, theirs)
    return compared


def check_sctp(layers: list[Node], theirs: Fields) -> None:
    blocks = ours(layers, "SACK", "gap ack block")
    assert blocks == [f"{a}-{b}" for a, b in zip(*(theirs[name] for name in GAPS), strict=True)]
    found = [str(node["value"]) for _, node in nodes(layers) if node["name"] == "address"]
    assert sorted(found) == sorted(value for name in ADDRESSES for value in theirs[name])
    if theirs["sctp.checksum.status"]:
        (verdict,) = (
            field["meaning"]
            for _, layer in nodes(layers)
            if layer["name"] == "SCTP"
            for field in layer["fields"]
            if field["name"] == "checksum"
        )
        assert (verdict == "valid") == (theirs["sctp.checksum.status"] == ["1"]), verdict


def of_tshark(path: Path) -> list[Fields]:
    return fields(path, (*SAME.values(), *OTHERS))


@pytest.mark.parametrize("path", [FAILOVER, ASCONF, LOSSY], ids=lambda path: path.parent.name)
def test_frames_of_the_fixtures(path: Path) -> None:
    frames = of_tshark(path)
    by_kind: dict[tuple[str, ...], list[int]] = {}
    for number, frame in enumerate(frames, 1):
        kinds = (*frame["sctp.chunk_type"], *(name for name in GAPS if frame[name]))
        by_kind.setdefault((*kinds, *frame["icmpv6.type"], *frame["icmp.type"]), []).append(number)
    # Every kind of frame; of frequent ones some.
    numbers = [n for found in by_kind.values() for n in found[:: 1 + len(found) // 25]]
    compared = check(path, frames, sorted(numbers))
    assert {"sctp.data_tsn_raw", "sctp.sack_a_rwnd", "sctp.init_initiate_tag"} <= compared
    if path == ASCONF:
        assert {"sctp.asconf_seq_nr_number", "sctp.correlation_id"} <= compared


SACK = bytes.fromhex("00000009 00000400 0002 0001 00020003 00050006 00000007")
ADDRESS = tlv(5, bytes([10, 0, 0, 9]))
ADD = tlv(0xC001, bytes([0, 0, 0, 3]) + ADDRESS)
CRAFTED = [
    LINK / Dot1Q(vlan=5, prio=3) / V4 / sctp(chunk(11), chunk(10, value=b"cookie")),
    LINK / V6 / sctp(chunk(6, 1, tlv(12, b"bye") + tlv(13, b"no"))),
    LINK / V4 / sctp(chunk(9, 0, tlv(1, bytes(4)) + tlv(5, ADDRESS))),
    LINK / V4 / sctp(chunk(15, 0, bytes([0, 1, 0, 3]) + bytes(32)), chunk(0, 3, bytes(13))),
    LINK / V4 / sctp(chunk(192, 0, bytes([0, 0, 0, 9, 0, 1, 0, 2]))),
    LINK / V4 / sctp(chunk(3, 0, SACK)),
    LINK / V4 / sctp(chunk(193, 0, bytes(4) + ADDRESS + ADD)),
    LINK / V4 / UDP(sport=9899, dport=9899) / sctp(chunk(11)),
    LINK / V4 / UDP(sport=53, dport=40_000) / b"hello",
    LINK / V4 / TCP(sport=1, dport=40_000, flags="SA", seq=7, ack=9,
                    options=[("MSS", 1460), ("WScale", 7), ("Timestamp", (3, 4))]),
    LINK / V6 / TCP(sport=1, dport=40_000, flags="PA") / b"hello",
    LINK / V4 / ICMP(type=8, code=0),
    LINK / V4 / GRE(key_present=1, key=77) / V4 / sctp(chunk(11)),
    LINK / V4 / UDP(dport=4789) / VXLAN(vni=9, flags=8) / LINK / V4 / sctp(chunk(11)),
    LINK / V6 / V4 / sctp(chunk(11)),
]  # fmt: skip


def test_crafted_frames(tmp_path: Path) -> None:
    path = tmp_path / "crafted.pcapng"
    records = [Record(START_NS + n, bytes(packet)) for n, packet in enumerate(CRAFTED)]
    path.write_bytes(Pcapng().section().interface("wlan0").packets(records).bytes())
    compared = check(path, of_tshark(path), range(1, len(CRAFTED) + 1))
    of_fixtures = {field for field in SAME.values() if field.startswith(("sctp.init", "sctp.shut"))}
    missing = set(SAME.values()) - compared - of_fixtures
    assert missing == {
        "icmp.mtu", "icmpv6.type", "icmpv6.code", "sctp.asconf_ack_seq_nr_number",
    }  # fmt: skip
