"""Studies: what is refused, and which runs come of one."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from pathscope.replay.lab import catalog, experiment, reproduce, study
from pathscope.replay.lab.derived import NUMBERS
from pathscope.replay.lab.folder import FolderError
from pathscope.replay.lab.scenario import load
from pathscope.replay.lab.study import StudyError
from running import inside

TEXT = """\
title = "A study."
source = "Someone."
kept = "All."
approximated = "Nothing."

[experiments.one]
title = "One"
scenario = "failover"
repetitions = 2
duration = {of = "time_outs_s", times = 2, plus_s = 3.5}

[[experiments.one.axes]]
name = "RTO"
unit = "ms"
keys = ["sctp.rto_max_ms", "sctp.rto_min_ms"]
values = [500, 1000]
quick = [500]

[[experiments.one.axes]]
name = "kind"
keys = ["application.kind"]
values = ["bulk", "fixed-rate"]

[experiments.one.quick]
set = ["application.message_bytes=99"]

[experiments.one.figures.gap]
title = "Gap"
quantity = "delivery_gap_s"
x = "RTO"
series = "kind"
points = [{series = "bulk", x = 500, y = 1.5}]
"""


def written(path: Path, text: str) -> Path:
    file = path / "mine.toml"
    file.write_text(text)
    return file


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('source = "Someone."\n', "", "the study: source is missing"),
        ('kept = "All."', "kept = 1", "kept: 1 is not of type 'string'"),
        ("repetitions = 2", "repetition = 2", "did you mean repetitions?"),
        ('"failover"', '"fail-over"', "no scenario 'fail-over', did you mean failover?"),
        ('of = "time_outs_s"', 'of = "time_out_s"', "did you mean time_outs_s?"),
        ('name = "kind"', 'name = "RTO"', "axes[2].name: RTO is taken"),
        ('name = "kind"', 'name = "time_outs_s"', "time_outs_s is taken"),
        ('"delivery_gap_s"', '"delivery_gap"', "did you mean delivery_gap_s?"),
        ('x = "RTO"', 'x = "rto"', "no axis or number 'rto'"),
        ('series = "kind"\n', 'series = "sort"\n', "no axis 'sort'"),
        ('series = "kind"\n', 'series = "RTO"\n', "x has this axis already"),
        ('series = "bulk", x', 'series = "bulky", x', "no such series in this figure"),
        ("x = 500, y", 'x = "500", y', "points[1].x: expected a number"),
        ('x = "RTO"\nseries = "kind"', 'x = "kind"\nfit = true', "a line needs numbers"),
        ("x = 500, y", "x = nan, y", "points[1].x: expected a finite number"),
        ("[experiments.one]", '[experiments."one\\n"]', "a name is a letter"),
        (
            'series = "kind"\n',
            'shown_in = "%"\nseries = "kind"\n',
            "gap.shown_in: delivery_gap_s is in s, not to be",
        ),
        ("repetitions = 2", 'routes = ["a"]', "the scenario is none of ns-2"),
        ('name = "kind"', 'name = "route"', "route is taken"),
        ("unit = ", "unit : ", "(at line 14, column 6)"),
    ],
)
def test_what_is_wrong_is_told_with_line_and_key(
    tmp_path: Path, old: str, new: str, message: str
) -> None:
    before, found, after = TEXT.partition(old)
    assert found
    path = written(tmp_path, before + new + after)
    with pytest.raises(StudyError) as refused:
        study.load(path)
    # What is missing is told at the document's first line.
    line = 1 + before.count("\n") if new else 1
    where = "" if "at line" in message else f":{line}"
    assert re.match(re.escape(f"{path}{where}: "), str(refused.value))
    assert message in str(refused.value)


ROUTES = """\
title = "A study."
source = "Someone."
kept = "All."
approximated = "Nothing."

[experiments.one]
title = "One"
scenario = "waleed-tcp"
routes = ["2-12", "3-13"]

[experiments.one.figures.delay]
title = "Delay"
quantity = "route_delay_s"
x = "route"
points = [{x = "2-12", y = 1.5}]
"""


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('["2-12", ', '["2-1", ', "routes[1]: there is no flow '2-1', did you mean"),
        ('routes = ["2-12", "3-13"]\n', "", "no axis or number 'route'"),
        ('x = "2-12"', "x = 2", "points[1].x: expected a word"),
        ('x = "route"\n', 'x = "route"\nfit = true\n', "a line needs numbers"),
        ('x = "route"\n', 'x = "route"\nend = "server"\n', "delay.end: the trace of a simulation"),
        ('x = "route"\n', 'x = "time_outs_s"\n', "no axis or number 'time_outs_s'"),
        ("routes", 'duration = {of = "time_outs_s", plus_s = 1}\nroutes', "no number in seconds"),
    ],
)
def test_what_is_wrong_with_routes(tmp_path: Path, old: str, new: str, message: str) -> None:
    assert old in ROUTES
    with pytest.raises(StudyError, match=re.escape(message)):
        study.load(written(tmp_path, ROUTES.replace(old, new, 1)))


def test_the_engine_of_an_experiment_is_that_of_its_scenario(tmp_path: Path) -> None:
    experiments = study.load(
        written(
            tmp_path, ROUTES + TEXT.partition("[")[1] + TEXT.partition("[")[2].replace("one", "two")
        )
    ).experiments
    assert {name: one["engine"] for name, one in experiments.items()} == {
        "one": "ns2",
        "two": "kernel",
    }


def test_a_folder_of_a_scenarios_name_is_no_scenario(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "chen").mkdir()
    monkeypatch.chdir(tmp_path)
    assert catalog.find("chen").is_file()


def test_a_file_that_is_no_text(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_bytes(b"\xff")
    with pytest.raises(StudyError, match="expected UTF-8 text"):
        study.load(path)


def test_a_study_that_is_not_there() -> None:
    refused = inside("lab", "reproduce", "bokur")
    assert refused.exit_code == 2
    assert "bokur: no file, and none of pathscope's studies" in refused.stderr


def one(tmp_path: Path) -> dict[str, Any]:
    return study.load(written(tmp_path, TEXT)).experiments["one"]


def test_every_combination_is_run_so_many_times(tmp_path: Path) -> None:
    runs = experiment.runs(one(tmp_path))
    told = [(run.settings["RTO"], run.settings["kind"], run.cell.repetition) for run in runs]
    assert told == [
        (rto, kind, number)
        for rto in (500, 1000)
        for kind in ("bulk", "fixed-rate")
        for number in (1, 2)
    ]
    assert len({run.cell.place for run in runs}) == len(runs)
    for run in runs:
        scenario, rto = run.cell.scenario, run.settings["RTO"]
        sctp = scenario.sctp("client")
        assert (sctp["rto_max_ms"], sctp["rto_min_ms"]) == (rto, rto)
        assert scenario["application"]["kind"] == run.settings["kind"]
        # PMR is 2: three time-outs.
        assert run.numbers["time_outs_s"] == 3 * rto / 1000
        assert scenario["duration_s"] == 2 * 3 * rto / 1000 + 3.5
        assert scenario["seed"] == run.cell.repetition


def test_quick_runs_are_fewer(tmp_path: Path) -> None:
    runs = experiment.runs(one(tmp_path), quick=True)
    assert [(run.settings["RTO"], run.cell.repetition) for run in runs] == [(500, 1), (500, 1)]
    assert {run.cell.scenario["application"]["message_bytes"] for run in runs} == {99}
    more = experiment.runs(one(tmp_path), quick=True, repetitions=3)
    assert len(more) == 6


@pytest.mark.parametrize("name", study.names())
@pytest.mark.parametrize("quick", [True, False])
def test_every_study_of_pathscope_can_be_run(name: str, quick: bool) -> None:
    found = study.load(study.find(name))
    plan = reproduce.plan(found, quick=quick)
    assert list(plan) == list(found.experiments)
    for runs in plan.values():
        assert runs
        assert len({run.cell.place for run in runs}) == len(runs)


def test_a_quick_run_of_study_b_takes_some_minutes() -> None:
    plan = reproduce.plan(study.load(study.find("bokor")), quick=True)
    assert sum(reproduce.length_s(run) for runs in plan.values() for run in runs) <= 4 * 60


def test_time_outs_double_up_to_rto_max() -> None:
    path = catalog.find("failover")
    changes = ["sctp.rto_min_ms=100", "sctp.rto_max_ms=500", "sctp.path_max_retrans=4"]
    scenario = load(path, changes)
    # RFC 9260 section 6.3.3, rule E2: 100 + 200 + 400 + 500 + 500 ms.
    assert NUMBERS["time_outs_s"].of(scenario.settings) == pytest.approx(1.7)
    assert NUMBERS["heartbeat_s"].of(scenario.settings) == pytest.approx(1 + 0.75)
    # 100 bytes every 25 ms.
    assert NUMBERS["offered_kbyte_s"].of(scenario.settings) == pytest.approx(4)


def test_an_experiment_that_is_not_there() -> None:
    refused = inside("lab", "reproduce", "bokor", "--only", "recover", "--dry-run")
    assert refused.exit_code == 2
    experiments = ", ".join(study.load(study.find("bokor")).experiments)
    assert refused.stderr == f"Error: bokor has no experiment 'recover', only {experiments}\n"


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("other.txt", "", "expected no folder, an empty one or that of a study"),
        ("study.json", "{", "expected the results of a study"),
        ("study.json", '{"study": "aydin", "quick": false}', "runs of the study aydin are there"),
        ("study.json", '{"study": "bokor", "quick": true}', "quick runs of the study bokor are"),
    ],
)
def test_a_folder_with_something_else_is_left_alone(
    tmp_path: Path, name: str, content: str, message: str
) -> None:
    (tmp_path / name).write_text(content)
    found = study.load(study.find("bokor"))
    with pytest.raises(FolderError, match=message):
        reproduce.claim(found, tmp_path, quick=False)
    assert (tmp_path / name).read_text() == content


def test_studies_are_listed_with_their_experiments() -> None:
    lines = inside("lab", "studies").stdout.splitlines()
    assert [line.partition(":")[0] for line in lines if not line.startswith(" ")] == study.names()
    assert "  recovery: A link that fails: RTO and Path.Max.Retrans" in lines
