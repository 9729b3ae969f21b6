"""Paths of packet rows by their labels: a column of labels beside each column of numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

SUFFIX = "_label"

PATH_BITS = 32
"""Of a path's number, beside that of its association."""

PATHS = ("path", "first_path", "previous_path", "ack_path")
"""Columns of the ledger's tables that have a path's number in its association."""


def schema(columns: pa.Schema) -> pa.Schema:
    """Return the columns of a table with those of labels, each after the number that it is of."""
    fields: list[pa.Field] = []
    for field in columns:
        fields.append(field)
        if field.name in PATHS and "association" in columns.names:
            about = {b"description": (field.metadata or {}).get(b"description", b"")}
            fields.append(pa.field(f"{field.name}{SUFFIX}", pa.string(), metadata=about))
    return pa.schema(fields, columns.metadata)


def batch(rows: pa.RecordBatch, names: Mapping[int, Sequence[str]]) -> pa.RecordBatch:
    """Add their labels to rows.

    Parameters
    ----------
    rows
        Of a table of the ledger.
    names
        Labels of each association's paths, in the order of their numbers. A path that is not
        among them is called by its number.
    """
    wanted = schema(rows.schema)
    columns = [
        rows[field.name]
        if field.name in rows.schema.names
        else _labels(rows, field.name.removesuffix(SUFFIX), names)
        for field in wanted
    ]
    return pa.record_batch(columns, schema=wanted)


def _labels(rows: pa.RecordBatch, column: str, names: Mapping[int, Sequence[str]]) -> pa.Array:
    association, path = (
        rows[name].cast(pa.int64()).fill_null(-1).to_numpy(zero_copy_only=False)
        for name in ("association", column)
    )
    # There are few pairs, and many rows.
    pairs = pa.array((association << PATH_BITS) + path).dictionary_encode()
    known = [_label(pair, names) for pair in pairs.dictionary.to_pylist()]
    return pa.array(known, pa.string()).take(pairs.indices)


def _label(pair: int, names: Mapping[int, Sequence[str]]) -> str | None:
    # Of what is in no association, or on no path, one of the two is -1.
    association, path = divmod(pair + 1, 1 << PATH_BITS)
    path -= 1
    if association < 0 or path < 0:
        return None
    labels = names.get(association, ())
    return labels[path] if path < len(labels) else f"path {path}"
