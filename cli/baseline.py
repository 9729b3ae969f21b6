"""`pathscope baseline`."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from .compare import labels_option, store_option, tell
from .faults import BAD_INPUT, refusals
from .terminal import echo

if TYPE_CHECKING:
    from pathlib import Path


@click.group("baseline")
def baseline_command() -> None:
    """Keep results of runs under a name, to compare others with them later.

    \b
    Example:
      pathscope baseline list --store fixtures/compare
    """


@baseline_command.command("save")
@click.argument("name")
@click.argument("sets", nargs=-1, required=True, metavar="SET...")
@store_option
@labels_option
@click.option("--force", is_flag=True, help="Replace the baseline of that name.")
def save_command(
    name: str, sets: tuple[str, ...], store: Path | None, labels: tuple[str, ...], force: bool
) -> None:
    """Keep the results of all runs of sets; sets are named as for compare.

    Of every run its result is kept, with its scenario, settings and versions; no capture is.

    \b
    Example:
      pathscope baseline save kernel-6.1 client.pcapng
    """
    from .. import baselines
    from ..sets import read_set

    with refusals():
        chosen = store or baselines.default_store()
        baselines.check_free(chosen, name, force=force)
        found = [read_set(one, chosen, labels, tell) for one in sets]
        if failures := [failure for one in found for failure in one.unread]:
            for path, reason in failures:
                echo(f"Error: {path}: {reason}", err=True)
            echo(f"Error: baseline {name} was not saved", err=True)
            sys.exit(BAD_INPUT)
        runs = [run for one in found for run in one.runs]
        folder = baselines.save(chosen, name, runs, force=force)
    echo(f"saved {_count(len(runs))} as {name} in {folder.parent}", err=True)


@baseline_command.command("list")
@store_option
def list_command(store: Path | None) -> None:
    """List baselines with the number of their runs.

    \b
    Example:
      pathscope baseline list
    """
    from .. import baselines

    with refusals():
        for one in baselines.listed(store or baselines.default_store()):
            echo(f"{one.name}: {_count(len(one.runs))}")


@baseline_command.command("show")
@click.argument("name")
@store_option
def show_command(name: str, store: Path | None) -> None:
    """List the runs of a baseline with their scenarios.

    \b
    Example:
      pathscope baseline show rto-1000 --store fixtures/compare
    """
    from .. import baselines

    with refusals():
        found = baselines.find(store or baselines.default_store(), name)
    echo(f"{found.name}: {_count(len(found.runs))} in {found.folder}")
    for run in found.runs:
        scenario = run["scenario"] or "no scenario"
        echo(f"  {run['name']}: {scenario}")


@baseline_command.command("remove")
@click.argument("name")
@store_option
def remove_command(name: str, store: Path | None) -> None:
    """Remove a baseline.

    \b
    Example:
      pathscope baseline remove before
    """
    from .. import baselines

    with refusals():
        baselines.remove(store or baselines.default_store(), name)
    echo(f"removed {name}", err=True)


def _count(runs: int) -> str:
    return "1 run" if runs == 1 else f"{runs} runs"
