"""Rows of a packet table: filtered and sorted here, so that the browser gets a page of them.

What a request asks for is AG Grid's filter model. It becomes an expression of Arrow, of columns
that the table has and of the comparisons below: nothing of it is ever run as text.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from functools import reduce
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from pyarrow import compute as pc

from ..units import seconds

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

Node = dict[str, Any]

MOST_ROWS = 100_000
"""Of an answer: nobody scrolls further, and a narrower window or a filter shows the rest."""

MOST_ON_A_PAGE = 500
MOST_CONDITIONS = 20
LONGEST_CELL = 400
"""Letters: a comment in a capture can have megabytes."""

MOST_DIGITS = 19
"""Of a number before its point."""

NS_PER_S = 1_000_000_000

DURATIONS = frozenset(("rtt_ns", "elapsed_ns", "rto_model_ns", "delay_ns"))
"""Columns of nanoseconds that are no instants."""


class QueryError(ValueError):
    """A filter or an order that cannot be; the message says why."""


@dataclass(frozen=True, slots=True)
class Found:
    """The rows that a filter takes: all, or the first ones."""

    rows: pa.Table
    is_cut: bool


def is_instant(field: pa.Field) -> bool:
    """Whether a column has times since 1970: they are shown as seconds since frame 1."""
    return field.name.endswith("_ns") and field.name not in DURATIONS


def kind(field: pa.Field) -> str:
    """Return what a column has: number, text or flag."""
    if pa.types.is_boolean(field.type):
        return "flag"
    is_number = pa.types.is_integer(field.type) or pa.types.is_floating(field.type)
    return "number" if is_number else "text"


def read_filter(text: str | None) -> Node:
    """Return a filter model that stands in an address.

    Raises
    ------
    QueryError
        When it is none.
    """
    if not text:
        return {}
    try:
        found = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise QueryError("the filter is no JSON") from error
    if not isinstance(found, dict):
        raise QueryError("the filter is no object of columns")
    return found


def expression(model: Node, schema: pa.Schema, origin_ns: int) -> pc.Expression | None:
    """Return a filter model as an expression; None where it takes everything.

    Raises
    ------
    QueryError
        When a column or a comparison is not there, or a value does not fit it.
    """
    if len(model) > MOST_CONDITIONS:
        raise QueryError(f"more than {MOST_CONDITIONS} columns are filtered")
    parts = [_column(name, one, schema, origin_ns) for name, one in model.items()]
    return reduce(lambda one, other: one & other, parts) if parts else None


def _column(name: str, model: Any, schema: pa.Schema, origin_ns: int) -> pc.Expression:
    if name not in schema.names:
        raise QueryError(f"there is no column {name[:40]!r}")
    if not isinstance(model, dict):
        raise QueryError(f"{name}: no condition")
    field = schema.field(name)
    conditions = model.get("conditions", [model])
    if not isinstance(conditions, list) or not 1 <= len(conditions) <= MOST_CONDITIONS:
        raise QueryError(f"{name}: no conditions")
    parts = [_condition(field, one, origin_ns) for one in conditions]
    if model.get("operator") == "OR":
        return reduce(lambda one, other: one | other, parts)
    return reduce(lambda one, other: one & other, parts)


NUMBERS: dict[str, Callable[[Any, Any], Any]] = {
    "equals": lambda column, value: column == value,
    "notEqual": lambda column, value: column != value,
    "lessThan": lambda column, value: column < value,
    "lessThanOrEqual": lambda column, value: column <= value,
    "greaterThan": lambda column, value: column > value,
    "greaterThanOrEqual": lambda column, value: column >= value,
}
TEXTS: dict[str, Callable[[Any, str], Any]] = {
    "contains": lambda column, text: pc.match_substring(column, text, ignore_case=True),
    "notContains": lambda column, text: ~pc.match_substring(column, text, ignore_case=True),
    "equals": lambda column, text: pc.utf8_lower(column) == text.lower(),
    "notEqual": lambda column, text: pc.utf8_lower(column) != text.lower(),
    "startsWith": lambda column, text: pc.starts_with(column, text, ignore_case=True),
    "endsWith": lambda column, text: pc.ends_with(column, text, ignore_case=True),
}


def _condition(field: pa.Field, model: Any, origin_ns: int) -> pc.Expression:
    asked = model.get("type") if isinstance(model, dict) else None
    if not isinstance(asked, str):
        raise QueryError(f"{field.name}: no comparison")
    column = pc.field(field.name)
    if asked == "blank":
        return column.is_null()
    if asked == "notBlank":
        return column.is_valid()
    value = model.get("filter")
    match kind(field):
        case "number" if asked == "inRange":
            low = _number(field, value, origin_ns)
            return (column >= low) & (column <= _number(field, model.get("filterTo"), origin_ns))
        case "number" if asked in NUMBERS:
            return NUMBERS[asked](column, _number(field, value, origin_ns))
        case "flag" if asked in ("true", "false"):
            return column == (asked == "true")
        case "text" if asked in TEXTS and isinstance(value, str):
            return TEXTS[asked](column, value)
    raise QueryError(f"{field.name}: no comparison {asked[:40]!r} with such a value")


def _number(field: pa.Field, value: Any, origin_ns: int) -> pa.Scalar:
    """Return a value that a column is held against; an instant is given in seconds."""
    try:
        given = Decimal(str(value))
    except InvalidOperation:
        given = Decimal("NaN")
    # Of its digits: arithmetic with 1e999999999 raises itself.
    if isinstance(value, bool) or not given.is_finite() or given.adjusted() > MOST_DIGITS:
        raise QueryError(f"{field.name}: {str(value)[:40]!r} is no number")
    if is_instant(field):
        instant_ns = int(given * NS_PER_S) + origin_ns
        if not -(2**63) <= instant_ns < 2**63:
            raise QueryError(f"{field.name}: {str(value)[:40]!r} is no time of a capture")
        return pa.scalar(instant_ns, pa.int64())
    # A column without a sign is held against any number: Arrow compares in a type that has both.
    return pa.scalar(float(given), pa.float64())


def order(text: str | None, schema: pa.Schema) -> list[tuple[str, str]]:
    """Return an order that stands in an address, as Arrow takes it.

    Raises
    ------
    QueryError
        When the column is not there.
    """
    if text is None:
        return []
    name, _, way = text.partition(":")
    if name not in schema.names:
        raise QueryError(f"there is no column {name[:40]!r} to sort by")
    return [(name, "descending" if way == "desc" else "ascending")]


def select(
    batches: Iterable[pa.RecordBatch], chosen: pc.Expression | None, most: int = MOST_ROWS
) -> Found:
    """Return the rows that an expression takes, in their order; no more than so many."""
    kept: list[pa.Table] = []
    count = 0
    for batch in batches:
        rows = pa.Table.from_batches([batch])
        if chosen is not None:
            rows = rows.filter(chosen)
        if kept and not rows.num_rows:
            continue
        kept.append(rows.slice(0, most - count))
        count += rows.num_rows
        if count > most:
            return Found(pa.concat_tables(kept), is_cut=True)
    return Found(pa.concat_tables(kept), is_cut=False)


def page(rows: pa.Table, start: int, end: int, origin_ns: int) -> list[Node]:
    """Return some rows as the browser shows them: instants in seconds since frame 1.

    Those are text: a number of the browser's would lose the zeros at their end.
    """
    start = max(start, 0)
    part = rows.slice(start, max(min(end - start, MOST_ON_A_PAGE), 0))
    instants = [field.name for field in part.schema if is_instant(field)]
    found: list[Node] = part.to_pylist()
    for row in found:
        for name in instants:
            if row[name] is not None:
                row[name] = seconds(row[name] - origin_ns)
        for name, value in row.items():
            if isinstance(value, str) and len(value) > LONGEST_CELL:
                row[name] = f"{value[:LONGEST_CELL]}..."
    return found
