"""`pathscope profile convert`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, cast

import click

from .options import (
    FILE,
    direction_option,
    duration_option,
    force_option,
    path_option,
    profile_refusals,
    strict_option,
    tell,
    write,
)

if TYPE_CHECKING:
    from ...replay.profiles.conversion import Format

FORMATS = click.Choice(["profile", "mahimahi", "tcconfig", "tc"])


@click.command("convert")
@click.argument("source", metavar="IN", type=FILE)
@click.argument("target", metavar="OUT", type=FILE)
@click.option(
    "--from",
    "source_format",
    type=FORMATS,
    help="Format of IN. [default: .toml profile, .json tcconfig, .sh tc, else mahimahi]",
)
@click.option("--to", "target_format", type=FORMATS, help="Format of OUT. [default: likewise]")
@path_option
@direction_option
@duration_option
@click.option(
    "--bin",
    "bin_ms",
    type=click.IntRange(1, 86_400_000),
    default=100,
    show_default=True,
    metavar="MS",
    help="Width of the steps that a trace of mahimahi is read into.",
)
@strict_option
@force_option
def convert_command(
    source: Path,
    target: Path,
    source_format: str | None,
    target_format: str | None,
    paths: tuple[str, ...],
    direction: str,
    duration_s: float | None,
    bin_ms: int,
    strict: bool,
    force: bool,
) -> None:
    """Convert a profile from and to traces of mahimahi, JSON of tcconfig and scripts of tc.

    What OUT cannot hold is said on standard error. `-` as OUT is standard output.

    \b
    Example:
      pathscope profile convert fixtures/profiles/walk.toml walk.sh --direction to_client
    """
    from ...replay.profiles.conversion import Options, format_of, read
    from ...replay.profiles.conversion import write as written

    options = Options(paths, direction, bin_ms, duration_s)
    with profile_refusals():
        profile, lost = read(source, _format(source_format) or format_of(source), options)
        asked = _format(target_format) or ("profile" if str(target) == "-" else format_of(target))
        text, lost_again = written(profile, asked, options)
        tell([*lost, *lost_again], strict=strict)
        write(target, text, force=force)


def _format(word: str | None) -> Format | None:
    """What click has checked."""
    return cast("Format | None", word)
