"""Sums over the interval table: per path and direction, over all time or a window of it."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

if TYPE_CHECKING:
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

Way = tuple[int, "End"]
"""A path number and a sender on it."""


@dataclass(frozen=True, slots=True)
class Totals:
    """Sums over the bins of one path and sender.

    `first_ns` and `last_ns` are those of the packets; None when there were none.
    """

    sums: dict[str, int]
    first_ns: int | None
    last_ns: int | None
    flight_max_bytes: int
    a_rwnd_min_bytes: int | None

    @property
    def active_ns(self) -> int:
        """From the first packet to the last."""
        if self.first_ns is None or self.last_ns is None:
            return 0
        return self.last_ns - self.first_ns


@dataclass(frozen=True, slots=True)
class Bins:
    """The interval table of one association."""

    bin_ns: int
    totals: dict[Way, Totals]
    table: pa.Table
    _data_starts: dict[Way, list[int]]

    @classmethod
    def empty(cls, bin_ns: int) -> Bins:
        """Make the bins of an association that has none."""
        return cls(bin_ns, {}, pa.table({}), {})

    def carried_data(self, path: int, sender: End, start_ns: int, end_ns: int) -> bool:
        """Tell whether any bin that overlaps the window has DATA of the sender on the path."""
        starts = self._data_starts.get((path, sender), [])
        return bisect_left(starts, end_ns) > bisect_right(starts, start_ns - self.bin_ns)

    def window(self, sender: End, start_ns: int, end_ns: int) -> dict[str, int]:
        """Sums of a sender over all paths, of the bins that begin in [start_ns, end_ns)."""
        start = self.table["start_ns"]
        chosen = pc.and_(
            pc.and_(pc.greater_equal(start, start_ns), pc.less(start, end_ns)),
            pc.equal(self.table["sender"], sender),
        )
        rows = self.table.filter(chosen)
        return {name: pc.sum(rows[name]).as_py() or 0 for name in _SUMS}


def split_bins(table: pa.Table, bin_ns: int) -> dict[int, Bins]:
    """Split the interval table by association."""
    ways = ["association", "path", "sender"]
    grouped = table.group_by(ways).aggregate(
        [(name, "sum") for name in _SUMS]
        + [
            ("first_ns", "min"),
            ("last_ns", "max"),
            ("flight_max_bytes", "max"),
            ("a_rwnd_min_bytes", "min"),
        ]
    )
    totals: dict[int, dict[Way, Totals]] = {}
    for row in grouped.to_pylist():
        totals.setdefault(row["association"], {})[row["path"], row["sender"]] = Totals(
            {name: row[f"{name}_sum"] for name in _SUMS},
            row["first_ns_min"],
            row["last_ns_max"],
            row["flight_max_bytes_max"],
            row["a_rwnd_min_bytes_min"],
        )
    starts: dict[int, dict[Way, list[int]]] = {}
    with_data = table.filter(pc.greater(table["data_chunks"], 0)).select([*ways, "start_ns"])
    for association, path, sender, start_ns in zip(
        *(column.to_pylist() for column in with_data.columns), strict=True
    ):
        starts.setdefault(association, {}).setdefault((path, sender), []).append(start_ns)
    for by_way in starts.values():
        for found in by_way.values():
            found.sort()  # a clock step can open an earlier bin after a later one
    return {
        association: Bins(
            bin_ns,
            by_way,
            table.filter(pc.equal(table["association"], association)) if len(totals) > 1 else table,
            starts.get(association, {}),
        )
        for association, by_way in totals.items()
    }
