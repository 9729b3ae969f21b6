"""A dataset's folder, for who writes to it: one command at a time, and its workers.

A worker writes all of a part to `.partial/PART-UNIQUE` and renames that to `.done/PART`: then the
part is done, and nothing that happens later can undo it. The command that holds the lock moves
the files of `.done` to where they are read, the record last; when it is interrupted, the next one
goes on with that.
"""

from __future__ import annotations

import errno
import fcntl
import hashlib
import json
import os
import shutil
import tempfile
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from . import dataset
from .dataset import HEAD, LEDGER, PARTS, RECORD, RESULTS, TABLES, DatasetError

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping

    import pyarrow as pa

DONE, PARTIAL, LOCK = ".done", ".partial", ".lock"

FOLDERS = (DONE, PARTIAL, PARTS, RESULTS, TABLES)

Node = dict[str, Any]


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Keep others from writing to a dataset; the lock goes with the process, however it ends.

    Raises
    ------
    DatasetError
        When another process has it.
    OSError
        When the folder cannot be written to.
    """
    with (folder / LOCK).open("w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise DatasetError(f"{folder}: another command writes to it") from error
        yield


def prepare(folder: Path) -> None:
    """Make the folder of a dataset.

    Raises
    ------
    DatasetError
        When something else is in it.
    OSError
        When it cannot be made.
    """
    folder.mkdir(parents=True, exist_ok=True)
    if not dataset.is_dataset(folder) and {path.name for path in folder.iterdir()} - {
        LOCK,
        *FOLDERS,
    }:
        raise DatasetError(f"{folder} is not empty, and no dataset: choose another folder")
    for name in FOLDERS:
        (folder / name).mkdir(exist_ok=True)


def write_head(folder: Path, head: Node) -> None:
    """Write `dataset.json`, whole or not at all, and bring it to the disk."""
    fresh = folder / f".{HEAD}"
    with fresh.open("wb") as file:
        file.write(as_json(head))
        file.flush()
        os.fsync(file.fileno())
    fresh.replace(folder / HEAD)
    _flush_folder(folder)


def write_empty(folder: Path, kind: str, schemas: Mapping[str, pa.Schema]) -> None:
    """Give every table a file with its columns and no rows, so that each can be read.

    Tables that another version had, or that were asked for before, go.
    """
    from .tables import empty, parquet

    for place in (folder / kind).glob("*"):
        if place.name not in schemas:
            shutil.rmtree(place)
    for name, schema in schemas.items():
        place = folder / kind / name
        place.mkdir(parents=True, exist_ok=True)
        _write_whole(place / f"{dataset.EMPTY}.parquet", parquet(empty(schema)))


def done(folder: Path, part: str) -> Node | None:
    """Return the record of a part that is done, whichever worker did it; else None."""
    return _record(folder / DONE / part)


def as_json(document: Node) -> bytes:
    """Return a document as its file has it."""
    return json.dumps(document, indent=1, ensure_ascii=False).encode() + b"\n"


def discard(place: Path) -> None:
    """Remove what was staged."""
    shutil.rmtree(place)


def stage(folder: Path, part: str) -> Path:
    """Make a place where a part can be written, that nobody else writes to."""
    return Path(tempfile.mkdtemp(prefix=f"{part}-{os.getpid()}-", dir=folder / PARTIAL))


def staged(place: Path, file: str) -> Path:
    """Return where a file of a part is before it is published: a part has no folders of its own."""
    return place / file.replace("/", ",")


def write(place: Path, file: str, content: bytes | memoryview) -> Node:
    """Write a file of a part, and return what its record says of it.

    It is not brought to the disk at once, which takes milliseconds a file: `flush` does that once
    for all, and until then a part counts by its digests.
    """
    staged(place, file).write_bytes(content)
    digest = hashlib.sha256(content).hexdigest()
    return {"file": file, "bytes": len(content), "sha256": digest}


def flush() -> None:
    """Bring all that has been written to the disk."""
    os.sync()


def commit(folder: Path, part: str, place: Path) -> None:
    """Declare a part done, at once and for good."""
    try:
        place.rename(folder / DONE / part)
    except OSError as error:
        if error.errno not in (errno.ENOTEMPTY, errno.EEXIST):
            raise
        shutil.rmtree(place)  # another worker was quicker, and its part is as good


def publish(folder: Path, part: str) -> Node:
    """Move a part that is done to where it is read, and return its record.

    It goes on where an earlier try ended.
    """
    place = folder / DONE / part
    record = dataset.read_part(place / RECORD)
    left = {folder / one["file"]: staged(place, one["file"]) for one in _files(record)}
    for target in {path.parent for path in left}:
        target.mkdir(parents=True, exist_ok=True)
    for target, source in left.items():
        with suppress(FileNotFoundError):  # an earlier try has moved it
            source.replace(target)
    (place / RECORD).replace(folder / PARTS / f"{part}.json")
    shutil.rmtree(place)
    return record


def settle(folder: Path) -> None:
    """Publish all that is done, and belongs there.

    What does not is of other settings, or of captures that have been done again meanwhile, or lost
    a file when the machine failed, or has been moved but for the empty folder.
    """
    known = dataset.read(folder)
    taken = {one["key"] for one in known.captures()}
    for place in sorted((folder / DONE).iterdir()):
        record = _record(place)
        if record is not None and _belongs(folder, place, record, known.head, taken):
            taken |= {one["key"] for one in publish(folder, place.name)["captures"]}
        else:
            shutil.rmtree(place)


def settle_if_free(folder: Path) -> None:
    """Publish what an interrupted command left done, unless one is at work, or one may not write.

    Without that the dataset is as whole, with less in it.
    """
    left = folder / DONE
    if not (left.is_dir() and any(left.iterdir()) and os.access(folder, os.W_OK)):
        return
    with suppress(DatasetError), locked(folder):
        settle(folder)


def is_whole(folder: Path, record: Node, *, is_flushed: bool) -> bool:
    """Whether the files of a part are there as they were written.

    What had been brought to the disk is so when it has its length; else, a machine that failed may
    have left anything.
    """
    return all(
        _is_written(folder / one["file"], one, is_flushed=is_flushed) for one in _files(record)
    )


def remove(folder: Path, parts: Iterable[str]) -> None:
    """Take parts out of the dataset, their records first; `sweep` takes their files."""
    for part in parts:
        (folder / PARTS / f"{part}.json").unlink(missing_ok=True)


def sweep(folder: Path, records: Iterable[Node]) -> None:
    """Remove what no part lists, and what is half-written."""
    sweep_partial(folder)
    kept = list(records)
    listed = {one["file"] for record in kept for one in _files(record)}
    listed |= {f"{PARTS}/{record['part']}.json" for record in kept}
    for kind, pattern in ((PARTS, "*"), (RESULTS, "*"), (TABLES, "*/*"), (LEDGER, "*/*")):
        _remove_others(folder, (folder / kind).glob(pattern), listed)


def sweep_partial(folder: Path) -> None:
    """Remove what workers that are gone left half-written; one that is not gone fails by that."""
    for place in (folder / PARTIAL).iterdir():
        shutil.rmtree(place, ignore_errors=True)


def _remove_others(folder: Path, paths: Iterable[Path], listed: Collection[str]) -> None:
    for path in paths:
        if path.stem != dataset.EMPTY and str(path.relative_to(folder)) not in listed:
            path.unlink()


def _record(place: Path) -> Node | None:
    try:
        return dataset.read_part(place / RECORD)
    except (FileNotFoundError, DatasetError):
        return None  # moved on, or cut short by a machine that failed


def _belongs(folder: Path, place: Path, record: Node, head: Node, taken: Collection[str]) -> bool:
    return (
        record["settings_sha256"] == head["settings_sha256"]
        and not any(one["key"] in taken for one in record["captures"])
        and all(
            _is_written(staged(place, one["file"]), one) or _is_written(folder / one["file"], one)
            for one in _files(record)
        )
    )


def _files(record: Node) -> list[Node]:
    """Return the files of a part: name, length in bytes, digest."""
    return [*(one["result"] for one in record["captures"]), *record["tables"]]


def _is_written(path: Path, told: Node, *, is_flushed: bool = False) -> bool:
    try:
        if path.stat().st_size != told["bytes"]:
            return False
        return is_flushed or hashlib.sha256(path.read_bytes()).hexdigest() == told["sha256"]
    except FileNotFoundError:
        return False


def _write_whole(path: Path, content: bytes | memoryview) -> None:
    fresh = path.with_name(f".{path.name}")
    fresh.write_bytes(content)
    fresh.replace(path)


def _flush_folder(path: Path) -> None:
    """Bring names that were given in a folder to the disk."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
