"""`pathscope lab matrix`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ..faults import Failure
from ..terminal import echo
from .options import kernel_of, kernel_option, lab_refusals, set_option

if TYPE_CHECKING:
    from ...replay.lab.matrix import Cell


@click.command("matrix")
@click.argument("scenario")
@click.option(
    "--vary",
    "varied",
    multiple=True,
    metavar="KEY=VALUE,...",
    help="Run with each of these values; repeat for a grid.",
)
@click.option(
    "--repetitions", type=click.IntRange(1), help="Of each setting. [default: the scenario's]"
)
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    required=True,
    metavar="DIR",
    help="A folder for the runs' folders, and matrix.json, which lists them.",
)
@kernel_option
@set_option
@click.option("--dry-run", is_flag=True, help="List the runs and their states, and make none.")
def matrix_command(
    scenario: str,
    varied: tuple[str, ...],
    repetitions: int | None,
    out: Path,
    kernel: str,
    changes: tuple[str, ...],
    dry_run: bool,
) -> None:
    """Run a grid of settings, each so many times; runs that are complete are not made again.

    \b
    Example:
      pathscope lab matrix failover --vary sctp.rto_max_ms=500,1000 --vary \\
        sctp.path_max_retrans=2,3 --repetitions 5 --out sweep --dry-run
    """
    from ...replay.lab import catalog, folder, matrix
    from ...replay.lab.run import choose

    with lab_refusals():
        grid = matrix.cells(catalog.find(scenario), changes, varied, repetitions)
        if dry_run:
            for cell in grid:
                echo(f"{folder.state(out / cell.place)}  {out / cell.place}")
            return
        chosen = choose(kernel_of(kernel), grid[0].scenario["engine"])
        failures, slow = [], []
        with click.progressbar(
            matrix.run_cells(grid, out, chosen),
            length=len(grid),
            label=f"{len(grid)} runs",
            item_show_func=_place,
            file=sys.stderr,
        ) as bar:
            for cell, failure in bar:
                if failure is not None:
                    failures.append(failure)
                elif reasons := folder.too_slow(out / cell.place):
                    slow.append(f"{out / cell.place}: {', '.join(reasons)}")
    for run in slow:
        echo(f"warning: the machine did not keep up: {run}", err=True)
    echo(out)
    if failures:
        raise Failure(f"{len(failures)} of {len(grid)} runs failed:\n" + "\n".join(failures))


def _place(done: tuple[Cell, str | None] | None) -> str | None:
    return None if done is None else done[0].place
