"""One frame, decoded: layers that open, and what the tracker knows of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import dash_mantine_components as dmc
from dash import html

from ....dissectors._core import CaptureError
from ....dissectors.tshark import TsharkError
from ...frame import known_lines
from ..blocks import Notice
from .words import notice

if TYPE_CHECKING:
    from collections.abc import Iterator

    from dash.development.base_component import Component

    from ....dissectors.frame import Frame
    from ..view import View

Node = dict[str, Any]

MOST_NODES = 3_000
"""Of a frame: one can have thousands of chunks, and a browser takes long to lay them out."""

DECODERS = {"tshark": "decoded by tshark", "own": "decoded by pathscope: tshark is not used"}


def decoded(view: View) -> Component:
    """Return the frame that the address names; without one, how to get there."""
    number = view.state.frame
    if view.case is None or number is None:
        return dmc.Text("Choose a row above to decode its frame.", c="dimmed", size="sm")
    try:
        frame = view.case.frame(number)
    except (CaptureError, TsharkError, ValueError, OSError) as error:
        return notice(Notice("error", f"Frame {number} cannot be shown", (str(error),)))
    return dmc.Card(_content(frame, number), withBorder=True)


def _content(frame: Frame, number: int) -> list[Component]:
    budget = _Budget(MOST_NODES)
    of_tshark = frame.decoder == "tshark"
    layers = [_node(layer, 0, budget, of_tshark=of_tshark) for layer in frame.layers]
    content: list[Component] = [
        dmc.Title(f"Frame {number}", order=2, size="h4"),
        dmc.Text(DECODERS[frame.decoder], c="dimmed", size="sm"),
        html.Div(layers, className="tree"),
    ]
    if budget.is_spent:
        text = f"The first {MOST_NODES:,} fields are shown: pathscope show lists all."
        content.append(notice(Notice("warning", text)))
    if told := list(_known(frame)):
        content.append(dmc.Text("In the capture", fw=700, size="sm"))
        content.append(html.Ul([html.Li(line) for line in told], className="lines"))
    return content


def _known(frame: Frame) -> Iterator[str]:
    if frame.packet is not None:
        # The first line is their head.
        _, *lines = known_lines(frame.packet, frame.chunks)
        yield from (line.strip() for line in lines)


class _Budget:
    """How many fields may still be shown."""

    def __init__(self, nodes: int) -> None:
        self._left = nodes

    def take(self) -> bool:
        """Take one, if there is one."""
        self._left -= 1
        return self._left >= 0

    @property
    def is_spent(self) -> bool:
        """Whether something was left out."""
        return self._left < 0


def _node(node: Node, depth: int, budget: _Budget, *, of_tshark: bool) -> Component:
    text = _text(node, depth, of_tshark=of_tshark)
    inner = [one for one in node.get("fields", ()) if budget.take()]
    if not inner:
        return html.Li(text) if depth else html.Div(text)
    items = [_node(one, depth + 1, budget, of_tshark=of_tshark) for one in inner]
    items = [one if isinstance(one, html.Li) else html.Li(one) for one in items]
    return html.Details([html.Summary(text), html.Ul(items)], open=depth == 0 and len(inner) < 40)


def _text(node: Node, depth: int, *, of_tshark: bool) -> str:
    if of_tshark and depth:
        return str(node["meaning"])  # Wireshark's words have name and value in them
    text = str(node["name"])
    if "value" in node:
        text += f": {node['value']}"
    if "meaning" in node:
        text += f" ({node['meaning']})"
    return text
