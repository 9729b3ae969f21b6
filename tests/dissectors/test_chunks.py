"""Every chunk type, parameter and error cause: read as it was written, and as tshark reads it."""

from __future__ import annotations

import struct
import zlib
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

import pytest
from cases import packets_by_tshark
from conformance import packet as conformance
from conformance.sctp_fields import CHUNK_FIELDS
from crafting import LINK, START_NS, V4, V6, Record, chunk, data, pcap, sctp, tlv
from pathscope.dissectors import ledger
from reading import Row, chunk_column, chunk_rows
from scapy.layers import sctp as s
from scapy.layers.inet import IP
from scapy.packet import Packet, Raw

ADDRESSES = {5: "10.0.1.9", 6: "2001:db8:1::9"}
V4_ADDRESS = s.SCTPChunkParamIPv4Addr(addr=ADDRESSES[5])
V6_ADDRESS = s.SCTPChunkParamIPv6Addr(addr=ADDRESSES[6])
INFO = s.SCTPChunkParamHeartbeatInfo(data=b"seventeen bytes !")


@dataclass(frozen=True)
class Case:
    """A chunk, its RFC name and type, and every field of the chunk table that it fills."""

    name: str
    kind: int
    layer: Packet | bytes
    fields: Row

    @property
    def wire(self) -> bytes:
        return bytes(self.layer)


def init(kind: type[Packet], *parameters: Packet | bytes) -> Packet:
    value = b"".join(bytes(one) for one in parameters)
    return kind(
        init_tag=0xCAFE, a_rwnd=100_000, n_out_streams=10, n_in_streams=20, init_tsn=0xFFFFFFF0,
        params=[Raw(value)] if value else [],
    )  # fmt: skip


INIT_FIELDS: Row = {
    "initiate_tag": 0xCAFE,
    "a_rwnd": 100_000,
    "outbound_streams": 10,
    "inbound_streams": 20,
    "initial_tsn": 0xFFFFFFF0,
}


def asconf(*parameters: Packet | bytes) -> Packet:
    value = b"".join(bytes(one) for one in parameters)
    return s.SCTPChunkAddressConf(seq=7, params=[Raw(value)])


CHUNKS = [
    Case(
        "DATA", 0,
        s.SCTPChunkData(
            beginning=1, ending=1, unordered=1, delay_sack=1, tsn=0xFFFFFFFF, stream_id=7,
            stream_seq=65535, proto_id=46, data=b"hello",
        ),
        {"flags": 0x0F, "length": 21, "tsn": 0xFFFFFFFF, "stream": 7, "sequence": 65535,
         "ppid": 46, "user_bytes": 5},
    ),
    Case(
        "INIT", 1, init(s.SCTPChunkInit, V4_ADDRESS, V6_ADDRESS),
        INIT_FIELDS | {"length": 48, "parameters": "5,6", "addresses": "10.0.1.9;2001:db8:1::9"},
    ),
    Case(
        "INIT ACK", 2, init(s.SCTPChunkInitAck, s.SCTPChunkParamStateCookie(cookie=b"c" * 9)),
        INIT_FIELDS | {"length": 36, "parameters": "7"},
    ),
    Case(
        "SACK", 3,
        s.SCTPChunkSACK(
            cumul_tsn_ack=9, a_rwnd=5000, gap_ack_list=["2:3", "5:5"], dup_tsn_list=[8, 4294967295]
        ),
        {"length": 32, "cumulative_tsn": 9, "a_rwnd": 5000, "gaps": "2-3,5-5",
         "duplicates": "8,4294967295"},
    ),
    Case("HEARTBEAT", 4, s.SCTPChunkHeartbeatReq(params=[INFO]), {"length": 28}),
    Case("HEARTBEAT ACK", 5, s.SCTPChunkHeartbeatAck(params=[INFO]), {"length": 28}),
    Case(
        "ABORT", 6, s.SCTPChunkAbort(TCB=1, error_causes=tlv(12, b"why")),
        {"flags": 1, "length": 12, "causes": "12"},
    ),
    Case("SHUTDOWN", 7, s.SCTPChunkShutdown(cumul_tsn_ack=77), {"length": 8, "cumulative_tsn": 77}),
    Case("SHUTDOWN ACK", 8, s.SCTPChunkShutdownAck(), {"length": 4}),
    Case(
        "ERROR", 9, s.SCTPChunkError(error_causes=tlv(1, b"\0\3\0\0") + tlv(3, bytes(4))),
        {"length": 20, "causes": "1,3"},
    ),
    Case("COOKIE ECHO", 10, s.SCTPChunkCookieEcho(cookie=b"c" * 33), {"length": 37}),
    Case("COOKIE ACK", 11, s.SCTPChunkCookieAck(), {"length": 4}),
    Case("ECNE", 12, chunk(12, 0, struct.pack("!I", 5)), {"length": 8, "tsn": 5}),
    Case("CWR", 13, chunk(13, 0, struct.pack("!I", 6)), {"length": 8, "tsn": 6}),
    Case("SHUTDOWN COMPLETE", 14, s.SCTPChunkShutdownComplete(TCB=1), {"flags": 1, "length": 4}),
    Case(
        "AUTH", 15, s.SCTPChunkAuthentication(shared_key_id=1, HMAC_function=1, HMAC=b"h" * 20),
        {"length": 28},
    ),
    Case(
        "NR-SACK", 16,
        chunk(16, 0, struct.pack("!II4H 2H 4H I", 9, 5000, 1, 2, 1, 0, 2, 3, 5, 5, 7, 9, 8)),
        {"length": 36, "cumulative_tsn": 9, "a_rwnd": 5000, "gaps": "2-3,5-5,7-9",
         "duplicates": "8"},
    ),
    Case(
        "I-DATA", 64,
        s.SCTPChunkIData(
            beginning=1, tsn=7, stream_id=3, reserved_16=0, message_id=42, ppid_fsn=51,
            data=b"hello",
        ),
        {"flags": 2, "length": 25, "tsn": 7, "stream": 3, "sequence": 42, "ppid": 51,
         "fragment_sequence": 0, "user_bytes": 5},
    ),
    Case(
        "I-DATA", 64,
        s.SCTPChunkIData(
            ending=1, tsn=8, stream_id=3, reserved_16=0, message_id=42, ppid_fsn=1, data=b"there!"
        ),
        {"flags": 1, "length": 26, "tsn": 8, "stream": 3, "sequence": 42, "fragment_sequence": 1,
         "user_bytes": 6},
    ),
    Case(
        "ASCONF-ACK", 128,
        s.SCTPChunkAddressConfAck(seq=7, params=[
            s.SCTPChunkParamSuccessIndication(correlation_id=1),
            s.SCTPChunkParamErrorIndication(
                correlation_id=2, error_causes=tlv(0xA0, bytes(V4_ADDRESS))
            ),
        ]),
        {"length": 36, "serial": 7, "parameters": "49157,49155", "causes": "160"},
    ),
    Case(
        "PKTDROP", 129, chunk(129, 0, struct.pack("!IIHH", 1500, 0, 0, 0) + bytes(data(1))),
        {"length": 52},
    ),
    Case(
        "RE-CONFIG", 130,
        s.SCTPChunkReConfig(params=[
            s.SCTPChunkParamOutSSNResetReq(
                re_conf_req_seq_num=1, re_conf_res_seq_num=2, tsn=3, stream_num_list=[4, 5]
            ),
        ]),
        {"length": 24, "parameters": "13"},
    ),
    # Scapy's own PAD chunk counts four bytes too many in its length.
    Case("PAD", 132, chunk(132, 0, bytes(9)), {"length": 13}),
    Case(
        "FORWARD-TSN", 192,
        s.SCTPChunkForwardTSN(new_tsn=1000, skips=[s.SCTPForwardSkip(stream_id=1, stream_seq=2)]),
        {"length": 12, "cumulative_tsn": 1000},
    ),
    Case(
        "ASCONF", 193,
        asconf(
            V4_ADDRESS,
            s.SCTPChunkParamAddIPAddr(correlation_id=1, addr="10.0.2.1"),
            s.SCTPChunkParamDelIPAddr(correlation_id=2, addr_type=6, addr="2001:db8::7"),
            s.SCTPChunkParamSetPrimaryAddr(correlation_id=3, addr="10.0.3.1"),
        ),
        {"length": 76, "serial": 7, "parameters": "49153,49154,49156",
         "addresses": "10.0.1.9;10.0.2.1;2001:db8::7;10.0.3.1"},
    ),
    Case(
        "I-FORWARD-TSN", 194,
        s.SCTPChunkIForwardTSN(
            new_tsn=1000, skips=[s.SCTPIForwardSkip(stream_id=1, unordered=1, message_id=2)]
        ),
        {"length": 16, "cumulative_tsn": 1000},
    ),
    Case("unknown", 200, chunk(200, 5, bytes(10)), {"flags": 5, "length": 14}),
]  # fmt: skip

# By type; in INIT they may all stand, whatever the RFCs say of their place.
PARAMETERS: dict[int, Packet | bytes] = {
    1: INFO,
    5: V4_ADDRESS,
    6: V6_ADDRESS,
    7: s.SCTPChunkParamStateCookie(cookie=b"cookie"),
    8: s.SCTPChunkParamUnrocognizedParam(param=tlv(0xC123, b"x")),
    9: s.SCTPChunkParamCookiePreservative(sug_cookie_inc=60_000),
    11: s.SCTPChunkParamHostname(hostname=b"host.example\0"),
    12: s.SCTPChunkParamSupportedAddrTypes(addr_type_list=[5, 6]),
    0x8000: s.SCTPChunkParamECNCapable(),
    0x8001: tlv(0x8001, struct.pack("!I", 1)),
    0x8002: s.SCTPChunkParamRandom(random=b"r" * 32),
    0x8003: s.SCTPChunkParamChunkList(chunk_list=[0xC1, 0x80]),
    0x8004: s.SCTPChunkParamRequestedHMACFunctions(HMAC_functions_list=[1, 3]),
    0x8005: tlv(0x8005, bytes(5)),
    0x8008: s.SCTPChunkParamSupportedExtensions(supported_extensions=[0x82, 0xC0]),
    0xC000: s.SCTPChunkParamFwdTSN(),
    0xC006: s.SCTPChunkParamAdaptationLayer(indication=1),
    0xC123: tlv(0xC123, b"nobody knows"),
}
IN_INIT = [
    Case(
        "INIT", 1, init(s.SCTPChunkInit, parameter),
        INIT_FIELDS | {"parameters": str(kind)}
        | ({"addresses": ADDRESSES[kind]} if kind in ADDRESSES else {}),
    )
    for kind, parameter in PARAMETERS.items()
]  # fmt: skip

RECONFIGURATIONS: dict[int, Packet] = {
    13: s.SCTPChunkParamOutSSNResetReq(re_conf_req_seq_num=1, re_conf_res_seq_num=2, tsn=3),
    14: s.SCTPChunkParamInSSNResetReq(re_conf_req_seq_num=1, stream_num_list=[9]),
    15: s.SCTPChunkParamSSNTSNResetReq(re_conf_req_seq_num=1),
    16: s.SCTPChunkParamReConfigRes(
        len=20, re_conf_res_seq_num=1, result=1, sender_next_tsn=5, receiver_next_tsn=6
    ),
    17: s.SCTPChunkParamAddOutgoingStreamReq(re_conf_req_seq_num=1, num_new_stream=4),
    18: s.SCTPChunkParamAddIncomingStreamReq(re_conf_req_seq_num=1, num_new_stream=4),
}
IN_RE_CONFIG = [
    Case("RE-CONFIG", 130, s.SCTPChunkReConfig(params=[one]), {"parameters": str(kind)})
    for kind, one in RECONFIGURATIONS.items()
]

CAUSES: dict[int, tuple[str, bytes]] = {
    1: ("Invalid Stream Identifier", b"\0\3\0\0"),
    2: ("Missing Mandatory Parameter", struct.pack("!IH", 1, 7)),
    3: ("Stale Cookie", struct.pack("!I", 1_000)),
    4: ("Out of Resource", b""),
    5: ("Unresolvable Address", tlv(11, b"host.example\0")),
    6: ("Unrecognized Chunk Type", chunk(77, 0, b"abcd")),
    7: ("Invalid Mandatory Parameter", b""),
    8: ("Unrecognized Parameters", tlv(0xC123, b"abcd")),
    9: ("No User Data", struct.pack("!I", 4_711)),
    10: ("Cookie Received While Shutting Down", b""),
    11: ("Restart of an Association with New Addresses", bytes(V4_ADDRESS)),
    12: ("User-Initiated Abort", b"had enough"),
    13: ("Protocol Violation", b"not so"),
    0xA0: ("Request to Delete Last Remaining IP Address", b""),
    0xA1: ("Operation Refused Due to Resource Shortage", b""),
    0xA2: ("Request to Delete Source IP Address", b""),
    0xA3: ("Association Aborted Due to Illegal ASCONF-ACK", b""),
    0xA4: ("Request Refused - No Authorization", b""),
    0x105: ("Unsupported HMAC Identifier", struct.pack("!H", 2)),
}
IN_CAUSES = [
    case
    for code, (_, value) in CAUSES.items()
    for case in (
        Case("ABORT", 6, s.SCTPChunkAbort(error_causes=tlv(code, value)), {"causes": str(code)}),
        Case("ERROR", 9, s.SCTPChunkError(error_causes=tlv(code, value)), {"causes": str(code)}),
    )
]
# tshark goes into the packet that PKTDROP quotes, and does not come back.
BUNDLE = [case for case in CHUNKS if case.name != "PKTDROP"]
CASES = CHUNKS + IN_INIT + IN_RE_CONFIG + IN_CAUSES


@dataclass(frozen=True)
class Read:
    """One capture of all cases and a bundle: frame to chunks, by both readers."""

    path: Path
    ours: dict[int, list[Row]]
    tshark: dict[int, conformance.Packet]


@pytest.fixture(scope="module")
def read(tmp_path_factory: pytest.TempPathFactory) -> Read:
    path = tmp_path_factory.mktemp("chunks") / "cases.pcap"
    # Ports of their own: each case is an association of its own.
    packets = [
        LINK / (V4 if n % 2 else V6) / sctp(case.wire, source_port=10_000 + n)
        for n, case in enumerate(CASES)
    ]
    packets.append(LINK / V4 / sctp(*(case.wire for case in BUNDLE), source_port=9_999))
    path.write_bytes(pcap(Record(START_NS + n, bytes(one)) for n, one in enumerate(packets)))
    return Read(path, rows_by_frame(path), packets_by_tshark(path))


def rows_by_frame(path: Path) -> dict[int, list[Row]]:
    groups = groupby(chunk_rows(path), key=lambda row: row["frame"])
    return {frame: list(group) for frame, group in groups}


def check(row: Row, case: Case) -> None:
    """Every field that the case names, and no other, is filled."""
    assert (row["chunk_type"], row["chunk_name"]) == (case.kind, case.name)
    length = struct.unpack_from("!H", case.wire, 2)[0]
    assert (row["length"], row["flags"]) == (length, case.fields.get("flags", 0))
    names = (*CHUNK_FIELDS, "user_bytes")
    given = {"chunk_type": case.kind, "flags": 0, "length": length} | case.fields
    assert {name: row[name] for name in names} == {name: given.get(name) for name in names}
    assert not row["truncated"]


@pytest.mark.parametrize("number", range(len(CASES)), ids=lambda n: f"{n}-{CASES[n].name}")
def test_fields_are_what_was_written(read: Read, number: int) -> None:
    (row,) = read.ours[number + 1]
    check(row, CASES[number])
    ends = ("10.0.0.1", "10.0.0.2") if number % 2 else ("2001:db8::1", "2001:db8::2")
    assert (row["source"], row["destination"]) == ends
    assert (row["source_port"], row["destination_port"]) == (10_000 + number, 2000)
    assert (row["verification_tag"], row["checksum"]) == (0x11223344, "valid")
    assert (row["time_ns"], row["index"], row["offset"]) == (START_NS + number, 0, 12)


@pytest.mark.parametrize("number", range(len(CASES)), ids=lambda n: f"{n}-{CASES[n].name}")
def test_fields_are_what_tshark_reads(read: Read, number: int) -> None:
    (row,) = read.ours[number + 1]
    packet = read.tshark[number + 1]
    assert {name: row[name] for name in packet.header} == packet.header
    (theirs,) = packet.chunks
    assert {name: row[name] for name in theirs} == theirs


def test_bundle_has_every_chunk_at_its_place(read: Read) -> None:
    rows = read.ours[len(CASES) + 1]
    offset = 12
    for index, (row, case) in enumerate(zip(rows, BUNDLE, strict=True)):
        check(row, case)
        assert (row["index"], row["offset"]) == (index, offset)
        offset += len(case.wire)
    theirs = read.tshark[len(CASES) + 1].chunks
    assert [{name: row[name] for name in CHUNK_FIELDS} for row in rows] == theirs


def test_nothing_is_a_problem(read: Read) -> None:
    found = ledger.read(read.path)
    assert found.rows("problems") == []
    assert found.capture["frames"]["dissected"] == len(CASES) + 1


def test_causes_have_their_names_in_the_control_table(read: Read) -> None:
    told = {row["frame"]: row for row in ledger.read(read.path).rows("control")}
    first = len(CASES) - len(IN_CAUSES) + 1
    for number, case in enumerate(IN_CAUSES):
        row = told[first + number]
        name, _ = CAUSES[int(case.fields["causes"])]
        assert (row["chunk"], row["codes"]) == (case.name, case.fields["causes"])
        assert row["detail"] == name


def test_every_extension_is_announced_by_its_name(tmp_path: Path) -> None:
    path = tmp_path / "init.pcap"
    one = init(s.SCTPChunkInit, *PARAMETERS.values())
    path.write_bytes(pcap([Record(START_NS, bytes(LINK / V4 / sctp(one, tag=0)))]))
    (association,) = ledger.read(path).rows("associations")
    assert association["a_extensions"].split(", ") == [
        "ECN Capable", "Zero Checksum Acceptable", "Random", "Chunk List",
        "Requested HMAC Algorithm", "RE-CONFIG", "FORWARD-TSN", "Forward-TSN-Supported",
        "Adaptation Layer Indication",
    ]  # fmt: skip
    assert association["a_initial_tsn"] == 0xFFFFFFF0
    assert association["a_initial_rwnd_bytes"] == 100_000


def test_checksums_are_judged(tmp_path: Path) -> None:
    whole, for_zero, for_adler, for_bad = (bytes(data(tsn)) for tsn in range(1, 5))
    blank = for_adler[:8] + bytes(4) + for_adler[12:]
    packets = [
        whole,
        for_zero[:8] + bytes(4) + for_zero[12:],
        blank[:8] + struct.pack("!I", zlib.adler32(blank)) + blank[12:],
        for_bad[:8] + bytes([for_bad[8] ^ 1]) + for_bad[9:],
    ]
    ip = IP(src="10.0.0.1", dst="10.0.0.2", proto=132)
    records = [Record(START_NS, bytes(LINK / ip / Raw(one))) for one in packets]
    cut = bytes(LINK / ip / data(5))
    records.append(Record(START_NS, cut[:-1], wire_length=len(cut)))
    path = tmp_path / "checksums.pcap"
    path.write_bytes(pcap(records))
    told = chunk_column(path, "checksum")
    assert told == ["valid", "zero", "adler32", "bad", "unchecked"]
    (association,) = ledger.read(path).rows("associations")
    # The wrong checksum comes after a right one: damaged on the way, and discarded (RFC 9260, 6.8).
    names = ("zero_checksums", "adler32_checksums", "damaged_packets", "truncated_packets")
    assert [association[name] for name in names] == [1, 1, 1, 1]
    assert association["bad_checksums"] == 0
