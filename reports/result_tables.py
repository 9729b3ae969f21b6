"""The result contract as Arrow tables (docs/exports.md)."""

from __future__ import annotations

import json
from collections import defaultdict
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import pyarrow as pa

from .columnar import table
from .result_shape import PLACE, Column, Shape, shape

Node = dict[str, Any]
Row = dict[str, Any]

TYPES = {
    "integer": pa.int64(),
    "number": pa.float64(),
    "boolean": pa.bool_(),
    "string": pa.string(),
    "list": pa.string(),
    "map": pa.string(),
}

OF_KEYS = {
    "capture": "Index in `captures`.",
    "sender": "Whose numbers these are: a or b.",
}


@cache
def _schemas() -> dict[str, pa.Schema]:
    return {one.name: _schema(one) for one in shape().all() if one.name != "result"}


def schemas() -> dict[str, pa.Schema]:
    """Return the schema of every table, in the contract's order."""
    return dict(_schemas())


def tables(document: Node) -> dict[str, pa.Table]:
    """Return a result as tables: all of them, those without rows too.

    Parameters
    ----------
    document
        The result contract.
    """
    rows = rows_of(document)
    return {name: table(rows.get(name, []), schema) for name, schema in _schemas().items()}


def rows_of(document: Node) -> dict[str, list[Row]]:
    """Return the rows of the tables that have any."""
    rows: dict[str, list[Row]] = defaultdict(list)
    _fill(shape(), document, {}, rows)
    return dict(rows)


def _schema(one: Shape) -> pa.Schema:
    own = {column.name for column in one.columns}
    keys = [
        _field(key, _key_type(key), OF_KEYS.get(key, f"The {key} that it belongs to."))
        for key in one.keys
        if key not in own
    ]
    columns = [_field(c.name, TYPES[c.kind], c.description) for c in one.columns]
    return pa.schema([*keys, *columns], {"description": one.description})


def _key_type(key: str) -> pa.DataType:
    return pa.string() if key == "sender" else pa.int64()


def _field(name: str, kind: pa.DataType, meaning: str) -> pa.Field:
    return pa.field(name, kind, metadata={"description": meaning})


def _fill(above: Shape, node: Node, keys: Row, rows: dict[str, list[Row]]) -> None:
    """Put what stands in an object into the tables below its own."""
    for below in above.below:
        for sender, place in below.places.items():
            found = _at(node, place)
            if found is None:
                continue  # such as an end that announced nothing of AUTH
            several = enumerate(found) if sender == "" else ((0, found),)
            known = keys if sender == "" else {**keys, "sender": sender}
            for number, one in several:
                row = {**known, **_row(below.shape, one, number)}
                rows[below.shape.name].append(row)
                own = ("capture", *below.shape.identity)
                _fill(below.shape, one, {**known, **_those(row, own)}, rows)


def _those(row: Row, names: tuple[str, ...]) -> Row:
    return {name: row[name] for name in names if name in row}


@dataclass(slots=True)
class Plan:
    """Where the columns of a table are in its objects: by key, here or in an object there."""

    columns: dict[str, Column] = field(default_factory=dict)
    inner: dict[str, Plan] = field(default_factory=dict)


@cache
def _plans() -> dict[str, Plan]:
    return {one.name: _plan(one.columns) for one in shape().all()}


def _plan(columns: list[Column]) -> Plan:
    plan = Plan()
    for column in columns:
        here = plan
        for key in column.place[:-1]:
            here = here.inner.setdefault(key, Plan())
        here.columns[column.place[-1]] = column
    return plan


def _row(one: Shape, node: Node, number: int) -> Row:
    """Return the columns that have a value; of hundreds most have none."""
    row: Row = {}
    plan = _plans()[one.name]
    if (place := plan.columns.get(PLACE[0])) is not None:
        row[place.name] = number
    _take(row, plan, node)
    return row


def _take(row: Row, plan: Plan, node: Node) -> None:
    for key, found in node.items():
        if found is None:
            continue
        if (inner := plan.inner.get(key)) is not None:
            _take(row, inner, found)
        elif (column := plan.columns.get(key)) is not None:
            row[column.name] = _cell(column, found)


def _cell(column: Column, found: Any) -> Any:
    if column.kind == "list":
        return ", ".join(str(one) for one in found)
    if column.kind == "map":
        return json.dumps(found, ensure_ascii=False)
    return found


def _at(node: Node, place: tuple[str, ...]) -> Any:
    """Return what stands at a place, or None where something on the way is missing or null."""
    found: Any = node
    for key in place:
        if found is None:
            return None
        found = found.get(key)
    return found
