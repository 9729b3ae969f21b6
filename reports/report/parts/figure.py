"""A figure card: the figure, what it answers, what it is made of, and what can be taken from it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import dash_mantine_components as dmc
from dash import dcc, html

from ..downloads import figure_address
from .words import download

if TYPE_CHECKING:
    from dash.development.base_component import Component

    from ..blocks import Figure
    from ..view import View

CONFIG: dict[str, Any] = {
    "displaylogo": False,
    "responsive": True,
    "scrollZoom": False,
    "doubleClickDelay": 600,
    "modeBarButtonsToRemove": ["select2d", "lasso2d", "toImage"],
}
"""Pictures are taken by the card's own buttons, which the keyboard reaches. Milliseconds between
two clicks are counted until each is worked on, so that a busy browser needs some more."""

PICTURES = ("png", "svg")

LEAST_PX = 200
"""Of a figure that is coming; each has a height of its own."""


def card(block: Figure, view: View) -> Component:
    """Return the card; what is in it comes with the figure, which is drawn on its own."""
    name = block.name
    return dmc.Card(
        [
            dmc.Group(
                [
                    html.Div(id=part("head", name), className="about"),
                    dmc.Group(
                        [
                            html.Span(id=part("filter", name)),
                            download(
                                "CSV",
                                "what the figure shows as CSV",
                                figure_address(view.state, name),
                                f"{name}.csv",
                                id=part("csv", name),
                            ),
                            *(_picture(name, form) for form in PICTURES),
                        ],
                        gap="xs",
                    ),
                ],
                justify="space-between",
                align="flex-start",
            ),
            dcc.Loading(
                dcc.Graph(
                    id=part("figure", name),
                    config=CONFIG,  # `responsive` of the component would forget their heights
                    style={"minHeight": LEAST_PX},
                ),
                delay_show=300,
                overlay_style={"visibility": "visible", "opacity": 0.6},
            ),
            html.Div(id=part("caption", name), className="caption"),
        ],
        withBorder=True,
    )


def part(kind: str, name: str) -> dict[str, str]:
    """Return the id of a part of a figure's card."""
    return {"part": kind, "name": name}


def _picture(name: str, form: str) -> Component:
    return dmc.Button(
        form.upper(),
        id={"part": "picture", "name": name, "form": form},
        variant="default",
        size="compact-xs",
        **{"aria-label": f"Download the figure as {form.upper()}"},
    )
