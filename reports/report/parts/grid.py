"""Grids: many rows of a table in the browser, and packets, which come a page at a time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import dash_ag_grid as dag
import dash_mantine_components as dmc
from dash import html

from .. import cells, filters, packets, query
from ..blocks import Link
from ..downloads import packets_address
from .words import copying, download

if TYPE_CHECKING:
    import pyarrow as pa
    from dash.development.base_component import Component

    from ..blocks import Table
    from ..view import View

Node = dict[str, Any]

HEIGHT_PX = 480
ROWS_AT_ONCE = 100
NARROW_PX, WIDE_PX = 110, 170
WIDE = frozenset(
    ("path_label", "chunk_name", "tsn", "cumulative_tsn", "source", "destination", "gaps")
)

FILTERS = {"number": "agNumberColumnFilter", "text": "agTextColumnFilter", "flag": None}

OPTIONS = {
    "rowSelection": {"mode": "singleRow", "checkboxes": False, "enableClickSelection": True},
    "tooltipShowDelay": 300,
    "enableCellTextSelection": True,
}


def rows_in_browser(block: Table) -> Component:
    """Return a table as a grid that filters and sorts by itself, and follows a row's link."""
    records: list[Node] = []
    for row in block.rows:
        record = {c.key: cells.value(cell) for cell, c in zip(row, block.columns, strict=True)}
        links = [cell.to.address() for cell in row if isinstance(cell, Link)]
        records.append({**record, "address": links[0] if links else None})
    definitions = [
        {
            "field": one.key,
            "headerName": cells.head(block, number),
            "headerTooltip": f"{one.title}: {one.definition}" if one.definition else one.title,
            "tooltipField": one.key,
            **_kind("number" if _is_number(records, one.key) else "text"),
        }
        for number, one in enumerate(block.columns)
    ]
    return dag.AgGrid(
        id={"part": "grid", "name": block.name},
        columnDefs=definitions,
        rowData=records,
        defaultColDef={"sortable": True, "resizable": True, "minWidth": 90},
        dashGridOptions=OPTIONS,
        columnSize="autoSize",
        style={"height": HEIGHT_PX},
    )


def _kind(kind: str) -> Node:
    """Return how a column of numbers, texts or flags is filtered and aligned."""
    aligned = {"type": "rightAligned"} if kind == "number" else {}
    return {"filter": FILTERS[kind], **aligned}


def _is_number(records: list[Node], key: str) -> bool:
    return any(isinstance(one[key], int | float) for one in records)


def of_packets(view: View) -> Component:
    """Return the grid of the packet table that is looked at; its rows are asked for later."""
    schema = packets.schema(view)
    address = packets_address(view.state)
    return dmc.Card(
        [
            dmc.Group(
                [
                    dmc.Text(
                        "Choose a row to decode its frame. Filters and order apply to all rows of "
                        "the window, not only to those on the screen.",
                        c="dimmed",
                        size="sm",
                    ),
                    dmc.Group(
                        [
                            copying(filters.of_packets(view)),
                            download(
                                "CSV", "the rows as CSV", address, "packets.csv", id="packets-csv"
                            ),
                        ],
                        gap="xs",
                    ),
                ],
                justify="space-between",
            ),
            html.Div(id="packets-told", role="status"),
            dag.AgGrid(
                id="packets",
                rowModelType="infinite",
                columnDefs=[
                    _definition(schema.field(name), title, view)
                    for name, title in packets.shown(schema).items()
                ],
                filterModel=_filter(view),
                defaultColDef={"sortable": True, "resizable": True, "minWidth": 80},
                dashGridOptions={
                    **OPTIONS,
                    "cacheBlockSize": ROWS_AT_ONCE,
                    "maxBlocksInCache": 20,
                    "infiniteInitialRowCount": 1,
                },
                style={"height": HEIGHT_PX},
            ),
        ],
        withBorder=True,
    )


def _filter(view: View) -> Node:
    try:
        return query.read_filter(view.state.filter)
    except query.QueryError:
        return {}  # the rows' callback says what is wrong with it


def _definition(field: pa.Field, title: str, view: View) -> Node:
    name = field.name
    meaning = (field.metadata or {}).get(b"description", b"").decode()
    is_instant = query.is_instant(field)
    asked, _, way = (view.state.sort or "").partition(":")
    return {
        "field": name,
        "headerName": title,
        # A narrow column cuts its own name off.
        "headerTooltip": f"{title}: {meaning}{' Since frame 1.' if is_instant else ''}",
        **_kind(query.kind(field)),
        "filterParams": {"maxNumConditions": 4, "buttons": ["apply", "reset"]},
        "sort": way if asked == name else None,
        "width": WIDE_PX if is_instant or name in WIDE else NARROW_PX,
    }
