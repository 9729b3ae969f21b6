"""Tables to files and streams: CSV, JSON lines and Parquet, written whole or not at all."""

from __future__ import annotations

import errno
import os
import secrets
import tempfile
from contextlib import contextmanager
from typing import TYPE_CHECKING, BinaryIO, Literal

import pyarrow as pa

from .unseen import json_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

Format = Literal["csv", "json", "parquet"]
FORMATS: tuple[Format, ...] = ("csv", "json", "parquet")


@contextmanager
def whole_file(path: Path, *, force: bool) -> Iterator[BinaryIO]:
    """Open a file that appears under its name only when all of it has been written.

    A device or a pipe is written to as it is.

    Raises
    ------
    FileExistsError
        When it exists and `force` is not given.
    IsADirectoryError
        When it is a folder.
    """
    if path.is_dir():
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    if path.exists() and not path.is_file():
        with _named(path), path.open("wb") as stream:
            yield stream
        return
    if path.exists() and not force:
        raise FileExistsError(f"{path} exists; --force overwrites it")
    # Not by tempfile, which makes it private: a result is as open as the user's other files.
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    with _named(path):
        made = temporary.open("xb")
    try:
        with _named(path), made as stream:
            yield stream
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


@contextmanager
def _named(path: Path) -> Iterator[None]:
    """Let errors name the file that the user asked for, not one that stands in for it."""
    try:
        yield
    except OSError as error:
        error.filename = str(path)
        raise


def write_table(
    batches: Iterable[pa.RecordBatch], schema: pa.Schema, form: Format, stream: BinaryIO
) -> int:
    """Write record batches as they come; returns the number of rows.

    JSON is one object a line: an array could not be read before its end.
    """
    if form == "parquet":
        return _write_parquet(batches, schema, stream)
    if form == "csv":
        return _write_csv(batches, schema, stream)
    rows = 0
    for batch in batches:
        for row in batch.to_pylist():
            stream.write(json_text(row).encode() + b"\n")
        rows += batch.num_rows
    return rows


def _write_csv(batches: Iterable[pa.RecordBatch], schema: pa.Schema, stream: BinaryIO) -> int:
    from pyarrow import csv

    rows = 0
    options = csv.WriteOptions(quoting_style="needed")
    with csv.CSVWriter(stream, schema, write_options=options) as writer:
        for batch in batches:
            writer.write_batch(batch)
            rows += batch.num_rows
    return rows


def _write_parquet(batches: Iterable[pa.RecordBatch], schema: pa.Schema, stream: BinaryIO) -> int:
    from pyarrow import parquet

    rows = 0
    with parquet.ParquetWriter(stream, _in_order(schema), compression="zstd") as writer:
        for batch in batches:
            writer.write_batch(batch)
            rows += batch.num_rows
    return rows


def _in_order(schema: pa.Schema) -> pa.Schema:
    """Sort what a schema says of itself: the same capture gives the same bytes."""
    fields = [field.with_metadata(_sorted(field.metadata)) for field in schema]
    return pa.schema(fields, _sorted(schema.metadata))


def _sorted(metadata: dict[bytes, bytes] | None) -> dict[bytes, bytes]:
    return dict(sorted((metadata or {}).items()))


def prepare_folder(folder: Path, *, force: bool) -> None:
    """Make a folder for results, and find out that it can be written to before any work is done.

    Raises
    ------
    FileExistsError
        When it is not empty and `force` is not given.
    OSError
        When it cannot be made or written to.
    """
    folder.mkdir(parents=True, exist_ok=True)
    if not force and any(folder.iterdir()):
        raise FileExistsError(f"{folder} is not empty; --force overwrites what is in the way")
    with tempfile.TemporaryFile(dir=folder):
        pass
