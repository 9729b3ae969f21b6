"""`pathscope lab describe`."""

from __future__ import annotations

import click

from ...reports.unseen import json_text
from ..terminal import echo
from .options import lab_refusals, set_option


@click.command("describe")
@click.argument("scenario")
@set_option
@click.option("--json", "as_json", is_flag=True, help="Print it as the run's scenario.json.")
def describe_command(scenario: str, changes: tuple[str, ...], as_json: bool) -> None:
    """Show a scenario with every setting, as --set takes it, defaults filled in.

    SCENARIO is a TOML file, or a name that `pathscope lab list` shows.

    \b
    Example:
      pathscope lab describe failover --set sctp.path_max_retrans=5
    """
    from ...replay.lab import catalog, describe
    from ...replay.lab.scenario import load

    with lab_refusals():
        loaded = load(catalog.find(scenario), changes)
    if as_json:
        echo(json_text(loaded.document(), indent=1))
    else:
        echo("\n".join(describe.lines(loaded)))
