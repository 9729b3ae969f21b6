"""The comparison sees what it is there to see, and explains no more than it should."""

from pathlib import Path
from typing import Any

import pytest
from conformance.compare import Comparison, compare_frame
from conformance.explained import SKIPPED, Handshakes
from conformance.packet import HEADERS, Frame, Packet, Value
from conformance.report import counts
from conformance.sctp_fields import CHUNK_FIELDS


def packet(protocol: str = "sctp", **changes: Value) -> Packet:
    found = Packet(protocol, dict.fromkeys(HEADERS[protocol], 1))
    if protocol == "sctp":
        found.chunks = [{**dict.fromkeys(CHUNK_FIELDS, 2), "truncated": False, **changes}]
    return found


def compared(mine: Packet | None, other: Packet | None) -> list[tuple[int, str]]:
    result = Comparison(Path("x.pcap"))
    compare_frame(result, Frame(5, mine), Frame(5, other))
    assert len(result.unexplained) == len(result.disagreements) == counts([result])[-1]
    return [(found.frame, found.field) for found in result.disagreements]


@pytest.mark.parametrize("protocol", HEADERS)
def test_every_header_field_counts(protocol: str) -> None:
    assert compared(packet(protocol), packet(protocol)) == []
    for name in HEADERS[protocol]:
        other = packet(protocol)
        other.header[name] = 3
        assert compared(packet(protocol), other) == [(5, name)]


def test_every_chunk_field_counts() -> None:
    for name in CHUNK_FIELDS:
        other: dict[str, Any] = {name: 3}
        absent: dict[str, Any] = {name: None}
        assert compared(packet(**other), packet()) == [(5, name)]
        assert compared(packet(**absent), packet()) == [(5, name)]
        assert compared(packet(), packet(**absent)) == [(5, name)]


def test_missing_chunk_counts() -> None:
    other = packet()
    other.chunks.append(other.chunks[0])
    assert compared(packet(), other) == [(5, "chunks")]
    assert compared(other, packet()) == [(5, "chunks")]


def test_a_packet_that_one_side_lacks_counts() -> None:
    assert compared(None, None) == []
    assert compared(packet("tcp"), None) == [(5, "packet")]
    assert compared(None, packet("tcp")) == [(5, "packet")]
    assert compared(packet("udp"), packet("tcp")) == [(5, "packet")]


def test_what_tshark_gave_up_on_is_compared_as_far_as_it_got() -> None:
    mine, other = packet(), packet(serial=None)
    mine.chunks.append(mine.chunks[0])
    other.gave_up = True
    assert compared(mine, other) == []
    assert compared(packet(tsn=3), other) == [(5, "tsn")]


@pytest.mark.parametrize("known", SKIPPED, ids=lambda known: known.account)
def test_a_skipped_frame_is_explained_by_both_sides_only(known: object) -> None:
    (one,) = [skipped for skipped in SKIPPED if skipped is known]
    around = ":".join(["eth", *one.within, "udp"])
    mine = Frame(5, account=one.account)
    other = Frame(5, packet("udp"), account=around, marks=one.marks)
    assert one.fits(mine, other)
    assert not one.fits(mine, Frame(5, packet("udp"), account="eth:ip:udp"))
    assert not one.fits(Frame(5, account="skipped: encrypted"), other)
    assert not one.fits(Frame(5, packet("tcp"), account=one.account), other)


def test_a_scale_is_unknown_only_while_a_syn_is_missing() -> None:
    ends: dict[str, Value] = {"source": "a", "destination": "b"}
    there = {**ends, "source_port": 1, "destination_port": 2, "flags": 0x002, "window_bytes": 5}
    back = {**there, "source": "b", "destination": "a", "source_port": 2, "destination_port": 1}
    mine = {**there, "window_bytes": None}
    seen = Handshakes()
    seen.note(there)
    assert seen.reason("window_bytes", mine, there) is not None
    assert seen.reason("window_bytes", there, mine) is None
    assert seen.reason("window", mine, there) is None
    seen.note(back)
    assert seen.reason("window_bytes", mine, there) is None
