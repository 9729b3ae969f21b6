"""TOML documents, with errors that say where: the standard library knows no lines of keys."""

from __future__ import annotations

import re
import tomllib
from itertools import pairwise
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

HEADER = re.compile(r"^\s*(\[\[?)\s*([^\[\]]+?)\s*\]\]?\s*(?:#.*)?$")
ASSIGNMENT = re.compile(
    r"""^\s*((?:"(?:[^"\\]|\\.)*"|'[^']*'|[A-Za-z0-9_\-. ])+?)\s*=""",
)

ARRAY = re.compile(r"=\s*\[\s*(?:#.*)?$")

MOST_DEEP = 64
"""Of tables in each other: a dotted key makes thousands in a line, which nobody reads again."""

Key = tuple[str | int, ...]


def document_of(text: str, name: str, error: type[ValueError] = ValueError) -> dict[str, Any]:
    """Return a TOML document.

    Parameters
    ----------
    text
        What the file holds.
    name
        What it is called in messages: its file.
    error
        What is raised.

    Raises
    ------
    ValueError
        When it is none; the message names the file, and the place as far as the reader tells it.
    """
    too_deep = f"{name}: its tables are too deep in each other"
    try:
        found = tomllib.loads(text)
    except ValueError as mistake:  # an integer may have too many digits
        raise error(f"{name}: {mistake}") from mistake
    except RecursionError as mistake:
        raise error(too_deep) from mistake
    level: list[Any] = [found]
    for _ in range(MOST_DEEP):
        level = [inner for one in level for inner in _inner(one)]
        if not level:
            return found
    raise error(too_deep)


def _inner(value: Any) -> Iterable[Any]:
    if isinstance(value, dict):
        return value.values()
    return value if isinstance(value, list) else ()


def line_of(text: str, key: Sequence[str | int]) -> int:
    """Return the number, from 1, of the line of a key, or of the nearest table around it."""
    wanted = tuple(key)
    best, best_line = 0, 1
    for known, line in _keys(text):
        shared = _shared(known, wanted)
        if shared == len(known) and shared > best:
            best, best_line = shared, line
    return best_line


def _shared(known: Key, wanted: Key) -> int:
    pairs = zip(known, wanted, strict=False)
    return next(
        (n for n, (one, other) in enumerate(pairs) if one != other), min(len(known), len(wanted))
    )


def _keys(text: str) -> list[tuple[Key, int]]:
    found: list[tuple[Key, int]] = []
    table: Key = ()
    counts: dict[Key, int] = {}
    items: Key = ()
    for number, line in enumerate(text.splitlines(), 1):
        if items and line.lstrip().startswith("{"):
            counts[items] = counts.get(items, -1) + 1
            found.append(((*items, counts[items]), number))
            continue
        header = HEADER.match(line)
        if header is not None:
            table = _parts(header[2])
            if header[1] == "[[":
                counts[table] = counts.get(table, -1) + 1
                found.append((_numbered(table, counts)[:-1], number))
            table = _numbered(table, counts)
            found.append((table, number))
            continue
        assignment = ASSIGNMENT.match(line)
        if assignment is not None:
            key = (*table, *_parts(assignment[1]))
            found.append((key, number))
            # An array over several lines: its tables are items, a line each.
            items = key if ARRAY.search(line) else ()
    return found


def _numbered(table: Key, counts: dict[Key, int]) -> Key:
    """Put the number of the item behind every name that is an array of tables."""
    numbered: list[str | int] = []
    for length, part in enumerate(table, 1):
        numbered.append(part)
        if table[:length] in counts:
            numbered.append(counts[table[:length]])
    return tuple(numbered)


def _parts(dotted: str) -> Key:
    """Split a dotted key at the dots outside of quotes."""
    cuts = [
        -1,
        *(i for i, c in enumerate(dotted) if c == "." and dotted[:i].count('"') % 2 == 0),
        len(dotted),
    ]
    return tuple(_name(dotted[a + 1 : b].strip()) for a, b in pairwise(cuts))


def _name(part: str) -> str:
    """Return what a part of a key says: in double quotes, escapes stand for other letters."""
    try:
        return str(tomllib.loads(f"name = {part}")["name"]) if part[:1] in "\"'" else part
    except tomllib.TOMLDecodeError:
        return part
