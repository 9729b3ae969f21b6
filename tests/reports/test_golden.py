"""What people see, line by line, as reviewed: tests/golden/.

After a change that is meant, `make docs` writes the files anew; the difference is for review.
"""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from pathscope import __version__
from pathscope.reports.study import markdown
from running import ROOT, inside

GOLDEN = ROOT / "tests" / "golden"
UPDATE = os.environ.get("PATHSCOPE_UPDATE_GOLDEN") == "1"

RUNS = Path("fixtures/captures")
FAILOVER, ASCONF, LOSSY = (
    RUNS / run / "client.pcapng" for run in ("failover-v6", "asconf-handover-v4", "lossy-v4")
)
MIXED = RUNS / "flows-mixed" / "flows.pcap"
NAMED_V6 = ("--label", "2001:db8:1::/64=WLAN", "--label", "2001:db8:2::/64=cellular")
NAMED_V4 = ("--label", "10.0.1.0/24=path-1", "--label", "10.0.2.0/24=path-2")
NAMED_MIXED = ("--label", "10.0.1.0/24=WLAN", "--label", "10.0.2.0/24=cellular")

OWN = ("--decoder", "own")


def events(capture: Path) -> tuple[str, Path]:
    return "--events", capture.parent / "events.jsonl"


TEXTS: dict[str, tuple[object, ...]] = {
    "analyze-failover-v6": ("analyze", FAILOVER),
    "analyze-failover-v6-annotated": ("analyze", FAILOVER, *events(FAILOVER), *NAMED_V6),
    "analyze-failover-v6-server": ("analyze", FAILOVER.with_name("server.pcapng")),
    "analyze-asconf-handover-v4": ("analyze", ASCONF),
    "analyze-asconf-handover-v4-annotated": ("analyze", ASCONF, *events(ASCONF), *NAMED_V4),
    "analyze-lossy-v4": ("analyze", LOSSY),
    "analyze-lossy-v4-annotated": ("analyze", LOSSY, *events(LOSSY), *NAMED_V4),
    "analyze-flows-mixed": ("analyze", MIXED, *NAMED_MIXED),
    "export-failover-v6-filters": ("export", FAILOVER, "--to", "filters", *NAMED_V6),
    "export-flows-mixed-filters": ("export", MIXED, "--to", "filters"),
    "info-flows-mixed": ("info", MIXED),
    "dissect-flows-mixed-tcp-retransmissions": (
        "dissect",
        MIXED,
        "--table",
        "tcp_retransmissions",
    ),
    "info-failover-v6": ("info", FAILOVER),
    "info-asconf-handover-v4": ("info", ASCONF),
    "info-lossy-v4": ("info", LOSSY),
    "tables-runs": ("tables", "--table", "runs"),
    "lab-list": ("lab", "list"),
    "lab-studies": ("lab", "studies"),
    "lab-describe-asconf": ("lab", "describe", "asconf"),
    "analyze-lab-three-paths": ("analyze", RUNS / "lab-three-paths" / "client.pcapng"),
    "analyze-lab-lossy-both": (
        "analyze",
        RUNS / "lab-lossy" / "client.pcapng",
        RUNS / "lab-lossy" / "server.pcapng",
    ),
    "analyze-lab-restart": ("analyze", RUNS / "lab-restart" / "client.pcapng"),
    "explain-failover-v6": ("explain", FAILOVER, *events(FAILOVER), *NAMED_V6, "--set", "pmr=1"),
    "explain-asconf-handover-v4": ("explain", ASCONF, *NAMED_V4),
    "explain-lab-potentially-failed": (
        "explain",
        RUNS / "lab-potentially-failed" / "client.pcapng",
        "--handover",
        1,
    ),
    "dissect-failover-v6-runs": ("dissect", FAILOVER, "--table", "runs"),
    "dissect-failover-v6-retransmissions": ("dissect", FAILOVER, "--table", "retransmissions"),
    "dissect-asconf-handover-v4-asconf": (
        "dissect",
        ASCONF,
        "--table",
        "asconf",
        "--format",
        "json",
    ),
    "dissect-lossy-v4-chunks": ("dissect", LOSSY),
    "dissect-failover-v6-window": ("dissect", FAILOVER, "--window", "10.996", "11.01"),
    "show-asconf-handover-v4-init": ("show", ASCONF, 3, *OWN),
    "show-asconf-handover-v4-asconf": ("show", ASCONF, 160, *OWN),
    "show-failover-v6-data": ("show", FAILOVER, 444, *OWN, "--hex"),
    "show-lossy-v4-sack": ("show", LOSSY, 22, *OWN),
}
STORED = Path("fixtures/compare")
SLOW, FAST = STORED / "rto-1000", STORED / "rto-500"
FEW = ("--metric", "link_failure_recovery_s", "--metric", "goodput_bps")
COMPARED: dict[str, tuple[object, ...]] = {
    "compare-rto.txt": ("compare", SLOW, FAST),
    "compare-rto.md": ("compare", SLOW, FAST, "--format", "markdown"),
    "compare-rto.xml": ("compare", SLOW, FAST, *FEW, "--format", "junit"),
    "compare-two-runs.txt": (
        "compare",
        RUNS / "lab-failover" / "client.pcapng",
        RUNS / "lab-return" / "client.pcapng",
        "--metric",
        "delivery_gap_s",
    ),
    "compare-plan.txt": ("compare", SLOW, "--plan", "5%", *FEW),
    "baseline-show.txt": ("baseline", "show", "rto-500", "--store", STORED),
}
MOST_LINES = 120


def compare(name: str, text: str) -> None:
    path = GOLDEN / name
    if UPDATE:
        path.write_text(text, encoding="utf-8")
    assert text == path.read_text(encoding="utf-8"), "`make docs` accepts a change that is meant"


@pytest.fixture(autouse=True)
def at_the_root(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)


@pytest.mark.parametrize("name", TEXTS)
def test_text(name: str) -> None:
    found = inside(*TEXTS[name])
    assert found.exit_code == 0
    assert found.stderr == ""
    lines = found.stdout.splitlines(keepends=True)
    compare(f"{name}.txt", "".join(lines[:MOST_LINES]))


@pytest.mark.parametrize("name", COMPARED)
def test_comparison(name: str) -> None:
    found = inside(*COMPARED[name])
    assert (found.exit_code, found.stderr) == (0, "")
    compare(name, found.stdout)


def test_comparison_document() -> None:
    found = inside("compare", SLOW, FAST, *FEW, "--format", "json")
    document = json.loads(found.stdout)
    assert document["tool"].pop("version") == __version__
    compare("compare-rto.json", json.dumps(document, indent=1) + "\n")


def test_comparison_page(tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    assert inside("compare", SLOW, FAST, *FEW, "--html", page).exit_code == 0
    compare("compare-rto.html", page.read_text(encoding="utf-8"))


def test_contract() -> None:
    found = inside("analyze", FAILOVER, "--json", *events(FAILOVER), *NAMED_V6)
    document = json.loads(found.stdout)
    assert document["tool"].pop("version") == __version__
    compare("analyze-failover-v6.json", json.dumps(document, indent=1) + "\n")


def test_study() -> None:
    """One repetition of a whole experiment, as `lab reproduce bokor --only recovery` stored it."""
    stored = json.loads((ROOT / "tests" / "reports" / "bokor-recovery.json").read_text())
    compare("study-bokor-recovery.md", markdown.text(stored))


def test_no_file_is_left_over() -> None:
    names = {f"{name}.txt" for name in TEXTS}
    names |= {"analyze-failover-v6.json", "study-bokor-recovery.md"}
    names |= {*COMPARED, "compare-rto.json", "compare-rto.html"}
    names |= {"fidelity-two-routes.txt"}  # of reports/replay, beside its tests
    assert {path.name for path in GOLDEN.iterdir()} == names
