"""What Scapy puts into a packet, with random values in every field, is what our tables say."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import drawing
import pytest
from crafting import ETHERNET, SECOND, START_NS, Record, pcap
from drawing import BYTES, PORT, U16, U32, below, sctp_packets
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pathscope.dissectors import ledger
from reading import Row, chunk_rows
from scapy.layers import sctp as made
from scapy.layers.inet import TCP, UDP
from scapy.packet import Packet, Raw

EXAMPLES = settings(
    max_examples=100,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "scapy.pcap"


@EXAMPLES
@given(st.lists(sctp_packets(), min_size=1, max_size=8))
def test_every_field_of_sctp(path: Path, packets: list[tuple[Packet, list[Row]]]) -> None:
    records = [
        Record(START_NS + number * SECOND, bytes(packet))
        for number, (packet, _) in enumerate(packets)
    ]
    path.write_bytes(pcap(records, link_type=ETHERNET))
    expected = [
        {"frame": frame, "time_ns": records[frame - 1].time_ns} | row
        for frame, (_, rows) in enumerate(packets, start=1)
        for row in rows
    ]
    found = chunk_rows(path)
    assert len(found) == len(expected)
    for row, told in zip(found, expected, strict=True):
        assert {name: row[name] for name in told} == told


def test_every_class_of_scapy_is_drawn() -> None:
    """A chunk or parameter that Scapy learns is one to be compared as well."""
    abstract = {"SCTPChunkParam", "SCTPChunkLenField"}
    known = {
        name
        for name, one in vars(made).items()
        if isinstance(one, type) and re.match("SCTP(Chunk|I?Forward)", name)
    }
    drawn = {*re.findall(r"made\.(SCTP\w+)", Path(drawing.__file__).read_text())}
    assert known - abstract <= drawn


@EXAMPLES
@given(
    carrier=below(),
    ports=st.tuples(PORT, PORT),
    mss=st.none() | U16,
    scale=st.none() | st.integers(0, 14),
    permitted=st.booleans(),
    stamps=st.none() | st.tuples(U32, U32),
    payload=BYTES,
)
def test_every_option_of_tcp(
    path: Path,
    carrier: tuple[Packet, str, str],
    ports: tuple[int, int],
    mss: int | None,
    scale: int | None,
    permitted: bool,
    stamps: tuple[int, int] | None,
    payload: bytes,
) -> None:
    below_tcp, source, destination = carrier
    told = {"MSS": mss, "WScale": scale, "Timestamp": stamps}
    options: list[tuple[str, Any]] = [(name, one) for name, one in told.items() if one is not None]
    options += [("SAckOK", b"")] if permitted else []
    segment = TCP(sport=ports[0], dport=ports[1], flags="S", options=options) / Raw(payload)
    path.write_bytes(pcap([Record(START_NS, bytes(below_tcp / segment))]))
    found = ledger.read(path, ledger.ReadOptions(flows=True))
    assert found.rows("problems") == []
    (flow,), (direction,) = found.rows("flows"), found.rows("flow_directions")
    ends = {"a_address": source, "b_address": destination, "a_port": ports[0], "b_port": ports[1]}
    assert {name: flow[name] for name in ends} == ends
    assert (direction["mss"], direction["window_scale"]) == (mss, scale)
    assert direction["sack_permitted"] == permitted
    assert direction["timestamps"] == (stamps is not None)
    assert direction["payload_bytes"] == len(payload)


# Ports behind which a tunnel, or SCTP, is looked for.
CARRIERS = {2152, 4789, 6081, 9899}


@EXAMPLES
@given(below(), st.tuples(PORT, PORT).filter(lambda ports: not CARRIERS & {*ports}), BYTES)
def test_udp(
    path: Path, carrier: tuple[Packet, str, str], ports: tuple[int, int], payload: bytes
) -> None:
    below_udp, source, destination = carrier
    datagram = UDP(sport=ports[0], dport=ports[1]) / Raw(payload)
    path.write_bytes(pcap([Record(START_NS, bytes(below_udp / datagram))]))
    found = ledger.read(path, ledger.ReadOptions(flows=True))
    (flow,), (direction,) = found.rows("flows"), found.rows("flow_directions")
    assert (flow["protocol"], flow["a_address"], flow["b_address"]) == ("udp", source, destination)
    assert (flow["a_port"], flow["b_port"]) == ports
    assert (direction["packets"], direction["payload_bytes"]) == (1, len(payload))
