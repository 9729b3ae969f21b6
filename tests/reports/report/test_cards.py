"""What every card has: units, definitions, basis, downloads, and a filter that is right."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import pytest
from pathscope.reports.figures import instants
from pathscope.reports.report import callbacks, cells, filters, labelled
from pathscope.reports.report.blocks import Figure, Table
from pathscope.reports.report.data import ReportData
from pathscope.reports.report.desk import Desk
from pathscope.reports.report.drawing import FIGURES
from pathscope.reports.report.pages import PAGES, blocks
from pathscope.reports.report.view import View, view_of
from plotly.utils import PlotlyJSONEncoder
from reporting import FAILOVER, LABELS, desk, everything, failover, flows

Node = dict[str, Any]

DATA = failover()
DESK = desk(DATA)
ASSOCIATION = DATA.cases[0].document["associations"][0]

OF_NO_CAPTURE = ("distributions", "intervals", "alignment", "replay")
"""Figures of several runs, or of a replay's log: no one capture has their packets."""


@pytest.fixture(scope="module")
def reports(tmp_path_factory: pytest.TempPathFactory) -> list[ReportData]:
    return [DATA, flows(), everything(tmp_path_factory.mktemp("documents"))]


def views(reports: list[ReportData]) -> list[View]:
    return [view_of(data, f"/{page}") for data in reports for page in PAGES]


def test_every_column_of_every_table_is_defined(reports: list[ReportData]) -> None:
    seen = set()
    for view in views(reports):
        for one in blocks(view):
            if isinstance(one, Table):
                seen.add(one.name)
                assert cells.bases(one), one.name
                for column in one.columns:
                    assert column.definition, (one.name, column.key)
    assert len(seen) >= 15


def test_tables_of_a_capture_have_filters() -> None:
    for page in ("association", "handover"):
        for one in blocks(view_of(DATA, f"/{page}")):
            if isinstance(one, Table) and one.rows:
                assert one.wireshark is not None, one.name


def counted(expression: str, capture: Path = FAILOVER / "client.pcapng") -> int:
    command = ["tshark", "-n", "-r", str(capture), "-Y", expression, "-T", "fields"]
    command += ["-e", "frame.number"]
    found = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return len(found.splitlines())


def test_every_figure_has_a_button_that_copies_its_filter(reports: list[ReportData]) -> None:
    for view in views(reports):
        own = Desk(DESK.shelf, FIGURES) if view.data is DATA else desk(view.data)
        for one in blocks(view):
            if not isinstance(one, Figure):
                continue
            figure, _, _, button, csv, style = callbacks.figure(
                own,
                one.name,
                view.state.address(),
                callbacks.look_of({"theme": "light", "width": 1280}),
            )
            assert style == {"height": figure.layout.height}
            assert csv.endswith(".csv") or ".csv?" in csv
            text = PlotlyJSONEncoder().encode(button)
            assert ("CopyButton" in text) == (one.name not in OF_NO_CAPTURE), one.name


@pytest.mark.parametrize(
    ("address", "name"),
    [
        ("/association", "throughput"),
        ("/association?path=1", "throughput"),
        ("/association?from=8&to=9.5", "tsn"),
        ("/association?path=0&from=8&to=9.5", "rtt"),
    ],
)
def test_a_filter_is_of_the_path_and_the_window(address: str, name: str) -> None:
    view = DESK.view(address)
    expression = DESK.draw(name, view).about.wireshark_filter
    assert expression is not None
    start_ns, end_ns = view.span_ns()
    rows = [
        row
        for row in DATA.cases[0].rows("frames").to_pylist()
        if start_ns <= row["time_ns"] <= end_ns
    ]
    chunks = DATA.cases[0].rows("chunks", association=0).to_pylist()
    own = {row["frame"] for row in chunks if view.state.path in (None, row["path"])}
    assert counted(expression) == len(own & {row["frame"] for row in rows})


def test_a_handovers_filter_has_its_window() -> None:
    view = DESK.view("/handover?handover=2")
    drawn = DESK.draw("instants", view)
    expression = drawn.about.wireshark_filter
    assert expression is not None
    low, high = drawn.figure.layout.xaxis.range
    chunks = DATA.cases[0].rows("chunks", association=0).to_pylist()
    origin_ns = DATA.cases[0].origin_ns
    times = {row["frame"]: (row["time_ns"] - origin_ns) / 1e9 for row in chunks}
    assert counted(expression) == sum(low <= time <= high for time in times.values())
    assert instants.ABOUT.wireshark_filter is None


@pytest.mark.parametrize(
    ("address", "expression"),
    [
        ("/packets", "sctp"),
        ("/packets?table=segments", "tcp"),
        ("/packets?table=frames", None),
        ("/packets?association=0", ASSOCIATION["wireshark"]),
        ("/packets?path=1", ASSOCIATION["paths"][1]["wireshark"]),
    ],
)
def test_the_packets_have_a_filter(address: str, expression: str | None) -> None:
    assert filters.of_packets(DESK.view(address)) == expression


def test_the_story_has_the_filter_of_its_frames() -> None:
    (story,) = (
        one for one in blocks(DESK.view("/handover")) if getattr(one, "name", "") == "story"
    )
    assert isinstance(story, Table)
    assert story.wireshark is not None
    place = [column.key for column in story.columns].index("frame")
    frames = {cells.text(row[place]) for row in story.rows if row[place] is not None}
    assert counted(story.wireshark) == len(frames)


def asked(address: str, **request: Any) -> list[Node]:
    whole = {"startRow": 0, "endRow": 500, "filterModel": {}, "sortModel": [], **request}
    found: list[Node] = callbacks.rows(DESK, address, None, whole)[0]["rowData"]
    return found


def test_paths_are_filtered_and_sorted_by_their_labels() -> None:
    labels = [name.partition("=")[2] for name in LABELS]
    assert [path["label"] for path in ASSOCIATION["paths"]] == labels
    model = {"path_label": {"type": "equals", "filter": "cellular"}}
    rows = asked("/packets", filterModel=model)
    assert {row["path_label"] for row in rows} == {"cellular"}
    assert {row["path"] for row in rows} == {1}
    ordered = asked("/packets", sortModel=[{"colId": "path_label", "sort": "asc"}])
    names = [row["path_label"] for row in ordered]
    assert names == sorted(names)
    again = asked("/packets?table=retransmissions")
    assert {row["first_path_label"] for row in again} <= set(labels)
    assert all(labels[row["path"]] == row["path_label"] for row in again)


def test_a_path_without_a_label_is_called_by_its_number() -> None:
    (batch, *_) = DATA.cases[0].batches("chunks")
    names = labelled.batch(batch, {0: ["only"]}).column("path_label").to_pylist()
    assert set(names) == {"only", "path 1"}
    assert set(labelled.batch(batch, {}).column("path_label").to_pylist()) == {"path 0", "path 1"}


def test_captures_without_associations_are_listed_as_they_are() -> None:
    (case,) = flows().cases
    (batch, *_) = case.batches("segments")
    assert labelled.batch(batch, {}).schema.names == batch.schema.names
