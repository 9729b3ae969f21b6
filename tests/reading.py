"""Short ways to what pathscope reads."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pathscope.dissectors import ledger

Row = dict[str, Any]


def chunk_rows(path: Path, options: ledger.ReadOptions | None = None) -> list[Row]:
    """Return the whole chunk table, in time order."""
    return [
        row for batch in ledger.stream(path, ledger.CHUNKS, options) for row in batch.to_pylist()
    ]


def chunk_column(path: Path, name: str, options: ledger.ReadOptions | None = None) -> list[Any]:
    """Return one column of the chunk table."""
    return [row[name] for row in chunk_rows(path, options)]
