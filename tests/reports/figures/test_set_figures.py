"""Figures of many runs, of two sets, of flows and of replays."""

from __future__ import annotations

from typing import Any

import figuring
import numpy as np
import pathscope
import pytest
from figuring import LOOKS
from pathscope.analyzer.compare.model import Sample
from pathscope.reports.compare.document import document as compare_document
from pathscope.reports.figures import (
    alignment,
    bins,
    distributions,
    flows,
    intervals,
    replay,
)
from pathscope.reports.figures.look import Look
from pathscope.reports.figures.part import Window
from pathscope.reports.figures.sheet import caption
from running import CAPTURES, MIXED

Node = dict[str, Any]
WIDE = Look("light", 1280)
HOSTILE = '<a href="https://x.invalid">run</a>'


def sample(place: str, values: tuple[float, ...]) -> Sample:
    runs = tuple(f"run {number}" for number in range(len(values)))
    return Sample("goodput_bps", place, "bit/s", runs, values, (("one more", "no DATA"),))


@pytest.mark.parametrize("look", LOOKS)
def test_every_run_is_a_point(look: Look) -> None:
    values = (1.0, 2.0, 4.0, 8.0, 16.0, 2.0)
    found = distributions.inputs(
        {"one": [sample("association", values)], HOSTILE: [sample("path <b>", (3.0,))]},
        "goodput_bps",
    )
    figure = distributions.draw(found, look)
    points = [row for row in figuring.rows(figure) if row["data"] is not None]
    assert [float(row["x"]) for row in points] == [*values, 3.0]
    (box,) = [trace for trace in figure.data if trace.type == "box"]
    expected = np.percentile(values, [25, 50, 75])
    assert [*box.q1, *box.median, *box.q3] == expected.tolist()
    assert "2 runs in which it is absent" in caption(figure)
    assert "Fewer than 5 runs have no box" in caption(figure)
    assert HOSTILE not in figure.to_json()


def test_no_run_has_the_number() -> None:
    figure = distributions.draw(distributions.inputs({}, None), WIDE)
    assert caption(figure) == "No run has this number."


def side(mean: float) -> Node:
    return {"n": 6, "median": mean, "mean": mean, "sd": 0.1}


def row(metric: str, verdict: str, ratio: tuple[float, float, float] | None) -> Node:
    keys = ("value", "low", "high")
    return {
        "metric": metric,
        "place": "association",
        "unit": "s",
        "baseline": side(1.0),
        "candidate": None if ratio is None else side(ratio[0]),
        "ratio": None if ratio is None else dict(zip(keys, ratio, strict=True)),
        "verdict": verdict,
    }


def comparison() -> Node:
    rows = [
        row("same_s", "same", (1.01, 0.9, 1.1)),
        row("worse_s", "worse", (2.0, 1.5, 2.5)),
        row("chance_s", "not-significant", (1.2, 0.7, 1.9)),
        row("absent_s", "not-enough-runs", None),
    ]
    return {
        "baseline": "before",
        "candidate": HOSTILE,
        "groups": [{"name": "all", "rows": rows, "timelines": []}],
    }


@pytest.mark.parametrize("look", LOOKS)
def test_ratios_have_their_intervals_and_verdicts(look: Look) -> None:
    figure = intervals.draw(intervals.inputs(comparison()), look)
    (point,) = figuring.named(figure, "worse")
    assert [float(point[key]) for key in ("x", "low", "high")] == [2.0, 1.5, 2.5]
    told = figure.layout.yaxis.ticktext[0]
    assert told == ("worse_s<br>association" if look.is_narrow else "worse_s, association")
    assert "1 number without a ratio" in caption(figure)
    assert "without an interval" not in caption(figure)
    assert "<a" not in "".join(str(trace) for trace in figure.data)


def test_a_ratio_of_single_runs_has_no_interval() -> None:
    told = comparison()
    told["groups"][0]["rows"][0]["ratio"] = {"value": 1.01, "low": None, "high": None}
    figure = intervals.draw(intervals.inputs(told), WIDE)
    (point,) = figuring.named(figure, "same")
    assert (point["x"], point["low"], point["high"]) == ("1.01", None, None)
    assert "1 number without an interval: too few runs." in caption(figure)


def test_every_verdict_has_a_mark() -> None:
    from typing import get_args

    from pathscope.analyzer.compare.model import Verdict

    assert set(intervals.VERDICTS) == set(get_args(Verdict))


def test_two_runs_beside_each_other() -> None:
    compared = pathscope.compare(
        str(CAPTURES / "failover-v6" / "client.pcapng"), str(CAPTURES / "lab-failover")
    )
    told = compare_document(compared, 0)
    timelines = [one for group in told["groups"] for one in group["timelines"]]
    figure = alignment.draw(alignment.inputs(told), WIDE)
    if not timelines:
        assert caption(figure).startswith("Handovers are aligned where")
        return
    for which in ("baseline", "candidate"):
        expected = [
            one[which]["offset_ns"] / 1e9
            for timeline in timelines[: alignment.MOST_HANDOVERS]
            for one in timeline["instants"]
            if one[which]["offset_ns"] is not None
        ]
        assert [float(one["x"]) for one in figuring.named(figure, which)] == expected


def test_the_same_run_twice_is_aligned() -> None:
    folder = str(CAPTURES / "failover-v6" / "client.pcapng")
    told = compare_document(pathscope.compare(folder, folder), 0)
    figure = alignment.draw(alignment.inputs(told), WIDE)
    ours, theirs = (figuring.named(figure, which) for which in ("baseline", "candidate"))
    assert ours
    assert [one["x"] for one in ours] == [one["x"] for one in theirs]


def test_without_two_sets_there_is_nothing() -> None:
    for module in (intervals, alignment):
        figure = module.draw(module.inputs(None), WIDE)
        assert caption(figure) == "Two sets are compared where both are given."


@pytest.fixture(scope="module")
def mixed() -> pathscope.Analysis:
    return pathscope.analyze(MIXED)


def test_flows_add_up_to_their_bytes(mixed: pathscope.Analysis) -> None:
    for flow in mixed.to_dict()["flows"]:
        origin_ns = mixed.to_dict()["captures"][0]["first_frame_ns"]
        found = flows.inputs(flow, mixed.ledger.tables, origin_ns)
        assert found is not None
        for one in found.directions:
            way = "a_to_b" if one.end == "a" else "b_to_a"
            total = float((one.sent.y[:-1] * np.diff(one.sent.x)).sum() / 8)
            assert total == pytest.approx(flow[way]["metrics"]["wire_bytes"]["value"])
        again = sum(
            flow[way]["metrics"]["retransmitted_packets"]["value"] or 0
            for way in ("a_to_b", "b_to_a")
        )
        assert len(found.resent.x) == again
        for look in LOOKS:
            assert flows.draw(found, look).data


def test_a_flow_of_a_stored_result_has_no_figure(mixed: pathscope.Analysis) -> None:
    flow = mixed.to_dict()["flows"][0]
    assert "no ledger" in caption(flows.draw(flows.inputs(flow, None, 0), WIDE))
    seen = Window(flow["end_ns"] + 10**12, flow["end_ns"] + 10**12 + 1)
    empty = flows.draw(flows.inputs(flow, mixed.ledger.tables, 0, seen), WIDE)
    assert caption(empty) == "The flow has no packet in this window."


def test_bins_in_which_nothing_happened_are_zeros() -> None:
    found = bins.steps(np.array([0, 100, 400]), np.array([1, 2, 3]), 100, 0)
    assert (found.x * 1e9).round().tolist() == [0, 100, 200, 400, 500]
    assert found.y.tolist() == [1, 2, 0, 3, 0]


def test_a_line_breaks_where_there_are_no_samples() -> None:
    x = np.array([0.05, 0.15, 3.05])
    at, values = bins.broken(x, 0.1, np.array([1.0, 2.0, 3.0]))
    assert at.tolist() == [0.05, 0.15, 3.05, 3.05]
    assert np.isnan(values).tolist() == [False, False, True, False]


def fidelity() -> Node:
    step = {"route": 0, "number": 0, "after_ns": 10**9, "until_ns": None}
    number = {"asked": 10.0, "low": 9.0, "high": 12.0, "n": 50, "verdict": "pass"}
    return {
        "routes": [{"route": 0, "path": HOSTILE, "direction": "up"}],
        "steps": [step],
        "pacing": {"duration_ns": 5 * 10**9},
        "rows": [
            {"route": 0, "step": 0, "quantity": "delay_ms", "achieved": 10.5, **number},
            {"route": 0, "step": 0, "quantity": "loss_percent", "achieved": None, **number},
        ],
    }


@pytest.mark.parametrize("look", LOOKS)
def test_what_came_of_a_step_is_in_its_middle(look: Look) -> None:
    figure = replay.draw(replay.inputs(fidelity()), look)
    (point,) = figuring.named(figure, "pass")
    assert [float(point[key]) for key in ("x", "y", "low", "high")] == [3.0, 10.5, 9.0, 12.0]
    assert [float(one["y"]) for one in figuring.named(figure, "asked")] == [10.0, 10.0]
    assert "1 number of a step absent" in caption(figure)
    assert "<a" not in "".join(str(trace) for trace in figure.data)


def test_a_replay_that_asked_for_nothing_says_so() -> None:
    nothing = fidelity() | {"rows": []}
    figure = replay.draw(replay.inputs(nothing), WIDE)
    assert caption(figure).startswith("No step of this replay")
