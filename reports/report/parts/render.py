"""Blocks as components."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import dash_mantine_components as dmc
from dash import html

from .. import cells
from ..blocks import Choices, Facts, Figure, FrameView, Heading, Link, Notice, Packets, Table
from . import figure, grid, table
from .words import copying, notice

if TYPE_CHECKING:
    from collections.abc import Iterable

    from dash.development.base_component import Component

    from ..blocks import Block, Cell
    from ..view import View

MOST_BUTTONS = 12
"""More choices are a list."""


def page(blocks: Iterable[Block], view: View) -> Component:
    """Return a page: what of the address could not be followed comes first."""
    found: list[Component] = []
    if view.problems:
        title = "Not all of the address could be followed"
        found.append(notice(Notice("warning", title, view.problems)))
    found += [component(block, view) for block in blocks]
    return dmc.Stack(found, gap="md")


def component(block: Block, view: View) -> Component:  # noqa: PLR0911  one for each kind
    """Return a block as a component."""
    match block:
        case Heading():
            return html.Div(
                [
                    dmc.Title(block.text, order=2, size="h3"),
                    dmc.Text(block.what, c="dimmed", size="sm"),
                ]
            )
        case Notice():
            return notice(block)
        case Figure():
            return figure.card(block, view)
        case Table():
            return table.card(block, view)
        case Packets():
            return grid.of_packets(view)
        case FrameView():
            return dmc.Box(id="frame")
        case Facts():
            return _facts(block)
        case Choices():
            return _choices(block)


def _facts(block: Facts) -> Component:
    items: list[Component] = []
    for name, cell in block.facts:
        items += [html.Dt(name), html.Dd(_fact(cell))]
    return dmc.Card(
        [
            dmc.Group(
                [dmc.Title(block.title, order=2, size="h4"), copying(block.wireshark)],
                justify="space-between",
            ),
            html.Dl(items, className="facts"),
        ],
        withBorder=True,
    )


def _fact(cell: Cell) -> Any:
    if isinstance(cell, Link):
        return dmc.Anchor(cell.text, href=cell.to.address(), refresh=False)
    return cells.text(cell)


def _choices(block: Choices) -> Component:
    chosen = block.chosen.address()
    options = {one.to.address(): one.text for one in block.options}
    if len(options) > MOST_BUTTONS:
        return dmc.Select(
            id={"go": block.label},
            label=block.label,
            description=block.hint or None,
            data=[{"value": address, "label": text} for address, text in options.items()],
            value=chosen,
            searchable=True,
            allowDeselect=False,
            size="xs",
            w=320,
        )
    links = [
        dmc.Anchor(
            text,
            href=address,
            refresh=False,
            size="sm",
            fw=700 if address == chosen else 400,
            **({"aria-current": "true"} if address == chosen else {}),
        )
        for address, text in options.items()
    ]
    return html.Nav(
        dmc.Group([dmc.Text(f"{block.label}:", size="sm", c="dimmed"), *links], gap="sm"),
        **{"aria-label": block.label},
    )
