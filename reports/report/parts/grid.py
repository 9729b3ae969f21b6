"""Grids: many rows of a table in the browser, and packets, which come a page at a time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import dash_ag_grid as dag
import dash_mantine_components as dmc
from dash import html

from .. import cells, packets, query
from ..blocks import Link
from ..downloads import packets_address
from .words import download

if TYPE_CHECKING:
    import pyarrow as pa
    from dash.development.base_component import Component

    from ..blocks import Table
    from ..view import View

Node = dict[str, Any]

HEIGHT_PX = 480
ROWS_AT_ONCE = 100
NARROW_PX, WIDE_PX = 110, 170
WIDE = frozenset(("chunk_name", "tsn", "cumulative_tsn", "source", "destination", "gaps"))

FILTERS = {"number": "agNumberColumnFilter", "text": "agTextColumnFilter", "flag": None}

FIRST = (
    "frame", "time_ns", "sender", "path", "chunk_name", "tsn", "transmission", "stream",
    "user_bytes", "cumulative_tsn", "a_rwnd", "gaps", "flags", "association", "source",
    "destination",
)  # fmt: skip
"""Columns that are looked for first; the others follow in the table's order."""

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
            "headerTooltip": one.definition or one.title,
            "tooltipField": one.key,
            "filter": FILTERS["number" if _is_number(records, one.key) else "text"],
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
                    download("CSV", "the rows as CSV", address, "packets.csv", id="packets-csv"),
                ],
                justify="space-between",
            ),
            html.Div(id="packets-told", role="status"),
            dag.AgGrid(
                id="packets",
                rowModelType="infinite",
                columnDefs=[_definition(schema.field(n), view) for n in _ordered(schema)],
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


def _ordered(schema: pa.Schema) -> list[str]:
    first = [name for name in FIRST if name in schema.names]
    return [*first, *(name for name in schema.names if name not in first)]


def _definition(field: pa.Field, view: View) -> Node:
    name = field.name
    meaning = (field.metadata or {}).get(b"description", b"").decode()
    is_instant = query.is_instant(field)
    title = f"{name.removesuffix('_ns')} [s]" if is_instant else name
    asked, _, way = (view.state.sort or "").partition(":")
    return {
        "field": name,
        "headerName": title,
        "headerTooltip": f"{meaning} Here in seconds since frame 1." if is_instant else meaning,
        "filter": FILTERS[query.kind(field)],
        "filterParams": {"maxNumConditions": 4, "buttons": ["apply", "reset"]},
        "sort": way if asked == name else None,
        "width": WIDE_PX if is_instant or name in WIDE else NARROW_PX,
    }
