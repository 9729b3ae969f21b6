"""`pathscope profile show`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from ..terminal import echo
from .options import FILE, duration_option, force_option, path_option, profile_refusals, write

if TYPE_CHECKING:
    from ...replay.profiles.schedule import Step


@click.command("show")
@click.argument("profile", type=FILE)
@path_option
@duration_option
@click.option("--plot", type=FILE, metavar="FILE.html", help="Also draw it, on a page of its own.")
@force_option
def show_command(
    profile: Path,
    paths: tuple[str, ...],
    duration_s: float | None,
    plot: Path | None,
    force: bool,
) -> None:
    """Show what a profile does: every step of every path and direction, as netem is told.

    \b
    Example:
      pathscope profile show fixtures/profiles/walk.toml --plot walk.html
    """
    from ...replay.profiles.conversion import Options, extent
    from ...replay.profiles.profile import load
    from ...replay.profiles.schedule import schedule

    with profile_refusals():
        loaded = load(profile)
        known, duration_ns = extent(loaded, Options(paths, duration_s=duration_s))
        steps = schedule(loaded, known, duration_ns)
        if plot is not None:
            from ...replay.profiles.plot import figure, page

            write(plot, page(figure(loaded, known, duration_ns)), force=force)
        for step in steps:
            echo(_line(step))


def _line(step: Step) -> str:
    from ...replay.lab.netem import arguments
    from ...reports.unseen import plain

    words = " ".join(arguments(step.impairment))
    return plain(f"{step.at_ns / 1e9:>12.6f} s  {step.path} {step.direction}  {words}")
