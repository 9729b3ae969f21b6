"""A comparison on the console, in the spirit of benchstat."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rich.console import Group
from rich.text import Text

from ..layout import grid, section
from . import cells

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from rich.console import RenderableType
    from rich.table import Table

Node = dict[str, Any]

STYLE = {"worse": "bold red", "better": "green", "changed": "yellow"}
RIGHT = ("baseline", "candidate", "difference", "p", "n", "frame")


def report(document: Node, shown: Collection[str] = cells.FIRST) -> Group:
    """Render a document of `pathscope.compare/1`."""
    return Group(*_parts(document, shown))


def _parts(document: Node, shown: Collection[str]) -> Iterator[RenderableType]:
    yield Text(f"baseline   {document['baseline']}")
    yield Text(f"candidate  {document['candidate']}")
    for group in document["groups"]:
        sizes = f"{len(group['baseline'])} against {len(group['candidate'])} runs"
        yield section(f"{group['name']}: {sizes}", Group(*_group(group, shown)))
    if left := list(cells.left_out(document)):
        yield section("Left out", Group(*map(Text, left)))
    yield ""
    yield Text(cells.summary(document))


def _group(group: Node, shown: Collection[str]) -> Iterator[RenderableType]:
    for change in cells.changes(group):
        yield Text(change)
    rows = cells.shown_rows(group, shown)
    notes = cells.Notes()
    if rows:
        yield ""
        yield _table(rows, notes)
    for line in (*cells.hidden(group, shown), *notes.lines()):
        yield Text(line, style="dim")
    if group["differences"]:
        yield section("What happened", _lines(map(cells.difference, group["differences"])))
    for one in group["timelines"]:
        table = grid(*cells.TIMELINE_HEAD, right=(*RIGHT, "instant"))
        table.columns[0].justify = "left"
        for row in cells.timeline(one):
            table.add_row(*row)
        yield section(cells.timeline_title(one), table)
    if group["warnings"]:
        yield section("Warnings", _lines(one["text"] for one in group["warnings"]))


def _lines(texts: Iterator[str]) -> Group:
    return Group(*map(Text, texts))


def _table(rows: Sequence[Node], notes: cells.Notes) -> Table:
    """Put the name of a metric above its places."""
    _, _, *others = cells.HEAD
    table = grid("", *others, right=RIGHT)
    before = None
    for row in rows:
        metric, where, *rest, verdict = cells.cells(row, notes)
        if metric != before:
            table.add_row(metric)
        style = STYLE.get(row["verdict"], "")
        table.add_row(f"  {where}", *rest, Text(verdict, style=style))
        before = metric
    return table
