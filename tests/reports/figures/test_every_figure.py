"""What is so of all figures: both themes, both widths, hostile names, nothing to draw."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from types import ModuleType
from typing import Any

import figuring
import numpy as np
import pyarrow as pa
import pytest
from figuring import CASES, LOOKS
from pathscope.reports.figures import (
    bins,
    drawn,
    heartbeats,
    instants,
    ladder,
    phases,
    rtt,
    swimlane,
    throughput,
    timers,
    tsn,
    window,
)
from pathscope.reports.figures.about import About
from pathscope.reports.figures.look import Look
from pathscope.reports.figures.part import Part, Window
from pathscope.reports.figures.sheet import MOST_MARKS, caption
from pathscope.reports.report import theme

OVER_TIME = (swimlane, tsn, throughput, rtt, window, heartbeats)
OF_HANDOVER = (instants, phases, timers, ladder)
WIDE = Look("light", 1280)

HOSTILE = '<script>alert(1)</script><a href="https://x.invalid">%{x} $a$ \u202e</a>'


def names_of(figure: Any) -> str:
    return json.dumps(json.loads(figure.to_json()))


@pytest.mark.parametrize("module", OVER_TIME)
@pytest.mark.parametrize("look", LOOKS)
def test_figures_are_drawn_in_every_look(module: ModuleType, look: Look) -> None:
    figure = module.draw(module.inputs(figuring.part("lab-return")), look)
    assert figure.layout.template.layout.paper_bgcolor == look.colours.paper
    assert figure.data
    for trace in figure.data:
        assert trace.name
    json.loads(figure.to_json())


@pytest.mark.parametrize("module", [*OVER_TIME, *OF_HANDOVER])
def test_figures_are_told_about(module: ModuleType) -> None:
    about = module.ABOUT
    assert isinstance(about, About)
    assert about.question.endswith("?")
    assert about.basis
    assert about.unit
    assert about.definition.endswith(".")
    assert about.wireshark_filter is None
    assert about.shown("sctp").wireshark_filter == "sctp"


@pytest.mark.parametrize("module", [one for one in OVER_TIME if one is not swimlane])
@pytest.mark.parametrize("look", LOOKS)
def test_a_stored_result_says_why_there_is_nothing(module: ModuleType, look: Look) -> None:
    figure = module.draw(module.inputs(figuring.stored("lab-return")), look)
    assert not figure.data
    assert "no ledger" in caption(figure)
    (note,) = figure.layout.annotations
    assert note.text.replace("<br>", " ") == caption(figure)


def test_a_stored_result_still_has_states() -> None:
    figure = swimlane.draw(swimlane.inputs(figuring.stored("lab-return")), WIDE)
    assert figuring.named(figure, "ACTIVE")
    assert "no ledger" in caption(figure)


@pytest.mark.parametrize("module", OF_HANDOVER)
def test_without_a_handover_there_is_nothing(module: ModuleType) -> None:
    figure = module.draw(module.inputs(figuring.part("lab-lossy")), WIDE)
    assert not figure.data
    assert caption(figure)


@pytest.mark.parametrize("module", OVER_TIME)
def test_a_sender_of_nothing_says_so(module: ModuleType) -> None:
    part = figuring.part("lab-return")
    nothing = {name: table.slice(0, 0) for name, table in (part.tables or {}).items()}
    figure = module.draw(module.inputs(replace(part, tables=nothing)), WIDE)
    if module is not swimlane:
        assert not figure.data
        assert caption(figure)


def renamed(part: Part, name: str) -> Part:
    paths = [path | {"label": f"{name}{path['id']}"} for path in part.association["paths"]]
    return replace(part, association=part.association | {"paths": paths})


def text_of(figure: Any) -> list[str]:
    """Return every text that Plotly would take for its HTML."""
    found: list[str] = []

    def walk(node: Any, key: str = "") -> None:
        if isinstance(node, dict):
            for name, child in node.items():
                if name != "meta":
                    walk(child, name)
        elif isinstance(node, list):
            for child in node:
                walk(child, key)
        elif isinstance(node, str):
            found.append(node)

    walk(json.loads(figure.to_json()))
    return found


ALLOWED = re.compile(r"</?(br|b|extra)>")


@pytest.mark.parametrize("module", [*OVER_TIME, *OF_HANDOVER])
@pytest.mark.parametrize("look", [LOOKS[0], LOOKS[3]])
def test_hostile_names_are_text(module: ModuleType, look: Look) -> None:
    part = renamed(figuring.of_handover("failover-v6", 0), HOSTILE)
    if part.story is not None:
        hostile = [one | {"text": HOSTILE} for one in part.story["phases"]]
        part = replace(part, story=part.story | {"phases": hostile})
    seen = instants.window(part)
    part = figuring.with_chunks(part, "failover-v6", seen)
    figure = module.draw(module.inputs(part, seen), look)
    for text in text_of(figure):
        assert "<" not in ALLOWED.sub("", text), text
        assert "\u202e" not in text
        assert "$" not in text
    # A name in a template could ask for values: it is only ever named by the trace.
    for trace in figure.data:
        assert "script" not in (getattr(trace, "hovertemplate", None) or "")


@pytest.mark.parametrize("case", CASES)
def test_a_path_has_one_colour_in_all_figures(case: str) -> None:
    part = figuring.part(case)
    for module in (throughput, rtt, window, heartbeats):
        figure = module.draw(module.inputs(part), WIDE)
        for trace in figure.data:
            for path, label in enumerate(part.labels):
                if trace.name.endswith(label):
                    colour = trace.line.color or trace.marker.color
                    assert colour == theme.path_colour(path), trace.name


def long(part: Part, times: int) -> Part:
    """Return a part whose time bins, runs and retransmissions are there so many times over."""
    tables = dict(part.tables or {})
    length = part.association["end_ns"] - part.origin_ns + part.bin_ns
    length -= length % part.bin_ns
    for name, keys in (
        ("intervals", ("start_ns", "first_ns", "last_ns")),
        ("heartbeats", ("time_ns", "ack_ns")),
        ("retransmissions", ("time_ns", "first_ns")),
    ):
        tables[name] = pa.concat_tables(
            shifted(tables[name], keys, turn * length) for turn in range(times)
        )
    association = part.association | {"end_ns": part.origin_ns + times * length}
    return replace(part, tables=tables, association=association)


def shifted(table: pa.Table, keys: tuple[str, ...], by_ns: int) -> pa.Table:
    for key in keys:
        values = [None if one is None else one + by_ns for one in table[key].to_pylist()]
        place = table.schema.get_field_index(key)
        table = table.set_column(place, table.schema.field(key), pa.array(values, pa.int64()))
    return table


@pytest.mark.parametrize("module", OVER_TIME)
def test_long_runs_are_resampled_and_say_so(module: ModuleType) -> None:
    part = long(figuring.part("failover-v6"), 60)
    figure = module.draw(module.inputs(part), WIDE)
    points = [len(trace.x) for trace in figure.data if trace.type == "scatter"]
    assert all(count <= 2 * WIDE.points() for count in points)
    if module is throughput:
        assert max(points) <= 4 * bins.MOST_STEPS
    if module is window:
        assert " are drawn, chosen so that the screen shows the same" in caption(figure)


def test_marks_are_bounded() -> None:
    part = figuring.part("failover-v6")
    many = part.association["handovers"] * 500
    part = replace(part, association=part.association | {"handovers": many})
    figure = throughput.draw(throughput.inputs(part), WIDE)
    assert len(figure.layout.shapes) == MOST_MARKS
    assert f"Only the first {MOST_MARKS}" in caption(figure)


def test_points_are_shared_by_lines() -> None:
    assert WIDE.points() == 4000
    assert WIDE.points(24) == 1000
    assert Look("light", 390).points() == 1560
    assert Look("light", 1).points(10**6) == 200


def test_what_is_downloaded_is_what_is_drawn() -> None:
    figure = throughput.draw(throughput.inputs(figuring.part("lab-return")), WIDE)
    table = drawn.table(figure)
    assert table.schema == drawn.SCHEMA
    for trace in figure.data:
        own = [row for row in table.to_pylist() if row["trace"] == trace.name]
        assert np.array([row["y"] for row in own], float).tolist() == list(trace.y)


def test_a_window_outside_of_the_association_is_all_of_it() -> None:
    part = figuring.part("lab-return")
    assert part.window(Window(0, 1)) == part.window(None)
