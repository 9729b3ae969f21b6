"""`pathscope dissect`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ..dissectors import ledger as ledgers
from ..dissectors._core import CaptureError
from .faults import DAMAGED_INPUT, refusals
from .index import make_index, tell_of_index
from .options import CAPTURE, flows_option, merge_option, read_options, reading_options
from .terminal import echo, standard_output

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pyarrow as pa

    from ..dissectors.selection import Window

MOST_ASSOCIATIONS = (1 << 32) - 1


def _window(_: click.Context, __: click.Parameter, value: tuple[str, str] | None) -> Window | None:
    if value is None:
        return None
    from ..dissectors.selection import Window

    try:
        return Window.parse(*value)
    except ValueError as error:
        raise click.BadParameter(str(error)) from error


@click.command("dissect")
@click.argument("captures", nargs=-1, required=True, type=CAPTURE)
@click.option(
    "--table",
    default=ledgers.CHUNKS,
    show_default=True,
    type=click.Choice(ledgers.table_names()),
    help="Which table.",
)
@click.option(
    "--window",
    nargs=2,
    callback=_window,
    metavar="T0 T1",
    help="Only rows from T0 on and before T1, or that touch this: seconds since the first frame,"
    " @seconds since 1970, or ISO 8601 times; - is an open end.",
)
@click.option(
    "--association",
    type=click.IntRange(0, MOST_ASSOCIATIONS),
    metavar="N",
    help="Only rows of this association.",
)
@click.option(
    "--index",
    "with_index",
    is_flag=True,
    help="First write CAPTURE.index, unless it is there and fits: with it, later windows are read"
    " without the rest.",
)
@click.option(
    "--format",
    "form",
    default="csv",
    show_default=True,
    type=click.Choice(["csv", "json", "parquet"]),
    help="json is one object a line.",
)
@click.option("--output", "-o", type=CAPTURE, help="Write here instead of to standard output.")
@click.option("--force", is_flag=True, help="Let --output overwrite.")
@merge_option
@click.option(
    "--strict",
    is_flag=True,
    help="Exit with 1 when the capture is damaged, after giving what could be read.",
)
@flows_option(default=False)
@reading_options
def dissect_command(
    captures: tuple[Path, ...],
    table: str,
    window: Window | None,
    association: int | None,
    with_index: bool,
    form: str,
    output: Path | None,
    force: bool,
    merge: bool,
    strict: bool,
    flows: bool,
    expression: str | None,
    udp_ports: tuple[int, ...],
    window_s: float | None,
    hosts: tuple[tuple[int, ...], ...],
) -> None:
    """Print a table of the ledger, or every chunk, message, segment, datagram or frame.

    A table of flows is filled without --flows, too.

    \b
    Example:
      pathscope dissect client.pcapng --window 10.9 11.3 --format parquet -o chunks.parquet
    """
    from ..api import dissect
    from ..reports.export import FORMATS, whole_file, write_table

    chosen = next(known for known in FORMATS if known == form)
    if len(captures) > 1 and not merge:
        raise click.UsageError("the rows of several captures are told apart by nothing: --merge")
    if len(captures) > 1 and with_index:
        raise click.UsageError("--index takes one capture")
    if output is None and chosen == "parquet" and sys.stdout.isatty():
        raise click.UsageError("Parquet is not for a terminal: give --output, or redirect")
    schema = ledgers.schemas()[table]
    reading = read_options(expression, udp_ports, window_s, hosts, flows=flows)
    options = ledgers.options_for(table, reading)
    damage: list[str] = []
    with refusals():
        if with_index:
            make_index(captures[0], options)
        elif len(captures) == 1:
            tell_of_index(captures[0], options)
        batches = _up_to_damage(
            dissect(captures, table, reading, window=window, association=association), damage
        )
        if output is None:
            write_table(batches, schema, chosen, standard_output())
        else:
            with whole_file(output, force=force) as stream:
                rows = write_table(batches, schema, chosen, stream)
            echo(f"wrote {rows} rows to {output}", err=True)
    for what in damage:
        echo(f"warning: the capture is damaged, the table goes up to there: {what}", err=True)
    if damage and strict:
        sys.exit(DAMAGED_INPUT)


def _up_to_damage(batches: Iterator[pa.RecordBatch], damage: list[str]) -> Iterator[pa.RecordBatch]:
    """Yield what could be read of a table, and note in `damage` why that is not all."""
    begun = False
    try:
        for batch in batches:
            begun = True
            yield batch
    except CaptureError as error:
        if not begun:
            raise  # no capture at all
        damage.append(str(error))
