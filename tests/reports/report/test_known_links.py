"""What the user knows of links is in the figures: from an events file, or from packet comments."""

from __future__ import annotations

import json
from decimal import Decimal
from pathlib import Path

from pathscope.reports.figures import drawn
from pathscope.reports.figures.part import LinkChange
from pathscope.reports.report.load import How, load
from pathscope.reports.report.view import view_of
from reporting import FAILOVER, LABELS, desk, failover
from running import CAPTURES

NS_PER_S = 1_000_000_000


def told(events: Path) -> list[tuple[int, bool]]:
    """Return the link changes of an events file, read without pathscope."""
    lines = [json.loads(one, parse_float=Decimal) for one in events.read_text().splitlines()]
    links = [one for one in lines if one.get("event") == "link"]
    return [(int(one["t"] * NS_PER_S), one["note"] == "up") for one in links]


def known(changes: tuple[LinkChange, ...]) -> list[tuple[int, bool]]:
    assert {one.basis for one in changes} <= {"annotated"}
    return [(one.ns, one.up) for one in changes]


def test_an_events_file_is_what_figures_know() -> None:
    (case,) = failover().cases
    expected = told(FAILOVER / "events.jsonl")
    assert expected
    assert known(case.links[0]) == expected
    labels = [path["label"] for path in case.document["associations"][0]["paths"]]
    assert {labels[one.path] for one in case.links[0]} == {"wlan"}


def test_without_an_events_file_there_is_nothing_to_know() -> None:
    (case,) = load([str(FAILOVER / "client.pcapng")], How(labels=LABELS)).cases
    assert case.links == {}


def test_packet_comments_are_what_figures_know() -> None:
    run = CAPTURES / "lab-failover"
    (case,) = load([str(run / "client.pcapng")], How()).cases
    assert known(case.links[0]) == told(run / "events.jsonl")


def test_two_ends_know_the_events_too() -> None:
    ends = [str(FAILOVER / f"{end}.pcapng") for end in ("client", "server")]
    (case,) = load(ends, How(events=FAILOVER / "events.jsonl", labels=LABELS)).cases
    assert known(case.links[0]) == told(FAILOVER / "events.jsonl")


def test_the_swimlane_marks_them() -> None:
    data = failover()
    view = view_of(data, "/association")
    figure = desk(data).draw("swimlane", view).figure
    origin_ns = data.cases[0].origin_ns
    times = {row["x"] for row in drawn.table(figure).to_pylist()}
    for ns, _ in told(FAILOVER / "events.jsonl"):
        assert f"{Decimal(ns - origin_ns) / NS_PER_S:.9f}" in times
