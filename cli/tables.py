"""`pathscope tables`."""

from __future__ import annotations

import click

from ..dissectors import ledger as ledgers
from .terminal import echo


@click.command("tables")
@click.option("--table", type=click.Choice(ledgers.table_names()), help="Only this one.")
def tables_command(table: str | None) -> None:
    """List the ledger's tables with the type and meaning of every column.

    \b
    Example:
      pathscope tables --table runs
    """
    for name, schema in ledgers.schemas().items():
        if table not in (None, name):
            continue
        echo(f"{name}: {schema.metadata[b'description'].decode()}")
        for row in ledgers.describe():
            if row["table"] == name:
                absent = ", can be absent" if row["nullable"] else ""
                echo(f"  {row['column']} ({row['type']}{absent}): {row['description']}")
