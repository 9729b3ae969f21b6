"""The captures of a dataset: found, and known by their content whatever they are called."""

from __future__ import annotations

import hashlib
import json
from collections import defaultdict
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from ..dissectors.index import HASHED_BYTES, identity
from ..replay.lab import folder as lab
from ..sets import SetError, captures_at
from . import remote

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

Node = dict[str, Any]
Kind = Literal["capture", "run", "remote"]
Name = tuple[str, Kind]

LOOKING_THREADS = 8
"""Captures whose ends are read at a time: a disk that is far away takes its time to answer."""

CHANGE = ("modified_ns", "tag")
"""Of `identity`: what a change of a file changes, whatever it is that changes."""

KEY_LETTERS = 32
"""Of a SHA-256: 128 bits tell captures apart as well as all of it."""


@dataclass(frozen=True, slots=True)
class Item:
    """A capture, or a run of the lab, that a dataset is to have.

    Attributes
    ----------
    name
        As it was found: a path or an address.
    place
        Where it is read, whatever folder a worker works in: its absolute path, or the address.
    kind
        What it is.
    files
        `identity` of each of its files; a run has several.
    key
        Digest of its content and of the settings: the same for another name of the same content.
    """

    name: str
    place: str
    kind: Kind
    files: tuple[Node, ...]
    key: str = ""

    @property
    def size_bytes(self) -> int:
        """Length of all its files."""
        return sum(one["bytes"] for one in self.files)


@dataclass(frozen=True, slots=True)
class Failure:
    """A capture that has no result, and why."""

    name: str
    reason: str


@dataclass(frozen=True, slots=True)
class Found:
    """What the named folders hold.

    Attributes
    ----------
    items
        One for each content, in the order of names.
    same
        Further names of the same content: name, and the name that counts.
    failures
        Captures that cannot be opened.
    """

    items: tuple[Item, ...]
    same: tuple[tuple[str, str], ...]
    failures: tuple[Failure, ...]


def named(texts: Iterable[str]) -> list[Name]:
    """List captures by name.

    Parameters
    ----------
    texts
        Captures, folders of them, globs, runs of the lab, addresses for fsspec.

    Raises
    ------
    SetError
        When there is nothing of a name, or no capture in it.
    """
    return list(dict.fromkeys(one for text in texts for one in _named(text)))


def look_at(names: Iterable[Name], settings_digest: str) -> Found:
    """Read enough of captures to know each.

    Parameters
    ----------
    names
        As `named` lists them.
    settings_digest
        `Settings.digest()`.
    """
    items: list[Item] = []
    failures: list[Failure] = []
    with ThreadPoolExecutor(LOOKING_THREADS) as threads:
        for seen in threads.map(lambda one: _look(*one), names):
            if isinstance(seen, Item):
                items.append(seen)
            else:
                failures.append(seen)
    keyed = [replace(item, key=key) for item, key in _keyed(items, settings_digest)]
    first: dict[str, Item] = {}
    for item in keyed:
        first.setdefault(item.key, item)
    same = [(one.name, first[one.key].name) for one in keyed if first[one.key] is not one]
    return Found(tuple(first.values()), tuple(same), tuple(failures))


def files_of(place: str, kind: Kind) -> tuple[Node, ...]:
    """Return what tells the files of a capture from others, and from themselves before a change.

    Raises
    ------
    OSError
        When one cannot be read.
    """
    if kind == "remote":
        return (remote.identity(place),)
    if kind == "capture":
        return (identity(Path(place)),)
    inside = sorted(path for path in Path(place).iterdir() if path.is_file())
    return tuple({"file": path.name, **identity(path)} for path in inside)


def _named(text: str) -> list[Name]:
    if remote.is_address(text):
        found = remote.listed(text)
        if not found:
            raise SetError(f"{text}: no capture in there")
        return [(name, "remote") for name in found]
    sources = captures_at(text)
    return [(str(one.path), "run" if lab.is_run(one.path) else "capture") for one in sources]


def _look(name: str, kind: Kind) -> Item | Failure:
    place = name if kind == "remote" else str(Path(name).absolute())
    try:
        return Item(name, place, kind, files_of(place, kind))
    except OSError as error:
        return Failure(name, error.strerror or str(error))


def _keyed(items: Sequence[Item], settings_digest: str) -> Iterable[tuple[Item, str]]:
    """Give every item its key.

    Of what is longer than the two ends that are hashed, the time of change stands for the rest;
    but files that are alike in all else are read whole, since a copy has a time of its own.
    """
    alike: dict[str, list[Item]] = defaultdict(list)
    for item in items:
        alike[_digest([_ends(one) for one in item.files])].append(item)
    for ends, group in alike.items():
        rests = _rests(group)
        for item, rest in zip(group, rests, strict=True):
            yield item, _digest([ends, rest, settings_digest])


def _ends(file: Node) -> Node:
    return {key: value for key, value in file.items() if key not in CHANGE}


def _rests(group: Sequence[Item]) -> list[list[Any]]:
    """Return, of items that are alike at their ends, what tells the rest of them apart."""
    if all(one["bytes"] <= 2 * HASHED_BYTES for one in group[0].files):
        return [[] for _ in group]  # the two ends are all of it
    changes = [[file.get(key) for file in one.files for key in CHANGE] for one in group]
    if len(group) == 1 or any(one.kind != "capture" for one in group):
        return changes
    contents = [_sha256(Path(one.place)) for one in group]
    return [changes[contents.index(content)] for content in contents]


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _digest(content: Any) -> str:
    text = json.dumps(content, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:KEY_LETTERS]
