"""Compare our chunk table with tshark, packet by packet and field by field."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import groupby, zip_longest
from operator import itemgetter
from pathlib import Path
from typing import Any

import pathscope
from conformance import tshark
from conformance.tshark import CHUNK_FIELDS, LISTS, PACKET_FIELDS, Packet, Row, TsharkError, Value

ALLOWED = Path(__file__).with_name("allowed.toml")
MAGICS = (
    *(bytes.fromhex(word) for word in ("a1b2c3d4", "d4c3b2a1", "a1b23c4d", "4d3cb2a1")),
    bytes.fromhex("0a0d0d0a"),
    bytes.fromhex("28b52ffd"),
    bytes.fromhex("1f8b"),
)


@dataclass(frozen=True)
class Disagreement:
    """One field of one frame that the two tell differently."""

    frame: int
    field: str
    ours: Value
    tshark: Value
    reason: str | None = None
    """Why this one is allowed, from allowed.toml."""


@dataclass
class Comparison:
    """What comparing one capture gave."""

    capture: Path
    packets: int = 0
    fields: int = 0
    disagreements: list[Disagreement] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    @property
    def unexplained(self) -> list[Disagreement]:
        """The disagreements that allowed.toml does not explain."""
        return [d for d in self.disagreements if d.reason is None]


def captures_in(folder: Path) -> list[Path]:
    """Return the captures below a folder, told by their first bytes."""
    return [path for path in sorted(folder.rglob("*")) if path.is_file() and is_capture(path)]


def is_capture(path: Path) -> bool:
    """Tell whether a file starts like a pcap, a pcapng or a compressed file."""
    with path.open("rb") as file:
        return file.read(4).startswith(MAGICS)


def ours(capture: Path, notes: list[str]) -> Iterator[Packet]:
    """Yield our packets, in time order; what ends the reading early becomes a note."""
    try:
        for _, group in groupby(rows_of(capture), key=itemgetter("frame")):
            rows = list(group)
            header: Row = {name: rows[0][name] for name in PACKET_FIELDS}
            chunks: list[Row] = [
                {name: row[name] for name in (*CHUNK_FIELDS, "truncated")} for row in rows
            ]
            yield Packet(rows[0]["frame"], header, chunks)
    except pathscope.CaptureError as error:
        notes.append(f"pathscope: {error}")


def rows_of(capture: Path) -> Iterator[dict[str, Any]]:
    """Yield the rows of the chunk table; a packet's rows follow each other."""
    for batch in pathscope.dissect(capture, table="chunks"):
        yield from batch.to_pylist()


def theirs(capture: Path, notes: list[str]) -> Iterator[Packet]:
    """Yield tshark's packets, in file order; what ends the reading early becomes a note."""
    try:
        yield from tshark.packets(capture)
    except TsharkError as error:
        notes.append(f"tshark: {error}")


def compare(capture: Path) -> Comparison:
    """Compare one capture.

    The two come in different orders, so packets wait for their partner; memory is bounded by
    how far the file's order is from time order, and by the disagreements.
    """
    result = Comparison(capture)
    waiting: tuple[dict[int, Packet], dict[int, Packet]] = ({}, {})
    both = zip_longest(ours(capture, result.notes), theirs(capture, result.notes))
    for pair in both:
        for side, packet in enumerate(pair):
            if packet is None:
                continue
            partner = waiting[1 - side].pop(packet.frame, None)
            if partner is None:
                waiting[side][packet.frame] = packet
            else:
                mine, other = (packet, partner) if side == 0 else (partner, packet)
                compare_packet(result, mine, other)
    for frame in sorted(waiting[0]):
        result.disagreements.append(Disagreement(frame, "packet", "SCTP", None))
    for frame in sorted(waiting[1]):
        result.disagreements.append(Disagreement(frame, "packet", None, "SCTP"))
    explain(result)
    return result


def compare_packet(result: Comparison, mine: Packet, other: Packet) -> None:
    """Compare the two views of one packet."""
    result.packets += 1
    compare_rows(result, mine.frame, mine.header, other.header, PACKET_FIELDS)
    if len(mine.chunks) != len(other.chunks) and not stopped_early(mine, other):
        types = [",".join(str(c["chunk_type"]) for c in p.chunks) for p in (mine, other)]
        result.disagreements.append(Disagreement(mine.frame, "chunks", types[0], types[1]))
    for chunk, their_chunk in zip(mine.chunks, other.chunks, strict=False):
        names = CHUNK_FIELDS
        if chunk["truncated"]:
            # Of a chunk that the capture cut, each shows the fields that are whole to it.
            names = tuple(n for n in names if n not in LISTS and chunk[n] is not None)
        if chunk["truncated"] or (other.gave_up and their_chunk is other.chunks[-1]):
            names = tuple(n for n in names if their_chunk[n] is not None)
        compare_rows(result, mine.frame, chunk, their_chunk, names)


def stopped_early(mine: Packet, other: Packet) -> bool:
    """Tell whether tshark gave up on a malformed chunk after which we could go on.

    A chunk's length is all that is needed to find the next one (RFC 9260, section 3.2).
    """
    return other.gave_up and len(other.chunks) < len(mine.chunks)


def compare_rows(
    result: Comparison, frame: int, mine: Row, other: Row, names: tuple[str, ...]
) -> None:
    """Compare the named fields of two rows."""
    for name in names:
        if mine[name] is None and other[name] is None:
            continue
        result.fields += 1
        if mine[name] != other[name]:
            result.disagreements.append(Disagreement(frame, name, mine[name], other[name]))


def explain(result: Comparison) -> None:
    """Give each disagreement the reason that allowed.toml has for it."""
    entries = tomllib.loads(ALLOWED.read_text()).get("allowed", [])
    for place, found in enumerate(result.disagreements):
        for entry in entries:
            here = entry["capture"] == result.capture.name and entry["field"] == found.field
            if here and found.frame in entry.get("frames", [found.frame]):
                result.disagreements[place] = Disagreement(
                    found.frame, found.field, found.ours, found.tshark, entry["reason"]
                )
