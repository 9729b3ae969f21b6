"""Whether the machine kept up: the signs, and who is told."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest
from pathscope.replay.lab import folder, matrix, pace, run
from pathscope.replay.lab.scenario import Scenario
from running import FAILOVER, inside

CALM: dict[str, Any] = {"busy_ratio": 0.4, "late_p95_ms": 8.0, "late_max_ms": 400.0}


@pytest.mark.parametrize(
    ("change", "dropped", "expected"),
    [
        ({}, 0, []),
        ({"busy_ratio": None}, 0, []),
        ({"busy_ratio": 0.95}, 0, ["processor busy 95% of the time"]),
        ({"late_p95_ms": 37.8}, 0, ["5 % of wakings more than 38 ms late"]),
        ({}, 3, ["client-wlan: 3 packets not recorded"]),
    ],
)
def test_the_signs(change: dict[str, Any], dropped: int, expected: list[str]) -> None:
    assert pace.reasons(CALM | change, {"client-wlan": dropped, "client-lte": 0}) == expected


def test_busy_is_what_is_neither_idle_nor_waiting() -> None:
    before = [100, 0, 50, 800, 50, 0, 0, 0]
    assert pace.busy_ratio(before, [130, 0, 60, 850, 60, 0, 0, 0]) == pytest.approx(0.4)
    assert pace.busy_ratio(before, before) is None


def test_a_watch_sees_how_late_it_wakes() -> None:
    watch = pace.Watch()
    time.sleep(5 * pace.STEP_S)
    seen = watch.end()
    assert 0 <= seen["late_p95_ms"] <= seen["late_max_ms"]
    assert seen["busy_ratio"] is None or 0 <= seen["busy_ratio"] <= 1


def pretended(out: Path, scenario: Scenario, reasons: list[str]) -> None:
    folder.claim(out, force=True)
    with folder.running(out, {}) as facts:
        (out / folder.SCENARIO).write_text(json.dumps(scenario.document()))
        (out / folder.CAPTURES["client"]).write_bytes(FAILOVER.read_bytes())
        (out / folder.EVENTS).touch()
        facts["captures"] = {"client": folder.CAPTURES["client"]}
        facts["pace"] = CALM | {"too_slow": reasons}


@pytest.mark.parametrize("reasons", [[], ["processor busy 95% of the time"]])
def test_everyone_who_uses_the_run_is_told(
    reasons: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def pretend(scenario: Scenario, out: Path, kernel: str, *, force: bool = False) -> None:
        assert kernel == "guest"
        assert not force
        pretended(out, scenario, reasons)

    monkeypatch.setattr(run, "run", pretend)
    monkeypatch.setattr(matrix, "run", pretend)
    monkeypatch.setattr(run, "choose", lambda *_: "guest")
    single, many = tmp_path / "single", tmp_path / "many"
    made = inside("lab", "run", "failover", "--out", single)
    grid = inside("lab", "matrix", "failover", "--repetitions", 1, "--out", many)
    shown = inside("analyze", single)
    assert made.exit_code == grid.exit_code == shown.exit_code == 0
    told = [f"the machine did not keep up: {one}" for one in reasons]
    assert [line for line in made.stderr.splitlines() if "keep up" in line] == [
        f"warning: {one}" for one in told
    ]
    assert [line for line in shown.stderr.splitlines() if "keep up" in line] == [
        f"warning: {single}: {one}" for one in told
    ]
    assert ("keep up" in grid.stderr) == bool(reasons)
    assert folder.too_slow(single) == reasons


def test_a_folder_that_nobody_watched(tmp_path: Path) -> None:
    assert folder.too_slow(tmp_path) == []
    (tmp_path / folder.FACTS).write_text(json.dumps({"schema": folder.SCHEMA}))
    assert folder.too_slow(tmp_path) == []
