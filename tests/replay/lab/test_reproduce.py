"""`lab reproduce`: what it makes, goes on with and tells; and one study for real, in the guest."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result
from pathscope.replay.lab import folder, matrix, run
from pathscope.replay.lab.run import LabError
from pathscope.replay.lab.scenario import Scenario
from running import CAPTURES, inside

pytestmark = pytest.mark.guest

STUDY = """\
title = "A small study."
source = "Nobody."
kept = "Nothing."
approximated = "All."

[experiments.one]
title = "One"
scenario = "return"
repetitions = 2

[[experiments.one.axes]]
name = "PMR"
keys = ["sctp.path_max_retrans"]
values = [1, 2]

[experiments.one.figures.recovery]
title = "Recovery"
quantity = "link_failure_recovery_s"
x = "PMR"
"""

CAPTURED = CAPTURES / "lab-return"


def fake(scenario: Scenario, out: Path, _: str) -> None:
    """A run that is over at once: one that is committed."""
    folder.claim(out, force=False)
    told = {"runner": "guest", "versions": {"kernel": "Linux 6.1.176 #1"}}
    with folder.running(out, told) as facts:
        (out / folder.SCENARIO).write_text(json.dumps(scenario.document()))
        for name in (*folder.CAPTURES.values(), folder.EVENTS):
            shutil.copy(CAPTURED / name, out)
        facts["captures"] = folder.CAPTURES


@pytest.fixture
def reproduce(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Callable[..., tuple[Result, dict[str, Any]]]:
    """Reproduce the small study; a run numbered in `wrong` raises that instead."""
    file = tmp_path / "small.toml"
    file.write_text(STUDY)
    monkeypatch.setattr(run, "choose", lambda kernel, _: kernel)

    def call(
        *options: str, wrong: dict[int, BaseException] | None = None
    ) -> tuple[Result, dict[str, Any]]:
        made: list[Path] = []

        def one(scenario: Scenario, out: Path, kernel: str) -> None:
            made.append(out)
            error = (wrong or {}).get(len(made))
            if error is not None:
                raise error
            fake(scenario, out, kernel)

        monkeypatch.setattr(matrix, "run", one)
        place = tmp_path / "out"
        done = inside("lab", "reproduce", file, "--out", place, "--kernel", "guest", *options)
        found = json.loads((place / "study.json").read_text())
        found["made"] = [path.relative_to(place).as_posix() for path in made]
        return done, found

    return call


def test_all_runs_are_made_and_measured(reproduce: Any, tmp_path: Path) -> None:
    done, found = reproduce()
    assert done.exit_code == 0, done.stderr
    assert done.stdout.split() == [
        str(tmp_path / "out" / name) for name in ("study.json", "study.md", "study.html")
    ]
    (one,) = found["experiments"]
    assert (
        [run["folder"] for run in one["runs"]]
        == found["made"]
        == [f"one/sctp.path_max_retrans={pmr}/run-{number}" for pmr in (1, 2) for number in (1, 2)]
    )
    assert found["machine"] == "Linux 6.1.176 (guest)"
    # The same committed run four times.
    assert [(point["x"], point["n"], point["sd"]) for point in one["figures"][0]["ours"]] == [
        (1, 2, 0),
        (2, 2, 0),
    ]


def test_what_is_interrupted_is_told_and_goes_on(reproduce: Any) -> None:
    done, found = reproduce(wrong={3: KeyboardInterrupt()})
    assert done.exit_code == 1
    assert "interrupted: 2 runs are left; the same command goes on" in done.stderr
    assert len(found["made"]) == 3
    assert [run["failure"] for run in found["experiments"][0]["runs"]] == [
        None,
        None,
        "not made",
        "not made",
    ]
    done, found = reproduce()
    assert done.exit_code == 0
    assert len(found["made"]) == 2, "runs that are complete are not made again"


def test_failed_runs_are_named_and_the_rest_is_reported(reproduce: Any, tmp_path: Path) -> None:
    done, found = reproduce(wrong={2: LabError("no guest today")})
    assert done.exit_code == 1
    assert "1 runs without a result:\none/sctp.path_max_retrans=1/run-2: not made" in done.stderr
    assert len(found["made"]) == 4
    assert "3 of 4 runs" in (tmp_path / "out" / "study.md").read_text()


def test_a_report_alone_makes_no_run(reproduce: Any) -> None:
    reproduce(wrong={2: KeyboardInterrupt()})
    done, found = reproduce("--no-runs")
    assert done.exit_code == 1
    assert found["made"] == []
    assert [run["failure"] is None for run in found["experiments"][0]["runs"]].count(True) == 1


def test_runs_with_other_settings_are_not_measured(reproduce: Any, tmp_path: Path) -> None:
    reproduce()
    changed = STUDY.replace("repetitions = 2", 'repetitions = 2\nset = ["duration_s=11"]')
    (tmp_path / "small.toml").write_text(changed)
    done, found = reproduce("--no-runs")
    assert done.exit_code == 1
    assert {run["failure"] for run in found["experiments"][0]["runs"]} == {
        "a run with other settings is there"
    }
    done, found = reproduce()
    assert done.exit_code == 2
    assert "a run with other settings is there" in done.stderr


def test_a_capture_that_cannot_be_read_is_named(reproduce: Any, tmp_path: Path) -> None:
    reproduce()
    place = tmp_path / "out" / "one" / "sctp.path_max_retrans=1" / "run-1"
    (place / "client.pcapng").write_bytes(b"no capture at all")
    done, found = reproduce()
    assert done.exit_code == 1
    first, *others = [run["failure"] for run in found["experiments"][0]["runs"]]
    assert first.startswith(f"not analyzed: {place / 'client.pcapng'}: at byte 0")
    assert others == [None] * 3


def test_runs_of_a_machine_that_was_too_slow_are_told_at_the_end(
    reproduce: Any, tmp_path: Path
) -> None:
    reproduce()
    place = tmp_path / "out" / "one" / "sctp.path_max_retrans=2" / "run-1"
    told = json.loads((place / "run.json").read_text())
    told["pace"] = {"too_slow": ["busy all the time"]}
    (place / "run.json").write_text(json.dumps(told))
    done, found = reproduce()
    assert done.exit_code == 0
    assert done.stderr.endswith(
        "warning: in 1 of 4 runs the machine did not keep up:\n"
        "one/sctp.path_max_retrans=2/run-1: busy all the time\n"
    )
    (one,) = found["experiments"]
    assert [point["slow"] for point in one["figures"][0]["ours"]] == [0, 1]


def test_of_very_many_failures_the_console_names_some(reproduce: Any) -> None:
    done, _ = reproduce("--repetitions", "12", wrong={1: KeyboardInterrupt()})
    assert done.exit_code == 1
    assert "24 runs are left" in done.stderr
    done, _ = reproduce("--repetitions", "12", "--no-runs")
    assert "24 runs without a result:" in done.stderr
    assert done.stderr.count("not made") == 20
    assert "and 4 more, which study.md names" in done.stderr


SIMULATED = """
[experiments.two]
title = "Two"
scenario = "chen"
routes = ["file"]
set = ["duration_s=12"]

[experiments.two.figures.sent]
title = "Sent"
quantity = "route_sent_packets"
x = "route"
"""


def test_a_study_of_both_engines(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "both.toml"
    file.write_text(STUDY + SIMULATED)
    real, choose = run.run, run.choose
    asked: list[tuple[str, str]] = []

    def chosen(kernel: Any, engine: str = "kernel") -> Any:
        asked.append((kernel, engine))
        return choose(kernel, engine) if engine == "ns2" else kernel

    def one(scenario: Scenario, out: Path, by: Any) -> None:
        (real if by == "ns2" else fake)(scenario, out, by)

    monkeypatch.setattr(run, "choose", chosen)
    monkeypatch.setattr(matrix, "run", one)
    done = inside("lab", "reproduce", file, "--out", tmp_path / "out", "--kernel", "guest")
    assert done.exit_code == 0, done.stderr
    assert asked == [("guest", "kernel"), ("auto", "ns2")]
    found = json.loads((tmp_path / "out" / "study.json").read_text())
    assert found["machine"] == "Linux 6.1.176 (guest), ns-2 2.35"
    assert [len(one["runs"]) for one in found["experiments"]] == [4, 1]
    (sent,) = found["experiments"][1]["runs"]
    assert sent["settings"] == {"route": "file"}
    assert sent["values"]["client"]["route_sent_packets"]["value"] > 1000


def test_without_ns2_no_run_is_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "both.toml"
    file.write_text(STUDY + SIMULATED)
    which = shutil.which
    monkeypatch.setattr(
        shutil, "which", lambda name, **of: None if name == "ns" else which(name, **of)
    )
    done = inside("lab", "reproduce", file, "--only", "two", "--out", tmp_path / "out")
    assert done.exit_code == 1
    assert done.stderr == "Error: ns is not installed: apt-get install ns2\n"
    assert not (tmp_path / "out").exists()


def test_a_dry_run_lists_the_runs(tmp_path: Path) -> None:
    out = tmp_path / "out"
    done = inside(
        "lab", "reproduce", "bokor", "--quick", "--only", "recovery", "--dry-run", "--out", out
    )
    places = [line.split() for line in done.stdout.splitlines()]
    assert len(places) == 4
    assert all(state == "absent" and place.startswith(str(out)) for state, place in places)
    assert not out.exists()


def test_a_quick_run_in_the_guest(tmp_path: Path) -> None:
    out = tmp_path / "study"
    words = ("lab", "reproduce", "bokor", "--quick", "--only", "recognition-rto", "--out", out)
    done = inside(*words, "--kernel", "guest")
    assert done.exit_code == 0, done.stderr
    (one,) = json.loads((out / "study.json").read_text())["experiments"]
    assert len(one["runs"]) == 2
    for run_ in one["runs"]:
        found = run_["values"]["client"]["link_recognition_s"]
        assert found["basis"] == "annotated"
        # A HEARTBEAT is due within this time, and its answer takes 10 ms; the guest is no faster
        # than the machine that it runs on.
        assert 0 < found["value"] < run_["numbers"]["heartbeat_s"] + 0.5
    started = {path: path.stat().st_mtime_ns for path in out.glob("*/*/*/run.json")}
    assert inside(*words, "--kernel", "guest").exit_code == 0
    assert {path: path.stat().st_mtime_ns for path in started} == started


def test_a_package_that_is_missing_is_told_before_any_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        "pathscope.cli.faults.find_spec",
        lambda name: None if name == "plotly" else find_spec(name),
    )
    out = tmp_path / "out"
    done = inside("lab", "reproduce", "bokor", "--quick", "--out", out)
    assert done.exit_code == 2
    assert done.stderr == "Error: plotly is not installed: pip install 'pathscope[report]'\n"
    assert not out.exists()
