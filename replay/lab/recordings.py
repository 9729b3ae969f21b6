"""From what tcpdump recorded, a file an interface, to one pcapng an end.

Packets stand in time order, interfaces bear the names of their paths, and every change of a link is
the comment of the first packet after it, with its own time: `pathscope: link down wlan at ...`.
"""

from __future__ import annotations

import re
import struct
from collections import deque
from dataclasses import dataclass
from heapq import merge
from typing import TYPE_CHECKING, Any

from . import pcapng
from .events import seconds

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

NANOSECOND_MAGIC = 0xA1B23C4D
"""What tcpdump writes when it is asked for nanoseconds, in this machine's byte order."""

COUNTS = re.compile(r"(\d+) packets? (captured|received by filter|dropped by kernel)")


class RecordingError(RuntimeError):
    """A recording that cannot be used; the message names it and says why."""


@dataclass(frozen=True, slots=True)
class Packet:
    """A packet as recorded."""

    time_ns: int
    interface: int
    data: bytes
    wire_bytes: int


@dataclass(frozen=True, slots=True)
class Recording:
    """What one interface was seen to send and receive.

    `received` and `dropped` are the kernel's counts of what its filter took and what found no room.
    """

    name: str
    file: Path
    received: int
    dropped: int


def counts(said: str) -> dict[str, int]:
    """Return tcpdump's counts: `captured`, `received by filter`, `dropped by kernel`."""
    return {what: int(number) for number, what in COUNTS.findall(said)}


def join(
    recordings: Sequence[Recording],
    out: Path,
    events: Iterable[dict[str, Any]],
    *comments: str,
    system: str = "",
    application: str = "",
) -> None:
    """Write the recordings of one end into one pcapng file.

    Raises
    ------
    RecordingError
        When a recording is not what tcpdump writes.
    """
    heads, streams = [], []
    for number, recording in enumerate(recordings):
        data = recording.file.read_bytes()
        heads.append(_head(recording, data))
        streams.append(_packets(recording, data, number))
    with out.open("wb") as file:
        file.write(pcapng.section(*comments, system=system, application=application))
        for recording, (link_type, snap_bytes) in zip(recordings, heads, strict=True):
            file.write(pcapng.interface(recording.name, link_type, snap_bytes))
        last_ns = 0
        waiting = deque(sorted(_notes(events)))
        for packet, following in _pairs(merge(*streams, key=lambda packet: packet.time_ns)):
            due = []
            while waiting and (waiting[0][0] <= packet.time_ns or following is None):
                due.append(waiting.popleft()[1])
            last_ns = packet.time_ns
            file.write(
                pcapng.packet(packet.interface, last_ns, packet.data, packet.wire_bytes, *due)
            )
        for number, recording in enumerate(recordings):
            file.write(pcapng.statistics(number, last_ns, recording.received, recording.dropped))


def _pairs(packets: Iterator[Packet]) -> Iterator[tuple[Packet, Packet | None]]:
    """Every packet with the one after it."""
    previous = next(packets, None)
    for packet in packets:
        if previous is not None:
            yield previous, packet
        previous = packet
    if previous is not None:
        yield previous, None


def _notes(events: Iterable[dict[str, Any]]) -> Iterator[tuple[int, str]]:
    for event in events:
        if event["event"] == "link":
            at_ns = event["t_ns"]
            yield at_ns, f"pathscope: link {event['note']} {event['link']} at {seconds(at_ns)}"
        elif event["event"] == "impair":
            yield event["t_ns"], f"lab: {event['link']} {event['direction']}: {event['netem']}"


def _head(recording: Recording, data: bytes) -> tuple[int, int]:
    """Return link type and snap length."""
    if len(data) < 24 or struct.unpack_from("=I", data)[0] != NANOSECOND_MAGIC:
        raise RecordingError(f"{recording.file}: expected a pcap file with times in nanoseconds")
    snap_bytes, link_type = struct.unpack_from("=II", data, 16)
    return link_type, snap_bytes


def _packets(recording: Recording, data: bytes, number: int) -> Iterator[Packet]:
    place = 24
    while place < len(data):
        if place + 16 > len(data):
            raise RecordingError(f"{recording.file}: cut in the record at byte {place}")
        second, nanosecond, captured, wire_bytes = struct.unpack_from("=IIII", data, place)
        start, place = place + 16, place + 16 + captured
        if place > len(data):
            raise RecordingError(f"{recording.file}: cut in the record at byte {start - 16}")
        time_ns = second * 1_000_000_000 + nanosecond
        yield Packet(time_ns, number, data[start:place], wire_bytes)
