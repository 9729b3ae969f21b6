"""`pathscope info`."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from .faults import BAD_INPUT, Refusal, refusals
from .options import CAPTURE, flows_option, merge_option, read_options, reading_options
from .terminal import echo, show


@click.command("info")
@click.argument("captures", nargs=-1, required=True, type=CAPTURE)
@merge_option
@flows_option(default=True)
@reading_options
def info_command(
    captures: tuple[Path, ...],
    merge: bool,
    flows: bool,
    expression: str | None,
    udp_ports: tuple[int, ...],
    window_s: float | None,
    hosts: tuple[tuple[int, ...], ...],
) -> None:
    """Show what a capture is: format, interfaces, frames read and skipped, associations, flows.

    Each by itself, unless --merge makes them one.

    \b
    Example:
      pathscope info client.pcapng
    """
    from ..api import read
    from ..reports.overview import overview

    options = read_options(expression, udp_ports, window_s, hosts, flows=flows)
    shown = 0
    failures: list[str] = []
    for capture in [captures] if merge else [(capture,) for capture in captures]:
        try:
            with refusals():
                ledger = read(capture, options)
        except Refusal as refusal:
            failures.append(refusal.message)
        else:
            show(overview(ledger), blank_before=shown > 0)
            shown += 1
    for failure in failures:
        echo(f"Error: {failure}", err=True)
    if failures:
        sys.exit(BAD_INPUT)
