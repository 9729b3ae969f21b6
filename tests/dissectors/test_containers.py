"""Containers: what they say of packets, times and interfaces, by their writers and by tshark."""

from __future__ import annotations

import itertools
import os
import subprocess
from pathlib import Path

import oracle
import pytest
from containing import RECORDS, TIMES, TSNS, WRITTEN
from crafting import (
    LINK,
    RAW,
    SECOND,
    START_NS,
    V4,
    Order,
    Pcapng,
    Record,
    data,
    pcap,
)
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from pathscope.dissectors import ledger
from reading import chunk_column, chunk_rows
from scapy.layers.l2 import Ether
from scapy.utils import PcapNgWriter, PcapWriter


@pytest.mark.parametrize("order", ["<", ">"])
@pytest.mark.parametrize("nanosecond", [True, False])
def test_pcap(path: Path, order: Order, nanosecond: bool) -> None:
    unit = 1 if nanosecond else 1000
    records = [Record(START_NS + n * 7_777_777, r.data) for n, r in enumerate(RECORDS)]
    path.write_bytes(pcap(records, order=order, nanosecond=nanosecond))
    assert chunk_column(path, "tsn") == TSNS
    assert chunk_column(path, "time_ns") == [r.time_ns // unit * unit for r in records]
    assert chunk_column(path, "time_ns") == oracle.times_ns(path)
    facts = ledger.read(path).capture
    words = ("nanosecond" if nanosecond else "microsecond", "little" if order == "<" else "big")
    assert facts["format"] == "pcap ({}, {}-endian)".format(*words)
    assert facts["start_ns"] == records[0].time_ns
    assert facts["end_ns"] == records[-1].time_ns // unit * unit
    (interface,) = facts["interfaces"]
    assert (interface["link_type"], interface["packets"], interface["name"]) == (1, 5, None)
    assert interface["time_unit"] == ("10^-9 s" if nanosecond else "10^-6 s")


@pytest.mark.parametrize("endianness", ["<", ">"])
@pytest.mark.parametrize("nano", [True, False])
def test_pcap_by_scapy(path: Path, endianness: str, nano: bool) -> None:
    with PcapWriter(str(path), endianness=endianness, nano=nano) as writer:
        for record in RECORDS:
            packet = Ether(record.data)
            packet.time = record.time_ns / SECOND
            writer.write(packet)
    assert chunk_column(path, "tsn") == TSNS
    assert chunk_column(path, "time_ns") == oracle.times_ns(path)


def test_pcapng_by_scapy(path: Path) -> None:
    with PcapNgWriter(str(path)) as writer:
        for record in RECORDS:
            packet = Ether(record.data)
            packet.time = record.time_ns / SECOND
            packet.comments = [f"pathscope: at {record.time_ns}".encode()]
            writer.write(packet)
    assert chunk_column(path, "tsn") == TSNS
    assert chunk_column(path, "time_ns") == oracle.times_ns(path)
    found = ledger.read(path)
    assert found.capture["format"] == "pcapng"
    said = [(row["frame"], row["text"]) for row in found.rows("comments")]
    assert said == [(n + 1, f"pathscope: at {r.time_ns}") for n, r in enumerate(RECORDS)]


@pytest.mark.parametrize("order", ["<", ">"])
@pytest.mark.parametrize(
    ("resolution", "offset_s", "units_per_s"),
    [
        (None, None, 10**6),
        (0, None, 1),
        (3, None, 10**3),
        (6, None, 10**6),
        (9, None, 10**9),
        (9, 1_600_000_000, 10**9),
        (6, -3600, 10**6),
        (0x80 | 10, None, 2**10),
        (0x80 | 20, 86_400, 2**20),
    ],
)
def test_pcapng_clocks(
    path: Path, order: Order, resolution: int | None, offset_s: int | None, units_per_s: int
) -> None:
    file = Pcapng(order).section().interface(resolution=resolution, offset_s=offset_s)
    shift = 0 if offset_s is None else offset_s * SECOND
    base = START_NS - shift
    units = [base * units_per_s // SECOND + n * max(units_per_s // 7, 1) for n in range(5)]
    for record, time in zip(RECORDS, units, strict=True):
        file.packet(record, time)
    path.write_bytes(file.bytes())
    times = chunk_column(path, "time_ns")
    assert times == [time * SECOND // units_per_s + shift for time in units]
    assert times == oracle.times_ns(path)


def test_pcapng_sections_and_interfaces(path: Path) -> None:
    """A second section in the other byte order begins its interfaces anew, from 0."""
    raw = bytes(V4 / data(3))
    first = Pcapng("<").section().interface("wlan0").interface("wwan0", resolution=6)
    first.packet(RECORDS[0])
    first.packet(Record(0, RECORDS[1].data, interface=1), RECORDS[1].time_ns // 1000)
    second = Pcapng(">").section().interface("tun0", link_type=RAW).packet(Record(TIMES[2], raw))
    path.write_bytes(first.bytes() + second.bytes())
    assert chunk_column(path, "tsn") == [1, 2, 3]
    assert chunk_column(path, "interface") == ["wlan0", "wwan0", "tun0"]
    assert chunk_column(path, "time_ns") == TIMES[:3] == oracle.times_ns(path)
    names = ("section", "number", "name", "link_type", "time_unit", "packets")
    told = [tuple(one[name] for name in names) for one in ledger.read(path).capture["interfaces"]]
    assert told == [
        (0, 0, "wlan0", 1, "10^-9 s", 1),
        (0, 1, "wwan0", 1, "10^-6 s", 1),
        (1, 0, "tun0", RAW, "10^-9 s", 1),
    ]


def test_pcapng_other_blocks_are_passed_over(path: Path) -> None:
    """Name Resolution, Custom and unknown blocks, and statistics between packets."""
    file = Pcapng().section().interface("eth0")
    file.block(4, bytes(4)).packet(RECORDS[0]).block(0xBAD, b"\0\0\0\1abcd")
    dropped = file.option(5, (3).to_bytes(8, "little")) + file.option(0, b"")
    file.packet(RECORDS[1]).block(0x7777, bytes(64)).block(5, bytes(12) + dropped)
    path.write_bytes(file.bytes())
    assert chunk_column(path, "tsn") == [1, 2]
    facts = ledger.read(path).capture
    assert facts["dropped_by_capture"] == 3
    assert facts["frames"]["read"] == len(oracle.times_ns(path)) == 2


def interleaved(count: int = 30) -> list[Record]:
    """Two interfaces whose packets alternate in time and stand in blocks of ten in the file."""
    records = [
        Record(START_NS + n * 10_000_000, bytes(LINK / V4 / data(n + 1)), interface=n % 2)
        for n in range(count)
    ]
    return sorted(records, key=lambda r: ((r.time_ns - START_NS) // 200_000_000, r.interface))


def two_interfaces(records: list[Record]) -> bytes:
    return Pcapng().section().interface("v1").interface("v2").packets(records).bytes()


def test_interfaces_are_put_in_time_order_like_mergecap_does(path: Path, tmp_path: Path) -> None:
    records = interleaved()
    path.write_bytes(two_interfaces(records))
    assert chunk_column(path, "tsn") == list(range(1, len(records) + 1))
    parts = []
    for interface in (0, 1):
        part = tmp_path / f"{interface}.pcap"
        part.write_bytes(pcap(r for r in records if r.interface == interface))
        parts.append(str(part))
    merged = tmp_path / "merged.pcapng"
    subprocess.run(["mergecap", "-w", str(merged), *parts], check=True)
    assert chunk_column(path, "time_ns") == oracle.times_ns(merged) == sorted(oracle.times_ns(path))
    facts = ledger.read(path).capture
    assert facts["late_frames"] == 0
    # Those of the second interface that the file has after later ones of the first.
    assert facts["reordered_frames"] > 0


def test_frames_keep_their_numbers_in_the_file(path: Path) -> None:
    records = interleaved()
    path.write_bytes(two_interfaces(records))
    tsn_of = {r["frame"]: r["tsn"] for r in chunk_rows(path)}
    told = oracle.fields(path, ("frame.number", "sctp.data_tsn_raw"))
    assert tsn_of == {int(f["frame.number"][0]): int(f["sctp.data_tsn_raw"][0]) for f in told}


def test_without_a_window_late_frames_are_counted(path: Path) -> None:
    records = interleaved()
    path.write_bytes(two_interfaces(records))
    options = ledger.ReadOptions(reorder_window_ns=0)
    assert chunk_column(path, "frame", options) == list(range(1, len(records) + 1))
    facts = ledger.read(path, options).capture
    times = [record.time_ns for record in records]
    newest = list(itertools.accumulate(times, max))
    late = [high - time for high, time in zip(newest, times, strict=True) if time < high]
    assert facts["late_frames"] == len(late) > 0
    assert facts["largest_lateness_ns"] == max(late)


WINDOW_NS = 1_000_000
DATA = RECORDS[0].data


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    delays=st.lists(st.integers(0, WINDOW_NS), max_size=60),
    step_ns=st.integers(0, WINDOW_NS),
)
@example(delays=[WINDOW_NS, 0], step_ns=0)
def test_delays_within_the_window_never_show(path: Path, delays: list[int], step_ns: int) -> None:
    """Written at steady instants, captured up to one window earlier."""
    times = [START_NS + n * step_ns - delay for n, delay in enumerate(delays)]
    path.write_bytes(pcap(Record(time, DATA) for time in times))
    options = ledger.ReadOptions(reorder_window_ns=WINDOW_NS)
    told = [(row["time_ns"], row["frame"]) for row in chunk_rows(path, options)]
    assert told == sorted((time, n + 1) for n, time in enumerate(times))
    facts = ledger.read(path, options).capture
    assert facts["late_frames"] == 0
    assert (facts["start_ns"], facts["end_ns"]) == (
        (min(times), max(times)) if times else (None, None)
    )


def test_a_pipe_is_read_like_a_file(path: Path, tmp_path: Path) -> None:
    path.write_bytes(WRITTEN["pcapng"])
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with subprocess.Popen(["cp", str(path), str(pipe)]) as writer:
        found = ledger.read(pipe)
    assert writer.returncode == 0
    assert found.capture["frames"]["dissected"] == len(RECORDS)


def test_progress_tells_bytes_of_the_file(path: Path) -> None:
    """It is asked for between steps, so a capture of more than one is needed."""
    path.write_bytes(pcap([RECORDS[0]] * (ledger.STEP_RECORDS + 1)))
    seen: list[tuple[int, int | None]] = []
    ledger.read(path, progress=lambda done, whole: seen.append((done, whole)))
    size = path.stat().st_size
    assert seen
    assert all(0 < done <= size and whole == size for done, whole in seen)
