"""Write what an installation puts beside its programs: `docs/share.py FOLDER`, by `make share`.

A manual page (man 1) for every command and completion for three shells, out of the commands
themselves, so that they say what `--help` says.
"""

from __future__ import annotations

import os
import re
import sys
from datetime import UTC, datetime
from inspect import cleandoc
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.shell_completion import get_completion_class
from pathscope import __version__
from pathscope.cli import main as command_line

if TYPE_CHECKING:
    from collections.abc import Iterator

COMPLETIONS = {
    "bash": "bash-completion/completions/pathscope",
    "zsh": "zsh/site-functions/_pathscope",
    "fish": "fish/vendor_completions.d/pathscope.fish",
}
"""Where each shell looks for what installed programs complete."""

KEEP_LINES = "\b"
"""Click's mark for a paragraph that keeps its lines."""


def contexts(
    command: click.Command, parent: click.Context | None = None
) -> Iterator[click.Context]:
    """Every command with its place: the program itself, groups, and what is in them."""
    settings: dict[str, Any] = dict(command.context_settings)
    name = command.name if parent else "pathscope"
    context = click.Context(command, info_name=name, parent=parent, **settings)
    yield context
    for inner in inner_commands(context):
        yield from contexts(inner, context)


def inner_commands(context: click.Context) -> Iterator[click.Command]:
    """Commands of a group, by name; none of any other command."""
    group = context.command
    if isinstance(group, click.Group):
        for name in group.list_commands(context):
            found = group.get_command(context, name)
            if found is not None and not found.hidden:
                yield found


def page_name(context: click.Context) -> str:
    """What `man` is asked for: `pathscope-lab-run`."""
    return context.command_path.replace(" ", "-")


def roff(text: str) -> str:
    """Text as troff prints it: no letter of it is a command."""
    escaped = text.replace("\\", r"\e").replace("-", r"\-")
    return re.sub(r"^(?=[.'])", r"\\&", escaped, flags=re.MULTILINE)


def manual(context: click.Context) -> str:
    """Return the manual page of a command."""
    return "\n".join([*_head(context), *_description(context), *_lists(context)]) + "\n"


def _head(context: click.Context) -> Iterator[str]:
    name, command = page_name(context), context.command
    yield f'.TH "{roff(name.upper())}" "1" "{_date()}" "pathscope {__version__}" "User Commands"'
    yield ".ad l"
    yield from (".SH NAME", rf"{roff(name)} \- {roff(_short_help(command).removesuffix('.'))}")
    pieces = " ".join(command.collect_usage_pieces(context))
    yield from (".SH SYNOPSIS", rf"\fB{roff(context.command_path)}\fR {roff(pieces)}")


def _short_help(command: click.Command) -> str:
    return command.get_short_help_str(limit=200)


def _date() -> str:
    """The day of what is built, as reproducible builds are told it; none when nobody says."""
    seconds = os.environ.get("SOURCE_DATE_EPOCH")
    return f"{datetime.fromtimestamp(int(seconds), UTC):%Y-%m-%d}" if seconds else ""


def _description(context: click.Context) -> Iterator[str]:
    yield ".SH DESCRIPTION"
    for number, paragraph in enumerate(cleandoc(context.command.help or "").split("\n\n")):
        if number:
            yield ".PP"
        if paragraph.startswith(KEEP_LINES):
            yield from (".nf", roff(paragraph.removeprefix(KEEP_LINES).strip("\n")), ".fi")
        else:
            yield roff(paragraph)


def _lists(context: click.Context) -> Iterator[str]:
    records = (one.get_help_record(context) for one in context.command.get_params(context))
    yield ".SH OPTIONS"
    for record in records:
        if record is None or not record[1]:
            continue  # an argument, which the description tells of
        yield from (".TP", rf"\fB{roff(record[0])}\fR", roff(record[1]))
    inner = list(inner_commands(context))
    if inner:
        yield ".SH COMMANDS"
    for command in inner:
        yield from (".TP", rf"\fB{roff(f'{page_name(context)}-{command.name}')}\fR(1)")
        yield roff(_short_help(command))
    if context.parent:
        yield from (".SH SEE ALSO", rf"\fB{roff(page_name(context.parent))}\fR(1)")


def completion(shell: str) -> str:
    """Return the script with which a shell completes `pathscope`."""
    found = get_completion_class(shell)
    if found is None:
        raise ValueError(f"click has no completion for {shell}")
    return found(command_line, {}, "pathscope", "_PATHSCOPE_COMPLETE").source() + "\n"


def files() -> Iterator[tuple[str, str]]:
    """Every file, by its path below `share/`, and its text."""
    for context in contexts(command_line):
        yield f"man/man1/{page_name(context)}.1", manual(context)
    for shell, path in COMPLETIONS.items():
        yield path, completion(shell)


def write(folder: Path) -> None:
    """Write them below a folder."""
    for path, text in files():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    write(Path(sys.argv[1]))
