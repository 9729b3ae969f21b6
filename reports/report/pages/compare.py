"""Compare: the verdicts of `pathscope compare`, and what happened otherwise."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...compare import cells as words
from ..blocks import Column, Facts, Figure, Heading, Notice, Table
from . import common

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ...figures.about import Basis
    from ..blocks import Block
    from ..view import View

Node = dict[str, Any]

DEFINITIONS = {
    "metric": "docs/metrics.md defines it.",
    "where": "At which place of a run's result it stands.",
    "baseline": "Mean of its runs.",
    "candidate": "Mean of its runs.",
    "difference": "Of the means, as a share where there is one, with its 95 % interval.",
    "p": "Of the test, after Holm's correction over the table (docs/compare-statistics.md).",
    "n": "Runs of the baseline and of the candidate that have the number.",
    "verdict": "docs/compare.md says when it is which.",
}


TIMELINE = {
    "instant": "docs/metrics.md defines it.",
    "baseline": "When it was in the baseline's run.",
    "baseline_frame": "The frame of the baseline's capture that shows it.",
    "candidate": "When it was in the candidate's run.",
    "candidate_frame": "The frame of the candidate's capture that shows it.",
    "later": "How much later it was in the candidate's run.",
}

EVERY: tuple[Basis, ...] = ("observed", "annotated", "inferred")
"""Of numbers that runs know in different ways."""


def blocks(view: View) -> Iterator[Block]:
    """Yield what the page is made of."""
    document = view.data.comparison
    if document is None:
        yield common.nothing(
            "Nothing is compared",
            "Give --baseline SET, or what pathscope compare --format json wrote.",
        )
        return
    yield Facts(
        words.summary(document),
        (("baseline", document["baseline"]), ("candidate", document["candidate"])),
    )
    if document["groups"]:
        yield Figure("intervals")
    for number, group in enumerate(document["groups"]):
        yield from _group(group, number)
    if any(group["timelines"] for group in document["groups"]):
        yield Figure("alignment")
    if left := tuple(words.left_out(document)):
        yield Notice("warning", "Left out", left)


def _group(group: Node, number: int) -> Iterator[Block]:
    sizes = f"{len(group['baseline'])} against {len(group['candidate'])} runs"
    yield Heading(group["name"], sizes)
    if changes := tuple(words.changes(group)):
        yield Notice("info", "What was set otherwise", changes)
    notes = words.Notes()
    columns = tuple(Column(key, key, "", DEFINITIONS.get(key, "")) for key in words.HEAD)
    told = [words.cells(row, notes) for row in words.shown_rows(group, words.TOLD)]
    rest = frozenset(words.ORDER) - words.TOLD
    others = [words.cells(row, notes) for row in words.shown_rows(group, rest)]
    yield Table(
        f"differences-{number}",
        "What is better, worse or other",
        columns,
        told,
        empty="No number differs by more than is tolerated.",
        basis=EVERY,
    )
    if others:
        title = "Without a difference"
        yield Table(f"others-{number}", title, columns, others, is_long=True, basis=EVERY)
    if notes.lines():
        yield Notice("info", "Notes", tuple(notes.lines()))
    if group["differences"]:
        lines = tuple(map(words.difference, group["differences"]))
        yield Notice("warning", "What happened otherwise", lines)
    for index, one in enumerate(group["timelines"]):
        yield Table(
            f"timeline-{number}-{index}",
            words.timeline_title(one),
            tuple(Column(key, key.replace("_", " "), "", TIMELINE[key]) for key in TIMELINE),
            words.timeline(one),
            "Times count from the common origin.",
            basis=EVERY,
        )
    if group["warnings"]:
        lines = tuple(one["text"] for one in group["warnings"])
        yield Notice("warning", "What limits the comparison", lines)
