"""Cases of one SCTP packet each, in one capture, as pathscope and tshark read it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from conformance import tshark
from conformance.packet import Packet
from crafting import RAW, START_NS, Pcapng, Record, pcap
from reading import Row, chunk_rows


class Case(Protocol):
    """Something that ends in SCTP, on one link type."""

    @property
    def link_type(self) -> int:
        """LINKTYPE_ value."""
        ...

    def frame(self, tsn: int) -> bytes:
        """Return the frame, whose DATA chunk has this TSN."""
        ...


@dataclass(frozen=True)
class Read:
    """What both readers say of every case; its frame's number is its TSN."""

    tsns: dict[str, int]
    ours: dict[int, Row]
    tshark: dict[int, Packet]

    def row(self, name: str) -> Row:
        """Check that a case was read as it was made; return its chunk."""
        row = self.ours[self.tsns[name]]
        assert (row["interface"], row["tsn"], row["user_bytes"]) == (name, self.tsns[name], 8)
        assert row["checksum"] == "valid"
        return row

    def agrees(self, name: str) -> None:
        """Check that tshark reads the same."""
        row, packet = self.ours[self.tsns[name]], self.tshark[self.tsns[name]]
        assert {field: row[field] for field in packet.header} == packet.header
        assert [chunk["tsn"] for chunk in packet.chunks] == [row["tsn"]]


def read_cases(path: Path, cases: Mapping[str, Case]) -> Read:
    """Write a capture with an interface for every case, and read it."""
    file = Pcapng().section()
    for name, case in cases.items():
        file.interface(name, link_type=case.link_type)
    tsns = {name: number for number, name in enumerate(cases, 1)}
    for interface, (name, case) in enumerate(cases.items()):
        # Of different times and TSNs, so that none can be taken for a copy of another.
        file.packet(Record(START_NS + interface, case.frame(tsns[name]), interface=interface))
    path.write_bytes(file.bytes())
    rows = chunk_rows(path)
    assert [row["frame"] for row in rows] == list(tsns.values())
    return Read(tsns, {row["frame"]: row for row in rows}, packets_by_tshark(path))


def packets_by_tshark(path: Path) -> dict[int, Packet]:
    """Return tshark's packets by the number of the frame that holds or completes each."""
    return {found.number: found.packet for found in tshark.frames(path) if found.packet}


def frames(path: Path, packets: Iterable[bytes], link_type: int = RAW) -> Path:
    """Write packets 1 ns apart."""
    records = (Record(START_NS + n, one) for n, one in enumerate(packets))
    path.write_bytes(pcap(records, link_type=link_type))
    return path
