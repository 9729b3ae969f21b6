"""The messages that an end is to send, as a file in the run's folder: one reader and one writer.

    pathscope.messages/1 at_ns stream ordered ppid bytes
    0 0 1 0 100
    25043512 0 1 0 100

The first line names the format and its columns. `at_ns` counts from when the end's association is
up, `ordered` is 1 or 0; TCP and UDP have no use for stream, order and PPID. It needs nothing but
the standard library, and holds one message at a time, as ends of a run do.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

FORMAT = "pathscope.messages/1"


class Message(NamedTuple):
    """One user message, or one write of a byte stream: when it is sent, and what it is like."""

    at_ns: int
    stream: int
    ordered: bool
    ppid: int
    size_bytes: int


HEAD = f"{FORMAT} at_ns stream ordered ppid bytes"


def file_name(host: str) -> str:
    """Return what the file of an end is called, `client` or `server`."""
    return f"{host}.messages"


def lines(messages: Iterable[Message]) -> Iterator[str]:
    """Yield the lines of a file, each with its end."""
    yield f"{HEAD}\n"
    for at_ns, stream, ordered, ppid, size_bytes in messages:
        yield f"{at_ns} {stream} {ordered:d} {ppid} {size_bytes}\n"


def read(path: Path) -> Iterator[Message]:
    """Yield the messages of a file.

    Raises
    ------
    ValueError
        When the file is none; naming it, the line, and what was expected.
    OSError
        When it cannot be read.
    """
    with path.open(encoding="ascii") as file:
        if file.readline().rstrip("\n") != HEAD:
            raise ValueError(f"{path}:1: expected {HEAD!r}")
        for number, line in enumerate(file, 2):
            try:
                at_ns, stream, ordered, ppid, size_bytes = map(int, line.split())
            except ValueError as error:
                raise ValueError(f"{path}:{number}: expected five whole numbers") from error
            yield Message(at_ns, stream, bool(ordered), ppid, size_bytes)
