"""Rows as Arrow tables, their columns made from buffers.

`pyarrow.Table.from_pylist` imports pandas, to ask it what a list is: that takes a quarter of a
second, more than to analyze most captures.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    Bools = np.ndarray[Any, np.dtype[np.bool_]]


@dataclass(frozen=True, slots=True)
class Kind:
    """What the values of a column may be in Python, and what numpy calls them; None for strings."""

    taken: frozenset[type]
    numpy: type | None


KINDS = {
    pa.int64().id: Kind(frozenset((int,)), np.int64),
    pa.float64().id: Kind(frozenset((float, int)), np.float64),
    pa.bool_().id: Kind(frozenset((bool,)), np.bool_),
    pa.string().id: Kind(frozenset((str,)), None),
}
"""By the ids of Arrow's types: types themselves are compared by their names, letter by letter."""

MOST_BYTES = 2**31 - 1
"""Of all strings of a column: their offsets have 32 bits."""


def table(rows: Sequence[Mapping[str, Any]], schema: pa.Schema) -> pa.Table:
    """Return rows as a table; where a row has no value, or None, there is null.

    Parameters
    ----------
    rows
        Values by the names of their columns.
    schema
        Of columns of 64-bit integers and floats, booleans and strings. An integer among floats is
        rounded where it has more than 53 bits.

    Raises
    ------
    pyarrow.ArrowInvalid, UnicodeEncodeError
        When a value is not of its column, or of no column.
    """
    seen = set[str]().union(*rows)
    if unknown := seen - set(schema.names):
        raise pa.ArrowInvalid(f"no column {min(unknown)}")
    # Of the hundreds of columns that some tables have, most have no value.
    arrays = [
        _array(name, kind, [row.get(name) for row in rows])
        if name in seen
        else pa.nulls(len(rows), kind)
        for name, kind in zip(schema.names, schema.types, strict=True)
    ]
    return pa.Table.from_arrays(arrays, schema=schema)


def repeated(value: int | str, times: int) -> pa.Array:
    """Return a column that has one value in every row."""
    kind = pa.string() if isinstance(value, str) else pa.int64()
    return _array("repeated", kind, [value] * times)


def _array(name: str, type_: pa.DataType, column: list[Any]) -> pa.Array:
    kind = KINDS[type_.id]
    found = set(map(type, column))
    values, present, validity = column, None, None
    if type(None) in found:
        found.remove(type(None))
        values = [value for value in column if value is not None]
        present = np.array([value is not None for value in column])
        validity = _bits(present)
    if not found <= kind.taken:
        wrong = min(one.__name__ for one in found - kind.taken)
        raise pa.ArrowInvalid(f"column {name}: expected {type_}, found {wrong}")
    try:
        if kind.numpy is None:
            content = _strings(values, present)
        else:
            content = _numbers(np.array(values, kind.numpy), present)
    except OverflowError as error:
        raise pa.ArrowInvalid(f"column {name}: {error}") from error
    absent = len(column) - len(values)
    return pa.Array.from_buffers(type_, len(column), [validity, *content], absent)


def _bits(bools: Bools) -> pa.Buffer:
    return pa.py_buffer(np.packbits(bools, bitorder="little"))


def _numbers(numbers: np.ndarray[Any, Any], present: Bools | None) -> list[pa.Buffer]:
    if present is not None:
        apart = np.zeros(len(present), numbers.dtype)
        apart[present] = numbers
        numbers = apart
    return [_bits(numbers) if numbers.dtype == bool else pa.py_buffer(numbers)]


def _strings(values: list[str], present: Bools | None) -> list[pa.Buffer]:
    joined = "".join(values)
    content = joined.encode()
    if len(content) > MOST_BYTES:
        raise OverflowError(f"its {len(content)} bytes are too many for one table")
    is_ascii = len(content) == len(joined)
    lengths = map(len, values if is_ascii else [value.encode() for value in values])
    ends = np.array([0, *lengths], np.int32).cumsum(dtype=np.int32)
    if present is not None:
        ends = ends[np.concatenate(([0], present.cumsum()))]
    return [pa.py_buffer(ends), pa.py_buffer(content)]
