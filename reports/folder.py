"""A folder of results: the result contract, and every table of it and of the ledger, in files.

`manifest.json` comes last: a folder without it holds no results, whatever else is in it. It says
how long each file is, so that one that was cut off later is found, too.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import pyarrow as pa

from ..dissectors import _core
from ..dissectors import ledger as ledgers
from ..dissectors.index import identity
from .columnar import repeated
from .export import prepare_folder, whole_file, write_table
from .result_tables import schemas, tables
from .units import file_name

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ..dissectors.ledger import Ledger

SCHEMA = "pathscope.results/1"

MANIFEST, RESULT = "manifest.json", "result.json"
LEDGER, RESULTS = "ledger", "results"
"""Folders of the ledger's tables and of the result's."""

TableFormat = Literal["csv", "parquet"]
TABLE_FORMATS: tuple[TableFormat, ...] = ("parquet", "csv")

CAPTURE = pa.field(
    "capture",
    pa.uint32(),
    nullable=False,
    metadata={"description": "Capture that the row is from: index in `captures`."},
)

Node = dict[str, Any]


def write_folder(
    folder: Path,
    document: Node,
    captures: Sequence[Ledger],
    form: TableFormat = "parquet",
    *,
    force: bool = False,
) -> Path:
    """Write a result and all tables; returns the path of the manifest.

    Parameters
    ----------
    folder
        Made when it is missing.
    document
        The result contract.
    captures
        The ledgers that it was made from, in its order.
    form
        Of the tables.
    force
        Write although the folder holds something. Tables of an earlier result go.

    Raises
    ------
    FileExistsError
        When the folder is not empty and `force` is not given.
    OSError
        When something cannot be written.
    """
    prepare_folder(folder, force=force)
    _clear(folder)
    written = [
        _write_table(folder, LEDGER, name, form, _with_capture(name, captures))
        for name in _ledger_schemas()
    ]
    written += [
        _write_table(folder, RESULTS, name, form, (table.schema, iter(table.to_batches())))
        for name, table in tables(document).items()
    ]
    with whole_file(folder / RESULT, force=True) as stream:
        stream.write(_json(document))
    manifest = {
        "schema": SCHEMA,
        "tool": {"version": _core.__version__, "build_profile": _core.build_profile},
        "captures": [_sources(ledger) for ledger in captures],
        "result": {"file": RESULT, "bytes": (folder / RESULT).stat().st_size},
        "tables": written,
    }
    with whole_file(folder / MANIFEST, force=True) as stream:
        stream.write(_json(manifest))
    return folder / MANIFEST


def _clear(folder: Path) -> None:
    """Take away an earlier result, its manifest first; what else is there stays."""
    (folder / MANIFEST).unlink(missing_ok=True)
    (folder / RESULT).unlink(missing_ok=True)
    for kind, names in ((LEDGER, _ledger_schemas()), (RESULTS, schemas())):
        (folder / kind).mkdir(exist_ok=True)
        for name in names:
            for form in TABLE_FORMATS:
                (folder / kind / f"{name}.{form}").unlink(missing_ok=True)


def _ledger_schemas() -> dict[str, pa.Schema]:
    kept = set(ledgers.table_names()) - set(ledgers.streamed_names())
    return {name: schema for name, schema in ledgers.schemas().items() if name in kept}


def _with_capture(
    name: str, captures: Sequence[Ledger]
) -> tuple[pa.Schema, Iterator[pa.RecordBatch]]:
    """Return a table of the ledger with the rows of all captures, told apart by a first column."""
    schema = _ledger_schemas()[name].insert(0, CAPTURE)

    def batches() -> Iterator[pa.RecordBatch]:
        for number, ledger in enumerate(captures):
            for batch in ledger.tables[name].to_batches():
                numbers = repeated(number, batch.num_rows)
                yield pa.RecordBatch.from_arrays([numbers, *batch.columns], schema=schema)

    return schema, batches()


def _write_table(
    folder: Path,
    kind: str,
    name: str,
    form: TableFormat,
    content: tuple[pa.Schema, Iterator[pa.RecordBatch]],
) -> Node:
    schema, batches = content
    file = f"{kind}/{name}.{form}"
    with whole_file(folder / file, force=True) as stream:
        rows = write_table(batches, schema, form, stream)
    size = (folder / file).stat().st_size
    return {"kind": kind, "name": name, "file": file, "rows": rows, "bytes": size}


def _sources(ledger: Ledger) -> Node:
    """Say which files a capture was: enough to tell later whether they are still the same."""
    return {
        "files": [
            {"path": file_name(file["path"]), "identity": _identity(Path(file["path"]))}
            for file in ledger.capture["files"]
        ]
    }


def _identity(path: Path) -> Node | None:
    return identity(path) if path.is_file() else None


def _json(document: Node) -> bytes:
    return json.dumps(document, indent=1, ensure_ascii=False).encode() + b"\n"
