"""Compare our streamed tables with tshark, frame by frame and field by field."""

from __future__ import annotations

import tomllib
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import zip_longest
from pathlib import Path

import pathscope
from conformance import ours, tshark
from conformance.explained import Handshakes, frame_reason
from conformance.packet import HEADERS, Frame, Packet, Row, Value
from conformance.pdml import TsharkError
from conformance.sctp_fields import CHUNK_FIELDS, LISTS

ALLOWED = Path(__file__).with_name("allowed.toml")
MAGICS = (
    *(bytes.fromhex(word) for word in ("a1b2c3d4", "d4c3b2a1", "a1b23c4d", "4d3cb2a1")),
    *(bytes.fromhex(word) for word in ("0a0d0d0a", "736e6f6f", "28b52ffd", "04224d18", "1f8b")),
)


@dataclass(frozen=True)
class Disagreement:
    """One field of one frame that the two tell differently."""

    frame: int
    field: str
    ours: Value
    tshark: Value
    reason: str | None = None
    """Why this one is no mistake: a class of `explained`, or an entry of allowed.toml."""


@dataclass
class Comparison:
    """What comparing one capture gave."""

    capture: Path
    packets: Counter[str] = field(default_factory=Counter)
    """Packets that both read, by protocol."""
    fields: int = 0
    disagreements: list[Disagreement] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    handshakes: Handshakes = field(default_factory=Handshakes)

    @property
    def unexplained(self) -> list[Disagreement]:
        """The disagreements that have no reason."""
        return [d for d in self.disagreements if d.reason is None]

    @property
    def explained(self) -> list[Disagreement]:
        """The disagreements that have one."""
        return [d for d in self.disagreements if d.reason is not None]


def captures_in(folder: Path) -> list[Path]:
    """Return the captures below a folder, told by their first bytes."""
    return [path for path in sorted(folder.rglob("*")) if path.is_file() and is_capture(path)]


def is_capture(path: Path) -> bool:
    """Tell whether a file starts like a pcap, a pcapng, a snoop or a compressed file.

    Traces of simulators hold no packets that tshark could read, and stored results none at all.
    """
    if {".tr", ".json"} & set(path.suffixes):
        return False
    with path.open("rb") as file:
        return file.read(4).startswith(MAGICS)


def our_frames(capture: Path, notes: list[str]) -> Iterator[Frame]:
    """Yield our frames, in time order; what ends the reading early becomes a note."""
    try:
        yield from ours.frames(capture)
    except pathscope.CaptureError as error:
        notes.append(f"pathscope: {error}")


def their_frames(capture: Path, notes: list[str]) -> Iterator[Frame]:
    """Yield tshark's frames, in file order; what ends the reading early becomes a note."""
    try:
        yield from tshark.frames(capture)
    except TsharkError as error:
        notes.append(f"tshark: {error}")


def compare(capture: Path) -> Comparison:
    """Compare one capture.

    The two come in different orders, so frames wait for their partner; memory is bounded by
    how far the file's order is from time order, and by the disagreements.
    """
    result = Comparison(capture)
    waiting: tuple[dict[int, Frame], dict[int, Frame]] = ({}, {})
    both = zip_longest(our_frames(capture, result.notes), their_frames(capture, result.notes))
    for pair in both:
        for side, frame in enumerate(pair):
            if frame is None:
                continue
            partner = waiting[1 - side].pop(frame.number, None)
            if partner is None:
                waiting[side][frame.number] = frame
            else:
                mine, other = (frame, partner) if side == 0 else (partner, frame)
                compare_frame(result, mine, other)
    for mine in waiting[0].values():
        compare_frame(result, mine, Frame(mine.number, account="not read"))
    for other in waiting[1].values():
        compare_frame(result, Frame(other.number, account="not read"), other)
    result.disagreements.sort(key=lambda found: found.frame)
    allow(result)
    return result


def compare_frame(result: Comparison, mine: Frame, other: Frame) -> None:
    """Compare the two views of one frame."""
    if mine.packet is None and other.packet is None:
        return
    if (
        mine.packet is not None
        and other.packet is not None
        and mine.packet.protocol == other.packet.protocol
    ):
        compare_packet(result, mine.number, mine.packet, other.packet)
        return
    words = [described(frame) for frame in (mine, other)]
    why = frame_reason(mine, other)
    result.disagreements.append(Disagreement(mine.number, "packet", words[0], words[1], why))


def described(frame: Frame) -> str:
    """Say in a few words what a frame was taken for."""
    return f"{frame.packet.protocol if frame.packet else 'nothing'} ({frame.account})"


def compare_packet(result: Comparison, frame: int, mine: Packet, other: Packet) -> None:
    """Compare the two views of one packet."""
    result.packets[mine.protocol] += 1
    if mine.protocol == "tcp":
        result.handshakes.note(other.header)
    compare_rows(result, frame, mine.header, other.header, HEADERS[mine.protocol])
    if len(mine.chunks) != len(other.chunks) and not stopped_early(mine, other):
        types = [",".join(str(c["chunk_type"]) for c in p.chunks) for p in (mine, other)]
        result.disagreements.append(Disagreement(frame, "chunks", types[0], types[1]))
    for chunk, their_chunk in zip(mine.chunks, other.chunks, strict=False):
        names = CHUNK_FIELDS
        if chunk["truncated"]:
            # Of a chunk that the capture cut, each shows the fields that are whole to it.
            names = tuple(n for n in names if n not in LISTS and chunk[n] is not None)
        if chunk["truncated"] or (other.gave_up and their_chunk is other.chunks[-1]):
            names = tuple(n for n in names if their_chunk[n] is not None)
        compare_rows(result, frame, chunk, their_chunk, names)


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
            why = result.handshakes.reason(name, mine, other)
            found = Disagreement(frame, name, mine[name], other[name], why)
            result.disagreements.append(found)


def allow(result: Comparison) -> None:
    """Give each disagreement the reason that allowed.toml has for it."""
    entries = tomllib.loads(ALLOWED.read_text()).get("allowed", [])
    for place, found in enumerate(result.disagreements):
        for entry in entries:
            here = entry["capture"] == result.capture.name and entry["field"] == found.field
            if here and found.frame in entry.get("frames", [found.frame]):
                result.disagreements[place] = Disagreement(
                    found.frame, found.field, found.ours, found.tshark, entry["reason"]
                )
