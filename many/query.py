"""SQL over the tables of a dataset, or of the folder of `analyze --out`, by DuckDB.

DuckDB reads no file by itself here: it is given the tables, and may open nothing else.
"""

from __future__ import annotations

import json
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from typing import TYPE_CHECKING

from . import dataset
from .dataset import LEDGER, DatasetError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    import duckdb
    import pyarrow as pa

MANIFEST = "manifest.json"
"""Of a folder of `analyze --out`."""

CONFINED = {
    "enable_external_access": "false",
    "python_enable_replacements": "false",
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
    "temp_directory": "",
}
"""Settings of DuckDB by which a query neither reads nor writes anything but the tables."""

BATCH_ROWS = 65_536


class QueryError(ValueError):
    """A query that cannot be answered; the message says where in it, and why."""


@dataclass(frozen=True, slots=True)
class Table:
    """A table that can be asked.

    Attributes
    ----------
    name
        What SQL calls it: `handovers`, `ledger.runs`.
    files
        Its Parquet files; one has its columns even where none has rows.
    """

    name: str
    files: tuple[Path, ...]

    def schema(self) -> pa.Schema:
        """Return its columns, with `description` in their metadata."""
        from pyarrow import parquet

        return parquet.read_schema(self.files[0])

    def rows(self) -> int:
        """Return how many rows it has, by what its files say of themselves."""
        from pyarrow import parquet

        return sum(parquet.read_metadata(file).num_rows for file in self.files)


def tables(folder: Path) -> dict[str, Table]:
    """Return the tables of a folder, by the name that SQL calls them by.

    Raises
    ------
    DatasetError
        When the folder holds no results, or none in Parquet.
    OSError
        When it cannot be read.
    """
    if dataset.is_dataset(folder):
        found = dataset.opened(folder).files()
    elif (folder / MANIFEST).is_file():
        found = _of_a_folder(folder)
    else:
        raise DatasetError(f"{folder}: expected a folder that analyze --out has written")
    named = {
        f"{LEDGER}.{name}" if kind == LEDGER else name: files
        for (kind, name), files in found.items()
    }
    return {name: Table(name, tuple(files)) for name, files in named.items()}


@dataclass(frozen=True, slots=True)
class Answer:
    """The rows that a query gives: `batches` can be gone through once."""

    schema: pa.Schema
    batches: Iterator[pa.RecordBatch]


@contextmanager
def asked(known: Mapping[str, Table], sql: str) -> Iterator[Answer]:
    """Answer a query; rows are made as they are taken.

    Parameters
    ----------
    known
        As `tables`.
    sql
        A statement of DuckDB's SQL.

    Raises
    ------
    QueryError
        When DuckDB is not installed, or does not take the statement: also while rows are taken.
    """
    if find_spec("duckdb") is None:
        raise QueryError("duckdb is not installed: pip install 'pathscope[query]'")
    import duckdb

    try:
        with duckdb.connect(":memory:", config=dict(CONFINED)) as connection:
            for table in _mentioned(known, sql):
                _give(connection, table)
            connection.execute("SET lock_configuration = true")
            found = connection.sql(sql)
            if found is None:
                raise QueryError("expected a statement that gives rows, such as SELECT")
            reader = found.to_arrow_reader(BATCH_ROWS)
            yield Answer(reader.schema, iter(reader))
    except duckdb.Error as error:
        raise QueryError(str(error)) from error


def _mentioned(known: Mapping[str, Table], sql: str) -> list[Table]:
    """Return the tables whose name is in a statement, or all: each takes some time to open."""
    text = sql.lower()
    return [one for one in known.values() if one.name.rpartition(".")[2] in text] or [
        *known.values()
    ]


def _give(connection: duckdb.DuckDBPyConnection, table: Table) -> None:
    from pyarrow import dataset as files

    source = files.dataset([str(one) for one in table.files], format="parquet")
    schema, _, name = table.name.rpartition(".")
    if not schema:
        connection.register(name, source)
        return
    # What is registered has no schema of its own.
    connection.register(f"{schema}_{name}", source)
    connection.execute(f'CREATE SCHEMA IF NOT EXISTS "{schema}"')
    connection.execute(f'CREATE VIEW "{schema}"."{name}" AS FROM "{schema}_{name}"')


def _of_a_folder(folder: Path) -> dict[tuple[str, str], list[Path]]:
    """Return the tables of a folder of `analyze --out`, as `Dataset.files` does."""
    manifest = json.loads((folder / MANIFEST).read_bytes())
    listed = [(one["kind"], one["name"], one["file"]) for one in manifest["tables"]]
    if any(not file.endswith(".parquet") for _, _, file in listed):
        raise DatasetError(f"{folder}: its tables are CSV; query reads those of --tables parquet")
    return {(kind, name): [folder / file] for kind, name, file in listed}
