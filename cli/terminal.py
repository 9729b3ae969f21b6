"""What is shown on a terminal: results, and how far a long reading has come."""

from __future__ import annotations

import codecs
import io
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, cast

import click

from ..reports.unseen import plain

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path
    from typing import BinaryIO

    from rich.console import Console, ConsoleOptions, RenderableType
    from rich.segment import Segment

LONG_BYTES = 64_000_000
"""From this file size on, a terminal gets a progress bar."""

WIDTH_WITHOUT_TERMINAL = 140


@contextmanager
def progress(capture: Sequence[Path]) -> Iterator[Callable[[int, int | None], None] | None]:
    """Show a progress bar on standard error, when it is a terminal and the work is long."""
    length = sum(path.stat().st_size for path in capture if path.is_file())
    if not (length >= LONG_BYTES and sys.stderr.isatty()):
        yield None
        return
    with click.progressbar(length=length, label=plain(capture[0].name), file=sys.stderr) as bar:

        def advance(read_bytes: int, _: int | None) -> None:
            bar.update(read_bytes - bar.pos)

        yield advance


def echo(text: object, *, err: bool = False, nl: bool = True) -> None:
    """Print text that may have names of captures and files in it."""
    click.echo(plain(str(text)), err=err, nl=nl)


def standard_output() -> BinaryIO:
    """Return where the bytes of a table go."""
    shown = sys.stdout.isatty()
    return cast("BinaryIO", PlainStream(sys.stdout.buffer)) if shown else sys.stdout.buffer


class PlainStream(io.RawIOBase):
    """Takes the bytes of a text for a terminal."""

    def __init__(self, terminal: BinaryIO) -> None:
        self._terminal = terminal
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")

    def writable(self) -> bool:
        """Whether it takes bytes: always."""
        return True

    def write(self, given: Any) -> int:
        """Pass on what is harmless of some bytes, which may end within a letter."""
        self._terminal.write(plain(self._decoder.decode(bytes(given))).encode())
        return len(given)


def show(content: RenderableType, *, blank_before: bool = False) -> None:
    """Print tables and text, without blanks at the ends of lines where no terminal reads them."""
    text = rendered(content, terminal=sys.stdout.isatty())
    # What is harmful has gone before the colours came.
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
        console.print(_Plain(content))
    text = captured.get()
    if not terminal:
        # Tables fill their lines with blanks, which nobody wants in a file.
        text = "\n".join(line.rstrip() for line in text.split("\n"))
    return text


class _Plain:
    """Content whose words do nothing to a terminal; what rich adds to them, colours, does."""

    def __init__(self, content: RenderableType) -> None:
        self._content = content

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[Segment]:
        """Yield the content in parts, each with its style apart from its words."""
        for part in console.render(self._content, options):
            yield part if part.control else part._replace(text=plain(part.text))
