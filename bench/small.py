"""A folder of small captures: the committed ones, cut off at different packets."""

from __future__ import annotations

import struct
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from captures import DATA, ROOT

if TYPE_CHECKING:
    from collections.abc import Iterator

SOURCES = ROOT / "fixtures" / "captures"

LEAST_PART = 0.5
"""Of a capture's packets that is left of it."""

PACKET_BLOCK = 6


def folder_of(captures: int) -> Path:
    """Return a folder of that many captures, all different; made when it is missing."""
    folder = DATA / f"small-{captures}"
    if not folder.exists():
        print(f"cutting {captures} captures ...", file=sys.stderr)
        partial = folder.with_name(f"{folder.name}.partial")
        partial.mkdir(parents=True, exist_ok=True)
        for name, content in cut(captures):
            (partial / name).write_bytes(content)
        partial.rename(folder)
    return folder


def cut(captures: int) -> Iterator[tuple[str, bytes]]:
    """Yield names and contents: each committed capture whole, then with fewer and fewer packets."""
    sources = [(path, list(_blocks(path.read_bytes()))) for path in _sources()]
    rounds = -(-captures // len(sources))
    for number in range(captures):
        turn, which = divmod(number, len(sources))
        path, blocks = sources[which]
        packets = sum(kind == PACKET_BLOCK for kind, _ in blocks)
        most = round(packets * (1 - (1 - LEAST_PART) * turn / rounds))
        name = f"{number:05}-{path.parent.name}-{path.name}"
        yield name, b"".join(_first(blocks, most))


def _sources() -> list[Path]:
    return sorted(SOURCES.glob("*/*.pcapng"))


def _first(blocks: list[tuple[int, bytes]], most: int) -> Iterator[bytes]:
    """Yield all blocks, but of packets only the first ones."""
    packets = 0
    for kind, content in blocks:
        packets += kind == PACKET_BLOCK
        if kind != PACKET_BLOCK or packets <= most:
            yield content


def _blocks(content: bytes) -> Iterator[tuple[int, bytes]]:
    """Yield type and content of every block of a little-endian pcapng file."""
    place = 0
    while place < len(content):
        kind, length = struct.unpack_from("<II", content, place)
        yield kind, content[place : place + length]
        place += length
