"""`pathscope lab run`."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import click

from ..terminal import echo
from .options import kernel_of, kernel_option, lab_refusals, set_option


@click.command("run")
@click.argument("scenario")
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    metavar="DIR",
    help="The run's folder. [default: the scenario's name and the time]",
)
@kernel_option
@set_option
@click.option("--force", is_flag=True, help="Replace a complete run.")
def run_command(
    scenario: str, out: Path | None, kernel: str, changes: tuple[str, ...], force: bool
) -> None:
    """Run a scenario, once, into a folder that `pathscope analyze` reads.

    SCENARIO is a TOML file, or a name that `pathscope lab list` shows. The folder holds what both
    ends saw, what happened and when, the scenario as run, versions and logs.

    \b
    Example:
      pathscope lab run failover --out failover-1
    """
    from ...replay.lab import catalog
    from ...replay.lab.folder import too_slow
    from ...replay.lab.run import choose, run
    from ...replay.lab.scenario import load

    with lab_refusals():
        loaded = load(catalog.find(scenario), changes)
        chosen = choose(kernel_of(kernel), loaded["engine"])
        place = out or Path(f"{loaded.name}-{datetime.now(UTC):%Y%m%dT%H%M%SZ}")
        where = "simulated" if chosen == "ns2" else f"and some more, in the {chosen}"
        echo(f"{loaded.name}: {loaded['duration_s']:g} s, {where}", err=True)
        run(loaded, place, chosen, force=force)
    for reason in too_slow(place):
        echo(f"warning: the machine did not keep up: {reason}", err=True)
    echo(place)
