"""Captures that lie behind an address (fsspec: s3, http, sftp, ...): found, known, and streamed.

They are read from a pipe while they come in: nothing of them is kept, on disk or in memory.
"""

from __future__ import annotations

import hashlib
import os
from contextlib import contextmanager, suppress
from importlib.util import find_spec
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING, Any

from ..dissectors.index import HASHED_BYTES

if TYPE_CHECKING:
    from collections.abc import Iterator

Node = dict[str, Any]

PIECE_BYTES = 1 << 20
"""What is asked for, and handed on, at a time."""

TAGS = ("ETag", "etag", "mtime", "LastModified", "last_modified", "updated", "created")
"""By which the file systems of fsspec tell that a file has changed, the surest first."""


class RemoteError(OSError):
    """An address that cannot be read; the message says why."""


def is_address(text: str) -> bool:
    """Whether this names something by protocol, such as `s3://`."""
    protocol, found, _ = text.partition("://")
    return bool(found) and protocol.replace("+", "").replace("::", "").isalnum()


def listed(address: str) -> list[str]:
    """Return the captures that an address stands for: a file, a folder or a glob of them.

    Raises
    ------
    RemoteError
        When the address cannot be asked.
    """
    from ..sets import is_capture

    with _named(address):
        system, path = _opened(address)
        if system.isfile(path):
            return [address]
        found = system.glob(path) if "*" in path or "?" in path else system.find(path)
        files = sorted(one for one in found if is_capture(Path(one)))
        return [system.unstrip_protocol(one) for one in files]


def identity(address: str) -> Node:
    """By what a capture is told from another, as `dissectors.index.identity` does of a file.

    Raises
    ------
    RemoteError
        When the address cannot be read.
    """
    with _named(address):
        system, path = _opened(address)
        told = system.info(path)
        size = told.get("size")
        if size is None:
            raise RemoteError("its length is not told")
        first = system.cat_file(path, start=0, end=min(size, HASHED_BYTES)) if size else b""
        last = first
        if size > HASHED_BYTES:
            last = system.cat_file(path, start=size - HASHED_BYTES, end=size)
        return {
            "bytes": size,
            "tag": next((str(told[key]) for key in TAGS if told.get(key)), None),
            "first_sha256": hashlib.sha256(first).hexdigest(),
            "last_sha256": hashlib.sha256(last).hexdigest(),
        }


@contextmanager
def streamed(address: str) -> Iterator[str]:
    """Give a capture as a path that can be read once, from start to end, while it comes in.

    Raises
    ------
    RemoteError
        When it cannot be opened, or breaks off: to the reader that looked like the end.
    """
    with _named(address):
        system, path = _opened(address)
        source = system.open(path, "rb", block_size=PIECE_BYTES)
    reading, writing = os.pipe()
    broken: list[Exception] = []
    feeder = Thread(target=_feed, args=(source, writing, broken))
    feeder.start()
    try:
        yield f"/dev/fd/{reading}"
    finally:
        os.close(reading)  # a feeder that still has something meets a closed pipe
        feeder.join()
        source.close()
        if broken:
            # Whatever the reader made of what had come until then.
            raise RemoteError(f"{address}: broke off: {broken[0]}") from broken[0]


def _feed(source: Any, writing: int, broken: list[Exception]) -> None:
    # A reader that has seen enough closes the pipe.
    with suppress(BrokenPipeError), os.fdopen(writing, "wb") as pipe:
        while True:
            try:
                piece = source.read(PIECE_BYTES)
            except Exception as error:  # noqa: BLE001  each protocol's package has errors of its own
                broken.append(error)
                return
            if not piece:
                return
            pipe.write(piece)


def _opened(address: str) -> tuple[Any, str]:
    if find_spec("fsspec") is None:
        raise RemoteError("fsspec is not installed: pip install 'pathscope[remote]'")
    from fsspec.core import url_to_fs

    system, path = url_to_fs(address)
    return system, path


@contextmanager
def _named(address: str) -> Iterator[None]:
    """Turn what the protocols' packages raise into one error that names the address."""
    try:
        yield
    except Exception as error:
        reason = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
        if isinstance(error, RemoteError | FileNotFoundError):
            reason = "no such file" if isinstance(error, FileNotFoundError) else str(error)
        raise RemoteError(f"{address}: {reason}") from error
