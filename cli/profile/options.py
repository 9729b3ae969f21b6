"""What the commands of profiles have in common."""

from __future__ import annotations

from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ..faults import Failure, Refusal, refusals
from ..terminal import echo

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

NEEDED = {"jsonschema": "lab", "tomli_w": "lab", "plotly": "report"}
"""Packages that only some use, and the extra of pathscope that brings each."""

LONGEST_S = 86_400

FILE = click.Path(path_type=Path)

path_option = click.option(
    "--path",
    "paths",
    multiple=True,
    metavar="NAME",
    help="A path that there is; repeat for more. [default: those that the profile names]",
)

direction_option = click.option(
    "--direction",
    type=click.Choice(["both", "to_server", "to_client"]),
    default="both",
    show_default=True,
    help="What a format of one direction is of.",
)

duration_option = click.option(
    "--duration",
    "duration_s",
    type=click.FloatRange(0.001, LONGEST_S),
    metavar="SECONDS",
    help="How much of the profile. [default: one repetition, or a second after its last change]",
)

force_option = click.option("--force", is_flag=True, help="Overwrite what exists.")

strict_option = click.option(
    "--strict", is_flag=True, help="Write nothing, and exit with 1, when something would be lost."
)


@contextmanager
def profile_refusals() -> Iterator[None]:
    """Turn what can go wrong with profiles into a message: exit code 2."""
    try:
        with refusals():
            yield
    except ModuleNotFoundError as error:
        if error.name not in NEEDED:
            raise
        extra = NEEDED[error.name]
        message = f"{error.name} is not installed: pip install 'pathscope[{extra}]'"
        raise Refusal(message) from error


def tell(warnings: Sequence[str], *, strict: bool) -> None:
    """Say on standard error what is lost, and end there when nothing may be.

    Raises
    ------
    Failure
        When there are warnings and `strict` is given.
    """
    for warning in warnings:
        echo(f"warning: {warning}", err=True)
    if warnings and strict:
        raise Failure(f"--strict: {len(warnings)} warnings, nothing is written")


def write(path: Path, text: str, *, force: bool) -> None:
    """Write a file whole or not at all; `-` is standard output."""
    if str(path) == "-":
        echo(text, nl=False)
        return
    from ...reports.export import whole_file

    with whole_file(path, force=force) as stream:
        stream.write(text.encode())
    echo(f"wrote {path}", err=True)
