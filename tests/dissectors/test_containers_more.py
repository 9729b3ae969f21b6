"""Containers that few captures come in, and captures of several files, by tshark and capinfos."""

from __future__ import annotations

import json
import lzma
import os
import shutil
import struct
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import oracle
import pyarrow as pa
import pytest
from crafting import (
    SECOND,
    START_NS,
    Order,
    Pcapng,
    Record,
    ethernet_records,
    padded,
    pcap,
)
from pathscope.dissectors import ledger
from pathscope.dissectors._core import CaptureError
from reading import chunk_column, chunk_rows
from running import FAILOVER, LOSSY, PROGRAM, inside

RECORDS = ethernet_records(5)
TSNS = [1, 2, 3, 4, 5]
TIMES = [record.time_ns for record in RECORDS]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "capture"


def variant(
    magic: int,
    *,
    order: Order = "<",
    minor: int = 4,
    after_header: bytes = b"",
    after_lengths: bytes = b"",
    swapped: bool = False,
) -> bytes:
    """A pcap file that is not as pcap files are today; its packets lack their last byte."""
    head = struct.pack(f"{order}IHHiIII", magic, 2, minor, 0, 0, 262_144, 1)
    parts = [head, after_header]
    for record in RECORDS:
        seconds, fraction = divmod(record.time_ns, SECOND)
        lengths = [len(record.data) - 1, len(record.data)]
        if swapped:
            lengths.reverse()
        parts.append(struct.pack(f"{order}4I", seconds, fraction // 1000, *lengths))
        parts += [after_lengths, record.data[:-1]]
    return b"".join(parts)


def snoop(records: list[Record], *, datalink: int = 4) -> bytes:
    """RFC 1761."""
    parts = [b"snoop\0\0\0", struct.pack("!2I", 2, datalink)]
    for number, record in enumerate(records):
        seconds, fraction = divmod(record.time_ns, SECOND)
        size = len(record.data)
        room = 24 + len(padded(record.data))
        parts.append(struct.pack("!6I", size, size, room, number, seconds, fraction // 1000))
        parts.append(padded(record.data))
    return b"".join(parts)


def agrees_with_tshark(path: Path) -> dict[str, Any]:
    """Compare time, length and captured length of every packet; what pathscope says of the file."""
    assert chunk_column(path, "tsn") == TSNS
    assert chunk_column(path, "time_ns") == oracle.times_ns(path) == TIMES
    facts = ledger.read(path).capture
    told = oracle.fields(path, ("frame.len", "frame.cap_len"))
    assert facts["frames"]["read"] == len(told)
    capinfos = ["capinfos", "-T", "-m", "-r", "-Q", "-c", str(path)]
    counted = subprocess.run(capinfos, check=True, capture_output=True, text=True).stdout
    assert int(counted.rpartition(",")[2].strip().strip('"')) == facts["frames"]["read"]
    return facts


@pytest.mark.parametrize("order", ["<", ">"])
@pytest.mark.parametrize(
    ("name", "bytes_of"),
    [
        (
            "modified, microsecond",
            lambda order: variant(
                0xA1B2CD34, order=order, after_lengths=struct.pack(f"{order}IHBB", 3, 0x800, 4, 0)
            ),
        ),
        (
            "IXIA lcap, microsecond",
            lambda order: variant(0x1C0001AC, order=order, after_header=bytes(4)),
        ),
        (
            "IXIA lcap, microsecond",
            lambda order: variant(0x1C0001AB, order=order, after_header=bytes(4)),
        ),
    ],
)
def test_pcap_variants(
    path: Path, order: Order, name: str, bytes_of: Callable[[Order], bytes]
) -> None:
    path.write_bytes(bytes_of(order))
    facts = agrees_with_tshark(path)
    ends = {"<": "little", ">": "big"}
    assert facts["format"] == f"pcap ({name}, {ends[order]}-endian)"


@pytest.mark.parametrize("order", ["<", ">"])
@pytest.mark.parametrize(("minor", "swapped"), [(0, True), (2, True), (3, True), (3, False)])
def test_pcap_before_2_4(path: Path, order: Order, minor: int, swapped: bool) -> None:
    """The length on the wire came first; in version 2.3, depending on the writer."""
    path.write_bytes(variant(0xA1B2C3D4, order=order, minor=minor, swapped=swapped))
    facts = agrees_with_tshark(path)
    assert facts["format"].startswith(f"pcap 2.{minor} (microsecond, ")
    lengths = {(f["frame.len"][0], f["frame.cap_len"][0]) for f in lengths_by_tshark(path)}
    assert lengths == {(str(len(r.data)), str(len(r.data) - 1)) for r in RECORDS}


def lengths_by_tshark(path: Path) -> list[oracle.Fields]:
    return oracle.fields(path, ("frame.len", "frame.cap_len"))


@pytest.mark.parametrize("datalink", [0, 4])
def test_snoop(path: Path, datalink: int) -> None:
    path.write_bytes(snoop(RECORDS, datalink=datalink))
    facts = agrees_with_tshark(path)
    assert (facts["format"], facts["frames"]["dissected"]) == ("snoop", 5)
    assert facts["dropped_by_capture"] == 4


def test_snoop_as_editcap_writes_it(path: Path, tmp_path: Path) -> None:
    plain = tmp_path / "plain.pcap"
    plain.write_bytes(pcap(RECORDS, nanosecond=False))
    subprocess.run(["editcap", "-F", "snoop", str(plain), str(path)], check=True)
    assert agrees_with_tshark(path)["format"] == "snoop"


def test_modified_pcap_as_editcap_writes_it(path: Path, tmp_path: Path) -> None:
    plain = tmp_path / "plain.pcap"
    plain.write_bytes(pcap(RECORDS, nanosecond=False))
    subprocess.run(["editcap", "-F", "modpcap", str(plain), str(path)], check=True)
    assert agrees_with_tshark(path)["format"].startswith("pcap (modified, ")


def lz4(raw: bytes) -> bytes:
    whole: bytes = pa.compress(raw, codec="lz4", asbytes=True)
    return whole


PACKERS: dict[str, Callable[[bytes], bytes]] = {"xz": lzma.compress, "lz4": lz4}

WRITTEN = {
    "pcap": pcap(RECORDS),
    "pcapng": Pcapng().section().interface("eth0").packets(RECORDS).bytes(),
    "snoop": snoop(RECORDS),
}


@pytest.mark.parametrize("container", WRITTEN)
@pytest.mark.parametrize("codec", PACKERS)
def test_compressed(path: Path, container: str, codec: str) -> None:
    raw, pack = WRITTEN[container], PACKERS[codec]
    half = len(raw) // 2
    for whole in (pack(raw), pack(raw[:half]) + pack(raw[half:])):
        path.write_bytes(whole)
        assert chunk_column(path, "tsn") == TSNS
        assert chunk_column(path, "time_ns") == TIMES
        facts = ledger.read(path).capture
        assert (facts["compression"], facts["damage"]) == (codec, None)
        assert facts["format"].startswith(container)


@pytest.mark.parametrize("level", [0, 9])
@pytest.mark.parametrize("check", [lzma.CHECK_NONE, lzma.CHECK_CRC32, lzma.CHECK_SHA256])
def test_xz_checks_and_levels(path: Path, level: int, check: int) -> None:
    path.write_bytes(lzma.compress(WRITTEN["pcap"], check=check, preset=level))
    assert chunk_column(path, "tsn") == TSNS


def test_large_compressed_captures(path: Path) -> None:
    """Many blocks, windows and buffers long."""
    raw = pcap(ethernet_records(60_000, 1_000_000))
    expected = ledger.read(_written(path, raw)).capture["frames"]
    for pack in PACKERS.values():
        facts = ledger.read(_written(path, pack(raw))).capture
        assert (facts["frames"], facts["damage"]) == (expected, None)


def _written(path: Path, raw: bytes) -> Path:
    path.write_bytes(raw)
    return path


@pytest.mark.parametrize("codec", PACKERS)
def test_cut_compressed_captures_give_what_was_before(path: Path, codec: str) -> None:
    whole = PACKERS[codec](pcap(ethernet_records(60_000, 1_000_000)))
    path.write_bytes(whole[: len(whole) * 3 // 4])
    facts = ledger.read(path).capture
    assert 0 < facts["frames"]["read"] < 60_000
    assert facts["damage"].startswith(f"{path}: at byte ")
    assert f"{codec}: " in facts["damage"]


def test_standard_input() -> None:
    """Every command reads it as `-`, here a pipe; what it shows is what it shows of the file."""
    for command in (["info"], ["analyze"], ["dissect", "--table", "runs"]):
        with subprocess.Popen(["cat", str(LOSSY)], stdout=subprocess.PIPE) as cat:
            piped = subprocess.run(
                [*PROGRAM, *command, "-"],
                stdin=cat.stdout,
                capture_output=True,
                text=True,
                check=True,
            )
        named = inside(*command, LOSSY).stdout
        assert piped.stdout == named.replace(str(LOSSY), "standard input")
        assert piped.stderr == ""


def test_standard_input_that_is_no_capture() -> None:
    found = subprocess.run(
        [*PROGRAM, "info", "-"], input="hello", capture_output=True, text=True, check=False
    )
    assert found.returncode == 2
    assert found.stderr.startswith("Error: standard input: at byte 0: expected ")


def result(*arguments: object) -> dict[str, Any]:
    found = inside("analyze", "--json", *arguments)
    assert found.exit_code == 0, found.stderr
    whole: dict[str, Any] = json.loads(found.stdout)
    return whole


def parts_of(capture: Path, folder: Path, packets: int) -> list[Path]:
    """Cut a capture as `dumpcap -b` would have: names and order follow from time."""
    first = folder / "part.pcapng"
    subprocess.run(["editcap", "-c", str(packets), str(capture), str(first)], check=True)
    return sorted(folder.glob("part_*"))


def test_rotated_files_are_one_capture(tmp_path: Path) -> None:
    """The analysis of the parts is that of the whole, down to its frame numbers."""
    whole = result(FAILOVER)
    parts = parts_of(FAILOVER, tmp_path, 400)
    assert len(parts) > 2
    merged = result("--merge", *reversed(parts))
    (before,), (after,) = whole.pop("captures"), merged.pop("captures")
    assert after["path"] == f"{parts[-1]} and {len(parts) - 1} more"
    assert [Path(file["path"]) for file in after["files"]] == parts
    assert [file["frames"] for file in after["files"]][:-1] == [400] * (len(parts) - 1)
    assert after["frames"] == before["frames"]
    firsts = [file["first_frame"] for file in after["files"]]
    assert firsts == [1 + 400 * n for n in range(len(parts))]
    assert merged == whole


def test_one_file_an_interface_is_merged_by_time(tmp_path: Path) -> None:
    records = [Record(START_NS + n * 1000, RECORDS[n % 5].data, n % 2) for n in range(20)]
    files = []
    for interface, name in enumerate(("wlan", "wwan")):
        file = Pcapng().section().interface(name)
        file.packets(Record(r.time_ns, r.data) for r in records if r.interface == interface)
        files.append(_written(tmp_path / name, file.bytes()))
    rows = [row for batch in ledger.stream(files) for row in batch.to_pylist()]
    assert [row["time_ns"] for row in rows] == [record.time_ns for record in records]
    assert [row["interface"] for row in rows] == ["wlan", "wwan"] * 10
    facts = ledger.read(files).capture
    named = {row["frame"]: row["time_ns"] for row in rows}
    for file, path in zip(facts["files"], files, strict=True):
        alone = {row["frame"]: row["time_ns"] for row in chunk_rows(path)}
        before = file["first_frame"] - 1
        assert alone == {frame: named[before + frame] for frame in alone}
    assert [one["packets"] for one in facts["interfaces"]] == [10, 10]
    merged = tmp_path / "merged"
    subprocess.run(["mergecap", "-w", str(merged), *map(str, files)], check=True)
    assert oracle.times_ns(merged) == [row["time_ns"] for row in rows]


def test_a_damaged_part_is_named_and_the_rest_read(tmp_path: Path) -> None:
    first, last = tmp_path / "first", tmp_path / "last"
    first.write_bytes(pcap(RECORDS[:3])[:-1])
    last.write_bytes(pcap(RECORDS[3:]))
    facts = ledger.read([first, last]).capture
    assert facts["frames"]["read"] == 4
    assert facts["damage"].startswith(f"{first}: at byte ")
    found = inside("analyze", "--merge", "--strict", first, last)
    assert found.exit_code == 1
    assert str(first) in found.stdout


def test_a_pipe_cannot_be_one_of_several(tmp_path: Path) -> None:
    path = _written(tmp_path / "file", WRITTEN["pcap"])
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with subprocess.Popen([shutil.which("cp") or "cp", str(path), str(pipe)]) as writer:
        found = inside("analyze", "--merge", path, pipe)
    assert writer.returncode is not None
    assert found.exit_code == 2
    assert "one of several captures is opened twice" in found.stderr


def test_no_capture_at_all() -> None:
    with pytest.raises(ValueError, match="no capture is named"):
        ledger.read([])
    with pytest.raises(CaptureError):
        ledger.read(["/nonexistent/a", "/nonexistent/b"])
