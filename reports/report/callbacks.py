"""Callbacks: each takes the state from the address; what is chosen is written back there.

They are functions of the desk, the address and what was chosen, and tested as such; `register` only
wires them.
"""

from __future__ import annotations

import json
import logging
import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import dash_mantine_components as dmc
from dash import ALL, MATCH, Input, Output, State, ctx, html, no_update

from ...dissectors._core import CaptureError
from ..figures.look import NARROW_PX, Look
from ..figures.sheet import caption, empty
from . import query
from .blocks import Notice
from .downloads import figure_address, packets_address
from .drawing import is_timed
from .pages import PAGES, blocks
from .parts import frame, render, selection
from .parts.words import badges, copying, hinted, notice
from .state import FIELDS, parse
from .view import resolve

if TYPE_CHECKING:
    from dash import Dash

    from .desk import Desk
    from .view import View

Node = dict[str, Any]

LOG = logging.getLogger(__name__)

TOLD = (CaptureError, ValueError, OSError)
"""What a capture that is gone or damaged raises: it is shown where the figure would be."""

WIDEST_PX = 16_384
"""Of a screen: what is wider is a mistake."""

LONGEST_S = 1e9
"""Of a zoom: more seconds are a mistake."""

_RANGE = re.compile(r"xaxis\d*\.range\[([01])\]")
_WHOLE = re.compile(r"xaxis\d*\.autorange")


def page(desk: Desk, address: str | None, edition: int | None) -> tuple[Any, ...]:
    """Return pages, title, selection, content, and the key of what stays as it is.

    A window or a frame changes figures and rows, which draw themselves anew: the page around them
    need not.
    """
    view = desk.view(address)
    one = PAGES[view.state.page]
    title = [
        dmc.Title(one.title, order=1, size="h2"),
        dmc.Text(one.question, c="dimmed"),
    ]
    return (
        selection.pages(view),
        title,
        selection.bar(view),
        render.page(blocks(view), view),
        shell(view, edition),
    )


def shell(view: View, edition: int | None) -> str:
    """Return what of a view a page is made of."""
    state = replace(view.state, frame=None)
    if state.page != "packets":  # whose grid does not know of the window
        state = replace(state, from_ns=None, to_ns=None)
    return f"{edition} {state.address()} {' '.join(view.problems)}"


def look_of(told: Node) -> Look:
    """Return how figures are to look by the browser's word, which may be any."""
    look = Look(theme="dark" if told.get("theme") == "dark" else "light")
    width_px = told.get("width")
    if isinstance(width_px, int) and 0 < width_px <= WIDEST_PX:
        look = replace(look, width_px=width_px)
    return look


def figure(desk: Desk, name: str, address: str | None, look: Look) -> tuple[Any, ...]:
    """Return a figure, its head, caption, filter, the address of its numbers, and its style."""
    view = desk.view(address)
    csv = figure_address(view.state, name)
    try:
        drawn = desk.draw(name, view, look)
    except TOLD as error:
        failed = empty(f"This cannot be drawn: {error}", look)
        return failed, name, "", None, csv, _style(failed)
    about = drawn.about
    head = [
        dmc.Group(
            [
                dmc.Title(hinted(about.title, about.definition), order=2, size="h4"),
                *badges(about.basis),
            ],
            gap="xs",
        ),
        dmc.Text(about.question, size="sm"),
        dmc.Text(about.unit, c="dimmed", size="xs"),
    ]
    words = caption(drawn.figure)
    button = copying(about.wireshark_filter)
    return drawn.figure, head, words, button, csv, _style(drawn.figure)


def _style(figure: Any) -> Node:
    """Return the style of a figure's place: a responsive one fills it, whatever its own height."""
    return {"height": figure.layout.height}


def zoomed(desk: Desk, address: str | None, name: str, layout: Node | None) -> str | None:
    """Return the address of what a figure was zoomed to; None where nothing changes."""
    view = desk.view(address)
    if view.case is None or not layout:
        return None
    if any(_WHOLE.fullmatch(key) for key in layout):
        return _other(view, replace(view.state, from_ns=None, to_ns=None))
    span = _range(layout)
    if span is None or not is_timed(name):
        return None
    from_ns, to_ns = (round(end_s * 1e9) for end_s in span)
    return _other(view, replace(view.state, from_ns=from_ns, to_ns=to_ns))


def _range(layout: Node) -> tuple[float, float] | None:
    """Return the range of x that a figure was zoomed to, in seconds; None where it was not."""
    ends: dict[str, float] = {}
    for key, value in layout.items():
        if (found := _RANGE.fullmatch(key)) and isinstance(value, int | float):
            ends.setdefault(found[1], value)
    if set(ends) != {"0", "1"} or not all(abs(value) < LONGEST_S for value in ends.values()):
        return None
    low, high = sorted(ends.values())
    # Less than a nanosecond apart is the same instant.
    return (low, high) if high - low >= 1e-9 else None


def _other(view: View, state: Any) -> str | None:
    address: str = state.address()
    return None if address == view.state.address() else address


def chosen(desk: Desk, address: str | None, name: str, value: str | None) -> str | None:
    """Return the address of what was chosen in the selection; None where nothing changes."""
    view = desk.view(address)
    if name not in FIELDS:
        return None
    field, read, _ = FIELDS[name]
    text = (value or "").strip()
    try:
        found = None if text in ("", selection.ALL) else read(text)
    except ValueError:
        return None  # the list or the field keeps what was typed, and the view stays
    changes: dict[str, Any] = {field: found}
    state = replace(view.state, **changes)
    # A list tells of its value when it is first shown, too: that chooses nothing.
    if field == "case" and found != view.state.case:
        state = replace(state, association=None, handover=None, flow=None, path=None,
                        from_ns=None, to_ns=None, frame=None)  # fmt: skip
    return _other(view, state)


def rows(
    desk: Desk, address: str | None, edition: int | None, request: Node
) -> tuple[Node, Any, str | None, str, str]:
    """Return a page of packets, and what goes with it.

    That is: what is to be said of them, the new address, that of the CSV, and the key of what is
    shown, since the grid that asks has its new filter and order already.
    """
    parsed = parse(address)
    model, order = request.get("filterModel") or {}, request.get("sortModel") or []
    sort = f"{order[0]['colId']}:{order[0]['sort']}" if order else None
    text = json.dumps(model, separators=(",", ":")) if model else None
    state = replace(parsed.state, filter=text, sort=sort)
    view = resolve(desk.shelf.data, replace(parsed, state=state))
    asked = None if state == parsed.state else state.address()
    rest = asked, packets_address(view.state), shell(view, edition)
    if view.case is None:
        return {"rowData": [], "rowCount": 0}, None, *rest
    try:
        found = desk.rows(view)
    except TOLD as error:
        told = notice(Notice("error", "These rows cannot be shown", (str(error),)))
        return {"rowData": [], "rowCount": 0}, told, *rest
    start, end = (int(request.get(key) or 0) for key in ("startRow", "endRow"))
    page_rows = query.page(found.rows, start, end, view.case.origin_ns)
    count = found.rows.num_rows
    words = f"{count:,} rows"
    if found.is_cut:
        words = f"The first {count:,} rows: a narrower window or a filter shows the others."
    return {"rowData": page_rows, "rowCount": count}, html.Span(words), *rest


def frame_of(row: Node) -> int | None:
    """Return the frame of a row of any packet table."""
    found = row.get("frame", row.get("first_frame"))
    return found if isinstance(found, int) and found > 0 else None


LOOK = f"""
() => {{
    const root = document.documentElement, content = document.getElementById("content");
    let told = null;
    const tell = () => {{
        const theme = root.getAttribute("data-mantine-color-scheme"), width = content.clientWidth;
        const now = `${{theme}} ${{width < {NARROW_PX}}}`;
        if (now === told) {{ return; }}
        told = now;
        const other = theme === "dark" ? "light" : "dark";
        const label = `Theme: ${{theme}}, switch to ${{other}}`;
        dash_clientside.set_props("scheme", {{"aria-label": label}});
        dash_clientside.set_props("main", {{"data-ag-theme-mode": theme}});
        dash_clientside.set_props("look", {{data: {{theme, width}}}});
    }};
    new MutationObserver(tell).observe(root, {{attributeFilter: ["data-mantine-color-scheme"]}});
    new ResizeObserver(tell).observe(content);
}}
"""
"""Only the browser knows how wide it is, and the switch's component does not tell when the system
goes dark. Figures are drawn anew where the look is another, not with every pixel."""

DOWNLOAD_PICTURE = """
(clicks, id) => {
    if (!clicks) { return; }
    const card = document.getElementById(
        JSON.stringify({name: id.name, part: "figure"}, Object.keys({name: 0, part: 0}).sort()));
    const graph = card.querySelector(".js-plotly-plot");
    const drawn = graph.querySelector(".svg-container");
    Plotly.downloadImage(graph, {
        format: id.form, filename: id.name, width: drawn.clientWidth,
        height: drawn.clientHeight, scale: id.form === "png" ? 2 : 1
    });
}
"""
"""The picture is what the browser has drawn, so the browser has to save it: no component does."""


def register(app: Dash, desk: Desk) -> None:
    """Wire the callbacks."""

    @app.callback(
        Output("pages", "children"),
        Output("title", "children"),
        Output("selection", "children"),
        Output("content", "children"),
        Output("shown", "data"),
        Input("address", "href"),
        Input("edition", "data"),
        State("shown", "data"),
        on_error=_failed_page,
    )
    def _page(address: str | None, edition: int | None, shown: str | None) -> Any:
        view = desk.view(address)
        if shown == shell(view, edition):
            return selection.pages(view), no_update, selection.bar(view), no_update, shown
        return page(desk, address, edition)

    @app.callback(
        Output({"part": "figure", "name": MATCH}, "figure"),
        Output({"part": "head", "name": MATCH}, "children"),
        Output({"part": "caption", "name": MATCH}, "children"),
        Output({"part": "filter", "name": MATCH}, "children"),
        Output({"part": "csv", "name": MATCH}, "href"),
        Output({"part": "figure", "name": MATCH}, "style"),
        Input("address", "href"),
        Input("look", "data"),
        State({"part": "figure", "name": MATCH}, "id"),
        on_error=_failed_figure,
    )
    def _figure(address: str | None, look: Node | None, own: Node) -> Any:
        if look is None:
            return (no_update,) * 6  # it is known in a moment, and then this is asked for again
        return figure(desk, own["name"], address, look_of(look))

    @app.callback(
        Output("address", "href", allow_duplicate=True),
        Output({"part": "figure", "name": ALL}, "relayoutData"),
        Input({"part": "figure", "name": ALL}, "relayoutData"),
        State("address", "href"),
        prevent_initial_call=True,
    )
    def _zoomed(told: list[Any], address: str | None) -> Any:
        # Figures tell of their size in the same breath: whichever was zoomed counts.
        found = (zoomed(desk, address, one["name"], layout) for one, layout in _triggered())
        # A figure does not tell the same twice, such as a second double click on it: it forgets.
        return next(filter(None, found), no_update), [None] * len(told)

    @app.callback(
        Output("address", "href", allow_duplicate=True),
        Input({"choose": ALL}, "value"),
        State("address", "href"),
        prevent_initial_call=True,
    )
    def _chosen(_: Any, address: str | None) -> Any:
        found = (chosen(desk, address, one["choose"], value) for one, value in _triggered())
        return next(filter(None, found), no_update)

    @app.callback(
        Output("address", "href", allow_duplicate=True),
        Input({"go": ALL}, "value"),
        State("address", "href"),
        prevent_initial_call=True,
    )
    def _gone(_: Any, address: str | None) -> Any:
        found = (followed(desk, address, value) for _, value in _triggered())
        return next(filter(None, found), no_update)

    @app.callback(
        Output("address", "href", allow_duplicate=True),
        Input({"part": "grid", "name": ALL}, "selectedRows"),
        State("address", "href"),
        prevent_initial_call=True,
    )
    def _row(_: Any, address: str | None) -> Any:
        rows = (value for _, value in _triggered() if value)
        found = (followed(desk, address, one[0].get("address")) for one in rows)
        return next(filter(None, found), no_update)

    @app.callback(
        Output("packets", "getRowsResponse"),
        Output("packets-told", "children"),
        Output("address", "href", allow_duplicate=True),
        Output("packets-csv", "href"),
        Output("shown", "data", allow_duplicate=True),
        Input("packets", "getRowsRequest"),
        State("address", "href"),
        State("edition", "data"),
        prevent_initial_call=True,
    )
    def _rows(request: Node | None, address: str | None, edition: int | None) -> Any:
        if request is None:
            return (no_update,) * 5
        found, told, asked, csv, key = rows(desk, address, edition, request)
        return found, told, asked or no_update, csv, key

    @app.callback(
        Output("address", "href", allow_duplicate=True),
        Input("packets", "selectedRows"),
        State("address", "href"),
        prevent_initial_call=True,
    )
    def _frame(found: list[Node] | None, address: str | None) -> Any:
        number = frame_of(found[0]) if found else None
        if number is None:
            return no_update
        view = desk.view(address)
        return _other(view, replace(view.state, frame=number)) or no_update

    @app.callback(Output("frame", "children"), Input("address", "href"))
    def _decoded(address: str | None) -> Any:
        return frame.decoded(desk.view(address))

    app.clientside_callback(LOOK, Input("main", "id"))

    @app.callback(
        Output("edition", "data"), Input("clock", "n_intervals"), State("edition", "data")
    )
    def _edition(_: int | None, shown: int | None) -> Any:
        now = desk.shelf.edition
        return no_update if shown == now else now

    app.clientside_callback(
        DOWNLOAD_PICTURE,
        Input({"part": "picture", "name": MATCH, "form": MATCH}, "n_clicks"),
        State({"part": "picture", "name": MATCH, "form": MATCH}, "id"),
    )


def _failed_figure(error: Exception) -> tuple[Any, ...]:
    """Say where a figure would be that it is our mistake; the log has the rest."""
    LOG.error("a figure failed", exc_info=error)
    figure = empty(f"A mistake in pathscope: {error}. The command's output has more.", Look())
    return figure, "A figure that failed", "", None, no_update, _style(figure)


def _failed_page(error: Exception) -> tuple[Any, ...]:
    """Say the same of a page; its address is kept, so that it is not tried again and again."""
    LOG.error("a page failed", exc_info=error)
    lines = (str(error), "The command's output has more.")
    told = notice(Notice("error", "A mistake in pathscope: this page cannot be shown", lines))
    return no_update, no_update, no_update, told, None


def _triggered() -> list[tuple[Node, Any]]:
    """Return what a callback of many components was called for: their ids, and the values."""
    ids = ctx.triggered_prop_ids
    return [(ids[one["prop_id"]], one["value"]) for one in ctx.triggered if one["prop_id"] in ids]


def followed(desk: Desk, address: str | None, to: Any) -> str | None:
    """Return an address of this report to go to; None for any other, or for the same."""
    if not isinstance(to, str) or not to.startswith("/"):
        return None
    return _other(desk.view(address), parse(to).state)
