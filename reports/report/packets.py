"""The rows that the packets page shows: of one table, in the window, of what is selected."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from . import labelled, query
from .pages.packets import table_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pyarrow as pa
    from pyarrow import compute as pc

    from .kept import Kept
    from .view import View

Node = dict[str, Any]

SELECTABLE = ("path", "sender")

FIRST = (
    "frame", "time_ns", "sender", "path_label", "chunk_name", "tsn", "transmission", "stream",
    "user_bytes", "cumulative_tsn", "a_rwnd", "gaps", "flags", "association", "source",
    "destination",
)  # fmt: skip
"""Columns that are looked for first; the others follow in the table's order."""


def schema(view: View) -> pa.Schema:
    """Return the columns of the table that is looked at, with the labels of paths."""
    from ...dissectors.ledger import schemas

    return labelled.schema(schemas()[table_of(view)])


def shown(columns: pa.Schema) -> dict[str, str]:
    """Return the columns that are shown and their titles, those first that are looked for first.

    A path is shown by its label alone, and an instant in seconds since frame 1.
    """
    names = [name for name in columns.names if f"{name}{labelled.SUFFIX}" not in columns.names]
    first = [name for name in FIRST if name in names]
    return {
        name: f"{name.removesuffix('_ns')} [s]"
        if query.is_instant(columns.field(name))
        else name.removesuffix(labelled.SUFFIX)
        for name in dict.fromkeys((*first, *names))
    }


def batches(view: View) -> Iterator[pa.RecordBatch]:
    """Stream the rows of the window and the association; where a table has neither, all.

    Raises
    ------
    CaptureError, NoCaptureError
        As `Case.batches`.
    """
    from ...dissectors.selection import span_of

    table, columns = table_of(view), schema(view)
    # Packets of everything are looked at unless one association is asked for by number.
    of_one = "association" in columns.names and view.asked_association is not None
    window = view.window
    if window is not None:
        try:
            span_of(table, columns)
        except ValueError:
            window = None
    association = view.asked_association if of_one else None
    case = view.the_case()
    labels = {
        number: [path["label"] for path in one["paths"]]
        for number, one in case.associations.items()
    }
    for one in case.batches(table, window, association):
        yield labelled.batch(one, labels)


def chosen(view: View) -> pc.Expression | None:
    """Return what the selection and the filter of the address take.

    Raises
    ------
    QueryError
        When the filter is none.
    """
    from pyarrow import compute as pc

    columns, state = schema(view), view.state
    found = query.expression(query.read_filter(state.filter), columns, view.the_case().origin_ns)
    for name in SELECTABLE:
        value = getattr(state, name)
        if value is not None and name in columns.names:
            one = pc.field(name) == value
            found = one if found is None else found & one
    return found


def found(view: View, kept: Kept[query.Found]) -> query.Found:
    """Return the rows in their order, from what is kept where the same was asked before.

    Raises
    ------
    QueryError, CaptureError, NoCaptureError
        As `chosen` and `batches`.
    """
    state = view.state
    by = query.order(state.sort, schema(view))
    what = chosen(view)
    key = (
        id(view.case), table_of(view), view.asked_association, state.from_ns, state.to_ns,
        state.path, state.sender, state.filter,
    )  # fmt: skip
    rows = kept.get(key, lambda: query.select(batches(view), what))
    if not by:
        return rows
    return kept.get((*key, state.sort), lambda: query.Found(rows.rows.sort_by(by), rows.is_cut))
