"""`pathscope export`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ..reports.unseen import json_text
from .faults import DAMAGED_INPUT, refusals
from .options import (
    CAPTURE,
    flows_option,
    knowledge_options,
    merge_option,
    read_options,
    reading_options,
)
from .terminal import echo, progress

if TYPE_CHECKING:
    from ..api import Analysis


@click.command("export")
@click.argument("captures", nargs=-1, required=True, type=CAPTURE)
@click.option(
    "--to",
    "form",
    required=True,
    type=click.Choice(["qlog", "filters"]),
    help="qlog: what each end did on its paths, as events. filters: a display filter for every"
    " association, path, handover, excursion, flow and finding, as Wireshark's file dfilters.",
)
@click.option("--output", "-o", type=CAPTURE, help="Write here instead of to standard output.")
@click.option("--force", is_flag=True, help="Let --output overwrite.")
@knowledge_options
@merge_option
@click.option(
    "--strict",
    is_flag=True,
    help="Exit with 1 when a capture is damaged, after giving what could be read.",
)
@flows_option(default=True)
@reading_options
def export_command(
    captures: tuple[Path, ...],
    form: str,
    output: Path | None,
    force: bool,
    events: Path | None,
    labels: tuple[str, ...],
    end: str,
    merge: bool,
    strict: bool,
    flows: bool,
    expression: str | None,
    udp_ports: tuple[int, ...],
    window_s: float | None,
    hosts: tuple[tuple[int, ...], ...],
) -> None:
    """Write what a capture shows in the words of other tools (docs/exports.md).

    Tables as CSV or Parquet: pathscope analyze --out, pathscope dissect.

    \b
    Example:
      pathscope export fixtures/captures/failover-v6/client.pcapng --to filters
    """
    from ..api import analyze
    from ..reports.export import whole_file

    options = read_options(expression, udp_ports, window_s, hosts, flows=flows)
    done: list[Analysis] = []
    with refusals():
        for capture in [captures] if merge else [(capture,) for capture in captures]:
            with progress(capture) as advance:
                source = capture[0] if len(capture) == 1 else capture
                found = analyze(
                    source,
                    events=events,
                    labels=labels,
                    options=options,
                    progress=advance,
                    end=end,
                )
            done.append(found)
        text = _qlog(done) if form == "qlog" else _filters(done)
        if output is None:
            echo(text, nl=False)
        else:
            with whole_file(output, force=force) as stream:
                stream.write(text.encode())
            echo(f"wrote {output}", err=True)
    damage = [a.result.capture["damage"] for a in done]
    for what in damage:
        if what is not None:
            echo(f"warning: the capture is damaged, this goes up to there: {what}", err=True)
    if strict and any(damage):
        sys.exit(DAMAGED_INPUT)


def _qlog(done: list[Analysis]) -> str:
    from ..reports.qlog import document

    return json_text(document(done)) + "\n"


def _filters(done: list[Analysis]) -> str:
    from ..reports.contract import result
    from ..reports.wireshark import filter_file

    return filter_file(result([a.result for a in done]))
