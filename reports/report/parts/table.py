"""A table card: rows as text with hints, links and marks; many rows are a grid."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import dash_mantine_components as dmc
from dash import html

from .. import cells
from ..blocks import WIRESHARK, Link
from ..downloads import table_address
from .grid import rows_in_browser
from .words import BASES, MARKS, badges, copying, download, hinted

if TYPE_CHECKING:
    from dash.development.base_component import Component

    from ..blocks import Cell, Column, Table
    from ..view import View

LONGEST_CELL = 400
"""Letters of a cell; the download has all."""


def card(block: Table, view: View) -> Component:
    """Return a table with its title, what it answers, its filter and its download."""
    actions = [copying(block.wireshark)]
    if block.rows:
        address = table_address(view.state, block.name)
        actions.append(download("CSV", f"{block.title} as CSV", address, f"{block.name}.csv"))
    return dmc.Card(
        [
            dmc.Group(
                [
                    dmc.Group(
                        [
                            dmc.Title(block.title, order=2, size="h4"),
                            *(badges(cells.bases(block)) if block.rows else ()),
                        ],
                        gap="xs",
                    ),
                    dmc.Group(actions, gap="xs"),
                ],
                justify="space-between",
            ),
            dmc.Text(block.what, c="dimmed", size="sm"),
            _body(block),
            *_legend(block),
        ],
        withBorder=True,
    )


def _body(block: Table) -> Component:
    if not block.rows:
        return dmc.Text(block.empty, c="dimmed", size="sm")
    if block.is_long:
        return rows_in_browser(block)
    # Scrolled by itself where it is wider than the screen, and so reached by the keyboard.
    return html.Div(
        _table(block),
        className="scrolled",
        tabIndex=0,
        role="region",
        **{"aria-label": block.title},
    )


def _legend(block: Table) -> list[Component]:
    found = {cells.basis(cell) for row in block.rows for cell in row}
    told = [f"{mark}: {basis}, {BASES[basis]}" for basis, mark in MARKS.items() if basis in found]
    return [dmc.Text("; ".join(told), size="xs", c="dimmed")] if told else []


def _table(block: Table) -> Component:
    heads = [
        html.Th(hinted(cells.head(block, number), column.definition), scope="col")
        for number, column in enumerate(block.columns)
    ]
    rows = [
        html.Tr([_cell(cell, one) for cell, one in zip(row, block.columns, strict=True)])
        for row in block.rows
    ]
    return html.Table([html.Thead(html.Tr(heads)), html.Tbody(rows)], className="table")


def _cell(cell: Cell, column: Column) -> Component:
    if isinstance(cell, Link):
        return html.Td(dmc.Anchor(cell.text, href=cell.to.address(), refresh=False, inherit=True))
    if column.key == WIRESHARK:
        return html.Td(copying(cell) if isinstance(cell, str) else cells.NOTHING)
    text, basis = cells.text(cell), cells.basis(cell)
    shown = text if len(text) <= LONGEST_CELL else f"{text[:LONGEST_CELL]}..."
    content: list[Any] = [hinted(shown, cells.hint(cell))]
    if basis in MARKS:
        content.append(html.Sup(MARKS[basis]))
    return html.Td(content, className="number" if cells.is_number(cell) else None)
