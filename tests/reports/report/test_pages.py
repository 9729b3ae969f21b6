"""Pages and callbacks without a browser: their numbers are those of the result document."""

from __future__ import annotations

import csv
import io
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from figuring import LOOKS
from hypothesis import given
from hypothesis import strategies as st
from pathscope.reports.report import callbacks
from pathscope.reports.report.app import create_app
from pathscope.reports.report.blocks import Facts, Figure, Notice, Number, Table
from pathscope.reports.report.data import Case, NoCaptureError, ReportData
from pathscope.reports.report.desk import Desk
from pathscope.reports.report.pages import PAGES, blocks
from pathscope.reports.report.parts import frame, render
from pathscope.reports.report.static import page as static_page
from pathscope.reports.report.view import view_of
from plotly.utils import PlotlyJSONEncoder
from reporting import FAILOVER, FORMULA, IMAGE, SCRIPT, desk, failover, flows, hostile

HERE = "http://127.0.0.1:8050"
DATA = failover()
DESK = desk(DATA)
ASSOCIATION = DATA.cases[0].document["associations"][0]


def shown(data: ReportData, address: str) -> str:
    """Return a page as what the browser gets."""
    view = view_of(data, address)
    return json.dumps(render.page(blocks(view), view), cls=PlotlyJSONEncoder)


def tables(data: ReportData, address: str) -> dict[str, Table]:
    return {one.name: one for one in blocks(view_of(data, address)) if isinstance(one, Table)}


@pytest.mark.parametrize("page", PAGES)
@pytest.mark.parametrize("data", [DATA, flows(), ReportData(())], ids=["sctp", "flows", "nothing"])
def test_every_page_is_there_for_any_data(page: str, data: ReportData) -> None:
    assert blocks(view_of(data, f"/{page}"))
    assert shown(data, f"/{page}")


@given(st.text(max_size=200))
def test_any_address_gives_a_page(text: str) -> None:
    found = callbacks.page(DESK, f"/{text}", None)
    assert len(found) == 5


@given(
    st.sampled_from(sorted(PAGES)),
    st.fixed_dictionaries(
        {},
        optional={
            "case": st.sampled_from(("1", "2", "etc")),
            "association": st.integers(0, 3),
            "handover": st.integers(1, 4),
            "path": st.integers(0, 4),
            "from": st.integers(-5, 60),
            "to": st.integers(-5, 60),
        },
    ),
)
def test_what_is_not_there_is_told(page: str, values: dict[str, Any]) -> None:
    from urllib.parse import urlencode

    view = view_of(DATA, f"/{page}?{urlencode(values)}")
    assert view.case is DATA.cases[0]
    assert bool(values.get("case", "1") != "1") == any("no case" in p for p in view.problems)
    assert view.association is ASSOCIATION


def test_the_overview_counts_what_the_document_has() -> None:
    found = tables(DATA, "/")
    (row,) = found["captures"].rows
    capture = DATA.cases[0].capture
    assert row[2] == capture["frames"]["read"] == 1510
    assert row[6] == len(ASSOCIATION["handovers"])
    assert len(found["findings"].rows) == len(ASSOCIATION["findings"])


def test_numbers_of_paths_are_those_of_the_document() -> None:
    found = tables(DATA, "/association")["paths"]
    assert len(found.rows) == 2 * len(ASSOCIATION["paths"])
    for row in found.rows:
        path = next(one for one in ASSOCIATION["paths"] if one["label"] == row[0])
        metrics = path["a_to_b" if row[1] == "a" else "b_to_a"]
        for cell, column in zip(row, found.columns, strict=True):
            if isinstance(cell, Number):
                assert cell.node is metrics[column.key]
                assert column.definition


def test_a_handover_has_its_instants_numbers_and_story() -> None:
    found = tables(DATA, "/handover?handover=1")
    instants = ASSOCIATION["handovers"][0]["instants"]
    assert {row[0] for row in found["instants"].rows} == set(instants)
    metrics = ASSOCIATION["handovers"][0]["metrics"]
    for row in found["metrics"].rows:
        assert isinstance(row[2], Number)
        assert row[2].node is metrics[str(row[0])]
    assert found["story"].rows
    assert found["alternatives"].rows


def test_a_path_is_chosen_for_the_table_too() -> None:
    assert {row[0] for row in tables(DATA, "/association?path=1")["paths"].rows} == {
        ASSOCIATION["paths"][1]["label"]
    }


def test_figures_are_drawn_of_every_page() -> None:
    for page in PAGES:
        view = view_of(DATA, f"/{page}")
        for one in blocks(view):
            if isinstance(one, Figure):
                for look in LOOKS:
                    figure, *_ = callbacks.figure(DESK, one.name, f"/{page}", look)
                    paper = figure.layout.template.layout.paper_bgcolor
                    assert paper == look.colours.paper


def test_a_zoom_goes_into_the_address_and_back() -> None:
    layout = {"xaxis.range[0]": 7.5, "xaxis.range[1]": 12.25}
    address = callbacks.zoomed(DESK, f"{HERE}/association?path=0", "throughput", layout)
    assert address is not None
    state = view_of(DATA, address).state
    assert (state.from_ns, state.to_ns) == (7_500_000_000, 12_250_000_000)
    assert state.path == 0
    whole = callbacks.zoomed(DESK, address, "throughput", {"xaxis.autorange": True})
    assert whole is not None
    assert view_of(DATA, whole).window is None


def test_a_case_that_is_shown_already_changes_nothing() -> None:
    address = "/packets?case=1&association=0&path=1&from=2&to=3&frame=444"
    assert callbacks.chosen(DESK, address, "case", "1") is None
    assert callbacks.chosen(DESK, address.replace("case=1&", ""), "case", "1") is None
    two = desk(ReportData((*DATA.cases, replace(DATA.cases[0], key="2"))))
    assert callbacks.chosen(two, address, "case", "2") == "/packets?case=2"


@pytest.mark.parametrize(
    "layout",
    [
        None,
        {},
        {"autosize": True},
        {"xaxis.range[0]": "x", "xaxis.range[1]": 3},
        {"dragmode": "pan"},
    ],
)
def test_what_is_no_zoom_changes_nothing(layout: Any) -> None:
    assert callbacks.zoomed(DESK, "/association", "throughput", layout) is None


def test_rows_are_those_of_the_window() -> None:
    request = {"startRow": 0, "endRow": 100, "filterModel": {}, "sortModel": []}
    found, told, asked, *_ = callbacks.rows(DESK, "/packets?from=10&to=11", None, request)
    assert asked is None
    assert "rows" in str(told)
    assert found["rowCount"] > 10
    assert all(10 <= float(row["time_ns"]) < 11 for row in found["rowData"])


def test_filter_and_order_go_into_the_address() -> None:
    model = {"chunk_name": {"filterType": "text", "type": "equals", "filter": "HEARTBEAT"}}
    order = [{"colId": "frame", "sort": "desc"}]
    request = {"startRow": 0, "endRow": 50, "filterModel": model, "sortModel": order}
    found, _, asked, csv_address, key = callbacks.rows(DESK, "/packets", None, request)
    frames = [row["frame"] for row in found["rowData"]]
    assert frames == sorted(frames, reverse=True)
    assert asked is not None
    assert key == callbacks.shell(view_of(DATA, asked), None)  # the grid need not be made anew
    again, _, nothing, *_ = callbacks.rows(DESK, asked, None, request)
    assert nothing is None
    assert again == found
    answer = create_app(DATA).server.test_client().get(csv_address, base_url=HERE)
    rows = list(csv.DictReader(io.StringIO(answer.get_data(as_text=True))))
    assert sorted(int(row["frame"]) for row in rows) == sorted(frames)
    assert all(len(row["time_ns"]) == 19 for row in rows)


def test_a_filter_that_is_none_is_told() -> None:
    request = {"startRow": 0, "endRow": 50, "filterModel": {"x": {"type": "blank"}}}
    found, told, *_ = callbacks.rows(DESK, "/packets", None, request)
    assert found == {"rowData": [], "rowCount": 0}
    assert "there is no column" in json.dumps(told, cls=PlotlyJSONEncoder)


def test_a_frame_is_decoded() -> None:
    text = json.dumps(frame.decoded(view_of(DATA, "/packets?frame=444")), cls=PlotlyJSONEncoder)
    assert "Frame 444" in text
    assert "Stream Control Transmission Protocol" in text or "SCTP" in text
    missing = frame.decoded(view_of(DATA, "/packets?frame=99999"))
    assert "has no frame 99999" in json.dumps(missing, cls=PlotlyJSONEncoder)


def test_downloads_have_what_is_shown() -> None:
    visitor = create_app(DATA).server.test_client()
    answer = visitor.get("/download/association/table/paths.csv?case=1", base_url=HERE)
    assert answer.mimetype == "text/csv"
    rows = list(csv.DictReader(io.StringIO(answer.get_data(as_text=True))))
    paths = ASSOCIATION["paths"]
    assert [float(row["goodput_bps"]) for row in rows if row["sender"] == "a"] == [
        path["a_to_b"]["goodput_bps"]["value"] for path in paths
    ]
    assert rows[0]["goodput_bps_basis"] == "observed"
    figure = visitor.get("/download/association/figure/throughput.csv", base_url=HERE)
    assert figure.get_data(as_text=True).startswith("trace,x_axis,x,y_axis,y,")
    for missing in ("table/nothing", "figure/nothing", "else/paths"):
        assert visitor.get(f"/download/association/{missing}.csv", base_url=HERE).status_code == 404


def test_a_stored_result_has_numbers_and_no_packets() -> None:
    stored = ReportData((Case("1", "stored", DATA.cases[0].document),))
    assert tables(stored, "/association")["paths"].rows
    (notice,) = blocks(view_of(stored, "/packets"))
    assert isinstance(notice, Notice)
    with pytest.raises(NoCaptureError):
        stored.cases[0].rows("chunks")
    with pytest.raises(NoCaptureError):
        stored.cases[0].frame(1)
    for page in PAGES:
        for one in blocks(view_of(stored, f"/{page}")):
            if isinstance(one, Figure):
                callbacks.figure(desk(stored), one.name, f"/{page}", LOOKS[0])


def test_names_from_captures_are_text(tmp_path: Path) -> None:
    data = hostile(tmp_path)
    assert not data.unread
    facts = [one for one in blocks(view_of(data, "/association")) if isinstance(one, Facts)]
    assert facts
    # In components a name is a string, which React shows letter by letter. In the file:
    text = "".join(static_page(desk(data)))
    assert "window.taken" in text
    body = text[text.index("</head>") :]
    assert SCRIPT not in body
    assert IMAGE not in body
    assert "<img" not in body


def test_a_name_is_no_formula(tmp_path: Path) -> None:
    data = hostile(tmp_path)
    visitor = create_app(data).server.test_client()
    answer = visitor.get("/download/packets/rows/packets.csv", base_url=HERE)
    text = answer.get_data(as_text=True)
    rows = list(csv.DictReader(io.StringIO(text)))
    names = {row["interface"] for row in rows}
    assert f"'{FORMULA}" in names
    assert FORMULA not in names


def test_only_the_given_files_are_read(tmp_path: Path) -> None:
    secret = tmp_path / "secret.txt"
    secret.write_text("hidden")
    for value in (str(secret), "../../secret.txt", "1/../secret"):
        view = view_of(DATA, f"/packets?case={value}&table={value}&frame=1")
        assert view.case is DATA.cases[0]
        assert view.case.files == (FAILOVER / "client.pcapng",)


def test_desks_share_nothing() -> None:
    one, other = Desk(DESK.shelf, {}), Desk(DESK.shelf, {})
    assert one.rows(view_of(DATA, "/packets")).rows.num_rows
    assert other._rows is not one._rows
