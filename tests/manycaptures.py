"""Folders of captures for tests of datasets, and what a dataset holds, in a comparable form."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

from pyarrow import parquet
from running import ROOT

FINDINGS = ROOT / "fixtures" / "findings"
MALFORMED = ROOT / "fixtures" / "malformed"


def fill(folder: Path, most: int) -> list[Path]:
    """Copy small captures, all different, to a folder."""
    folder.mkdir(exist_ok=True)
    made = []
    for source in sorted(FINDINGS.glob("*/triggers.pcapng"))[:most]:
        made.append(folder / f"{source.parent.name}.pcapng")
        shutil.copyfile(source, made[-1])
    return made


def files(folder: Path) -> dict[str, bytes]:
    """Return every file of a dataset by name, but for its lock."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.name != ".lock"
    }


def rows(folder: Path) -> dict[str, list[str]]:
    """Return the rows of every table of a dataset, as another reader finds them, in one order."""
    tables = [table for kind in ("tables", "ledger") for table in (folder / kind).glob("*")]
    return {
        f"{table.parent.name}/{table.name}": sorted(
            repr(row) for row in parquet.read_table(table).to_pylist()
        )
        for table in sorted(tables)
    }


def runs(folder: Path) -> list[str]:
    """Return the file names of the captures in a dataset's table of captures."""
    table: Any = parquet.read_table(folder / "tables" / "captures")
    return sorted(Path(name).name for name in table["run"].to_pylist())
