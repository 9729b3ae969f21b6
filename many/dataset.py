"""A dataset: the results of many captures in a folder (docs/many.md).

    dataset.json                 what it was made with, and what is not in it
    parts/PART.json              captures that were analyzed together, and their files; last
    results/KEY.json             the result of a capture (pathscope.result/1)
    tables/TABLE/PART.parquet    rows of the captures of a part; empty.parquet has the columns
    ledger/TABLE/PART.parquet    the ledger's tables, where they were asked for

What no part lists is not in the dataset, whatever else lies there.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

SCHEMA, PART_SCHEMA = "pathscope.dataset/1", "pathscope.part/1"

HEAD, RECORD = "dataset.json", "record.json"
PARTS, RESULTS, TABLES, LEDGER = "parts", "results", "tables", "ledger"
FILE = re.compile(
    r"results/[0-9a-f]{32}\.json|(tables|ledger)/[a-z0-9_]{1,64}/[0-9a-f]{32}\.parquet"
)
"""What a file of a part may be called: nothing outside of the dataset."""

EMPTY = "empty"
"""Of a table: the file with its columns and no rows."""

Node = dict[str, Any]


class DatasetError(ValueError):
    """A folder that is not the dataset that it should be; the message names it and says why."""


@dataclass(frozen=True, slots=True)
class Dataset:
    """What a dataset holds.

    Attributes
    ----------
    folder
        Where it is.
    head
        `dataset.json`.
    parts
        The records of its parts, in the order of their captures' names.
    """

    folder: Path
    head: Node
    parts: tuple[Node, ...]

    def captures(self) -> Iterator[Node]:
        """Yield the captures that have a result, as their part's record tells of them."""
        for part in self.parts:
            yield from part["captures"]

    def results(self) -> Iterator[tuple[Node, Any]]:
        """Yield each capture with its result, as it was read: unchecked.

        Raises
        ------
        DatasetError
            When one cannot be read.
        """
        for one in self.captures():
            path = self.folder / one["result"]["file"]
            try:
                yield one, json.loads(path.read_bytes())
            except (OSError, ValueError) as error:
                raise DatasetError(f"{path}: no result: {error}") from error

    def files(self) -> dict[tuple[str, str], list[Path]]:
        """Return the files of every table, by kind (`tables` or `ledger`) and name."""
        found: dict[tuple[str, str], list[Path]] = {}
        for kind in (TABLES, LEDGER):
            for folder in sorted((self.folder / kind).glob("*")):
                found[kind, folder.name] = [folder / f"{EMPTY}.parquet"]
        for part in self.parts:
            for table in part["tables"]:
                found[table["kind"], table["name"]].append(self.folder / table["file"])
        return found


def is_dataset(folder: Path) -> bool:
    """Whether this is the folder of a dataset."""
    return (folder / HEAD).is_file()


def opened(folder: Path) -> Dataset:
    """Return a dataset, after bringing in what an interrupted command left ready.

    Raises
    ------
    DatasetError
        When it is none, or a record is damaged.
    OSError
        When it cannot be read.
    """
    from .store import is_whole, settle_if_free

    settle_if_free(folder)
    found = read(folder)
    if found.head["finished"]:
        return found
    # The command did not come to its end, and perhaps the machine did not, either.
    whole = (part for part in found.parts if is_whole(folder, part, is_flushed=False))
    return replace(found, parts=tuple(whole))


def read(folder: Path) -> Dataset:
    """Return a dataset as it lies there.

    Raises
    ------
    DatasetError, OSError
        As `opened`.
    """
    head = read_head(folder)
    parts = []
    for path in (folder / PARTS).glob("*.json"):
        try:
            parts.append(read_part(path))
        except DatasetError:
            if head["finished"]:
                raise
            # Cut short by a machine that failed: this part is still to be done.
    parts.sort(key=lambda part: str(part["captures"][0]["run"]))
    return Dataset(folder, head, tuple(parts))


def read_head(folder: Path) -> Node:
    """Return `dataset.json`.

    Raises
    ------
    DatasetError, OSError
        As `opened`.
    """
    return _document(folder / HEAD, SCHEMA)


def read_part(path: Path) -> Node:
    """Return the record of a part. The files that it names are where a part's files are.

    Raises
    ------
    DatasetError, OSError
        As `opened`.
    """
    record = _document(path, PART_SCHEMA)
    try:
        named = [one["result"]["file"] for one in record["captures"]]
        named += [table["file"] for table in record["tables"]]
        is_whole = bool(named) and all(FILE.fullmatch(file) for file in named)
    except (LookupError, TypeError) as error:
        raise DatasetError(f"{path}: a part without {error}") from error
    if not is_whole:
        raise DatasetError(f"{path}: the list of files is damaged")
    return record


def _document(path: Path, schema: str) -> Node:
    try:
        found = json.loads(path.read_bytes())
    except ValueError as error:
        raise DatasetError(f"{path}: no JSON: {error}") from error
    if not isinstance(found, dict) or found.get("schema") != schema:
        raise DatasetError(f"{path}: expected a document of {schema}")
    return found
