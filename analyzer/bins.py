"""The interval table of one association, and its sums per path and direction."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from .columns import Column, filled, is_letter, to_numpy

if TYPE_CHECKING:
    import pyarrow as pa

    from .model import End

_SUMS = (
    "packets",
    "wire_bytes",
    "data_chunks",
    "new_chunks",
    "new_bytes",
    "late_chunks",
    "retransmitted_chunks",
    "retransmitted_bytes",
    "acked_chunks",
    "acked_bytes",
)

_KEYS = ("association", "path")
_ROUND_TRIPS = ("rtt_count", "rtt_sum_ns")
_COLUMNS = ("path", "start_ns", "is_b", *_SUMS, *_ROUND_TRIPS)

Columns = dict[str, Column]

Way = tuple[int, "End"]
"""A path number and a sender on it."""


@dataclass(frozen=True, slots=True)
class Totals:
    """Sums over the bins of one path and sender.

    `first_ns` and `last_ns` are those of the packets; None when there were none. SRTT, RTTVAR and
    the RTO made of them are those of the last bin; `rto_model_max_ns` is the greatest.
    """

    sums: dict[str, int]
    first_ns: int | None
    last_ns: int | None
    flight_max_bytes: int
    a_rwnd_min_bytes: int | None
    srtt_ns: int | None
    rttvar_ns: int | None
    rto_model_ns: int | None
    rto_model_max_ns: int | None

    @property
    def active_ns(self) -> int:
        """From the first packet to the last."""
        if self.first_ns is None or self.last_ns is None:
            return 0
        return self.last_ns - self.first_ns


@dataclass(frozen=True, slots=True)
class Bins:
    """The interval table of one association.

    `columns` has the numbers of every bin, and `is_b`: whether the sender is b.
    """

    bin_ns: int
    totals: dict[Way, Totals]
    columns: Columns
    _data_starts: dict[Way, list[int]]

    @classmethod
    def empty(cls, bin_ns: int) -> Bins:
        """Make the bins of an association that has none."""
        return cls(bin_ns, {}, {name: np.array([], int) for name in _COLUMNS}, {})

    def carried_data(self, path: int, sender: End, start_ns: int, end_ns: int) -> bool:
        """Tell whether any bin that overlaps the window has DATA of the sender on the path."""
        starts = self._data_starts.get((path, sender), [])
        return bisect_left(starts, end_ns) > bisect_right(starts, start_ns - self.bin_ns)


def split_bins(table: pa.Table, bin_ns: int) -> dict[int, Bins]:
    """Split the interval table by association.

    A sort and sums between its borders: Arrow's own group_by imports pandas, which takes longer
    than all the rest of an analysis.
    """
    if not table.num_rows:
        return {}
    columns = {name: to_numpy(table[name]) for name in (*_KEYS, "start_ns", *_SUMS, *_ROUND_TRIPS)}
    columns["is_b"] = is_letter(table["sender"], "b")
    order = np.lexsort([columns[name] for name in ("start_ns", "is_b", *reversed(_KEYS))])
    columns = {name: column[order] for name, column in columns.items()}
    keys = [columns[name] for name in (*_KEYS, "is_b")]
    differs = np.logical_or.reduce([key[1:] != key[:-1] for key in keys])
    firsts = np.concatenate(([0], np.flatnonzero(differs) + 1))
    sums = {name: np.add.reduceat(columns[name], firsts).tolist() for name in _SUMS}
    first_ns, last_ns, flight_max_bytes, a_rwnd_min_bytes, rto_model_max_ns = (
        _extremes(function, table[name], order, firsts)
        for function, name in (
            (np.minimum, "first_ns"),
            (np.maximum, "last_ns"),
            (np.maximum, "flight_max_bytes"),
            (np.minimum, "a_rwnd_min_bytes"),
            (np.maximum, "rto_model_ns"),
        )
    )
    ends = np.append(firsts[1:], len(order)) - 1
    srtt_ns, rttvar_ns, rto_model_ns = (
        _at(table[name], order[ends]) for name in ("srtt_ns", "rttvar_ns", "rto_model_ns")
    )
    totals: dict[int, dict[Way, Totals]] = {}
    starts: dict[int, dict[Way, list[int]]] = {}
    ways = zip(*(key[firsts].tolist() for key in keys), strict=True)
    borders = pairwise([*firsts.tolist(), len(order)])
    for index, ((association, path, is_b), (first, end)) in enumerate(
        zip(ways, borders, strict=True)
    ):
        way: Way = (path, "b" if is_b else "a")
        totals.setdefault(association, {})[way] = Totals(
            {name: values[index] for name, values in sums.items()},
            first_ns[index],
            last_ns[index],
            flight_max_bytes[index] or 0,
            a_rwnd_min_bytes[index],
            srtt_ns[index],
            rttvar_ns[index],
            rto_model_ns[index],
            rto_model_max_ns[index],
        )
        with_data = columns["data_chunks"][first:end] > 0
        starts.setdefault(association, {})[way] = columns["start_ns"][first:end][with_data].tolist()
    edges = [*np.searchsorted(columns["association"], list(totals)).tolist(), len(order)]
    return {
        association: Bins(
            bin_ns,
            totals[association],
            {name: columns[name][first:end] for name in _COLUMNS},
            starts[association],
        )
        for association, (first, end) in zip(totals, pairwise(edges), strict=True)
    }


def _at(column: pa.ChunkedArray, rows: Column) -> list[int | None]:
    """Values in some rows; None where absent."""
    return [None if value < 0 else value for value in filled(column, -1)[rows].tolist()]


def _extremes(
    function: np.ufunc, column: pa.ChunkedArray, order: Column, firsts: Column
) -> list[int | None]:
    """Least or largest values between borders; None where all are absent."""
    bound = np.iinfo(np.int64)
    absent = bound.max if function is np.minimum else bound.min
    # 64 bits, so that no value of a narrower column is the one that stands for none.
    values = filled(column, absent)
    extremes = function.reduceat(values[order], firsts).tolist()
    return [None if value == absent else value for value in extremes]
