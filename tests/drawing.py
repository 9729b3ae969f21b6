"""Packets that Scapy builds with random values in every field, and what our tables must say."""

from __future__ import annotations

import ipaddress
import struct
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from crafting import LINK, chunk, tlv
from hypothesis import strategies as st
from reading import Row
from scapy.layers import sctp as made
from scapy.layers.inet import IP, UDP
from scapy.layers.inet6 import IPv6, IPv6ExtHdrDestOpt, IPv6ExtHdrHopByHop
from scapy.layers.l2 import Dot1Q
from scapy.packet import Packet, Raw

U8, U16, U32 = (st.integers(0, (1 << bits) - 1) for bits in (8, 16, 32))
PORT = st.integers(1, 65_535)
BYTES = st.binary(max_size=40)
V4_ADDRESS = st.ip_addresses(v=4).map(str)
V6_ADDRESS = st.ip_addresses(v=6).map(str).filter(lambda one: not one.startswith("::ffff:"))
ADDRESS = V4_ADDRESS | V6_ADDRESS


@dataclass
class Sent:
    """A chunk, and the columns of its row that its fields fill."""

    chunk: Packet | bytes
    columns: Row


def listed(values: list[Any], separator: str = ",") -> str | None:
    return separator.join(map(str, values)) or None


@st.composite
def data(draw: st.DrawFn) -> Sent:
    flags: Row = {name: draw(st.integers(0, 1)) for name in FLAG_BITS}
    user = draw(st.binary(min_size=1, max_size=40))
    fields: Row = {"tsn": draw(U32), "stream_id": draw(U16), "stream_seq": draw(U16)}
    ppid = draw(U32)
    one = made.SCTPChunkData(reserved=0, **flags, **fields, proto_id=ppid, data=user)
    return Sent(one, {
        "chunk_name": "DATA", "flags": flags_of(flags), "tsn": fields["tsn"],
        "stream": fields["stream_id"], "sequence": fields["stream_seq"], "ppid": ppid,
        "user_bytes": len(user),
    })  # fmt: skip


FLAG_BITS = {"delay_sack": 8, "unordered": 4, "beginning": 2, "ending": 1}


def flags_of(flags: Row) -> int:
    return sum(bit for name, bit in FLAG_BITS.items() if flags[name])


@st.composite
def i_data(draw: st.DrawFn) -> Sent:
    flags: Row = {name: draw(st.integers(0, 1)) for name in FLAG_BITS}
    user = draw(st.binary(min_size=1, max_size=40))
    tsn, stream, message, last = draw(U32), draw(U16), draw(U32), draw(U32)
    one = made.SCTPChunkIData(
        reserved=0, **flags, tsn=tsn, stream_id=stream, reserved_16=0, message_id=message,
        ppid_fsn=last, data=user,
    )  # fmt: skip
    first = bool(flags["beginning"])
    return Sent(one, {
        "chunk_name": "I-DATA", "flags": flags_of(flags), "tsn": tsn, "stream": stream,
        "sequence": message, "ppid": last if first else None,
        "fragment_sequence": 0 if first else last, "user_bytes": len(user),
    })  # fmt: skip


@st.composite
def sack(draw: st.DrawFn) -> Sent:
    cumulative, window = draw(U32), draw(U32)
    gaps = draw(st.lists(st.tuples(U16, U16), max_size=4))
    duplicates = draw(st.lists(U32, max_size=4))
    one = made.SCTPChunkSACK(
        flags=0, cumul_tsn_ack=cumulative, a_rwnd=window, dup_tsn_list=duplicates,
        gap_ack_list=[f"{first}:{last}" for first, last in gaps],
        len=16 + 4 * len(gaps) + 4 * len(duplicates),
    )  # fmt: skip
    return Sent(one, {
        "chunk_name": "SACK", "cumulative_tsn": cumulative, "a_rwnd": window,
        "gaps": listed([f"{first}-{last}" for first, last in gaps]),
        "duplicates": listed(duplicates),
    })  # fmt: skip


def address_parameter(address: str) -> Packet:
    if ipaddress.ip_address(address).version == 4:
        return made.SCTPChunkParamIPv4Addr(addr=address)
    return made.SCTPChunkParamIPv6Addr(addr=address)


# Made here because Scapy draws a random default first, which a strategy must not.
RANDOM = [made.SCTPChunkParamRandom(random=bytes([byte]) * 32) for byte in (0, 0x55, 0xFF)]
SETUP_PARAMETERS: list[st.SearchStrategy[Packet]] = [
    ADDRESS.map(address_parameter),
    BYTES.map(lambda one: made.SCTPChunkParamStateCookie(cookie=one)),
    BYTES.map(lambda one: made.SCTPChunkParamUnrocognizedParam(param=tlv(0xC123, one))),
    U32.map(lambda one: made.SCTPChunkParamCookiePreservative(sug_cookie_inc=one)),
    st.just(made.SCTPChunkParamHostname(hostname=b"host.example\0")),
    st.just(made.SCTPChunkParamSupportedAddrTypes(addr_type_list=[5, 6])),
    st.just(made.SCTPChunkParamECNCapable()),
    st.sampled_from(RANDOM),
    st.just(made.SCTPChunkParamChunkList(chunk_list=[193, 128])),
    st.just(made.SCTPChunkParamRequestedHMACFunctions(HMAC_functions_list=[1, 3])),
    st.just(made.SCTPChunkParamSupportedExtensions(supported_extensions=[193, 128, 192])),
    st.just(made.SCTPChunkParamFwdTSN()),
    U32.map(lambda one: made.SCTPChunkParamAdaptationLayer(indication=one)),
]


@st.composite
def init(draw: st.DrawFn) -> Sent:
    name, kind = draw(
        st.sampled_from([("INIT", made.SCTPChunkInit), ("INIT ACK", made.SCTPChunkInitAck)])
    )
    tag, window, out, inbound, tsn = draw(U32), draw(U32), draw(U16), draw(U16), draw(U32)
    parameters = draw(st.lists(st.one_of(SETUP_PARAMETERS), max_size=6))
    one = kind(
        flags=0, init_tag=tag, a_rwnd=window, n_out_streams=out, n_in_streams=inbound,
        init_tsn=tsn, params=parameters,
    )  # fmt: skip
    addresses = [one.addr for one in parameters if one.type in {5, 6}]
    return Sent(one, {
        "chunk_name": name, "initiate_tag": tag, "a_rwnd": window, "outbound_streams": out,
        "inbound_streams": inbound, "initial_tsn": tsn,
        "parameters": listed([one.type for one in parameters]),
        "addresses": listed(addresses, ";"),
    })  # fmt: skip


@st.composite
def asconf(draw: st.DrawFn) -> Sent:
    serial, own = draw(U32), draw(ADDRESS)
    kinds = st.sampled_from(
        [
            made.SCTPChunkParamAddIPAddr,
            made.SCTPChunkParamDelIPAddr,
            made.SCTPChunkParamSetPrimaryAddr,
        ]
    )
    requests = draw(st.lists(st.tuples(kinds, U32, ADDRESS), max_size=4))
    parameters = [
        kind(
            correlation_id=correlation,
            addr_type=6 if ":" in address else 5,
            addr=address,
        )
        for kind, correlation, address in requests
    ]
    one = made.SCTPChunkAddressConf(
        flags=0, seq=serial, params=[address_parameter(own), *parameters]
    )
    return Sent(one, {
        "chunk_name": "ASCONF", "serial": serial,
        "parameters": listed([one.type for one in parameters]),
        "addresses": listed([own, *(address for *_, address in requests)], ";"),
    })  # fmt: skip


@st.composite
def asconf_ack(draw: st.DrawFn) -> Sent:
    serial = draw(U32)
    success = U32.map(lambda one: made.SCTPChunkParamSuccessIndication(correlation_id=one))
    codes = st.sampled_from([0xA0, 0xA1, 0xA2, 0xA4])
    error = st.tuples(U32, codes, BYTES).map(
        lambda one: made.SCTPChunkParamErrorIndication(
            correlation_id=one[0], error_causes=tlv(one[1], one[2])
        )
    )
    parameters = draw(st.lists(success | error, max_size=4))
    causes = [
        int.from_bytes(one.error_causes[:2], "big") for one in parameters if one.type == 0xC003
    ]
    return Sent(made.SCTPChunkAddressConfAck(flags=0, seq=serial, params=parameters), {
        "chunk_name": "ASCONF-ACK", "serial": serial, "causes": listed(causes),
        "parameters": listed([one.type for one in parameters]),
    })  # fmt: skip


STREAMS = st.lists(U16, max_size=5)
RE_CONFIG_PARAMETERS: list[st.SearchStrategy[Packet]] = [
    st.tuples(U32, U32, U32, STREAMS).map(lambda one: made.SCTPChunkParamOutSSNResetReq(
        re_conf_req_seq_num=one[0], re_conf_res_seq_num=one[1], tsn=one[2], stream_num_list=one[3],
    )),
    st.tuples(U32, STREAMS).map(lambda one: made.SCTPChunkParamInSSNResetReq(
        re_conf_req_seq_num=one[0], stream_num_list=one[1]
    )),
    U32.map(lambda one: made.SCTPChunkParamSSNTSNResetReq(re_conf_req_seq_num=one)),
    # Scapy writes the two TSNs always, but counts them never.
    st.tuples(U32, st.integers(0, 6), U32).map(lambda one: made.SCTPChunkParamReConfigRes(
        len=20, re_conf_res_seq_num=one[0], result=one[1], sender_next_tsn=one[2],
        receiver_next_tsn=one[2],
    )),
    st.tuples(U32, U16).map(lambda one: made.SCTPChunkParamAddOutgoingStreamReq(
        re_conf_req_seq_num=one[0], num_new_stream=one[1], reserved=0
    )),
    st.tuples(U32, U16).map(lambda one: made.SCTPChunkParamAddIncomingStreamReq(
        re_conf_req_seq_num=one[0], num_new_stream=one[1], reserved=0
    )),
]  # fmt: skip


@st.composite
def re_config(draw: st.DrawFn) -> Sent:
    parameters = draw(st.lists(st.one_of(RE_CONFIG_PARAMETERS), min_size=1, max_size=2))
    types = listed([one.type for one in parameters])
    one = made.SCTPChunkReConfig(flags=0, params=parameters)
    return Sent(one, {"chunk_name": "RE-CONFIG", "parameters": types})


@st.composite
def causes(draw: st.DrawFn) -> Sent:
    found = draw(st.lists(st.tuples(st.integers(1, 13), BYTES), max_size=4))
    raw = b"".join(tlv(code, value) for code, value in found)
    columns = {"causes": listed([code for code, _ in found])}
    if draw(st.booleans()):
        return Sent(
            made.SCTPChunkError(flags=0, error_causes=raw), {"chunk_name": "ERROR", **columns}
        )
    reflected = draw(st.integers(0, 1))
    one = made.SCTPChunkAbort(reserved=0, TCB=reflected, error_causes=raw)
    return Sent(one, {"chunk_name": "ABORT", "flags": reflected, **columns})


@st.composite
def forward_tsn(draw: st.DrawFn) -> Sent:
    tsn = draw(U32)
    streams = draw(st.lists(st.tuples(U16, U16), max_size=4))
    if draw(st.booleans()):
        skips = [made.SCTPForwardSkip(stream_id=one, stream_seq=two) for one, two in streams]
        return Sent(made.SCTPChunkForwardTSN(flags=0, new_tsn=tsn, skips=skips),
                    {"chunk_name": "FORWARD-TSN", "cumulative_tsn": tsn})  # fmt: skip
    messages = [
        made.SCTPIForwardSkip(stream_id=one, reserved=0, unordered=two & 1, message_id=two)
        for one, two in streams
    ]
    return Sent(made.SCTPChunkIForwardTSN(flags=0, new_tsn=tsn, skips=messages),
                {"chunk_name": "I-FORWARD-TSN", "cumulative_tsn": tsn})  # fmt: skip


def named(name: str, make: Callable[[bytes], Packet]) -> st.SearchStrategy[Sent]:
    """A chunk of which no field has a column."""
    return BYTES.map(lambda value: Sent(make(value), {"chunk_name": name}))


OTHERS = [
    named("HEARTBEAT", lambda info: made.SCTPChunkHeartbeatReq(
        flags=0, params=[made.SCTPChunkParamHeartbeatInfo(data=info)])),
    named("HEARTBEAT ACK", lambda info: made.SCTPChunkHeartbeatAck(
        flags=0, params=[made.SCTPChunkParamHeartbeatInfo(data=info)])),
    named("COOKIE ECHO", lambda cookie: made.SCTPChunkCookieEcho(flags=0, cookie=cookie)),
    named("COOKIE ACK", lambda _: made.SCTPChunkCookieAck(flags=0)),
    named("SHUTDOWN ACK", lambda _: made.SCTPChunkShutdownAck(flags=0)),
    named("SHUTDOWN COMPLETE", lambda _: made.SCTPChunkShutdownComplete(reserved=0)),
    named("AUTH", lambda hmac: made.SCTPChunkAuthentication(
        flags=0, shared_key_id=1, HMAC_function=1, HMAC=hmac)),
    # Scapy's own length counts four bytes more than there are (RFC 4820 section 3).
    named("PAD", lambda padding: made.SCTPChunkPad(flags=0, len=len(padding) + 4, padding=padding)),
    U32.map(lambda tsn: Sent(made.SCTPChunkShutdown(flags=0, cumul_tsn_ack=tsn),
                             {"chunk_name": "SHUTDOWN", "cumulative_tsn": tsn})),
    # Scapy has no class for these.
    U32.map(lambda tsn: Sent(chunk(12, 0, struct.pack("!I", tsn)),
                             {"chunk_name": "ECNE", "tsn": tsn})),
    st.tuples(st.integers(200, 255), U8, BYTES).map(lambda one: Sent(
        chunk(*one), {"chunk_name": "unknown", "chunk_type": one[0], "flags": one[1]})),
]  # fmt: skip
CHUNKS = [
    data(), i_data(), sack(), init(), asconf(), asconf_ack(), re_config(), causes(), forward_tsn(),
    st.one_of(OTHERS),
]  # fmt: skip
FIELDS = {
    "tsn", "stream", "sequence", "ppid", "fragment_sequence", "user_bytes", "cumulative_tsn",
    "a_rwnd", "gaps", "duplicates", "initiate_tag", "initial_tsn", "outbound_streams",
    "inbound_streams", "addresses", "serial", "causes", "parameters",
}  # fmt: skip


@st.composite
def below(draw: st.DrawFn) -> tuple[Packet, str, str]:
    """Link and IP headers, with VLAN tags and extension headers, and the addresses in them."""
    link = LINK.copy()
    for _ in range(draw(st.integers(0, 2))):
        link /= Dot1Q(vlan=draw(st.integers(0, 4095)))
    if draw(st.booleans()):
        source, destination = draw(V4_ADDRESS), draw(V4_ADDRESS)
        return link / IP(src=source, dst=destination, id=draw(U16)), source, destination
    source, destination = draw(V6_ADDRESS), draw(V6_ADDRESS)
    packet = link / IPv6(src=source, dst=destination)
    for extension in (IPv6ExtHdrHopByHop, IPv6ExtHdrDestOpt):
        if draw(st.booleans()):
            packet /= extension()
    return packet, source, destination


@st.composite
def sctp_packets(draw: st.DrawFn) -> tuple[Packet, list[Row]]:
    """A packet with a right checksum, and what the rows of its chunks have to be."""
    packet, source, destination = draw(below())
    ports, tag = (draw(PORT), draw(PORT)), draw(U32)
    found = draw(st.lists(st.one_of(CHUNKS), min_size=1, max_size=5))
    raws = [bytes(one.chunk) for one in found]
    raws = [raw + bytes(-len(raw) % 4) for raw in raws]
    inside = made.SCTP(sport=ports[0], dport=ports[1], tag=tag) / Raw(b"".join(raws))
    if draw(st.booleans()):
        packet /= UDP(sport=draw(PORT), dport=9899)
    common = {
        "source": source, "destination": destination, "source_port": ports[0],
        "destination_port": ports[1], "verification_tag": tag, "checksum": "valid",
        "truncated": False,
    }  # fmt: skip
    offset, rows = 12, []
    for index, (one, raw) in enumerate(zip(found, raws, strict=True)):
        place = {"index": index, "offset": offset, "length": int.from_bytes(raw[2:4], "big")}
        rows.append(dict.fromkeys(FIELDS) | common | place | {"flags": 0} | one.columns)
        offset += len(raw)
    return packet / inside, rows
