"""What is looked at, to choose from: the case, an end, a path, a window of time."""

from __future__ import annotations

from typing import TYPE_CHECKING

import dash_mantine_components as dmc
from dash import html

from ...units import file_name
from ..pages import PAGES
from ..state import seconds

if TYPE_CHECKING:
    from dash.development.base_component import Component

    from ..view import View

ALL = "all"
"""Value of a list for nothing chosen."""


def pages(view: View) -> Component:
    """Return the links to the pages; the one that is shown is marked for those who listen."""
    links = []
    for name, page in PAGES.items():
        here = name == view.state.page
        links.append(
            dmc.NavLink(
                label=page.title,
                href=view.state.to(name).address(),
                active="exact" if here else False,
                refresh=False,
                variant="light",
                w="max-content",
                **({"aria-current": "page"} if here else {}),
            )
        )
    return html.Nav(links, className="pages", **{"aria-label": "Pages"})


def bar(view: View) -> Component:
    """Return the selection that the figures of a page share."""
    case = view.case
    if case is None or not PAGES[view.state.page].of_case:
        return html.Div()
    parts = []
    if len(view.data.cases) > 1:
        options = {one.key: f"{one.key}: {file_name(one.name)}" for one in view.data.cases}
        parts.append(_list("case", "Case", options, case.key, 260))
    state = view.state
    if view.association is not None and state.page in ("association", "handover", "packets"):
        paths = {str(one["id"]): one["label"] for one in view.association["paths"]}
        path = ALL if state.path is None else str(state.path)
        parts.append(_list("path", "Path", {ALL: "all paths", **paths}, path, 160))
        ends = {ALL: "either end", "a": "end a", "b": "end b"}
        parts.append(_list("sender", "Sender", ends, state.sender or ALL, 120))
    parts += [_time("from", "From [s]", state.from_ns), _time("to", "To [s]", state.to_ns)]
    if view.window is not None:
        whole = state.to(state.page, from_ns=None, to_ns=None, handover=state.handover,
                         flow=state.flow, table=state.table)  # fmt: skip
        parts.append(dmc.Anchor("Show all", href=whole.address(), refresh=False, size="sm"))
    return dmc.Group(parts, align="flex-end", gap="sm")


def _list(name: str, label: str, options: dict[str, str], value: str, width_px: int) -> Component:
    return dmc.Select(
        id={"choose": name},
        label=label,
        data=[{"value": key, "label": text} for key, text in options.items()],
        value=value,
        allowDeselect=False,
        searchable=len(options) > 10,
        size="xs",
        w=width_px,
    )


def _time(name: str, label: str, ns: int | None) -> Component:
    return dmc.TextInput(
        id={"choose": name},
        label=label,
        value="" if ns is None else seconds(ns),
        placeholder="open",
        debounce=True,
        size="xs",
        w=110,
    )
