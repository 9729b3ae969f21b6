"""Which flows are described, and their rows of the ledger.

The ledger lists up to 131,072 flows; a description of each would cost more memory than reading
the capture did. The largest are described, and MPTCP connections whole or not at all.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from .columns import present, to_numpy

if TYPE_CHECKING:
    from ..dissectors.ledger import Ledger, Row
    from .columns import Column
    from .model import End

MOST_FLOWS = 1000
"""Flows described of one capture: more than a person reads, few enough for one JSON document."""

MOST_ICMP = 1000
"""ICMP errors described, for the same reason; the first ones."""


@dataclass(frozen=True, slots=True)
class FlowRows:
    """Rows of the flows that are described, in order of their numbers.

    `directions` and `retransmissions` are by flow number, `connections` by connection number.
    """

    flows: list[Row]
    directions: dict[int, dict[End, Row]]
    retransmissions: dict[int, list[Row]]
    connections: dict[int, list[Row]]
    icmp: list[Row]
    listed: int
    listed_icmp: int


def select(ledger: Ledger) -> FlowRows:
    """Take the rows of the largest flows out of a ledger."""
    table = ledger.tables["flows"]
    numbers, connections = _choose(ledger)
    flows = _of_flows(table, numbers)
    directions: dict[int, dict[End, Row]] = {row["flow"]: {} for row in flows}
    for row in _of_flows(ledger.tables["flow_directions"], numbers):
        directions[row["flow"]][row["sender"]] = row
    retransmissions: dict[int, list[Row]] = {}
    again = ledger.tables["tcp_retransmissions"].select(["flow", "sender", "frame", "spurious"])
    for row in _of_flows(again, numbers):
        retransmissions.setdefault(row["flow"], []).append(row)
    grouped: dict[int, list[Row]] = {}
    for row in flows:
        if row["connection"] in connections:
            grouped.setdefault(row["connection"], []).append(row)
    icmp = ledger.tables["icmp"]
    return FlowRows(
        flows,
        directions,
        retransmissions,
        grouped,
        icmp.slice(0, MOST_ICMP).to_pylist(),
        table.num_rows,
        icmp.num_rows,
    )


def intervals(ledger: Ledger, flows: list[Row]) -> list[Row]:
    """Return what the bins of some flows say of new payload, in the ledger's order."""
    table = ledger.tables["flow_intervals"].select(["flow", "sender", "start_ns", "new_bytes"])
    return _of_flows(table, np.array([row["flow"] for row in flows], np.int64))


def _choose(ledger: Ledger) -> tuple[Column, set[int]]:
    """Return the numbers of the flows and of the connections that are described."""
    table = ledger.tables["flows"]
    numbers = to_numpy(table["flow"]).astype(np.int64)
    joined = {
        row["flow"]: row["connection"]
        for row in _present(table.select(["flow", "connection"]), "connection")
    }
    if len(numbers) <= MOST_FLOWS:
        return numbers, set(joined.values())
    sizes = _sizes(ledger, numbers)
    by_size = numbers[np.argsort(-sizes, kind="stable")].tolist()
    subflows = Counter(joined.values())
    chosen: set[int] = set()
    connections: set[int] = set()
    room = MOST_FLOWS
    # The first sight of a connection is that of its largest subflow.
    for connection in dict.fromkeys(joined[flow] for flow in by_size if flow in joined):
        if subflows[connection] <= room:
            connections.add(connection)
            room -= subflows[connection]
    chosen.update(flow for flow, connection in joined.items() if connection in connections)
    chosen.update([flow for flow in by_size if flow not in chosen][:room])
    return np.array(sorted(chosen), np.int64), connections


def _sizes(ledger: Ledger, numbers: Column) -> Column:
    """Bytes on the wire of each flow, both ways."""
    directions = ledger.tables["flow_directions"]
    sizes = np.zeros(len(numbers), np.int64)
    places = np.searchsorted(numbers, to_numpy(directions["flow"]))
    np.add.at(sizes, places, to_numpy(directions["wire_bytes"]).astype(np.int64))
    return sizes


def _of_flows(table: pa.Table, numbers: Column) -> list[Row]:
    """Rows whose flow is among the numbers, in the table's order."""
    if not table.num_rows or not len(numbers):
        return []
    wanted = np.isin(to_numpy(table["flow"]), numbers)
    rows: list[Row] = (table if wanted.all() else _take(table, wanted)).to_pylist()
    return rows


def _present(table: pa.Table, column: str) -> list[Row]:
    """Rows in which a column is not absent."""
    if table[column].null_count == table.num_rows:
        return []
    rows: list[Row] = _take(table, present(table[column])).to_pylist()
    return rows


def _take(table: pa.Table, wanted: Column) -> pa.Table:
    # Made from its buffer: pyarrow's other ways to an array import pandas.
    places = np.flatnonzero(wanted).astype(np.int64)
    buffers = [None, pa.py_buffer(places)]
    return table.take(pa.Array.from_buffers(pa.int64(), len(places), buffers))
