"""The comparison sees what it is there to see."""

from pathlib import Path

from conformance.compare import Comparison, compare_packet
from conformance.tshark import CHUNK_FIELDS, PACKET_FIELDS, Packet, Row


def packet(**changes: int | str | None) -> Packet:
    header: Row = dict.fromkeys(PACKET_FIELDS, 1)
    chunk: Row = {**dict.fromkeys(CHUNK_FIELDS, 2), "truncated": False, **changes}
    return Packet(5, header, [chunk])


def compared(mine: Packet, other: Packet) -> list[tuple[int, str]]:
    result = Comparison(Path("x.pcap"))
    compare_packet(result, mine, other)
    assert result.packets == 1
    return [(found.frame, found.field) for found in result.disagreements]


def test_equal_packets_agree() -> None:
    assert compared(packet(), packet()) == []


def test_every_field_counts() -> None:
    for name in CHUNK_FIELDS:
        assert compared(packet(**{name: 3}), packet()) == [(5, name)]
        assert compared(packet(**{name: None}), packet()) == [(5, name)]
        assert compared(packet(), packet(**{name: None})) == [(5, name)]
    for name in PACKET_FIELDS:
        mine = packet()
        mine.header[name] = 3
        assert compared(mine, packet()) == [(5, name)]


def test_missing_chunk_counts() -> None:
    other = packet()
    other.chunks.append(other.chunks[0])
    assert compared(packet(), other) == [(5, "chunks")]
    assert compared(other, packet()) == [(5, "chunks")]


def test_what_tshark_gave_up_on_is_compared_as_far_as_it_got() -> None:
    mine, other = packet(), packet(serial=None)
    mine.chunks.append(mine.chunks[0])
    other.gave_up = True
    assert compared(mine, other) == []
    assert compared(packet(tsn=3), other) == [(5, "tsn")]
