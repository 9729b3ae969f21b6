"""The tables of a dataset: a result's and a ledger's, with columns that tell runs apart."""

from __future__ import annotations

from collections import defaultdict
from functools import cache
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from ..dissectors import ledger as ledgers
from ..reports import columnar, result_tables
from .dataset import LEDGER, TABLES

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ..dissectors.ledger import Ledger

Node = dict[str, Any]

FIRST = (
    ("key", "Digest of the content of the run's captures, and of the settings."),
    ("run", "Name that the capture, or the folder of the run, was found by."),
)
"""The columns before all others, in every table."""

CAPTURE = pa.field(
    "capture",
    pa.int64(),
    nullable=False,
    metadata={"description": "Index in `captures` of the run's result."},
)
"""The column that a ledger's table gets beside them, as the result's have it."""


@cache
def schemas(kind: str) -> dict[str, pa.Schema]:
    """Return the schema of every table of a kind."""
    if kind == TABLES:
        return {name: _with_first(one) for name, one in result_tables.schemas().items()}
    kept = set(ledgers.table_names()) - set(ledgers.streamed_names())
    return {
        name: _with_first(one.insert(0, CAPTURE))
        for name, one in ledgers.schemas().items()
        if name in kept
    }


class UnfitError(ValueError):
    """Rows that do not fit their table: a fault of this program; `keys` are of their runs."""

    def __init__(self, reason: str, keys: frozenset[str]) -> None:
        super().__init__(reason)
        self.keys = keys


class Gathered:
    """Rows of the runs of a part, table by table."""

    def __init__(self) -> None:
        self._rows: dict[str, list[Node]] = defaultdict(list)
        self._batches: dict[str, list[pa.RecordBatch]] = defaultdict(list)

    def add(self, key: str, run: str, document: Node, captures: Sequence[Ledger]) -> None:
        """Take in a run: its result, and those ledgers whose tables are wanted, too."""
        for name, rows in result_tables.rows_of(document).items():
            for row in rows:
                row["key"], row["run"] = key, run
            self._rows[name] += rows
        for number, ledger in enumerate(captures):
            known = (key, run, number)
            for name, schema in schemas(LEDGER).items():
                for batch in ledger.tables[name].to_batches():
                    if batch.num_rows:
                        first = [columnar.repeated(one, batch.num_rows) for one in known]
                        columns = [*first, *batch.columns]
                        joined = pa.RecordBatch.from_arrays(columns, schema=schema)
                        self._batches[name].append(joined)

    def tables(self) -> Iterator[tuple[str, str, pa.Table]]:
        """Yield kind, name and content of every table that has rows.

        Raises
        ------
        UnfitError
            When a value is not of its column's type.
        """
        for name, rows in self._rows.items():
            try:
                table = columnar.table(rows, schemas(TABLES)[name])
            except ValueError as error:
                raise UnfitError(f"table {name}: {error}", _unfit(name, rows)) from error
            yield TABLES, name, table
        for name, batches in self._batches.items():
            yield LEDGER, name, pa.Table.from_batches(batches).combine_chunks()


def _unfit(name: str, rows: list[Node]) -> frozenset[str]:
    """Return the keys of the runs whose rows do not fit a table."""
    found = set()
    for row in rows:
        try:
            columnar.table([row], schemas(TABLES)[name])
        except ValueError:
            found.add(row["key"])
    return frozenset(found)


def empty(schema: pa.Schema) -> pa.Table:
    """Return a table without rows; `Schema.empty_table` imports pandas, which takes its time."""
    return pa.Table.from_batches([], schema=schema)


def parquet(table: pa.Table) -> pa.Buffer:
    """Return a table as a Parquet file.

    Snappy, not zstd: of so few rows it takes no more room, and half the time.
    """
    from pyarrow import parquet as format_

    sink = pa.BufferOutputStream()
    format_.write_table(table, sink, compression="snappy")
    return sink.getvalue()


def _with_first(schema: pa.Schema) -> pa.Schema:
    fields = [
        pa.field(name, pa.string(), nullable=False, metadata={"description": meaning})
        for name, meaning in FIRST
    ]
    return pa.schema([*fields, *schema], schema.metadata)
