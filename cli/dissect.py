"""`pathscope dissect`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ..api import dissect, read
from ..dissectors import ledger as ledgers
from ..dissectors._core import CaptureError
from .faults import DAMAGED_INPUT, refusals
from .options import CAPTURE, flows_option, read_options, reading_options

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pyarrow as pa

    from ..dissectors.ledger import ReadOptions


@click.command("dissect")
@click.argument("capture", type=CAPTURE)
@click.option(
    "--table",
    default=ledgers.CHUNKS,
    show_default=True,
    type=click.Choice(ledgers.table_names()),
    help="Which table.",
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
@click.option(
    "--strict",
    is_flag=True,
    help="Exit with 1 when the capture is damaged, after giving what could be read.",
)
@flows_option
@reading_options
def dissect_command(
    capture: Path,
    table: str,
    form: str,
    output: Path | None,
    force: bool,
    strict: bool,
    flows: bool,
    expression: str | None,
    udp_ports: tuple[int, ...],
    window_s: float | None,
) -> None:
    """Print a table of the ledger, or every chunk, segment, datagram or frame.

    A table of flows is filled without --flows, too.

    \b
    Example:
      pathscope dissect client.pcapng --table chunks --format parquet -o chunks.parquet
    """
    from ..reports.export import FORMATS, whole_file, write_table

    chosen = next(known for known in FORMATS if known == form)
    if output is None and chosen == "parquet" and sys.stdout.isatty():
        raise click.UsageError("Parquet is not for a terminal: give --output, or redirect")
    schema = ledgers.schemas()[table]
    reading = read_options(expression, udp_ports, window_s, flows=flows)
    options = ledgers.options_for(table, reading)
    damage: list[str] = []
    with refusals():
        batches = _up_to_damage(capture, table, options, damage)
        if output is None:
            write_table(batches, schema, chosen, sys.stdout.buffer)
        else:
            with whole_file(output, force=force) as stream:
                rows = write_table(batches, schema, chosen, stream)
            click.echo(f"wrote {rows} rows to {output}", err=True)
    for what in damage:
        click.echo(f"warning: the capture is damaged, the table goes up to there: {what}", err=True)
    if damage and strict:
        sys.exit(DAMAGED_INPUT)


def _up_to_damage(
    capture: Path, table: str, options: ReadOptions, damage: list[str]
) -> Iterator[pa.RecordBatch]:
    """Yield what could be read of a table, and note in `damage` why that is not all."""
    if table not in ledgers.streamed_names():
        ledger = read(capture, options)
        yield from ledger.tables[table].to_batches()
        if ledger.capture["damage"] is not None:
            damage.append(ledger.capture["damage"])
        return
    begun = False
    try:
        for batch in dissect(capture, table, options):
            begun = True
            yield batch
    except CaptureError as error:
        if not begun:
            raise  # no capture at all
        damage.append(str(error))
