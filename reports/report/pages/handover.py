"""Handover: one of them, from the last packet that got through to full recovery."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...console import INSTANT_WORDS
from ...units import duration, ratio
from .. import filters
from ..blocks import Choices, Column, Facts, Figure, Link, Notice, Number, Table
from . import association, common

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ....analyzer.story.model import Alternative, Story
    from ...figures.about import Basis
    from ..blocks import Block, Cell
    from ..data import Case
    from ..view import View

Node = dict[str, Any]
Row = tuple["Cell", ...]

FIGURES = ("instants", "phases", "timers", "ladder")

METRIC_WORDS = {
    "link_failure_recovery_s": "from failure to new path",
    "failure_detection_s": "of which detection",
    "link_recognition_s": "from link's return to DATA on it",
    "handover_delay_s": "from decision to new path",
    "data_interruption_s": "without DATA being sent",
    "delivery_gap_s": "longest stop of delivery",
    "recovery_completion_s": "from failure to full recovery",
    "timeouts_before_move": "time-outs before the move",
    "predicted_failover_s": "predicted: Path.Max.Retrans + 1 time-outs",
    "predicted_failover_bokor_s": "predicted: Path.Max.Retrans time-outs",
}


def blocks(view: View) -> Iterator[Block]:
    """Yield what the page is made of."""
    case, one, found = view.case, view.association, view.handover
    if case is None or one is None or found is None:
        yield common.nothing(
            "No handover", "New DATA of neither end moved to another path and stayed."
        )
        return
    number = next(n for n, other in enumerate(one["handovers"], start=1) if other is found)
    yield from association.choices(view, case)
    if len(one["handovers"]) > 1:
        options = tuple(
            Link(str(n), view.state.to("handover", handover=n, from_ns=None, to_ns=None))
            for n in range(1, len(one["handovers"]) + 1)
        )
        yield Choices("Handover", options, options[number - 1].to)
    yield _facts(case, one, found, number)
    for name in FIGURES:
        yield Figure(name)
    yield _instants(case, view, found)
    yield _metrics(found)
    yield from _story(case, view, found, number)


def _facts(case: Case, one: Node, found: Node, number: int) -> Facts:
    old, new = (one["paths"][found[key]]["label"] for key in ("from_path", "to_path"))
    return Facts(
        f"Handover {number} of association {one['id']}",
        (
            ("capture", common.case_name(case)),
            ("whose DATA", f"end {found['sender']}"),
            ("from", old),
            ("to", new),
            ("cause", found["cause"]),
            ("evidence", found["cause_text"]),
            ("why so long", "; ".join(found["explanation"])),
        ),
        found["wireshark"],
    )


def _instants(case: Case, view: View, found: Node) -> Table:
    columns = (
        Column("instant", "instant", "", "docs/metrics.md defines each."),
        common.WHAT,
        common.WHEN,
        common.BASIS,
        common.FRAME,
        Column("reason", "why it is absent", "", "What this capture lacks."),
    )
    known = [(key, one) for key, one in found["instants"].items() if one["ns"] is not None]
    absent = [(key, one) for key, one in found["instants"].items() if one["ns"] is None]
    known.sort(key=lambda item: item[1]["ns"])
    rows: list[Row] = [
        (
            key,
            INSTANT_WORDS.get(key, ""),
            common.since(case, one["ns"]),
            one.get("basis", "absent"),
            common.frame(view.state, one.get("frame"), elsewhere="other_capture" in one),
            one.get("reason"),
        )
        for key, one in (*known, *absent)
    ]
    return Table("instants", "Instants", columns, rows, "When did what happen?", found["wireshark"])


def _metrics(found: Node) -> Table:
    columns = (
        Column("metric", "number", "", "The key of the result contract."),
        common.WHAT,
        Column("value", "value", "s", "With its bounds, where it is inferred."),
        common.BASIS,
        Column("definition", "definition", "", "As docs/metrics.md has it."),
    )
    rows: list[Row] = []
    for key, words in METRIC_WORDS.items():
        column = common.metric("handovers", key, words)
        node = found["metrics"][key]
        basis = node.get("basis", "absent")
        rows.append((key, words, Number(node, column.unit), basis, column.definition))
    return Table("metrics", "How long its parts took", columns, rows, wireshark=found["wireshark"])


def _story(case: Case, view: View, found: Node, number: int) -> Iterator[Block]:
    if case.analysis is None:
        yield common.nothing(
            "No story", "It is told from the capture: this is a stored result, without one."
        )
        return
    from ....stories import explain

    (story,) = explain(case.analysis, association=view.the_association()["id"], handover=number)
    yield _events(case, view, story)
    if story.phases:
        yield _phases(story, found)
    yield Notice("info", "Why", story.why)
    if story.settings is not None:
        yield _alternatives(story, found)


def _events(case: Case, view: View, story: Story) -> Table:
    columns = (
        common.WHEN,
        Column("gap", "after", "s", "Since the line above."),
        Column("text", "what happened", "", "In words."),
        common.BASIS,
        common.FRAME,
    )
    rows: list[Row] = []
    before_ns: int | None = None
    for event in story.events:
        gap = None if before_ns is None else f"+{duration((event.time_ns - before_ns) / 1e9)}"
        before_ns = event.time_ns
        where = common.frame(view.state, event.frame)
        rows.append((common.since(case, event.time_ns), gap, event.text, event.basis, where))
    told = filters.of_frames(view, (event.frame for event in story.events))
    what = "The handover told in time order."
    return Table("story", "What happened", columns, rows, what, told)


def _phases(story: Story, found: Node) -> Table:
    columns = (
        Column("part", "part", "", "docs/explain.md defines each."),
        Column("text", "what it is", "", "In words."),
        Column("duration", "how long", "", "They follow one another without gaps."),
        Column("share", "share", "", "Of all of them together."),
    )
    total_ns = sum(phase.end_ns - phase.start_ns for phase in story.phases)
    rows: list[Row] = []
    for phase in story.phases:
        took_ns = phase.end_ns - phase.start_ns
        rows.append((phase.name, phase.text, duration(took_ns / 1e9), ratio(took_ns / total_ns)))
    basis: tuple[Basis, ...] = ("observed", "annotated", "inferred")
    return Table(
        "parts",
        "Where the time went",
        columns,
        rows,
        wireshark=found["wireshark"],
        basis=basis,
    )


def _alternatives(story: Story, found: Node) -> Table:
    from ...story import COLUMNS, RETURN
    from ...values import measure

    names = RETURN if story.cause == "path-returned" else tuple(COLUMNS)
    columns = tuple(common.metric("handovers", name, COLUMNS[name]) for name in names)

    def row(title: str, one: Alternative | None) -> Row:
        numbers = story.measured if one is None else one.prediction.metrics
        return (title, *(Number(measure(numbers[c.key]), c.unit) for c in columns))

    rows = [row("measured", None)]
    rows += [row(one.text if one.given else "model, as it was", one) for one in story.alternatives]
    return Table(
        "alternatives",
        "What it would have cost",
        (Column("at", "at", "", "The settings, of which those named differ."), *columns),
        rows,
        "At other settings of the sender, by the model of docs/explain.md.",
        found["wireshark"],
    )
