"""Every malformed fixture gets exactly what fixtures/malformed/expected.toml says of it."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterator
from importlib import import_module
from typing import Any

import pytest
from pathscope.dissectors import ledger
from pathscope.dissectors._core import CaptureError
from running import ROOT, inside

FOLDER = ROOT / "fixtures" / "malformed"
EXPECTED: dict[str, Any] = tomllib.loads((FOLDER / "expected.toml").read_text())
REFUSED = [name for name, told in EXPECTED.items() if "refusal" in told]
READ = [name for name in EXPECTED if name not in REFUSED]
MADE = {".pcap", ".pcapng", ".snoop", ".tr", ".gz", ".xz", ".zst", ".lz4"}
WITH_FLOWS = ledger.ReadOptions(flows=True)
MOST_BYTES = 200_000

# Text of problems that no capture leads to, and why.
UNREACHABLE = {
    "IP version 6": "only a packet that begins with a 6 is read as one",
}
# Views of a chunk of another type: a mistake of the caller, which the pass does not make.
MISUSE = re.compile(r"self\.require\(&\[.*?\], (\"[^\"]+\")\)")


@pytest.mark.parametrize("name", REFUSED)
def test_refusals(name: str) -> None:
    refusal = f"{FOLDER / name}: {EXPECTED[name]['refusal']}"
    with pytest.raises(CaptureError) as raised:
        ledger.read(FOLDER / name)
    assert str(raised.value) == refusal
    for command in (["analyze"], ["info"], ["dissect"], ["dissect", "--table", "problems"]):
        found = inside(*command, FOLDER / name)
        assert found.exit_code == 2
        assert " ".join(found.stderr.split()).removeprefix("Error: ") == " ".join(refusal.split())


@pytest.mark.parametrize("name", READ)
def test_frames_and_problems(name: str) -> None:
    found = ledger.read(FOLDER / name, WITH_FLOWS)
    problems = found.rows("problems")
    times = [row.pop("time_ns") for row in problems]
    assert problems == EXPECTED[name]["problems"]
    # A trace's line that cannot be read does not tell its time either.
    is_trace = name.endswith(".tr")
    assert [time is None for time in times] == [is_trace or row["frame"] == 0 for row in problems]
    assert found.capture["frames"] == EXPECTED[name]["frames"]
    assert found.capture["damage"] == damage(name)


def damage(name: str) -> str | None:
    """Return the damage, which is the problem of the file itself in a sentence."""
    for row in EXPECTED[name]["problems"]:
        if row["layer"] == "file":
            return f"{FOLDER / name}: at byte {row['offset']}: {row['what']}"
    return None


@pytest.mark.parametrize("name", READ)
def test_analyze_and_dissect(name: str) -> None:
    path, told = FOLDER / name, damage(name)
    analyzed = inside("analyze", "--flows", "--json", path)
    assert analyzed.exit_code == 0
    (capture,) = json.loads(analyzed.stdout)["captures"]
    assert capture["frames"] == EXPECTED[name]["frames"]
    dissected = inside("dissect", "--flows", "--table", "problems", "--format", "json", path)
    assert dissected.exit_code == 0
    rows = [json.loads(line) for line in dissected.stdout.splitlines()]
    for row in rows:
        del row["time_ns"]
    assert rows == EXPECTED[name]["problems"]
    assert (told or "") in dissected.stderr
    assert bool(told) == bool(dissected.stderr)
    assert inside("analyze", "--strict", path).exit_code == (1 if told else 0)


def test_the_fixtures_are_those_that_the_script_makes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(FOLDER)
    make: Any = import_module("make")
    assert (FOLDER / "expected.toml").read_text() == make.expected(), "run `make docs`"
    files = {path.name: path for path in FOLDER.iterdir() if path.suffix in MADE}
    cases = {one.name: one.content for one in make.cases()}
    assert files.keys() == cases.keys() == EXPECTED.keys()
    for name, path in files.items():
        # What compressors make of the same bytes differs between their versions.
        if path.suffix in {".pcap", ".pcapng", ".snoop", ".lz4"}:
            assert path.read_bytes() == cases[name], name
    assert sum(path.stat().st_size for path in files.values()) < MOST_BYTES


SOURCES = ROOT / "dissectors" / "wire" / "src"
TESTS = re.compile(r"#\[cfg\(test\)\]\n(?:pub\(\w+\) )?mod tests \{")
PACKET_TEXT = (
    re.compile(r"(?:malformed|unknown)\((?:[^()]|\([^()]*\))*?(\"[^\"]+\")", re.DOTALL),
    re.compile(r"(?:short|header::<\w+>|fixed|fixed::<\w+>|reject|wrong_length)"
               r"\((?:[^()\"]|\([^()]*\))*?(\"[^\"]+\")", re.DOTALL),
    re.compile(r"what(?:: |\s=\s*)(\"[^\"]+\")"),
    re.compile(r"malformed\([\w.()]+, (\"[^\"]+\")\)"),
    re.compile(r"columns\.read\(\w+, (\"[^\"]+\")\)"),
    re.compile(r"missing\((\"[^\"]+\")\)"),
    re.compile(r"Err\((\"[^\"]+\")\)"),
)  # fmt: skip
FILE_TEXT = (
    re.compile(r"Fault::new\(\s*[\w.()]+,\s*(\"[^\"]+\")"),
    re.compile(r"stream\.cut\(format!\((\"[^\"]+\")"),
    re.compile(r"expected =\s*(?:format!\()?(\"[^\"]+\")"),
    re.compile(r"format!\((\"a captured length[^\"]+\")"),
    re.compile(r"within\(.*(\"[^\"]+\")\)"),
    re.compile(r"\(&\[0x[^\"]*\], (\"[^\"]+\")\)"),
    re.compile(r"b\"[^\"]+\", (\"[^\"]+\")\)"),
)


def sources(*parts: str) -> Iterator[str]:
    """Yield the text of Rust sources, without their tests."""
    for part in parts:
        top = SOURCES / part
        for path in sorted(top.rglob("*.rs")) if top.is_dir() else [top]:
            if not {"tests", "tests.rs", "build.rs"} & {*path.relative_to(SOURCES).parts}:
                yield TESTS.split(path.read_text(), maxsplit=1)[0]


def texts(patterns: tuple[re.Pattern[str], ...], *parts: str) -> set[str]:
    found = {
        json.loads(literal)
        for source in sources(*parts)
        for pattern in patterns
        for literal in pattern.findall(MISUSE.sub("", source))
    }
    assert len(found) > 20, "the patterns no longer fit the sources"
    return found


def said() -> list[str]:
    """Return all that the fixtures are expected to lead to."""
    problems = (row["what"] for told in EXPECTED.values() for row in told.get("problems", []))
    return [*problems, *(EXPECTED[name]["refusal"] for name in REFUSED)]


def test_every_problem_of_a_packet_has_a_fixture() -> None:
    """A new problem needs a file that shows it: add it to fixtures/malformed."""
    known = texts(
        PACKET_TEXT, "packet", "sctp", "tcp", "udp.rs", "icmp.rs", "track", "pass.rs", "ns2"
    )
    assert known >= UNREACHABLE.keys()
    assert known - UNREACHABLE.keys() - set(said()) == set()


def test_every_fault_of_a_file_has_a_fixture() -> None:
    known = texts(FILE_TEXT, "container")
    # Where the text has a number, `{length}` in the source, any will do.
    missing = {
        text
        for text in known
        if not any(re.search(re.sub(r"\\\{.*?\\\}", ".+", re.escape(text)), one) for one in said())
    }
    assert missing == set()
