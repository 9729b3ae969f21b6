"""Downloads: what is drawn, what a table shows, the rows of a packet table, each as CSV.

An address is that of the view with `/download/` before it, so that one can be sent like the other.
"""

from __future__ import annotations

import csv
import io
from typing import TYPE_CHECKING, Any

from flask import Response, request

from . import cells, packets, query
from .blocks import Figure, Table
from .pages import blocks

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    import pyarrow as pa
    from flask import Flask

    from .drawing import Drawn
    from .state import State
    from .view import View

ROOT = "/download"


def table_address(state: State, name: str) -> str:
    """Return where a table of a page is to be had."""
    return _address(state, "table", name)


def figure_address(state: State, name: str) -> str:
    """Return where what a figure shows is to be had."""
    return _address(state, "figure", name)


def packets_address(state: State) -> str:
    """Return where the rows of the packet table are to be had."""
    return _address(state, "rows", "packets")


def _address(state: State, kind: str, name: str) -> str:
    path, _, search = state.address().partition("?")
    page = path.strip("/") or "overview"
    return f"{ROOT}/{page}/{kind}/{name}.csv" + (f"?{search}" if search else "")


def serve(
    server: Flask, view_of: Callable[[str], View], draw: Callable[[str, View], Drawn]
) -> None:
    """Answer requests for downloads."""

    @server.get(f"{ROOT}/<page>/<kind>/<name>.csv")
    def _download(page: str, kind: str, name: str) -> Response:
        view = view_of(f"/{page}?{request.query_string.decode('ascii', 'replace')}")
        if kind == "rows":
            return _sent(packet_rows(view), "packets")
        found = {(type(one), getattr(one, "name", None)): one for one in blocks(view)}
        if kind == "table" and isinstance(table := found.get((Table, name)), Table):
            heads, rows = cells.records(table)
            return _sent(lines([heads, *rows]), name)
        if kind == "figure" and (Figure, name) in found:
            return _sent(figure_rows(draw(name, view)), name)
        return Response("There is no such table or figure.\n", 404, mimetype="text/plain")


def _sent(content: Iterable[str], name: str) -> Response:
    response = Response(content, mimetype="text/csv")
    response.headers["Content-Disposition"] = f'attachment; filename="{name}.csv"'
    return response


def lines(rows: Iterable[Sequence[Any]]) -> Iterator[str]:
    """Yield rows as lines of CSV.

    A spreadsheet takes a text that begins with one of = + - @ for a formula, and a name in a
    capture may well begin so: a quote before it makes it text.
    """
    for row in rows:
        line = io.StringIO()
        csv.writer(line, lineterminator="\n").writerow([_tame(one) for one in row])
        yield line.getvalue()


def _tame(value: Any) -> Any:
    is_formula = isinstance(value, str) and value[:1] in ("=", "+", "-", "@", "\t", "\r")
    return f"'{value}" if is_formula and not _is_number(value) else value


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def figure_rows(drawn: Drawn) -> Iterator[str]:
    """Yield what a figure shows."""
    from ..figures.drawn import table

    yield from arrow_rows([table(drawn.figure)])


def packet_rows(view: View) -> Iterator[str]:
    """Yield the rows of the packet table that the filter takes, as the ledger has them: all."""
    chosen = packets.chosen(view)
    return arrow_rows(
        query.select([batch], chosen, batch.num_rows).rows for batch in packets.batches(view)
    )


def arrow_rows(tables: Iterable[pa.Table]) -> Iterator[str]:
    """Yield tables of the same columns as lines of CSV."""
    for number, one in enumerate(tables):
        if number == 0:
            yield from lines([one.schema.names])
        columns = [column.to_pylist() for column in one.columns]
        yield from lines(zip(*columns, strict=True))
