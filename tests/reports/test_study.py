"""The results of a study: what is counted, what is told of it, and the page."""

from __future__ import annotations

import doctest
import json
import math
import re
import statistics
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from pathscope.analyzer.measure import Measure
from pathscope.analyzer.quantities import Run
from pathscope.reports.study import numbers
from pathscope.reports.study.document import document
from pathscope.reports.study.figures import figure
from pathscope.reports.study.markdown import brief, text
from pathscope.reports.study.page import page

SWEEP = Path(__file__).with_name("bokor-recovery.json")

RECOVERY = "link_failure_recovery_s"

FIGURE = {
    "title": "Recovery <against> RTO",
    "quantity": RECOVERY,
    "end": "client",
    "x": "time_outs_s",
    "series": "PMR",
    "digits": 4,
    "fit": True,
    "line": {"slope": 1, "intercept": 0, "text": "RFC 9260"},
    "published": "It | rises.",
    "points": [{"series": 2, "x": 3, "y": 3.5, "sd": 0.25}, {"series": 3, "x": 8, "y": 8.5}],
}
SETTINGS = {
    "title": "A study",
    "source": "Someone",
    "kept": "All",
    "approximated": "Nothing",
    "experiments": {
        "one": {
            "title": "One",
            "scenario": "failover",
            "engine": "kernel",
            "note": None,
            "set": [],
            "axes": [
                {"name": "RTO", "unit": "ms", "keys": ["sctp.rto_max_ms"]},
                {"name": "PMR", "keys": ["sctp.path_max_retrans"]},
            ],
            "figures": {"recovery": FIGURE},
        }
    },
}
FACTS = {"tool": {"version": "1"}, "quick": False, "machine": "Linux (guest)"}
NUMBERS = {"time_outs_s": {"unit": "s", "definition": "(PMR + 1) x RTO"}}


def run(pmr: int, rto_ms: int, repetition: int, value: Measure | None) -> Run:
    return Run(
        place=f"one/{pmr}-{rto_ms}/run-{repetition}",
        settings={"RTO": rto_ms, "PMR": pmr},
        numbers={"time_outs_s": (pmr + 1) * rto_ms / 1000},
        repetition=repetition,
        failure="the guest did not start" if value is None else None,
        values={} if value is None else {("client", RECOVERY): value},
    )


def line(x: float) -> Measure:
    return Measure(1.25 * x + 0.5, "annotated")


RUNS = [
    run(2, 1000, 1, Measure(3.0, "annotated")),
    run(2, 1000, 2, Measure(5.0, "annotated")),
    run(2, 2000, 1, Measure.absent("no handover")),
    run(3, 1000, 1, Measure.observed(4.0)),
    run(3, 2000, 1, None),
]


def made(runs: list[Run], changes: Mapping[str, Any] | None = None) -> dict[str, Any]:
    settings = json.loads(json.dumps(SETTINGS))
    settings["experiments"]["one"]["figures"]["recovery"] |= changes or {}
    return document("mine", settings, {"one": runs}, FACTS, NUMBERS)


def shown(found: dict[str, Any]) -> dict[str, Any]:
    drawn: dict[str, Any] = found["experiments"][0]["figures"][0]
    return drawn


def test_points_are_the_runs_of_one_setting() -> None:
    two, one = shown(made(RUNS))["ours"]
    assert (two["series"], two["x"], two["n"], two["mean"]) == (2, 3.0, 2, 4.0)
    assert two["sd"] == pytest.approx(math.sqrt(2))
    # 12.706: Student's t with one degree of freedom.
    assert (two["high"] - two["low"]) / 2 == pytest.approx(12.706, rel=1e-4)
    assert (one["series"], one["x"], one["n"], one["sd"], one["low"]) == (3, 4.0, 1, None, None)


def test_nothing_is_dropped_in_silence() -> None:
    found = made(RUNS)
    assert shown(found)["absent"] == [{"folder": "one/2-2000/run-1", "reason": "no handover"}]
    assert [run["failure"] for run in found["experiments"][0]["runs"]] == [None] * 4 + [
        "the guest did not start"
    ]
    told = text(found)
    assert "1 run has no such number: no handover." in told
    assert "- one/3-2000/run-1: the guest did not start" in told
    assert "4 of 5 runs; varied: RTO 1000, 2000 ms, PMR 2, 3." in told


def test_runs_of_a_machine_that_did_not_keep_up_are_told_first() -> None:
    found = made([*RUNS[:1], replace(RUNS[1], slow=("packets fell from a tap",)), RUNS[3]])
    assert [(point["n"], point["slow"]) for point in shown(found)["ours"]] == [(2, 1), (1, 0)]
    told = "In 1 of 3 runs the machine did not keep up; they are counted"
    run = "one/2-1000/run-2: packets fell from a tap"
    assert text(found).startswith(f"# A study\n\n**{told}**:\n\n- {run}\n\nSource")
    assert f"<summary>{told}</summary><ul><li>{run}</li></ul>" in page(found)
    assert "| 2 | 3 | 2 (1 slow) | 4.000 |" in text(found)
    assert "In 1 of these 3 runs the machine did not keep up: slow in the table" in text(found)
    ours = json.loads(figure(shown(found)).to_json())["data"]
    assert [trace["marker"]["symbol"] for trace in ours[:2]] == [["circle-open"], ["circle"]]


def test_a_machine_that_kept_up_is_not_spoken_of() -> None:
    assert "keep up" not in text(made(RUNS))
    assert "slow" not in text(made(RUNS))


def test_a_line_is_fitted_to_runs_not_to_means() -> None:
    runs = [run(2, ms, n, line(3 * ms / 1000)) for ms in (500, 1000, 2000) for n in (1, 2)]
    fit = shown(made(runs))["fit"]
    assert fit["n"] == 6
    assert fit["slope"]["value"] == pytest.approx(1.25)
    assert fit["intercept"]["value"] == pytest.approx(0.5)
    assert "slope 1.250 (95 %: 1.250 to 1.250)" in text(made(runs))


def test_recovery_is_linear_in_the_time_outs() -> None:
    """The committed sweep: RTO 500 to 4000 ms, PMR 2 to 5, as tests/golden shows it."""
    stored = json.loads(SWEEP.read_text())["experiments"][0]
    points = [
        (
            (run["settings"]["PMR"] + 1) * run["settings"]["RTO"] / 1000,
            run["values"]["client"][RECOVERY]["value"],
        )
        for run in stored["runs"]
    ]
    assert len(points) == 16
    slope, intercept = statistics.linear_regression(*zip(*points, strict=True))
    fit = {figure["name"]: figure for figure in stored["figures"]}["linear"]["fit"]
    assert (fit["slope"]["value"], fit["intercept"]["value"]) == (
        pytest.approx(slope),
        pytest.approx(intercept),
    )
    # The guest rounds timers of 0.64 s and more up, by 80 ms at most: 4 % of 2 s (docs/studies.md).
    assert 1 < fit["slope"]["low"] < fit["slope"]["high"] < 1.04
    assert fit["intercept"]["low"] < 0 < fit["intercept"]["high"]
    assert fit["r2"] > 0.999


def test_axes_that_a_figure_does_not_show_are_pooled() -> None:
    (only,) = shown(made(RUNS, {"x": "RTO", "series": None, "points": [], "fit": False}))["ours"]
    assert (only["x"], only["n"], only["mean"]) == (1000, 3, 4.0)


def test_the_published_stands_beside_ours() -> None:
    rows = [row for row in text(made(RUNS)).splitlines() if row.startswith("|")]
    assert (
        rows[0]
        == "| PMR | time_outs_s [s] | n | mean [s] | sd [s] | 95 % interval [s] | published [s]"
        " | off [%] |"
    )
    assert rows[2] == "| 2 | 3 | 2 | 4.000 | 1.41 | -8.7 to 16.7 | 3.500 (sd 0.250) | +14.29 |"
    assert rows[3] == "| 3 | 4 | 1 | 4.000 | - | - | - | - |"
    assert rows[4] == "| 3 | 8 | 0 | - | - | - | 8.500 | - |"


def test_a_published_point_of_no_series_stands_beside_all_of_them() -> None:
    runs = [*RUNS, run(5, 500, 1, Measure.observed(3.25))]
    rows = text(made(runs, {"points": [{"x": 3, "y": 3.5}, {"x": 9, "y": 9.5}]})).splitlines()
    assert [row for row in rows if row.startswith("|")][2:] == [
        "| 2 | 3 | 2 | 4.000 | 1.41 | -8.7 to 16.7 | 3.500 | +14.29 |",
        "| 3 | 4 | 1 | 4.000 | - | - | - | - |",
        "| 5 | 3 | 1 | 3.250 | - | - | 3.500 | -7.14 |",
        "| - | 9 | 0 | - | - | - | 9.500 | - |",
    ]


def of_routes() -> dict[str, Any]:
    """A document of one run in which two routes were measured, and of one that failed."""
    settings = json.loads(json.dumps(SETTINGS))
    changes: dict[str, Any] = {
        "quantity": "route_delay_s",
        "x": "route",
        "series": None,
        "fit": False,
    }
    changes |= {"line": None, "shown_in": "ms", "digits": 6}
    changes["points"] = [{"x": "2-12", "y": 0.780416}, {"x": "3-13", "y": 0.8}]
    experiment = settings["experiments"]["one"]
    experiment |= {"axes": [], "engine": "ns2", "routes": ["2-12", "3-13"]}
    experiment["figures"]["recovery"] |= changes
    runs = [
        Run("one/run-1", {"route": route}, {}, 1, None, {("client", "route_delay_s"): value})
        for route, value in (
            ("2-12", Measure.observed(0.78041626)),
            ("3-13", Measure.observed(0.79306)),
        )
    ]
    runs.append(Run("one/run-2", {}, {}, 2, "ns-2 failed", {}))
    return document("mine", settings, {"one": runs}, FACTS, NUMBERS)


def test_words_on_the_axis_stand_beside_the_published_in_the_unit_asked_for() -> None:
    told = text(of_routes())
    assert "Scenario failover, 1 of 2 runs; routes: 2-12, 3-13." in told
    assert "captured at" not in told, "a simulator's trace is of both ends"
    assert told.count("ns-2 failed") == 1
    assert [row for row in told.splitlines() if row.startswith("|")] == [
        "| route | n | mean [ms] | published [ms] | off [%] |",
        "|---|---|---|---|---|",
        "| 2-12 | 1 | 780.416 | 780.416 | 0.00 |",
        "| 3-13 | 1 | 793.060 | 800.000 | -0.87 |",
    ]


def test_words_are_no_dates_and_no_line_joins_them() -> None:
    drawn = json.loads(figure(shown(of_routes())).to_json())
    assert drawn["layout"]["xaxis"]["type"] == "category"
    ours, published = drawn["data"]
    assert (ours["mode"], ours["x"]) == ("markers", ["2-12", "3-13"])
    assert published["y"] == [pytest.approx(780.416), 800]


def test_an_experiment_in_one_table() -> None:
    assert brief(of_routes(), 3).splitlines() == [
        "### One",
        "",
        "|  | route | here | published | off [%] |",
        "|---|---|---|---|---|",
        "| Recovery \\<against> RTO [ms] | 2-12 | 780.416 | 780.416 | 0.00 |",
        "| Recovery \\<against> RTO [ms] | 3-13 | 793.060 | 800.000 | -0.87 |",
    ]


def test_what_is_counted_has_no_decimals() -> None:
    runs = [
        replace(one, values={("client", "handovers"): Measure.observed(count)})
        for one, count in zip((RUNS[0], RUNS[3]), (2, 17), strict=True)
    ]
    changes = {"quantity": "handovers", "points": [{"series": 2, "x": 3, "y": 4}]}
    rows = [row for row in text(made(runs, changes)).splitlines() if row.startswith("| ")][1:]
    assert rows == ["| 2 | 3 | 1 | 2 | 4 | -50.00 |", "| 3 | 4 | 1 | 17 | - | - |"]


def test_runs_that_gave_nothing_are_counted_at_the_head() -> None:
    assert "The full run, of which 1 of 5 runs gave nothing. Made by" in text(made(RUNS))


def test_text_of_a_study_is_no_markup() -> None:
    found = made(RUNS)
    assert "Published: It \\| rises." in text(found)
    assert "Recovery \\<against>" in text(found)
    assert "<h3>Recovery &lt;against&gt; RTO</h3>" in page(found)


def test_words_of_a_study_lead_nowhere() -> None:
    hostile = '<a href="https://evil.example">x</a> [x](https://evil.example)'
    line = {"slope": 1, "intercept": 0, "text": hostile}
    found = made(RUNS, {"line": line, "published": hostile, "title": hostile})
    assert '<a href="https://evil' not in page(found)
    assert "](https" not in text(found)
    names = [trace.name for trace in figure(shown(found)).data]
    assert not any("<" in name for name in names)


def test_a_page_needs_nothing_else() -> None:
    whole = page(made(RUNS))
    code = re.search(r"<script>(.*?)</script>", whole, re.DOTALL)
    assert code is not None
    assert "plotly.js v" in code[1][:200]
    assert whole.count("plotly.js v") == code[1].count("plotly.js v")
    rest = whole.replace(code[1], "")
    assert len(rest) < 100_000
    assert not re.search(r"(src|href)=", rest)
    assert 'id="one-recovery"' in rest


def test_a_figure_has_ours_with_error_bars_and_the_published_in_another_colour() -> None:
    drawn = json.loads(figure(shown(made(RUNS))).to_json())["data"]
    by_name = {trace["name"]: trace for trace in drawn}
    assert list(by_name) == [
        "PMR 2",
        "PMR 3",
        "fitted to ours",
        "RFC 9260",
        "published PMR 2",
        "published PMR 3",
    ]
    ours = by_name["PMR 2"]
    assert (ours["x"], ours["y"]) == ([3.0], [4.0])
    assert ours["error_y"]["array"] == [pytest.approx(12.706, rel=1e-4)]
    assert by_name["published PMR 2"]["error_y"]["array"] == [0.25]
    assert by_name["RFC 9260"]["y"] == by_name["RFC 9260"]["x"]
    published = by_name["published PMR 2"]["marker"]["color"]
    assert published == by_name["RFC 9260"]["line"]["color"]
    assert published not in {ours["marker"]["color"], by_name["PMR 3"]["marker"]["color"]}


def test_a_study_without_a_single_result() -> None:
    found = made([run(2, 1000, 1, None)], {"points": []})
    assert "0 of 1 runs" in text(found)
    assert "<table>" not in page(found)


def test_examples_of_numbers() -> None:
    done = doctest.testmod(numbers)
    assert (done.failed, done.attempted > 0) == (0, True)
