"""A comparison as one HTML page that needs nothing else: no server, no network, no scripts."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Any

from .. import standalone
from . import cells

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

Node = dict[str, Any]

STYLE = """
td { white-space: nowrap }
.worse { background: #fbeeee } .better { background: #eef8ee } .changed { background: #fdf6e3 }
svg { vertical-align: middle }
"""

WIDTH, HEIGHT, MARGIN = 160, 16, 4
"""Of the drawing of an interval, in pixels."""


def page(document: Node) -> str:
    """Return the page of a document of `pathscope.compare/1`: every row of it."""
    title = f"{document['baseline']} against {document['candidate']}"
    body = (f"{line}\n" for line in _lines(document))
    return "".join(standalone.page(title, body, style=STYLE))


def _lines(document: Node) -> Iterator[str]:
    yield f"<h1>{escape(cells.summary(document))}</h1>"
    yield f"<p>Baseline {escape(document['baseline'])}<br>"
    yield f"Candidate {escape(document['candidate'])}</p>"
    for group in document["groups"]:
        yield from _group(group)
    if left := list(cells.left_out(document)):
        yield "<h2>Left out</h2>"
        yield _list(left)


def _group(group: Node) -> Iterator[str]:
    sizes = f"{len(group['baseline'])} against {len(group['candidate'])} runs"
    yield f"<h2>{escape(group['name'])}: {sizes}</h2>"
    if changes := cells.changes(group):
        yield _list(changes)
    notes = cells.Notes()
    told = cells.shown_rows(group, cells.TOLD)
    others = cells.shown_rows(group, frozenset(cells.ORDER) - cells.TOLD)
    if told:
        yield _numbers(told, notes)
    if others:
        what = f"{len(others)} {'number' if len(others) == 1 else 'numbers'} without a difference"
        yield f"<details><summary>{what}</summary>{_numbers(others, notes)}</details>"
    yield from (f'<p class="dim">{escape(line)}</p>' for line in notes.lines())
    if group["differences"]:
        yield "<h3>What happened</h3>"
        yield _list(map(cells.difference, group["differences"]))
    for one in group["timelines"]:
        yield f"<h3>{escape(cells.timeline_title(one))}</h3>"
        yield _table(cells.TIMELINE_HEAD, (("", row) for row in cells.timeline(one)))
    if group["warnings"]:
        yield "<h3>Warnings</h3>"
        yield _list(one["text"] for one in group["warnings"])


def _numbers(rows: Sequence[Node], notes: cells.Notes) -> str:
    body = []
    for row in rows:
        found = "".join(f"<td>{escape(cell)}</td>" for cell in cells.cells(row, notes))
        drawn = f"<td>{_drawn(row['ratio'])}</td>"
        body.append(f'<tr class="{escape(row["verdict"])}">{found}{drawn}</tr>')
    head = "".join(f"<th>{escape(cell)}</th>" for cell in (*cells.HEAD, "interval of the ratio"))
    return f'<div class="scrolled"><table><tr>{head}</tr>{"".join(body)}</table></div>'


def _drawn(ratio: Node | None) -> str:
    """Draw the interval of a ratio from half to double; the line in the middle is no difference."""
    if ratio is None or ratio["low"] is None or ratio["high"] is None:
        return ""
    low, value, high = (_across(ratio[key]) for key in ("low", "value", "high"))
    middle, y = _across(1.0), HEIGHT / 2
    return (
        f'<svg width="{WIDTH}" height="{HEIGHT}" role="img">'
        f"<title>{ratio['low']:.3f} to {ratio['high']:.3f}</title>"
        f'<line x1="{middle:.1f}" x2="{middle:.1f}" y1="0" y2="{HEIGHT}" stroke="#999"/>'
        f'<line x1="{low:.1f}" x2="{high:.1f}" y1="{y}" y2="{y}" stroke="#246" stroke-width="2"/>'
        f'<circle cx="{value:.1f}" cy="{y}" r="3" fill="#246"/></svg>'
    )


def _across(ratio: float) -> float:
    share = min(max((ratio - 0.5) / 1.5, 0.0), 1.0)
    return MARGIN + share * (WIDTH - 2 * MARGIN)


def _table(head: Sequence[str], rows: Iterable[tuple[str, Sequence[str]]]) -> str:
    body = "".join(
        f'<tr class="{escape(kind)}">{"".join(f"<td>{escape(c)}</td>" for c in found)}</tr>'
        for kind, found in rows
    )
    first = "".join(f"<th>{escape(cell)}</th>" for cell in head)
    return f'<div class="scrolled"><table><tr>{first}</tr>{body}</table></div>'


def _list(texts: Iterable[str]) -> str:
    return f"<ul>{''.join(f'<li>{escape(text)}</li>' for text in texts)}</ul>"
