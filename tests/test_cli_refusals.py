"""Bad input and bad places: a message that names them, an exit code, and never a traceback."""

from __future__ import annotations

import json
import os
import struct
import subprocess
from pathlib import Path

import pytest
from crafting import RAW, START_NS, V4, Record, chunk, ethernet_records, pcap, sctp
from running import FAILOVER, LOSSY, PROGRAM, ROOT, inside, outside

RECORDS = ethernet_records(3)
WHOLE = pcap(RECORDS)
RECORD = 16 + len(RECORDS[0].data)


def huge() -> bytes:
    content = bytearray(WHOLE)
    struct.pack_into("<I", content, 24 + 2 * RECORD + 8, 0xFFFFFFFF)
    return bytes(content)


HEADER = "a pcap, pcapng or snoop header, or a line of an ns-2 trace"
NO_CAPTURES = {
    "empty": (
        b"",
        f"at byte 0: expected {HEADER}, found an empty file",
    ),
    "text": (
        b"Dear diary,\n",
        f"at byte 0: expected {HEADER}, found ",
    ),
    "header-cut": (WHOLE[:20], "expected a pcap file header of 24 bytes"),
}
COMMANDS = (
    ["analyze"],
    ["analyze", "--json"],
    ["info"],
    ["dissect"],
    ["dissect", "--table", "runs"],
)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "capture"


@pytest.mark.parametrize("name", NO_CAPTURES)
@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_what_is_no_capture(path: Path, command: list[str], name: str) -> None:
    content, message = NO_CAPTURES[name]
    path.write_bytes(content)
    found = outside(*command, path)
    assert found.returncode == 2
    assert found.stderr.startswith(f"Error: {path}: ")
    assert message in found.stderr
    assert found.stderr.count("\n") == 1


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_missing_file_and_directory(tmp_path: Path, command: list[str]) -> None:
    missing = tmp_path / "missing"
    for place, message in ((missing, "No such file or directory"), (tmp_path, "Is a directory")):
        found = outside(*command, place)
        assert found.returncode == 2
        assert found.stderr.startswith(f"Error: {place}: {message}")
        assert found.stderr.count("\n") == 1


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (WHOLE[:-5], f"at byte {24 + 2 * RECORD}: expected a record of {RECORD} bytes"),
        (huge(), f"at byte {24 + 2 * RECORD}: expected a captured length of at most 262144 bytes"),
    ],
    ids=["cut-in-a-record", "record-of-4-gigabytes"],
)
def test_damage_leaves_what_was_before(path: Path, content: bytes, message: str) -> None:
    path.write_bytes(content)
    found = outside("analyze", path)
    assert found.returncode == 0
    assert found.stderr == ""
    assert "2 frames in 1.000 s = 2 dissected" in found.stdout
    assert "warning: the capture is damaged, results go up to there: " in found.stdout
    assert message in " ".join(found.stdout.split())
    assert inside("analyze", path, "--strict").exit_code == 1
    document = json.loads(inside("analyze", path, "--json").stdout)
    assert message in document["captures"][0]["damage"]
    assert document["associations"][0]["totals"]["a"]["new_chunks"]["value"] == 2


@pytest.mark.parametrize("bad", [b"\0\3\0\0", b"\0\3\xff\0"], ids=["zero", "beyond-the-packet"])
def test_impossible_chunk_length(path: Path, bad: bytes) -> None:
    records = [Record(START_NS + n, bytes(V4 / sctp(chunk(11), bad))) for n in range(2)]
    path.write_bytes(pcap(records, link_type=RAW))
    found = outside("analyze", path)
    assert found.returncode == 0
    assert found.stderr == ""
    assert "2 frames in 0.000 s = 0 dissected + 2 partial" in found.stdout
    assert "warning: 2 problems: malformed chunk" in found.stdout


def test_one_of_several_fails(tmp_path: Path) -> None:
    missing = tmp_path / "missing"
    found = outside("analyze", missing, LOSSY, ROOT)
    assert found.returncode == 2
    assert "Association 0" in found.stdout
    assert found.stderr.splitlines() == [
        f"Error: {missing}: No such file or directory (os error 2)",
        f"Error: {ROOT}: Is a directory (os error 21)",
    ]
    document = json.loads(inside("analyze", missing, LOSSY, "--json").stdout)
    assert [one["path"] for one in document["captures"]] == [str(LOSSY)]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--label", "wlan"], "'wlan': expected NETWORK=NAME, such as 10.0.1.0/24=wlan"),
        (["--label", "10.0.0.300/24=x"], "'10.0.0.300/24=x': expected NETWORK=NAME: "),
        (["--label", "10.0.0.0/8="], "'10.0.0.0/8=': expected NETWORK=NAME"),
        (["--filter", "host and and"], "capture filter: host and and: "),
        (["--events", "/nowhere/events"], "/nowhere/events: No such file or directory"),
        (["--bin", "0"], "Invalid value for '--bin'"),
        (["--bin", "99999999999999"], "Invalid value for '--bin'"),
        (["--reorder-window", "nan"], "Invalid value for '--reorder-window'"),
        (["--reorder-window", "inf"], "Invalid value for '--reorder-window'"),
        (["--reorder-window", "-1"], "Invalid value for '--reorder-window'"),
        (["--sctp-udp-port", "65536"], "Invalid value for '--sctp-udp-port'"),
        (["--nonsense"], "No such option"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_bad_options(options: list[str], message: str) -> None:
    found = outside("analyze", LOSSY, *options)
    assert found.returncode == 2
    assert found.stdout == ""
    assert f"Error: {message}" in found.stderr
    assert "Traceback" not in found.stderr


GOOD = '{"t": 1, "event": "link", "link": 1, "note": "up"}'


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("link 1 down at noon", "expected a JSON object: "),
        ('{"t": 1', "expected a JSON object: "),
        ("[" * 100_000, "expected a JSON object: "),
        ("1" * 5_000, "expected a JSON object: "),
        ("[1]", "expected a JSON object, found '[1]'"),
        ('{"event": "link"}', 'expected "t" in seconds since 1970, found nothing'),
        ('{"event": "link", "t": "noon"}', "expected \"t\" in seconds since 1970, found 'noon'"),
        ('{"event": "link", "t": NaN}', 'expected "t" in seconds since 1970, found nan'),
        ('{"event": "link", "t": true}', 'expected "t" in seconds since 1970, found True'),
        ('{"event": "link", "t": 1e999999999}', 'expected "t" in seconds since 1970, found 1E+'),
        ('{"event": "link", "t": 1, "note": "off"}', 'expected "note": "down" or "up", found '),
        (
            '{"event": "link", "t": 1, "note": "up", "link": [1]}',
            'expected "link": number or label, found [1]',
        ),
    ],
    ids=range(12),
)
def test_bad_events_name_their_line(tmp_path: Path, line: str, message: str) -> None:
    events = tmp_path / "events.jsonl"
    events.write_text(f"{GOOD}\n\n{line}\n")
    found = outside("analyze", LOSSY, "--events", events)
    assert found.returncode == 2
    assert found.stderr.startswith(f"Error: {events}, line 3: {message}")
    assert found.stderr.count("\n") == 1


def test_events_that_are_no_text() -> None:
    found = inside("analyze", LOSSY, "--events", LOSSY)
    assert found.exit_code == 2
    assert found.stderr.startswith(f"Error: {LOSSY}: at byte ")


def test_unwritable_out(tmp_path: Path) -> None:
    """A folder below a file cannot be made, not even by root; nothing is read for it."""
    file = tmp_path / "file"
    file.write_text("in the way")
    found = outside("analyze", LOSSY, "--out", file / "results")
    assert found.returncode == 2
    assert found.stdout == ""
    assert found.stderr == f"Error: {file / 'results'}: Not a directory\n"
    found = outside("analyze", LOSSY, "--out", file)
    assert found.returncode == 2
    assert found.stderr.startswith(f"Error: {file}: ")


def test_out_is_not_overwritten(tmp_path: Path) -> None:
    (tmp_path / "mine").write_text("precious")
    found = outside("analyze", LOSSY, "--out", tmp_path)
    assert found.returncode == 2
    assert found.stderr.startswith(f"Error: {tmp_path} is not empty; --force")
    assert [path.name for path in tmp_path.iterdir()] == ["mine"]
    assert outside("analyze", LOSSY, "--out", tmp_path, "--force").returncode == 0
    assert (tmp_path / "mine").read_text() == "precious"
    assert (tmp_path / "result.json").is_file()


def test_output_is_not_overwritten(tmp_path: Path) -> None:
    out = tmp_path / "out.csv"
    out.write_text("precious")
    found = outside("dissect", LOSSY, "-o", out)
    assert found.returncode == 2
    assert found.stderr == f"Error: {out} exists; --force overwrites it\n"
    assert out.read_text() == "precious"
    assert outside("dissect", LOSSY, "-o", out, "--force").returncode == 0
    assert out.read_text().startswith('"frame"')
    missing = tmp_path / "missing" / "out.csv"
    found = outside("dissect", LOSSY, "-o", missing)
    assert found.stderr == f"Error: {missing}: No such file or directory\n"


@pytest.mark.parametrize(
    "command",
    [
        ["analyze", str(LOSSY)],
        ["analyze", str(LOSSY), "--json"],
        ["info", str(LOSSY)],
        ["show", str(LOSSY), "22"],
        ["tables"],
        ["completion", "bash"],
        *(["dissect", str(LOSSY), "--format", form] for form in ("csv", "json", "parquet")),
    ],
    ids=lambda command: " ".join(word for word in command if not word.startswith("/")),
)
class TestStandardOutput:
    @pytest.mark.parametrize("unbuffered", ["", "1"])
    def test_full_disk(self, command: list[str], unbuffered: str) -> None:
        how = {"PYTHONUNBUFFERED": unbuffered}
        with Path("/dev/full").open("wb") as full:
            found = outside(*command, stdout=full.fileno(), environment=how)
        assert found.returncode == 2
        assert found.stderr == "Error: No space left on device\n"

    def test_nobody_reads_on(self, command: list[str]) -> None:
        """`pathscope ... | head -1`: whoever has seen enough gets no complaint."""
        reading, writing = os.pipe()
        os.close(reading)
        try:
            found = outside(*command, stdout=writing)
        finally:
            os.close(writing)
        assert found.stderr == ""
        assert found.returncode in (0, 1)


def test_head_ends_a_long_output_quietly() -> None:
    line = f"{subprocess.list2cmdline(PROGRAM)} dissect {FAILOVER} | head -1"
    found = subprocess.run(["bash", "-c", line], capture_output=True, text=True, check=True)
    assert found.stdout.startswith('"frame"')
    assert found.stderr == ""


def test_another_pipe_that_breaks_is_told() -> None:
    line = f"{subprocess.list2cmdline(PROGRAM)} dissect {FAILOVER} --force -o >(head -1)"
    found = subprocess.run(["bash", "-c", line], capture_output=True, text=True, check=False)
    assert found.returncode == 2
    assert found.stderr.startswith("Error: ")
    assert found.stderr.endswith("Broken pipe\n")


def test_output_to_a_full_device() -> None:
    found = outside("dissect", LOSSY, "-o", "/dev/full", "--force")
    assert found.returncode == 2
    assert found.stderr == "Error: /dev/full: No space left on device\n"
    assert Path("/dev/full").is_char_device()


def test_standard_output_without_the_letters() -> None:
    latin = {"PYTHONIOENCODING": "latin-1"}
    found = outside("analyze", LOSSY, "--label", "10.0.1.0/24=w\u2192l", environment=latin)
    assert found.returncode == 2
    assert found.stderr == "Error: standard output cannot show '\\u2192'\n"


def test_names_that_are_no_text_or_mean_mischief(tmp_path: Path) -> None:
    path = tmp_path / os.fsdecode(b"\xff\x1b]0;owned\x07.pcap")
    path.write_bytes(WHOLE)
    for command in (["analyze"], ["info"], ["analyze", "--json"]):
        found = inside(*command, path)
        assert found.exit_code == 0
        assert "\x1b" not in found.stdout
        assert "\N{REPLACEMENT CHARACTER}" in found.stdout
    assert outside("analyze", path, "--out", tmp_path / "out").returncode == 0
    json.loads((tmp_path / "out" / "result.json").read_text())


def test_without_libpcap(tmp_path: Path) -> None:
    """Only filters need it, and they say so."""
    for name in ("libpcap.so.1", "libpcap.so.0.8"):
        (tmp_path / name).write_bytes(b"no library")
    without = {"LD_LIBRARY_PATH": str(tmp_path)}
    found = outside("analyze", LOSSY, "--filter", "sctp", environment=without)
    assert found.returncode == 2
    assert found.stderr.startswith("Error: capture filter: libpcap is needed for filters")
    assert outside("analyze", LOSSY, environment=without).returncode == 0
