"""Columns of Arrow tables as numpy arrays, from their buffers.

Arrow's own ways import `pyarrow.compute` or pandas, which takes longer than analyzing a capture of
some thousand packets.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    import pyarrow as pa

Column = np.ndarray[Any, np.dtype[Any]]


def to_numpy(column: pa.ChunkedArray) -> Column:
    """Return a column of numbers without nulls."""
    return np.from_dlpack(column.combine_chunks())


def present(column: pa.ChunkedArray) -> Column:
    """Return, as booleans, which values are not null."""
    array = column.combine_chunks()
    validity = array.buffers()[0]
    if validity is None:
        return np.ones(len(array), bool)
    bits = np.unpackbits(np.frombuffer(validity, np.uint8), bitorder="little")
    return bits[array.offset : array.offset + len(array)].astype(bool)


def filled(column: pa.ChunkedArray, absent: int) -> Column:
    """Return a column of integers as 64-bit ones, with `absent` in the place of nulls."""
    array = column.combine_chunks()
    kind = np.dtype(str(array.type))
    stored = np.frombuffer(array.buffers()[1], kind)[array.offset : array.offset + len(array)]
    values: Column = np.where(present(column), stored.astype(np.int64), absent)
    return values


def to_bools(column: pa.ChunkedArray) -> Column:
    """Return a column of booleans without nulls."""
    array = column.combine_chunks()
    bits = np.unpackbits(np.frombuffer(array.buffers()[1], np.uint8), bitorder="little")
    return bits[array.offset : array.offset + len(array)].astype(bool)


def ranked(column: Column) -> tuple[Column, Column]:
    """Return the values of a column, sorted and each once, and the place of each row's among them.

    As `numpy.unique` does, which imports `numpy.ma`.
    """
    ordered = np.sort(column)
    values = ordered[np.concatenate(([True], ordered[1:] != ordered[:-1]))[: len(ordered)]]
    return values, np.searchsorted(values, column)


def is_letter(column: pa.ChunkedArray, letter: str) -> Column:
    """Return, as booleans, which strings are this letter; each is one ASCII letter, none null."""
    array = column.combine_chunks()
    _, _, letters = array.buffers()
    if letters is None:
        return np.zeros(len(array), bool)
    stored = np.frombuffer(letters, np.uint8)[array.offset : array.offset + len(array)]
    same: Column = stored == ord(letter)
    return same
