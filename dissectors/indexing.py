"""Making an offset index: one pass over the capture, and a folder that appears when it is whole."""

from __future__ import annotations

import json
import secrets
import shutil
import tempfile
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from . import _core
from . import ledger as ledgers
from .index import FORMAT, HEAD, PACKETS, Index, definitions, folder_of, identity, normal, schemas

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from pyarrow import parquet

    from .ledger import Ledger, ReadOptions

BLOCK_BYTES = 1 << 20
"""Of the capture, to a block: what is read for a single packet, as a rule."""

COUNTING = ("frame", "time_ns")
"""Columns of the packet table that go up as a rule."""


def build(
    capture: Path,
    options: ReadOptions,
    progress: Callable[[int, int | None], None] | None = None,
    folder: Path | None = None,
) -> Index:
    """Read a capture and write its index, in place of an older one.

    Parameters
    ----------
    capture
        A plain capture file.
    options
        How to read it; an index serves only readings with these.
    progress
        Called now and then with bytes read and bytes in all.
    folder
        Where it is to be; None for beside the capture.

    Raises
    ------
    CaptureError
        As `ledger.read`, and when the capture changed in the meantime.
    FilterError
        When libpcap does not take the filter.
    ValueError
        When the capture is compressed or no file.
    FileExistsError
        When something else than an index is in its place.
    OSError
        When the index cannot be written.
    """
    folder = folder or folder_of(capture)
    ledger = read(capture, options, progress, folder)
    return Index(capture, folder, ledger.capture, options)


def read(
    capture: Path,
    options: ReadOptions,
    progress: Callable[[int, int | None], None] | None,
    folder: Path,
) -> Ledger:
    """Read a capture into its ledger, and write its index to a folder, in one pass.

    Parameters and errors are those of `build`; the ledger has no table of sightings.
    """
    if folder.exists() and not (folder / HEAD).is_file():
        raise FileExistsError(f"{folder} exists and is no index")
    running = ledgers.begin(capture, options, index_block_bytes=BLOCK_BYTES)
    before = identity(capture)
    with _new_folder(folder) as temporary:
        ledger = ledgers.of_pass(capture, _write_tables(running, temporary, progress), options)
        if identity(capture) != before:
            raise _core.CaptureError(f"{capture}: changed while it was being indexed")
        head = {
            "format": FORMAT,
            "definitions": definitions(),
            "capture": before,
            "options": normal(options),
            "facts": ledger.capture,
        }
        (temporary / HEAD).write_text(json.dumps(head, indent=1, ensure_ascii=False) + "\n")
    return ledger


def _write_tables(
    running: _core.Pass, folder: Path, progress: Callable[[int, int | None], None] | None
) -> dict[str, Any]:
    """Run the pass and write what it finds, which is returned."""
    import pyarrow as pa
    from pyarrow import parquet

    path = folder / f"{PACKETS}.parquet"
    schema = schemas()[PACKETS]
    with (
        parquet.ParquetWriter(
            path,
            schema,
            compression="zstd",
            # What counts up is best kept as differences, all else as a few different values.
            use_dictionary=[name for name in schema.names if name not in COUNTING],
            column_encoding=dict.fromkeys(COUNTING, "DELTA_BINARY_PACKED"),
        ) as writer,
        ThreadPoolExecutor(max_workers=1) as beside,
    ):
        # One row group a block, in the blocks' order: their numbers are the same. Written beside
        # the pass, which is as much work again; one step's blocks at a time, so that few wait.
        written = beside.submit(_write_blocks, writer, [])
        more = True
        while more:
            more = running.step(ledgers.STEP_RECORDS)
            written.result()
            written = beside.submit(_write_blocks, writer, running.take_index())
            if progress is not None:
                progress(*running.progress())
        written.result()
        result: dict[str, Any] = running.finish()
        _write_blocks(writer, result["index"].pop(PACKETS))
    for name, batch in (result["tables"] | result["index"]).items():
        table = pa.Table.from_batches([pa.record_batch(batch)])
        parquet.write_table(table, folder / f"{name}.parquet", compression="zstd")
    return result


def _write_blocks(writer: parquet.ParquetWriter, batches: list[Any]) -> None:
    import pyarrow as pa

    for batch in batches:
        writer.write_batch(pa.record_batch(batch))


@contextmanager
def _new_folder(folder: Path) -> Iterator[Path]:
    """Make a folder that appears under its name only when all of it has been written."""
    # Not by tempfile, which makes it private: an index is as open as the user's other folders.
    temporary = folder.with_name(f".{folder.name}.{secrets.token_hex(4)}")
    try:
        temporary.mkdir()
    except OSError as error:
        error.filename = str(folder)
        raise
    try:
        yield temporary
        if folder.exists():
            old = Path(tempfile.mkdtemp(dir=folder.parent, prefix=f".{folder.name}."))
            folder.replace(old)
            temporary.replace(folder)
            shutil.rmtree(old)
        else:
            temporary.replace(folder)
    except BaseException:
        shutil.rmtree(temporary, ignore_errors=True)
        raise
