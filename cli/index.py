"""What commands do with the offset index of a capture."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from ..dissectors.ledger import STANDARD_INPUT
from .terminal import echo, progress

if TYPE_CHECKING:
    from pathlib import Path

    from ..dissectors.ledger import ReadOptions


def tell_of_index(capture: Path, options: ReadOptions) -> None:
    """Say of an index that does not fit that it is not used."""
    from ..dissectors.index import Index, UnfitIndexError

    if str(capture) == STANDARD_INPUT:
        return
    try:
        Index.find(capture, options)
    except UnfitIndexError as unfit:
        echo(f"warning: {unfit}", err=True)


def make_index(capture: Path, options: ReadOptions) -> None:
    """Write the index of a capture, unless there is one that fits."""
    from ..dissectors.index import Index, UnfitIndexError
    from ..dissectors.indexing import build

    if str(capture) == STANDARD_INPUT:
        raise click.UsageError("--index takes a file, and this is standard input")
    try:
        if Index.find(capture, options) is not None:
            return
    except UnfitIndexError:
        pass  # made anew, as was asked for
    with progress([capture]) as advance:
        made = build(capture, options, advance)
    echo(f"wrote {made.folder}", err=True)
