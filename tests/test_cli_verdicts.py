"""`analyze --thresholds`: the verdict beside the number, and in the exit code when asked."""

from __future__ import annotations

import json
from pathlib import Path

import pathscope
import pytest
from running import ASCONF, CAPTURES, FAILOVER, inside

SLOW = '[[limits]]\nmetric = "handover_delay_s"\nmax = 0.01\n'
"""The handover took 21.384 ms."""
FAST = SLOW.replace("0.01", "0.1")
NOWHERE = '[[limits]]\nmetric = "handshake_rtt_ns"\nmax = 1\n'


@pytest.fixture
def limits(tmp_path: Path) -> Path:
    return tmp_path / "limits.toml"


@pytest.mark.parametrize(
    ("text", "code"), [(SLOW, 3), (FAST, 0), (NOWHERE, 3)], ids=["fail", "pass", "nowhere"]
)
def test_exit_code(limits: Path, text: str, code: int) -> None:
    limits.write_text(text)
    asked = ("analyze", ASCONF, "--thresholds", limits)
    assert inside(*asked, "--fail-on-verdict").exit_code == code
    assert inside(*asked).exit_code == 0


def test_a_verdict_needs_thresholds() -> None:
    found = inside("analyze", ASCONF, "--fail-on-verdict")
    assert found.exit_code == 2
    assert "--fail-on-verdict needs --thresholds" in found.stderr


def test_what_cannot_be_read_counts_more(limits: Path, tmp_path: Path) -> None:
    limits.write_text(SLOW)
    found = inside("analyze", ASCONF, tmp_path / "none", "--thresholds", limits,
                   "--fail-on-verdict")  # fmt: skip
    assert found.exit_code == 2
    assert "Verdicts" in found.stdout


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"[[limits]]\nmetric = 'x'\nmax = 1\n", ":2: limits[1].metric: there is no metric 'x'"),
        (b"\xff", ": at byte 0: expected UTF-8 text"),
        (None, ": No such file or directory"),
    ],
)
def test_limits_that_cannot_be_read(limits: Path, content: bytes | None, message: str) -> None:
    if content is not None:
        limits.write_bytes(content)
    found = inside("analyze", ASCONF, "--thresholds", limits)
    assert found.exit_code == 2
    assert f"{limits}{message}" in found.stderr
    assert found.stdout == ""


def test_in_the_report(limits: Path) -> None:
    limits.write_text(SLOW + NOWHERE)
    told = inside("analyze", ASCONF, "--thresholds", limits).stdout.split("Verdicts")[1]
    assert "20.000 ms" not in told
    for words in ("fail", "handover_delay_s", "21.384 ms", "max 10.000 ms",
                  "handshake_rtt_ns is not measured", "0 pass, 1 fail, 1 absent"):  # fmt: skip
        assert words in told


def test_in_the_document(limits: Path) -> None:
    limits.write_text(FAST)
    printed = inside("analyze", FAILOVER, ASCONF, "--thresholds", limits, "--json").stdout
    document = json.loads(printed)
    handovers = document["associations"][1]["handovers"]
    (found,) = [one for one in document["verdicts"] if one["capture"] == 1]
    assert found == {
        "capture": 1,
        "thresholds": str(limits),
        "metric": "handover_delay_s",
        "min": None,
        "max": 0.1,
        "where": {
            "association": 0,
            "flow": None,
            "connection": None,
            "path": None,
            "sender": "a",
            "keys": ["handovers", 0],
        },
        "value": handovers[0]["metrics"]["handover_delay_s"],
        "verdict": "pass",
        "certain": True,
    }
    analysis = pathscope.analyze(ASCONF).judged(limits)
    assert [one.outcome for one in analysis.result.verdicts] == ["pass"]


def test_the_itus_set_with_both_ends() -> None:
    """The lab's satellite delays packets by 120 ms in each direction, the others by 5 and 40 ms."""
    run = CAPTURES / "lab-three-paths"
    (analysis,) = pathscope.api.analyze_two(run / "client.pcapng", run / "server.pcapng")
    found = analysis.judged("itu").result.verdicts
    told = {
        (one.limit.metric, one.place.path, one.place.sender, one.outcome)
        for one in found
        if one.place is not None
    }
    late = [one for one in told if one[-1] == "fail"]
    assert sorted(late) == [
        ("one_way_delay_mean_ns", "satellite", end, "fail") for end in ("a", "b")
    ]
    assert ("one_way_delay_mean_ns", "wlan", "a", "pass") in told
    assert ("jitter_w_ns", "wlan", "a", "pass") in told


def test_the_itus_set_by_its_name() -> None:
    found = pathscope.analyze(ASCONF).judged("itu").result.verdicts
    assert {one.thresholds for one in found} == {"itu"}
    assert {one.limit.metric for one in found} == {"one_way_delay_mean_ns", "jitter_w_ns"}
