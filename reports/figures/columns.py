"""Rows of the ledger's tables as numpy columns: some of them, and in seconds where they are times.

Times are taken from an origin while they are integers: a float has too few digits for nanoseconds
since 1970.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from ...analyzer.columns import Column, filled, is_letter

if TYPE_CHECKING:
    from ...analyzer.model import End

Floats = np.ndarray[Any, np.dtype[np.float64]]
Ints = np.ndarray[Any, np.dtype[np.int64]]
Bools = np.ndarray[Any, np.dtype[np.bool_]]

NS_PER_S = 1_000_000_000

ABSENT = np.iinfo(np.int64).min
"""Stands for what is absent in a column of integers."""


def of(
    table: pa.Table,
    *,
    sender: End | None = None,
    **numbers: int | None,
) -> pa.Table:
    """Return the rows of a table that have these values.

    Parameters
    ----------
    table
        Of the ledger.
    sender
        Of the column `sender`, where that is never absent; None for both.
    **numbers
        Of columns of numbers; None for any.
    """
    keep = np.ones(table.num_rows, bool)
    for name, value in numbers.items():
        if value is not None:
            keep &= filled(table[name], -1) == value
    if sender is not None:
        keep &= is_letter(table["sender"], sender)
    return chosen(table, keep)


def chosen(table: pa.Table, keep: Bools) -> pa.Table:
    """Return the rows that are to be kept."""
    return table if keep.all() else table.filter(pa.array(keep))


def touching(table: pa.Table, first: str, last: str, from_ns: int, to_ns: int) -> pa.Table:
    """Return the rows whose span, from one column to another, touches a window of time.

    A span without an end lasts on.
    """
    ends = integers(table, last)
    keep = (integers(table, first) <= to_ns) & ((ends >= from_ns) | (ends == ABSENT))
    return chosen(table, keep)


def integers(table: pa.Table, name: str) -> Ints:
    """Return a column of integers, int64, `ABSENT` where a value is absent."""
    return filled(table[name], ABSENT)


def seconds(table: pa.Table, name: str, origin_ns: int) -> Floats:
    """Return a column of times in seconds from an origin, float64, NaN where one is absent."""
    return from_origin(integers(table, name), origin_ns)


def from_origin(times_ns: Ints, origin_ns: int) -> Floats:
    """Return times in seconds from an origin, NaN for `ABSENT`."""
    known = times_ns != ABSENT
    found: Floats = np.full(len(times_ns), np.nan)
    found[known] = (times_ns[known] - origin_ns) / NS_PER_S
    return found


def numbers(table: pa.Table, name: str, scale: float = 1.0) -> Floats:
    """Return a column of integers as float64, times a scale, NaN where a value is absent."""
    values = integers(table, name)
    return np.where(values == ABSENT, np.nan, values * scale)


def words(table: pa.Table, name: str) -> list[str | None]:
    """Return a column of strings."""
    found: list[str | None] = table[name].to_pylist()
    return found


def unwrapped(tsns: Column, first: int) -> Ints:
    """Return TSNs as distances from a first one, which they may have gone round several times.

    Parameters
    ----------
    tsns
        In the order of time, so that none is 2^31 or more away from the one before (RFC 9260
        section 1.6).
    first
        The TSN that gets 0.
    """
    if not len(tsns):
        return np.empty(0, np.int64)
    steps: Ints = np.diff(np.concatenate(([first], tsns.astype(np.int64))))
    wrapped = (steps + 2**31) % 2**32 - 2**31
    return np.cumsum(wrapped)
