"""What is shown on a terminal: results, and how far a long reading has come."""

from __future__ import annotations

import re
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from rich.console import RenderableType

LONG_BYTES = 64_000_000
"""From this file size on, a terminal gets a progress bar."""

WIDTH_WITHOUT_TERMINAL = 140

CONTROLS = re.compile(r"\x1b(?!\[[0-9;]*m)|[\x00-\x09\x0b-\x1a\x1c-\x1f\x7f-\x9f]")
"""What a name in a capture could do to a terminal, colours apart."""


@contextmanager
def progress(capture: Sequence[Path]) -> Iterator[Callable[[int, int | None], None] | None]:
    """Show a progress bar on standard error, when it is a terminal and the work is long."""
    length = sum(path.stat().st_size for path in capture if path.is_file())
    if not (length >= LONG_BYTES and sys.stderr.isatty()):
        yield None
        return
    with click.progressbar(length=length, label=capture[0].name, file=sys.stderr) as bar:

        def advance(read_bytes: int, _: int | None) -> None:
            bar.update(read_bytes - bar.pos)

        yield advance


def plain(text: str) -> str:
    """Return text without what could do something to a terminal; colours stay."""
    return CONTROLS.sub("\N{REPLACEMENT CHARACTER}", text)


def show(content: RenderableType, *, blank_before: bool = False) -> None:
    """Print tables and text, without blanks at the ends of lines where no terminal reads them."""
    text = rendered(content, terminal=sys.stdout.isatty())
    click.echo(("\n" if blank_before else "") + text, nl=False)


def rendered(content: RenderableType, *, terminal: bool = False) -> str:
    """Return tables and text as lines for a terminal, or for a file."""
    from rich.console import Console

    # No markup: a name in a capture may well have brackets.
    console = Console(
        width=None if terminal else WIDTH_WITHOUT_TERMINAL,
        highlight=False,
        markup=False,
        emoji=False,
    )
    with console.capture() as captured:
        console.print(content)
    text = plain(captured.get())
    if not terminal:
        # Tables fill their lines with blanks, which nobody wants in a file.
        text = "\n".join(line.rstrip() for line in text.split("\n"))
    return text
