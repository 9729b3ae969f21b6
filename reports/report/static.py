"""The report as one file: every page's figures and tables, readable without network or server."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Any

from plotly.io import to_html

from .. import standalone
from ..figures.look import Look
from ..figures.sheet import caption, empty
from . import cells, contents, packets, query
from .blocks import (
    WIRESHARK,
    Choices,
    Facts,
    Figure,
    FrameView,
    Heading,
    Link,
    Notice,
    Packets,
    Table,
)
from .callbacks import TOLD
from .pages import PAGES, blocks
from .parts.words import MARKS

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pyarrow as pa

    from .blocks import Block, Cell, Column
    from .desk import Desk
    from .state import State
    from .view import View

MOST_ROWS = 500
"""Of a table; the report that is served has all."""

MOST_PACKETS = 50
"""Rows of packets: a glance at what the page Packets has."""

LOOK = Look(theme="light", width_px=1000)

STYLE = """
section { margin: 1.5rem 0 }
td.number { text-align: right; white-space: nowrap }
.notice { border-left: .3rem solid #5b6168; background: #eef1f4; padding: .4rem .8rem }
.warning { border-color: #b35900 } .error { border-color: #b3261e }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .2rem 1rem } dd { margin: 0 }
nav ul { columns: 16rem; padding-left: 1.2rem }
"""


def page(desk: Desk) -> Iterator[str]:
    """Yield the parts of the file."""
    yield from standalone.page("pathscope", _body(desk), style=STYLE, has_figures=True)


def _body(desk: Desk) -> Iterator[str]:
    data = desk.shelf.data
    views = list(contents.views(data))
    yield "<h1>pathscope</h1>\n"
    yield '<nav aria-label="Contents"><ul>'
    for view in views:
        yield f'<li><a href="#{anchor(view.state)}">{escape(title(view))}</a></li>'
    yield "</ul></nav>\n<main>\n"
    for sentence in contents.left_out(data):
        yield f'<p class="notice warning">{escape(sentence)}</p>\n'
    for view in views:
        yield f'<h2 id="{anchor(view.state)}">{escape(title(view))}</h2>\n'
        yield f'<p class="dim">{escape(PAGES[view.state.page].question)}</p>\n'
        for number, block in enumerate(blocks(view)):
            yield from _block(block, view, desk, f"{anchor(view.state)}-{number}")
    yield "</main>\n"


def anchor(state: State) -> str:
    """Return where a view is in the file."""
    parts = (state.page, state.case, state.association, state.handover, state.flow, state.replay)
    return "-".join(str(one) for one in parts if one is not None)


def title(view: View) -> str:
    """Return the title of a view, with the case where there are several."""
    words = [PAGES[view.state.page].title]
    state = view.state
    if view.case is not None and PAGES[state.page].of_case and len(view.data.cases) > 1:
        words.append(f"{view.case.key}: {view.case.name}")
    if state.page in ("association", "handover") and state.association is not None:
        words.append(f"association {state.association}")
    if state.handover is not None:
        words.append(f"handover {state.handover}")
    return ", ".join(words)


def _block(block: Block, view: View, desk: Desk, name: str) -> Iterator[str]:
    match block:
        case Heading():
            yield f'<h3>{escape(block.text)}</h3><p class="dim">{escape(block.what)}</p>\n'
        case Notice():
            items = "".join(f"<li>{escape(line)}</li>" for line in block.lines)
            yield f'<div class="notice {block.kind}"><b>{escape(block.title)}</b>'
            yield f"<ul>{items}</ul></div>\n" if items else "</div>\n"
        case Facts():
            facts = "".join(
                f"<dt>{escape(key)}</dt><dd>{_cell(cell)}</dd>" for key, cell in block.facts
            )
            yield f"<section><h3>{escape(block.title)}</h3><dl>{facts}</dl>"
            yield f"{_filter(block.wireshark)}</section>\n"
        case Figure():
            yield from _figure(block, view, desk, name)
        case Table():
            yield from _table(block)
        case Packets():
            yield from _packets(view)
        case Choices() | FrameView():
            pass  # every choice has a place of its own here; frames are decoded on demand


def _filter(expression: str | None) -> str:
    if expression is None:
        return ""
    return f'<p class="dim">Wireshark filter: <code>{escape(expression)}</code></p>'


def _figure(block: Figure, view: View, desk: Desk, name: str) -> Iterator[str]:
    try:
        drawn = desk.draw(block.name, view, LOOK)
    except TOLD as error:
        figure, head = empty(f"This cannot be drawn: {error}", LOOK), f"<h3>{block.name}</h3>"
        expression = None
    else:
        figure, about = drawn.figure, drawn.about
        head = (
            f"<h3>{escape(about.title)}</h3><p>{escape(about.question)}<br>"
            f'<span class="dim">{escape(about.unit)}; {", ".join(about.basis)}. '
            f"{escape(about.definition)}</span></p>"
        )
        expression = about.wireshark_filter
    yield f"<section>{head}"
    yield to_html(
        figure,
        full_html=False,
        include_plotlyjs=False,
        div_id=name,
        config={"displaylogo": False, "responsive": True},
    )
    yield f'<p class="dim">{escape(caption(figure))}</p>{_filter(expression)}</section>\n'


def _table(block: Table) -> Iterator[str]:
    yield f"<section><h3>{escape(block.title)}</h3>"
    known = f"Basis: {', '.join(cells.bases(block))}." if block.rows else ""
    if words := " ".join(filter(None, (block.what, known))):
        yield f'<p class="dim">{escape(words)}</p>'
    if not block.rows:
        yield f'<p class="dim">{escape(block.empty)}</p></section>\n'
        return
    heads = "".join(
        f'<th scope="col" title="{escape(one.definition)}">{escape(cells.head(block, n))}</th>'
        for n, one in enumerate(block.columns)
    )
    yield f'<div class="scrolled"><table><thead><tr>{heads}</tr></thead><tbody>'
    for row in block.rows[:MOST_ROWS]:
        found = zip(row, block.columns, strict=True)
        yield f"<tr>{''.join(_td(cell, column) for cell, column in found)}</tr>"
    yield "</tbody></table></div>"
    if len(block.rows) > MOST_ROWS:
        yield f'<p class="dim">The first {MOST_ROWS} of {len(block.rows):,} rows.</p>'
    if any(cells.basis(cell) in MARKS for row in block.rows for cell in row):
        told = ", ".join(f"{mark}: {basis}" for basis, mark in MARKS.items())
        yield f'<p class="dim">{told}</p>'
    yield f"{_filter(block.wireshark)}</section>\n"


def _td(cell: Cell, column: Column) -> str:
    if column.key == WIRESHARK and isinstance(cell, str):
        return f"<td><code>{escape(cell)}</code></td>"
    kind = ' class="number"' if cells.is_number(cell) else ""
    return f"<td{kind}>{_cell(cell)}</td>"


def _cell(cell: Cell) -> str:
    text, hint, basis = escape(cells.text(cell)), cells.hint(cell), cells.basis(cell)
    if hint:
        text = f'<span title="{escape(hint)}">{text}</span>'
    if basis in MARKS:
        text += f"<sup>{MARKS[basis]}</sup>"
    if isinstance(cell, Link) and cell.to.frame is None:
        return f'<a href="#{anchor(cell.to)}">{text}</a>'
    return text


def _packets(view: View) -> Iterator[str]:
    """Show the first rows: a glance, where the served report has them all."""
    found = query.select(packets.batches(view), None, MOST_PACKETS)
    rows: list[dict[str, Any]] = query.page(found.rows, 0, MOST_PACKETS, view.the_case().origin_ns)
    schema = found.rows.schema
    titles = packets.shown(schema)
    names = [n for n in titles if any(row[n] is not None for row in rows)]
    yield '<section><h3>First chunks</h3><div class="scrolled"><table><thead><tr>'
    yield "".join(f'<th scope="col">{escape(titles[n])}</th>' for n in names)
    yield "</tr></thead><tbody>"
    for row in rows:
        yield "<tr>" + "".join(_packet_cell(schema.field(n), row[n]) for n in names) + "</tr>"
    yield "</tbody></table></div></section>\n"


def _packet_cell(field: pa.Field, value: Any) -> str:
    kind = ' class="number"' if query.kind(field) == "number" else ""
    return f"<td{kind}>{'' if value is None else escape(str(value))}</td>"
