"""`dissect` with windows, associations and an index, and `show`: what they print, and refuse."""

from __future__ import annotations

import gzip
import json
import os
import shutil
import subprocess
from pathlib import Path

import pyarrow as pa
import pytest
from crafting import ethernet_records, pcap
from pathscope import ReadOptions, dissect, read
from pathscope.dissectors import ledger
from pathscope.dissectors.index import folder_of
from running import ASCONF, FAILOVER, LOSSY, PROGRAM, inside, outside


@pytest.fixture
def capture(tmp_path: Path) -> Path:
    path = tmp_path / "client.pcapng"
    shutil.copyfile(FAILOVER, path)
    return path


def dissected(*arguments: object) -> list[dict[str, object]]:
    found = inside("dissect", *arguments, "--format", "json")
    assert found.exit_code == 0, found.stderr
    return [json.loads(line) for line in found.stdout.splitlines()]


def test_seconds_are_those_that_analyze_shows() -> None:
    """README: the first new DATA on the new path is frame 444 at 10.996465 s."""
    rows = dissected(FAILOVER, "--window", "10.9964654", "10.9964655")
    assert {row["frame"] for row in rows} == {444}
    start_ns = read(FAILOVER).capture["start_ns"]
    ends = (f"@{(start_ns + ns) // 10**9}.{(start_ns + ns) % 10**9:09}" for ns in (0, 10**9))
    absolute = dissected(FAILOVER, "--window", *ends)
    assert absolute == dissected(FAILOVER, "--window", "0", "1") != []


def test_open_ends_and_iso_times() -> None:
    whole = dissected(LOSSY)
    assert dissected(LOSSY, "--window", "-", "-") == whole
    assert dissected(LOSSY, "--window", "1970-01-01", "-", "--association", 0) == whole
    assert dissected(LOSSY, "--association", 7) == []


def test_a_window_of_a_kept_table() -> None:
    rows = dissected(FAILOVER, "--table", "runs", "--window", "11", "12")
    assert [row["path"] for row in rows] == [1]


def test_a_window_of_standard_input() -> None:
    with FAILOVER.open("rb") as stream:
        found = subprocess.run(
            [*PROGRAM, "dissect", "-", "--window", "10.99", "11", "--format", "json"],
            stdin=stream, capture_output=True, text=True, check=True,
        )  # fmt: skip
    assert [json.loads(line) for line in found.stdout.splitlines()] == dissected(
        FAILOVER, "--window", "10.99", "11"
    )


def test_several_captures_are_one_with_merge() -> None:
    captures = (FAILOVER, ASCONF)
    rows = dissected(*captures, "--merge", "--association", 1)
    expected = pa.Table.from_batches(ledger.stream(captures)).to_pylist()
    assert rows == [row for row in expected if row["association"] == 1] != []
    found = inside("dissect", *captures)
    assert found.exit_code == 2
    assert "--merge" in found.stderr


def test_info_of_several_captures() -> None:
    found = inside("info", FAILOVER, LOSSY)
    assert found.exit_code == 0
    assert found.stdout.index(str(FAILOVER)) < found.stdout.index(str(LOSSY))
    merged = inside("info", FAILOVER, LOSSY, "--merge").stdout
    both = sum(read(path).capture["frames"]["read"] for path in (FAILOVER, LOSSY))
    assert f"frames read             {both}\n" in merged
    missing = inside("info", "nowhere", LOSSY)
    assert missing.exit_code == 2
    assert str(LOSSY) in missing.stdout
    assert missing.stderr == "Error: nowhere: No such file or directory (os error 2)\n"


def test_an_index_is_written_when_asked_for_and_then_used(capture: Path) -> None:
    window = ("--window", "10.99", "11.2")
    expected = inside("dissect", capture, *window).stdout
    assert not folder_of(capture).exists()
    found = inside("dissect", capture, *window, "--index")
    assert found.stdout == expected
    assert found.stderr == f"wrote {folder_of(capture)}\n"
    again = inside("dissect", capture, *window, "--index")
    assert (again.stdout, again.stderr) == (expected, "")
    assert inside("dissect", capture, "--table", "runs").stderr == ""


def test_an_index_that_is_not_used_says_so(capture: Path) -> None:
    inside("dissect", capture, "--index")
    os.utime(capture, ns=(1, 1))
    warning = (
        f"warning: {folder_of(capture)} is not used: the capture has changed since it was made;"
        " --index makes it anew\n"
    )
    found = inside("dissect", capture, "--window", "10.99", "11")
    assert found.exit_code == 0
    assert found.stderr == warning
    assert inside("show", capture, 9, "--decoder", "own").stderr == warning
    assert inside("dissect", capture, "--index").stderr == f"wrote {folder_of(capture)}\n"
    assert inside("dissect", capture).stderr == ""


def test_parquet_from_the_index_is_the_same_file(capture: Path, tmp_path: Path) -> None:
    places = [tmp_path / "before", tmp_path / "after"]
    inside("dissect", capture, "--table", "runs", "--format", "parquet", "-o", places[0])
    inside("dissect", capture, "--index")
    inside("dissect", capture, "--table", "runs", "--format", "parquet", "-o", places[1])
    assert places[0].read_bytes() == places[1].read_bytes()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--window", "noon", "1"], "'noon' is no time: expected seconds since the first frame"),
        (["--window", "2", "1"], "the window ends 1 s before it begins"),
        (["--window", "2"], "Option '--window' requires 2 arguments"),
        (["--window", "2", "@1"], "s before it begins"),
        (["--table", "rtt", "--window", "1", "2"], "the table rtt is over the whole capture"),
        (
            ["--table", "problems", "--association", "0"],
            "the table problems is not of",
        ),
        (["--association", "-1"], "Invalid value for '--association'"),
    ],
)
def test_refused_selections(arguments: list[str], message: str) -> None:
    found = outside("dissect", LOSSY, *arguments)
    assert found.returncode == 2
    assert message in found.stderr
    assert "Traceback" not in found.stderr


def test_refused_indexes(tmp_path: Path, capture: Path) -> None:
    packed = tmp_path / "client.pcapng.gz"
    packed.write_bytes(gzip.compress(capture.read_bytes()))
    found = inside("dissect", packed, "--index")
    assert found.exit_code == 2
    assert "takes one plain file, and this is compressed with gzip" in found.stderr
    assert "takes a file, and this is standard input" in inside("dissect", "-", "--index").stderr
    merged = inside("dissect", capture, LOSSY, "--merge", "--index")
    assert "--index takes one capture" in merged.stderr
    folder_of(capture).write_text("mine")
    found = inside("dissect", capture, "--index")
    assert found.exit_code == 2
    assert found.stderr == f"Error: {folder_of(capture)} exists and is no index\n"
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(
        [capture.name, packed.name, folder_of(capture).name]
    )


def test_show_as_json_and_with_bytes() -> None:
    arguments = ("show", FAILOVER, 444, "--decoder", "own", "--format", "json")
    document = json.loads(inside(*arguments).stdout)
    assert document["frame"] == 444
    assert document["decoder"] == "own"
    assert [layer["name"] for layer in document["layers"]] == ["Frame", "Ethernet", "IPv6", "SCTP"]
    assert document["packet"]["path"] == 1
    assert [chunk["transmission"] for chunk in document["chunks"]] == [2, 1]
    assert "bytes" not in document
    with_bytes = json.loads(inside(*arguments, "--hex").stdout)
    assert len(bytes.fromhex(with_bytes["bytes"])) == 1098
    dump = inside("show", FAILOVER, 444, "--decoder", "own", "--hex").stdout.splitlines()
    assert dump[-1].startswith("  000440  ")
    assert dump[-69].split()[:3] == ["000000", with_bytes["bytes"][:2], with_bytes["bytes"][2:4]]


def test_show_by_tshark() -> None:
    found = inside("show", FAILOVER, 444)
    assert found.exit_code == 0
    assert "Frame Number: 444" in found.stdout
    assert "  association 0, sent by a on path 1\n" in found.stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([str(FAILOVER), "99999"], "there is no frame 99999, the capture has 1510"),
        ([str(FAILOVER), "0"], "Invalid value for 'FRAME'"),
        (["nowhere", "1"], "nowhere: No such file or directory"),
        ([".", "1"], ".: Is a directory"),
        ([str(FAILOVER.parent), "1"], "Is a directory"),
        ([__file__, "1"], "expected a pcap, pcapng or snoop header, or a line of an ns-2 trace"),
        (["-", "1", "--decoder", "tshark"], ""),
    ],
)
@pytest.mark.parametrize("decoder", ["own", "tshark", "auto"])
def test_refused_frames(arguments: list[str], message: str, decoder: str) -> None:
    found = outside("show", "--decoder", decoder, *arguments)
    assert found.returncode == 2
    assert message in found.stderr
    assert "Traceback" not in found.stderr


def test_show_of_standard_input() -> None:
    with FAILOVER.open("rb") as stream:
        found = subprocess.run(
            [*PROGRAM, "show", "-", "444"], stdin=stream, capture_output=True, text=True, check=True
        )
    assert "TSN: 2727994316" in found.stdout
    assert "In the capture" not in found.stdout


def test_names_that_mean_mischief(tmp_path: Path) -> None:
    path = tmp_path / "\x1b]0;owned\x07.pcap"
    path.write_bytes(pcap(ethernet_records(1)))
    inside("dissect", path, "--index")
    for arguments in (["show", path, 1], ["show", path, 1, "--decoder", "own", "--hex"]):
        assert "\x1b" not in inside(*arguments).stdout
    assert list(dissect(path, options=ReadOptions()))
