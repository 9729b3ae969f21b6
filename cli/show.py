"""`pathscope show`."""

from __future__ import annotations

from pathlib import Path

import click

from ..reports.unseen import json_text
from .faults import refusals
from .index import tell_of_index
from .options import CAPTURE, read_options, reading_options
from .terminal import echo

MOST_FRAMES = (1 << 63) - 1


@click.command("show")
@click.argument("capture", type=CAPTURE)
@click.argument("frame", type=click.IntRange(1, MOST_FRAMES))
@click.option(
    "--decoder",
    default="auto",
    show_default=True,
    type=click.Choice(["auto", "tshark", "own"]),
    help="Who decodes: auto is tshark where it and pyshark are installed, else our own.",
)
@click.option(
    "--format",
    "form",
    default="text",
    show_default=True,
    type=click.Choice(["text", "json"]),
    help="json is one object.",
)
@click.option("--hex", "dump", is_flag=True, help="Also show the bytes.")
@reading_options
def show_command(
    capture: Path,
    frame: int,
    decoder: str,
    form: str,
    dump: bool,
    expression: str | None,
    udp_ports: tuple[int, ...],
    window_s: float | None,
    hosts: tuple[tuple[int, ...], ...],
) -> None:
    """Decode one frame: every header, chunk, parameter and cause, and what the tracker says of it.

    \b
    Example:
      pathscope show client.pcapng 444 --decoder own
    """
    from ..api import show
    from ..dissectors.frame import DECODERS
    from ..reports.frame import document, lines

    chosen = next(known for known in DECODERS if known == decoder)
    options = read_options(expression, udp_ports, window_s, hosts)
    with refusals():
        tell_of_index(capture, options)
        found = show(capture, frame, options, decoder=chosen)
    if form == "json":
        echo(json_text(document(found, dump=dump)))
    else:
        echo("\n".join(lines(found, dump=dump)))
