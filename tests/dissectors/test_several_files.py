"""Captures of several files, and from standard input."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import oracle
import pytest
from containing import RECORDS, WRITTEN, written
from crafting import START_NS, Pcapng, Record, pcap
from pathscope.dissectors import ledger
from pathscope.dissectors._core import CaptureError
from reading import chunk_rows
from running import FAILOVER, LOSSY, PROGRAM, inside


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
    # A display filter by frame numbers is for one file.
    for analysis, has_filters in ((whole, True), (merged, False)):
        findings = [one for a in analysis["associations"] for one in a["findings"]]
        assert findings
        assert all((one.pop("wireshark") is not None) is has_filters for one in findings)
    assert merged == whole


def test_one_file_an_interface_is_merged_by_time(tmp_path: Path) -> None:
    records = [Record(START_NS + n * 1000, RECORDS[n % 5].data, n % 2) for n in range(20)]
    files = []
    for interface, name in enumerate(("wlan", "wwan")):
        file = Pcapng().section().interface(name)
        file.packets(Record(r.time_ns, r.data) for r in records if r.interface == interface)
        files.append(written(tmp_path / name, file.bytes()))
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
    path = written(tmp_path / "file", WRITTEN["pcap"])
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
