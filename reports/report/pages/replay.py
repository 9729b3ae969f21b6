"""Replay: what was asked for against what came of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...units import file_name
from ..blocks import Choices, Column, Facts, Figure, Link, Notice, Table
from . import common

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ..blocks import Block, Cell
    from ..view import View

Node = dict[str, Any]
Row = tuple["Cell", ...]

ROUTES = {
    "planned": "Frames in the log.",
    "sent": "Handed over.",
    "refused": "Refused by the device's queue (ENOBUFS).",
    "dropped_late": "Not sent because they were late.",
    "arrived": "Sent frames that came as they were.",
    "corrupted": "Sent frames that came only with a bit changed.",
    "lost": "Sent frames that did not come.",
    "overflow": "Of the lost, those that may have met a full queue.",
    "copies": "Frames that came again.",
    "reordered": "Frames that came after one sent later (RFC 4737).",
}
ROUTE = Column("route", "route", "", "A path in one direction.")

ROWS = (
    ROUTE,
    Column("step", "step", "", "Stretch of one impairment; empty: all of them."),
    Column("quantity", "quantity", "", "Its unit is the end of its name."),
    Column("asked", "asked", "", "What the step asked the network for."),
    Column("achieved", "achieved", "", "What came of it."),
    Column("low", "low", "", "Lower end of the 95 % interval."),
    Column("high", "high", "", "Upper end of the 95 % interval."),
    Column("n", "n", "frames", "Frames that tell."),
    Column("verdict", "verdict", "", "Where chance can be told from error: docs/fidelity.md."),
    Column("why", "why", "", "There is this verdict, or none."),
)


def number_of(view: View) -> int:
    """Return which replay is looked at, from 1; the first where there is none such."""
    asked = view.state.replay or 1
    return asked if asked <= len(view.data.replays) else 1


def blocks(view: View) -> Iterator[Block]:
    """Yield what the page is made of."""
    replays = view.data.replays
    if not replays:
        yield common.nothing(
            "No replay to show", "Name what pathscope replay wrote: its fidelity in JSON."
        )
        return
    number = number_of(view)
    name, document = replays[number - 1]
    if len(replays) > 1:
        options = tuple(
            Link(file_name(one), view.state.to("replay", replay=n))
            for n, (one, _) in enumerate(replays, start=1)
        )
        yield Choices("Replay", options, options[number - 1].to)
    counts = ", ".join(f"{count} {word}" for word, count in document["verdicts"].items())
    kind = "FAIL" if document["failed"] else "pass"
    yield Facts(f"Fidelity: {kind}", (("replay", file_name(name)), ("verdicts", counts)))
    yield Figure("replay")
    yield _routes(document)
    yield Table(
        "asked",
        "Asked and achieved",
        ROWS,
        [_row(one, document) for one in document["rows"]],
        "With 95 % intervals; a verdict where chance can be told from error.",
        is_long=len(document["rows"]) > FEW,
    )
    if document["notes"]:
        yield Notice("info", "Notes", tuple(str(one) for one in document["notes"]))


FEW = 40
"""More rows get filters and sorting of their own."""


def _name(route: int, document: Node) -> str:
    one = document["routes"][route]
    return f"{one['path']} {one['direction']}"


def _routes(document: Node) -> Table:
    columns = tuple(
        Column(key, key.replace("_", " "), "frames", meaning) for key, meaning in ROUTES.items()
    )
    rows: list[Row] = [
        (f"{one['path']} {one['direction']}", *(one[column.key] for column in columns))
        for one in document["routes"]
    ]
    title = "What became of the frames"
    return Table("routes", title, (ROUTE, *columns), rows)


def _row(one: Node, document: Node) -> Row:
    keys = ("asked", "achieved", "low", "high", "n", "verdict", "why")
    step = None if one["step"] is None else one["step"] + 1
    return (_name(one["route"], document), step, one["quantity"], *(one[key] for key in keys))
