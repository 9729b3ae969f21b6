"""Streams and their messages, in the result and on the console."""

from __future__ import annotations

import struct
from pathlib import Path

import pathscope
from crafting import RAW, SECOND, START_NS, V4, Record, chunk, pcap, sctp
from pathscope.analyzer.model import Association
from pathscope.reports.streams import messages, ranges
from rich.console import Console


def seen(path: Path, chunks: list[tuple[int, int, int, int]]) -> Association:
    """Make an association of DATA chunks: flags, stream, PPID and user bytes."""
    records = [
        Record(
            START_NS + number * SECOND,
            bytes(
                V4 / sctp(chunk(0, flags, struct.pack("!IHHI", number, stream, 0, ppid) + bytes(n)))
            ),
        )
        for number, (flags, stream, ppid, n) in enumerate(chunks)
    ]
    path.write_bytes(pcap(records, link_type=RAW))
    (association,) = pathscope.analyze(path).associations
    return association


def lines(association: Association) -> list[str]:
    table = messages(association)
    assert table is not None
    console = Console(width=84)
    with console.capture() as captured:
        console.print(table)
    return [line.rstrip() for line in captured.get().splitlines()]


def test_streams_with_their_protocols(tmp_path: Path) -> None:
    association = seen(
        tmp_path / "c", [(3, 0, 50, 10), (3, 1, 51, 20), (2, 1, 53, 100), (1, 1, 53, 50)]
    )
    first, second = association.streams
    assert (first.number, [one.name for one in first.protocols]) == (0, ["WebRTC DCEP"])
    names = [(one.name, one.messages, one.user_bytes) for one in second.protocols]
    assert names == [("WebRTC String", 1, 20), ("WebRTC Binary", 1, 150)]
    assert (second.messages, second.fragmented, second.chunks) == (2, 1, 3)
    assert second.largest_message_bytes.value == 150
    assert (second.first.frame, second.last.frame) == (2, 4)


def test_one_stream_of_small_messages_needs_no_table(tmp_path: Path) -> None:
    assert messages(seen(tmp_path / "c", [(3, 0, 46, 10), (3, 0, 46, 10)])) is None


def test_the_table_is_one_line_a_protocol(tmp_path: Path) -> None:
    chunks = [(3, stream, 60, 10) for stream in (0, 1, 2, 5)] + [(7, 1, 99, 1), (2, 5, 60, 500)]
    assert lines(seen(tmp_path / "c", chunks)) == [
        "sender  protocol      streams  messages  bytes",
        "a       NGAP (60)     0-2, 5          5    540",
        "a       unknown (99)  1               1      1",
        "a       all                           6    541  1 in fragments, 1 unordered, 1 still",
        "                                                open at its end, largest 10 bytes",
    ]


def test_a_counter_in_the_ppid_does_not_fill_the_screen(tmp_path: Path) -> None:
    shown = lines(seen(tmp_path / "c", [(3, 0, 1000 + n, 1) for n in range(40)]))
    assert len(shown) == 14
    assert shown[-1].split() == ["a", "28", "more", "28", "28"]


def test_ranges() -> None:
    assert ranges([]) == ""
    assert ranges([7, 3, 4]) == "3-4, 7"
    assert ranges([None, 1]) == "1, others"
