"""The ledger in Python: one pass over a capture, its tables as Arrow and as pandas frames.

Names, types, units and meaning of every column come from the extension, where they are defined
once; `describe` prints them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from os import PathLike
from typing import TYPE_CHECKING, Any

from . import _core

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import pandas as pd
    import pyarrow as pa

# pyarrow and pandas are imported where they are used: the pass needs neither, so that
# `api.analyze` can have pyarrow imported while it runs.

STEP_RECORDS = 400_000
"""Records between two looks at signals and at the progress: some tenths of a second."""

BATCH_ROWS = 65_536
"""Rows of one batch of a streamed table."""

CHUNKS = "chunks"
"""The streamed table of every chunk of every SCTP packet."""

MESSAGES = "messages"
"""The streamed table of every user message of SCTP."""

SIGHTINGS = "sightings"
"""The streamed table of every packet, as a capture at the other end would show it, too."""

MOST_SIGHTINGS = 10_000_000
"""Rows of that table that a ledger keeps: some 600 MB."""

FLOW_TABLES = frozenset(
    ("flows", "flow_directions", "flow_intervals", "tcp_retransmissions", "icmp")
)
"""The tables of the ledger that stay empty unless `ReadOptions.flows` is set."""

STANDARD_INPUT = "-"
"""The path that stands for it."""

Source = str | PathLike[str] | Sequence[str | PathLike[str]]
"""A capture: a file, `-` for standard input, or several files whose packets are merged by time."""

Row = dict[str, Any]
"""One row of a table: column name to Python int, float, str, bool or None."""


@dataclass(frozen=True, slots=True)
class ReadOptions:
    """How a capture is read.

    Attributes
    ----------
    bin_ns
        Width of the interval table's bins.
    udp_ports
        UDP ports that carry SCTP (RFC 6951); None for the registered 9899.
    reorder_window_ns
        How long packets are held to be put in time order; None for 2 s where the capture has
        several interfaces and 0 elsewhere.
    filter
        A libpcap filter expression; None for all packets.
    flows
        Whether TCP and UDP flows are followed and ICMP errors read, beside SCTP: the tables of
        `FLOW_TABLES`. Without it these packets are skipped as "not SCTP".
    flow_capacity
        Flows remembered at a time; None for 65,536. The one idle longest makes room for a new one.
    association_capacity
        SCTP associations remembered at a time; None for 65,536. The one idle longest makes room
        for a new one: first of those that ended or of which only one end was seen sending.
    hosts
        Of a simulator's trace: nodes that are interfaces of one multihomed host, host by host.
        Nodes that no host has may still be found to belong together, by their packets.
    sightings
        Whether the ledger also has the table of sightings: 63 bytes a packet, of the first
        `MOST_SIGHTINGS`.
    """

    bin_ns: int = 100_000_000
    udp_ports: tuple[int, ...] | None = None
    reorder_window_ns: int | None = None
    filter: str | None = None
    flows: bool = False
    flow_capacity: int | None = None
    association_capacity: int | None = None
    hosts: tuple[tuple[int, ...], ...] = ()
    sightings: bool = False


@dataclass(frozen=True, slots=True)
class Ledger:
    """What one pass over a capture found.

    Attributes
    ----------
    path
        The capture, as it was named; of several files the first, and how many more.
    capture
        Facts of the capture: files with their first frame numbers, format, frames read, dissected,
        partial and skipped by reason, interfaces, order, problems by kind, associations and flows
        seen, evicted and unlisted, rows that full tables did not take, damage.
    tables
        Arrow tables by name.
    options
        How it was read.
    """

    path: str
    capture: dict[str, Any]
    tables: dict[str, pa.Table]
    options: ReadOptions = field(default_factory=ReadOptions)

    def rows(self, table: str) -> list[Row]:
        """Rows of a table as dicts, for tables that are small by nature."""
        rows: list[Row] = self.tables[table].to_pylist()
        return rows

    def by_association(self, table: str) -> dict[int, list[Row]]:
        """Rows of a table by association number, in the table's order."""
        groups: dict[int, list[Row]] = {}
        for row in self.rows(table):
            groups.setdefault(row["association"], []).append(row)
        return groups

    def frame(self, table: str) -> pd.DataFrame:
        """Return a table as a pandas frame.

        Columns that can be absent have pandas' nullable types, so that nanoseconds never become
        floats.
        """
        return to_frame(self.tables[table])


def to_frame(table: pa.Table) -> pd.DataFrame:
    """Convert an Arrow table to a pandas frame without losing a digit of an integer."""
    import pandas as pd
    import pyarrow as pa

    nullable = {
        pa.uint8(): pd.UInt8Dtype(),
        pa.uint16(): pd.UInt16Dtype(),
        pa.uint32(): pd.UInt32Dtype(),
        pa.uint64(): pd.UInt64Dtype(),
        pa.int64(): pd.Int64Dtype(),
    }
    absent = [name for name in table.column_names if table.schema.field(name).nullable]
    with_absent = table.select(absent).to_pandas(types_mapper=nullable.get)
    frame = table.drop_columns(absent).to_pandas()
    joined: pd.DataFrame = pd.concat([frame, with_absent], axis=1)[table.column_names]
    return joined


def paths_of(source: Source) -> list[str]:
    """Return the files of a capture, as they were named."""
    if isinstance(source, str | PathLike):
        return [str(source)]
    return [str(path) for path in source]


def _name(source: Source) -> str:
    first, *more = paths_of(source) or [""]
    name = "standard input" if first == STANDARD_INPUT else first
    return f"{name} and {len(more)} more" if more else name


def begin(
    source: Source,
    options: ReadOptions,
    *,
    stream: str | None = None,
    index_block_bytes: int | None = None,
) -> _core.Pass:
    """Begin a pass: with the rows of a streamed table, or with blocks for an offset index."""
    return _core.Pass(
        paths_of(source),
        bin_ns=options.bin_ns,
        udp_ports=None if options.udp_ports is None else list(options.udp_ports),
        reorder_window_ns=options.reorder_window_ns,
        filter=options.filter,
        stream=stream,
        flows=options.flows,
        flow_capacity=options.flow_capacity,
        association_capacity=options.association_capacity,
        hosts=[list(host) for host in options.hosts],
        index_block_bytes=index_block_bytes,
    )


def read(
    source: Source,
    options: ReadOptions | None = None,
    progress: Callable[[int, int | None], None] | None = None,
) -> Ledger:
    """Read a capture into its ledger, in one streaming pass.

    Parameters
    ----------
    source
        A pcap, pcapng or snoop file or an ns-2 trace, plain or compressed with gzip, zstd, xz or
        lz4; or several, which are merged by time. The frames of each file are numbered on from
        `Ledger.capture["files"][n]["first_frame"]`.
    options
        How to read it.
    progress
        Called now and then with bytes read and bytes in all (None when not known).

    Raises
    ------
    CaptureError
        When a file cannot be opened or is no capture. A capture that goes wrong later gives
        the ledger up to there, and the damage in `Ledger.capture["damage"]`.
    FilterError
        When libpcap does not take the filter.
    """
    options = options or ReadOptions()
    running = begin(source, options, stream=SIGHTINGS if options.sightings else None)
    sightings = _Sightings() if options.sightings else None
    while running.step(STEP_RECORDS):
        if sightings is not None:
            sightings.keep(running)
        if progress is not None:
            progress(*running.progress())
    if sightings is not None:
        sightings.keep(running)
    ledger = of_pass(source, running.finish(), options)
    if sightings is not None:
        ledger.tables[SIGHTINGS] = _table(sightings.batches)
        if sightings.left_out:
            ledger.capture["unlisted"][SIGHTINGS] = sightings.left_out
    return ledger


def of_pass(source: Source, result: dict[str, Any], options: ReadOptions) -> Ledger:
    """Return the ledger of what a pass has found, without the table of sightings."""
    tables = {name: _table([batch]) for name, batch in result["tables"].items()}
    return Ledger(_name(source), result["capture"], tables, options)


@dataclass(slots=True)
class _Sightings:
    """Rows of that table while the pass goes on, as columns: too many for anything else."""

    batches: list[Any] = field(default_factory=list)
    kept: int = 0
    left_out: int = 0

    def keep(self, running: _core.Pass) -> None:
        waiting = running.rows_waiting()
        rows = running.take_rows()
        if self.batches and self.kept + waiting > MOST_SIGHTINGS:
            self.left_out += waiting
        else:
            self.kept += waiting
            self.batches.append(rows)


def stream(
    source: Source, table: str = CHUNKS, options: ReadOptions | None = None
) -> Iterator[pa.RecordBatch]:
    """Stream one of the tables that have a row for every thing of a kind, in time order.

    Yields batches of about 65,536 rows; at least one, which may be empty.

    Raises
    ------
    KeyError
        When no streamed table has that name.
    CaptureError
        As `read`; also, after everything before it was given out, when the file is damaged.
    """
    return (batch for batch, _ in stream_from(source, table, options))


def stream_from(
    source: Source, table: str, options: ReadOptions | None = None
) -> Iterator[tuple[pa.RecordBatch, int | None]]:
    """Stream a table like `stream`; beside each batch stands the time of frame 1, in ns.

    None in a capture without frames.
    """
    import pyarrow as pa

    running = begin(source, options_for(table, options), stream=table)
    more = True
    given = False
    while more:
        # Small steps: a packet can hold hundreds of chunks.
        more = running.step(1024)
        if running.rows_waiting() >= BATCH_ROWS or not (more or given):
            yield pa.record_batch(running.take_rows()), running.first_frame_ns()
            given = True
    if running.rows_waiting():
        yield pa.record_batch(running.take_rows()), running.first_frame_ns()
    damage = running.finish()["capture"]["damage"]
    if damage is not None:
        raise _core.CaptureError(damage)


def options_for(table: str, options: ReadOptions | None = None) -> ReadOptions:
    """Return options that fill the table: a flow table takes flows that are followed.

    A streamed table needs nothing: the extension follows flows when its rows tell of them.
    """
    options = options or ReadOptions()
    if table in (CHUNKS, MESSAGES):  # SCTP's: flows would be followed for nothing
        return replace(options, flows=False)
    return replace(options, flows=options.flows or table in FLOW_TABLES)


def streamed_names() -> tuple[str, ...]:
    """Return the names of the streamed tables."""
    return tuple(_core.streamed_schemas())


def table_names() -> tuple[str, ...]:
    """Return the name of every table, the streamed ones last."""
    return (*_core.schemas(), *streamed_names())


def schemas() -> dict[str, pa.Schema]:
    """Return the schema of every table, the streamed ones last."""
    import pyarrow as pa

    found = _core.schemas() | _core.streamed_schemas()
    return {name: pa.schema(schema) for name, schema in found.items()}


def describe() -> Sequence[Row]:
    """List every column: table, column, type, whether it can be absent, meaning."""
    return [
        {
            "table": name,
            "column": column.name,
            "type": str(column.type),
            "nullable": column.nullable,
            "description": (column.metadata or {}).get(b"description", b"").decode(),
        }
        for name, schema in schemas().items()
        for column in schema
    ]


def _table(batches: list[Any]) -> pa.Table:
    import pyarrow as pa

    return pa.Table.from_batches([pa.record_batch(batch) for batch in batches])
