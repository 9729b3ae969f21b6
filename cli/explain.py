"""`pathscope explain`."""

from __future__ import annotations

from pathlib import Path

import click

from ..reports.unseen import json_text
from .faults import refusals
from .options import CAPTURE, read_options, reading_options
from .terminal import echo, progress, show

MOST_STORIES = 50
"""Told at once: more would not be read, and an association can have thousands."""


@click.command("explain")
@click.argument("capture", type=CAPTURE)
@click.option(
    "--association",
    type=click.IntRange(0),
    metavar="N",
    help="Only this one, as analyze numbers it.",
)
@click.option(
    "--handover",
    type=click.IntRange(1),
    metavar="N",
    help="Only this one, as analyze numbers it within its association.",
)
@click.option(
    "--set",
    "given",
    multiple=True,
    metavar="NAME=VALUE",
    help="Say what it would have cost at this setting: rto_initial, rto_min, rto_max, hb_interval"
    " (500ms, 2.5s), pmr, pf (a number of expiries; pf=off: no RFC 7829). Repeat for more at once.",
)
@click.option("--events", type=CAPTURE, help="JSON lines with link changes, as for analyze.")
@click.option(
    "--label", "labels", multiple=True, metavar="NET=NAME", help="Names for paths, as for analyze."
)
@click.option(
    "--end",
    type=click.Choice(["client", "server"]),
    default="client",
    show_default=True,
    help="Whose capture of a run of the lab is explained.",
)
@click.option(
    "--json", "as_json", is_flag=True, help="Print the contract pathscope.story/1 instead of text."
)
@reading_options
def explain_command(
    capture: Path,
    association: int | None,
    handover: int | None,
    given: tuple[str, ...],
    events: Path | None,
    labels: tuple[str, ...],
    end: str,
    as_json: bool,
    expression: str | None,
    udp_ports: tuple[int, ...],
    window_s: float | None,
    hosts: tuple[tuple[int, ...], ...],
) -> None:
    """Tell handovers in time order, why each took so long, and what other settings would have cost.

    CAPTURE is a file as for analyze, or the folder of a run. Without --set a few other settings are
    tried. What a frame only lets one conclude is marked as inferred.

    \b
    Example:
      pathscope explain fixtures/captures/failover-v6/client.pcapng --handover 1 \\
        --set rto_min=500ms --set pmr=2
    """
    from ..api import analyze
    from ..stories import explain

    options = read_options(expression, udp_ports, window_s, hosts)
    with refusals(), progress([capture]) as advance:
        analysis = analyze(
            capture, events=events, labels=labels, options=options, progress=advance, end=end
        )
        stories = explain(
            analysis,
            association=association,
            handover=handover,
            settings=given,
            most=MOST_STORIES,
        )
    if len(stories) == MOST_STORIES:
        echo(
            f"warning: the first {MOST_STORIES} handovers are told; --association and --handover"
            " choose another",
            err=True,
        )
    if as_json:
        from ..reports.story_contract import document

        echo(json_text(document(analysis.ledger.path, stories)))
    else:
        from ..reports.story import report

        show(report(stories, analysis.ledger.capture["start_ns"] or 0))
