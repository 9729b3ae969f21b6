"""The rows of one table: through the offset index where there is one that fits, else by a pass."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from . import _core
from . import ledger as ledgers
from .index import Index, UnfitIndexError
from .selection import Range, Selection, select

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pyarrow as pa

    from .ledger import ReadOptions, Source


def rows(
    source: Source,
    table: str,
    options: ReadOptions | None,
    selection: Selection,
    index_folder: Path | None = None,
) -> Iterator[pa.RecordBatch]:
    """Yield the selected rows of a table as record batches; at least one, which may be empty.

    The index is looked for beside the capture, or in the folder that is named.

    Raises
    ------
    KeyError
        When there is no such table.
    ValueError
        When the table cannot be selected from so, or the window ends before it begins.
    CaptureError
        When a file cannot be opened or is no capture; also, after everything before it was given
        out, when it is damaged.
    FilterError
        When libpcap does not take the filter.
    """
    schema = ledgers.schemas()[table]
    selection.check(table, schema)
    asked = ledgers.options_for(table, options)
    index = _index(source, asked, index_folder)
    if table not in ledgers.streamed_names():
        return _kept(source, table, asked, selection, index)
    # The index knows chunks; of everything, a pass reads them just as well.
    if table == ledgers.CHUNKS and index is not None and selection:
        return _indexed(index, selection, schema)
    return _streamed(source, table, asked, selection)


def _index(source: Source, options: ReadOptions, folder: Path | None) -> Index | None:
    paths = ledgers.paths_of(source)
    if len(paths) != 1 or paths[0] == ledgers.STANDARD_INPUT:
        return None
    try:
        return Index.find(Path(paths[0]), options, folder)
    except UnfitIndexError:
        return None  # whoever wants to know why asks `Index.find`


def _kept(
    source: Source, table: str, options: ReadOptions, selection: Selection, index: Index | None
) -> Iterator[pa.RecordBatch]:
    if index is not None:
        content, facts = index.kept(table), index.facts
    else:
        ledger = ledgers.read(source, options)
        content, facts = ledger.tables[table], ledger.capture
    within = _range(selection, facts["first_frame_ns"])
    chosen = select(
        content, table, within=within, association=selection.association, bin_ns=options.bin_ns
    )
    yield from chosen.to_batches() or _empty(content.schema)
    _tell(facts["damage"])


def _indexed(index: Index, selection: Selection, schema: pa.Schema) -> Iterator[pa.RecordBatch]:
    within = _range(selection, index.facts["first_frame_ns"])
    given = False
    for part in index.chunks(within, selection.association):
        yield part.rows
        given = True
    if not given:
        yield from _empty(schema)
    _tell(index.facts["damage"])


def _streamed(
    source: Source, table: str, options: ReadOptions, selection: Selection
) -> Iterator[pa.RecordBatch]:
    within: Range | None = None
    for batch, first_frame_ns in ledgers.stream_from(source, table, options):
        within = within or _range(selection, first_frame_ns)
        yield select(
            batch, table, within=within, association=selection.association, bin_ns=options.bin_ns
        )


def _range(selection: Selection, first_frame_ns: int | None) -> Range | None:
    """Return the window; in a capture without frames it is somewhere, as good as anywhere."""
    return None if selection.window is None else selection.window.range(first_frame_ns or 0)


def _empty(schema: pa.Schema) -> list[pa.RecordBatch]:
    import pyarrow as pa

    # `from_pylist` would import pandas.
    return [pa.RecordBatch.from_arrays([pa.nulls(0, one) for one in schema.types], schema=schema)]


def _tell(damage: str | None) -> None:
    if damage is not None:
        raise _core.CaptureError(damage)
