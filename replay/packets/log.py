"""The log of a replay, `sent.arrows`: an Arrow IPC stream with a header.

A row is a frame that was to be sent, in the order of sending; the columns are described in the
schema, which the native sender defines. Batches are written as they come, so that the log of a
replay that was killed can be read up to there. The schema's metadata has the header, as JSON, under
the key `pathscope`:

    {"format": "pathscope.replay-log/1", "command": [...], "input_sha256": {file: hex}, "seed",
     "base_monotonic_ns", "base_realtime_ns", "routes": [{"path", "direction", "device", "netns"}],
     "versions": {...}}
"""

from __future__ import annotations

import hashlib
import json
import platform
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import pyarrow as pa

from ...analyzer.json_text import parsed
from ...dissectors.ledger import STANDARD_INPUT
from .. import _native

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from .orders import Orders

FORMAT = "pathscope.replay-log/1"

KEY = b"pathscope"
"""Of the header in the schema's metadata."""

SENT, ENOBUFS, DROPPED_AS_LATE, ERROR = range(4)
"""The column `outcome`."""

END = b"\xff\xff\xff\xff\x00\x00\x00\x00"
"""How a stream ends that was closed (Arrow columnar format, IPC streaming format)."""


class LogError(ValueError):
    """A file that is no log of a replay; the message says which and why."""


@dataclass(frozen=True, slots=True)
class Base:
    """The instant at which replay time is 0, by two clocks."""

    monotonic_ns: int
    realtime_ns: int


@dataclass(frozen=True, slots=True)
class Log:
    """A log that was read.

    Attributes
    ----------
    header
        What the replay was.
    table
        A row for every frame that was to be sent.
    cut
        Why rows are missing at the end; None when the log is whole.
    """

    header: dict[str, Any]
    table: pa.Table
    cut: str | None = None


def digests(trace: Iterable[str]) -> dict[str, str]:
    """Return the SHA-256 of every file of a trace, in hexadecimal."""
    return {path: _sha256(Path(path)) for path in trace if path != STANDARD_INPUT}


def header(
    orders: Orders,
    base: Base,
    input_sha256: dict[str, str],
    *,
    command: Sequence[str] = (),
    seed: int | None = None,
) -> dict[str, Any]:
    """Return the header of a replay's log."""
    from importlib.metadata import version

    return {
        "format": FORMAT,
        "command": list(command),
        "input_sha256": input_sha256,
        "seed": seed,
        "base_monotonic_ns": base.monotonic_ns,
        "base_realtime_ns": base.realtime_ns,
        "routes": [
            {
                "path": outlet.path,
                "direction": outlet.direction,
                "device": outlet.device,
                "netns": outlet.netns,
            }
            for outlet in orders.outlets
        ],
        "versions": {
            "pathscope": version("pathscope"),
            "python": platform.python_version(),
            "kernel": platform.release(),
        },
    }


def schema() -> pa.Schema:
    """Return the columns of a log, with their meaning, without a header."""
    return pa.schema(_native.log_schema())


class LogWriter:
    """Writes a log, each batch as it comes."""

    def __init__(self, path: Path, header: dict[str, Any]) -> None:
        metadata = {KEY: json.dumps(header, ensure_ascii=False).encode()}
        self._file = path.open("wb")
        self._stream = pa.ipc.new_stream(self._file, schema().with_metadata(metadata))
        self._file.flush()

    def write(self, batch: Any) -> None:
        """Append rows: a record batch of the native sender, or of pyarrow with its schema."""
        rows = pa.record_batch(batch)
        if rows.num_rows:
            self._stream.write_batch(rows)
            self._file.flush()

    def close(self) -> None:
        """End the log; one that does not end has been cut."""
        self._stream.close()
        self._file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def read(path: Path) -> Log:
    """Read a log, up to where it was cut.

    Raises
    ------
    LogError
        When the file is no log of a replay, or of a format that is not known.
    OSError
        When it cannot be opened.
    """
    whole = path.read_bytes()
    try:
        stream = pa.ipc.open_stream(whole)
        facts = parsed((stream.schema.metadata or {}).get(KEY, b"{}"))
    except (pa.ArrowInvalid, ValueError) as error:
        raise LogError(f"{path}: no log of a replay: {error}") from error
    found = facts.get("format") if isinstance(facts, dict) else None
    if found != FORMAT:
        raise LogError(f"{path}: expected a log of the format {FORMAT}, found {found}")
    columns = schema()
    if stream.schema.remove_metadata() != columns:
        raise LogError(f"{path}: expected the columns of a log, found {stream.schema.names}")
    batches: list[pa.RecordBatch] = []
    cut = None
    try:
        for batch in stream:  # what came before an error is kept
            # Arrow takes offsets into a column's bytes as they are: others may have written them.
            batch.validate(full=True)
            batches.append(batch)
    except (pa.ArrowInvalid, OSError) as error:
        cut = f"{path}: cut in the middle of rows: {error}"
    if cut is None and not whole.endswith(END):
        cut = f"{path}: not closed by its writer, so rows may be missing"
    rows = [pa.record_batch(batch.columns, schema=columns) for batch in batches]
    return Log(facts, pa.Table.from_batches(rows, schema=columns), cut)


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
