"""Recordings of single interfaces joined into one capture, with the links' changes in it."""

from __future__ import annotations

import struct
from pathlib import Path
from typing import Any

import oracle
import pytest
from crafting import ETHERNET, START_NS, Record, pcap
from pathscope.replay.lab.recordings import Recording, RecordingError, counts, join

SAID = """tcpdump: listening on wlan, link-type EN10MB (Ethernet), snapshot length 262144 bytes
218 packets captured
220 packets received by filter
2 packets dropped by kernel
"""


def recording(path: Path, name: str, *after_ns: int) -> Recording:
    records = [Record(START_NS + at, bytes([at % 256]) * 60) for at in after_ns]
    file = path / f"{name}.pcap"
    file.write_bytes(pcap(records, link_type=ETHERNET))
    return Recording(name, file, len(records) + 1, 1)


def event(after_ns: int, **facts: Any) -> dict[str, Any]:
    return {"t_ns": START_NS + after_ns, "event": "link", "link": "wlan", "note": "down"} | facts


NAMES = ("frame.time_epoch", "frame.interface_name", "frame.comment")


def joined(path: Path, *events: dict[str, Any]) -> list[tuple[int, str, list[str]]]:
    parts = [recording(path, "wlan", 0, 20, 40), recording(path, "cellular", 10, 30)]
    join(parts, path / "out.pcapng", events, "a comment")
    found = oracle.fields(path / "out.pcapng", NAMES)
    return [
        (oracle.nanoseconds(one[NAMES[0]][0]) - START_NS, one[NAMES[1]][0], one[NAMES[2]])
        for one in found
    ]


def test_packets_are_in_order_of_time(tmp_path: Path) -> None:
    assert joined(tmp_path) == [
        (0, "wlan", []),
        (10, "cellular", []),
        (20, "wlan", []),
        (30, "cellular", []),
        (40, "wlan", []),
    ]


def test_a_change_is_the_comment_of_the_first_packet_after_it(tmp_path: Path) -> None:
    down, up = event(15), event(20, note="up")
    late = event(90, event="impair", direction="both", netem="delay 5ms")
    comments = [said for *_, said in joined(tmp_path, late, down, up)]
    assert comments[2] == [
        "pathscope: link down wlan at 1700000000.000000015",
        "pathscope: link up wlan at 1700000000.000000020",
    ]
    assert comments[4] == ["lab: wlan both: delay 5ms"]
    assert comments[0] == comments[1] == comments[3] == []


def test_nothing_recorded(tmp_path: Path) -> None:
    join([recording(tmp_path, "wlan")], tmp_path / "out.pcapng", [event(0)])
    assert oracle.fields(tmp_path / "out.pcapng", NAMES) == []


@pytest.mark.parametrize(
    ("cut", "message"),
    [(10, "expected a pcap file"), (30, "record at byte 24"), (50, "record at byte 24")],
)
def test_a_recording_that_is_cut(cut: int, message: str, tmp_path: Path) -> None:
    part = recording(tmp_path, "wlan", 0)
    part.file.write_bytes(part.file.read_bytes()[:cut])
    with pytest.raises(RecordingError, match=message):
        join([part], tmp_path / "out.pcapng", [])


def test_microseconds_are_not_taken_for_nanoseconds(tmp_path: Path) -> None:
    part = recording(tmp_path, "wlan", 0)
    data = part.file.read_bytes()
    part.file.write_bytes(struct.pack("=I", 0xA1B2C3D4) + data[4:])
    with pytest.raises(RecordingError, match="nanoseconds"):
        join([part], tmp_path / "out.pcapng", [])


def test_counts_of_tcpdump() -> None:
    assert counts(SAID) == {
        "captured": 218,
        "received by filter": 220,
        "dropped by kernel": 2,
    }
    assert counts("1 packet captured") == {"captured": 1}
