"""An instant has one number: in figures, in the packets table, and in tshark."""

from __future__ import annotations

import json
import subprocess
from functools import cache

import pytest
from pathscope.reports.figures import clock, drawn
from pathscope.reports.report import callbacks
from pathscope.reports.report.desk import Desk
from pathscope.reports.report.drawing import FIGURES, is_timed
from pathscope.reports.report.load import How, load
from reporting import LABELS, desk
from running import CAPTURES

CASES = ("failover-v6", "lab-failover")

OF_FRAMES = {
    "association": ("heartbeats", "tsn", "rtt"),
    "handover": ("instants",),
}
"""Figures whose points are frames, by page."""

Times = dict[int, str]


@cache
def report(case: str) -> Desk:
    how = How(events=CAPTURES / case / "events.jsonl", labels=LABELS)
    return desk(load([str(CAPTURES / case / "client.pcapng")], how))


@cache
def of_tshark(case: str) -> Times:
    command = ["tshark", "-n", "-r", str(CAPTURES / case / "client.pcapng"), "-T", "fields"]
    command += ["-e", "frame.number", "-e", "frame.time_relative"]
    lines = subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()
    return {int(number): time for number, time in map(str.split, lines)}


@cache
def of_packets(case: str) -> Times:
    times: Times = {}
    for start in range(0, len(of_tshark(case)), 500):
        request = {"startRow": start, "endRow": start + 500}
        found, *_ = callbacks.rows(report(case), "/packets?table=frames", None, request)
        times |= {row["frame"]: row["time_ns"] for row in found["rowData"]}
    return times


def of_figure(case: str, page: str, name: str) -> Times:
    """Return the frames of a figure's CSV and their times."""
    view = report(case).view(f"/{page}")
    rows = drawn.table(report(case).draw(name, view).figure).to_pylist()
    assert {row["x_axis"] for row in rows} == {clock.TITLE}
    times: Times = {}
    for row in rows:
        words = (row["data"] or "").replace("frame ", "").split(", ")[-1].split("; ")[0]
        if words.isdigit():
            times[int(words)] = row["x"]
    return times


@pytest.mark.parametrize("case", CASES)
def test_the_packets_table_has_the_times_of_tshark(case: str) -> None:
    assert of_packets(case) == of_tshark(case)


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize(
    ("page", "name"), [(p, n) for p, names in OF_FRAMES.items() for n in names]
)
def test_frames_of_figures_are_at_the_times_of_tshark(case: str, page: str, name: str) -> None:
    times = of_figure(case, page, name)
    assert times
    assert times == {frame: of_tshark(case)[frame] for frame in times}


@pytest.mark.parametrize("case", CASES)
def test_the_ladder_tells_the_same_times(case: str) -> None:
    view = report(case).view("/handover")
    rows = drawn.table(report(case).draw("ladder", view).figure).to_pylist()
    told = {row["data"].split(": ")[0] for row in rows}
    assert told <= {f"frame {frame}, {time} s" for frame, time in of_tshark(case).items()}
    assert told


@pytest.mark.parametrize("name", [name for name in FIGURES if is_timed(name)])
def test_what_is_zoomed_to_is_the_window(name: str) -> None:
    layout = {"xaxis.range[0]": 8.25, "xaxis.range[1]": 9.000000001}
    address = callbacks.zoomed(report("failover-v6"), "/handover", name, layout)
    assert address == "/handover?case=1&from=8.25&to=9.000000001"


@pytest.mark.parametrize("name", ["swimlane", "tsn", "throughput", "rtt", "window", "heartbeats"])
def test_a_window_is_where_the_axis_says(name: str) -> None:
    view = report("failover-v6").view("/association?from=8.25&to=9.5")
    figure = report("failover-v6").draw(name, view).figure
    if figure.data:
        assert list(figure.layout.xaxis.range) == [8.25, 9.5]


def test_the_address_the_table_and_the_figure_agree() -> None:
    frame, time = next(iter(of_figure("failover-v6", "handover", "instants").items()))
    model = {"time_ns": {"filterType": "number", "type": "equals", "filter": float(time)}}
    request = {"startRow": 0, "endRow": 9, "sortModel": [], "filterModel": model}
    found, _, address, *_ = callbacks.rows(
        report("failover-v6"), "/packets?table=frames", None, request
    )
    assert frame in {row["frame"] for row in found["rowData"]}
    assert address is not None
    assert json.dumps(float(time)) in address
