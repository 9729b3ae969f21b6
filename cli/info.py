"""`pathscope info`."""

from __future__ import annotations

from pathlib import Path

import click

from ..api import read
from .faults import refusals
from .options import CAPTURE, flows_option, read_options, reading_options
from .terminal import show


@click.command("info")
@click.argument("capture", type=CAPTURE)
@flows_option(default=True)
@reading_options
def info_command(
    capture: Path,
    flows: bool,
    expression: str | None,
    udp_ports: tuple[int, ...],
    window_s: float | None,
) -> None:
    """Show what a capture is: format, interfaces, frames read and skipped, associations, flows.

    \b
    Example:
      pathscope info client.pcapng
    """
    from ..reports.overview import overview

    with refusals():
        ledger = read(capture, read_options(expression, udp_ports, window_s, flows=flows))
    show(overview(ledger))
