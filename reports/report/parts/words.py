"""Small components that others are made of: hints, copied filters, badges, notices."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import dash_mantine_components as dmc
from dash import html

if TYPE_CHECKING:
    from collections.abc import Iterable

    from dash.development.base_component import Component

    from ..blocks import Notice

HINT_WIDTH_PX = 320
SHOWN_BY = {"hover": True, "focus": True, "touch": True}

IN_LINE = {"display": "inline-block"}
"""Of what stands around hinted text: a block of its own would break the line."""

BASES = {
    "observed": "both ends of it are in the capture",
    "annotated": "it rests on an instant that the user gave",
    "inferred": "bounded by evidence, with the bounds",
    "absent": "this capture cannot give it",
}
"""As docs/metrics.md has them."""

MARKS = {"annotated": "a", "inferred": "i"}
"""Beside numbers; what is observed needs none."""

COLOURS = {"info": "blue", "warning": "orange", "error": "red", "empty": "gray"}


def hinted(text: str, hint: str) -> Component | str:
    """Return text with a hint that shows on hover, on focus and on touch; bare where there is none.

    Tables have hundreds of cells, and each component takes the browser its time.
    """
    if not hint:
        return text
    return dmc.Tooltip(
        html.Span(text, tabIndex=0, className="hinted"),
        label=hint,
        multiline=True,
        w=HINT_WIDTH_PX,
        withArrow=True,
        events=SHOWN_BY,
        boxWrapperProps=IN_LINE,
    )


def badges(bases: Iterable[str]) -> list[Component]:
    """Say how numbers are known, a badge each."""
    return [
        dmc.Tooltip(
            html.Span(dmc.Badge(one, variant="default", size="sm"), tabIndex=0),
            label=BASES[one],
            events=SHOWN_BY,
            boxWrapperProps=IN_LINE,
        )
        for one in bases
    ]


def copying(expression: str | None) -> Component:
    """Return a button that copies a Wireshark display filter; nothing where there is none."""
    if expression is None:
        return html.Span()
    return dmc.CopyButton(
        "Wireshark filter",
        value=expression,
        copiedChildren="copied",
        copiedColor="teal",
        color="gray",
        variant="default",
        size="compact-xs",
    )


def notice(block: Notice) -> Component:
    """Return something to be known."""
    lines = [html.Li(line, className="breakable") for line in block.lines]
    return dmc.Alert(
        html.Ul(lines, className="lines") if lines else None,
        title=block.title,
        color=COLOURS[block.kind],
        variant="light" if block.kind != "empty" else "outline",
        className=f"notice {block.kind}",
    )


def download(text: str, what: str, address: str, name: str, **more: Any) -> Component:
    """Return a link that downloads a file."""
    return html.A(
        text, href=address, download=name, className="download",
        **{"aria-label": f"Download {what}", **more},
    )  # fmt: skip
