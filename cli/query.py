"""`pathscope query`."""

from __future__ import annotations

import sys
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ..reports.unseen import plain
from .faults import refusals
from .options import CAPTURE
from .terminal import echo, show

if TYPE_CHECKING:
    from ..many.query import Answer, Table

SHOWN_ROWS = 100
"""Of a table on standard output, unless --limit says otherwise."""

WIDEST_CELL = 60
"""Letters of a cell that is shown; files have all of them."""


@click.command("query")
@click.argument("results", type=CAPTURE)
@click.argument("sql", required=False)
@click.option("--file", "script", type=CAPTURE, metavar="FILE", help="Read the SQL from a file.")
@click.option(
    "--tables",
    "listing",
    is_flag=True,
    help="List the tables and their rows, or the columns of those that SQL names, with meaning.",
)
@click.option(
    "--format",
    "form",
    type=click.Choice(["table", "csv", "json", "parquet"]),
    help="json is an object a line. [default: table; of --output by its suffix]",
)
@click.option(
    "--limit",
    type=click.IntRange(0),
    default=SHOWN_ROWS,
    show_default=True,
    metavar="ROWS",
    help="Of a table that is shown.",
)
@click.option("--output", "-o", type=CAPTURE, help="Write here instead of to standard output.")
@click.option("--force", is_flag=True, help="Let --output overwrite.")
def query_command(
    results: Path,
    sql: str | None,
    script: Path | None,
    listing: bool,
    form: str | None,
    limit: int,
    output: Path | None,
    force: bool,
) -> None:
    """Ask the tables of RESULTS in SQL: a dataset, or what analyze --out wrote for one capture.

    SQL is DuckDB's; - reads it from standard input. It sees the tables as `handovers`, `paths`
    ... and `ledger.runs` ..., and no other file; it cannot write.

    \b
    Example:
      pathscope query dataset "SELECT run, cause, link_failure_recovery_s FROM handovers"
    """
    from ..many.query import asked, tables

    text = _text(sql, script)
    with refusals():
        known = tables(results)
        if listing:
            show(_listed(known, (text or "").split()))
            return
        if text is None:
            raise click.UsageError("give a statement, --file or --tables")
        with asked(known, text) as answer:
            _give(answer, form or _suffix(output), limit, output, force=force)


def _text(sql: str | None, script: Path | None) -> str | None:
    if sql is not None and script is not None:
        raise click.UsageError("give a statement or --file")
    with refusals():
        if script is not None:
            return script.read_text(encoding="utf-8")
        return sys.stdin.read() if sql == "-" else sql


def _suffix(output: Path | None) -> str:
    known = {".csv": "csv", ".json": "json", ".jsonl": "json", ".parquet": "parquet"}
    return "table" if output is None else known.get(output.suffix, "table")


def _give(answer: Answer, form: str, limit: int, output: Path | None, *, force: bool) -> None:
    from ..reports.export import FORMATS, whole_file, write_table

    if form == "table":
        content, note = _shown(answer, limit)
        if output is None:
            show(content)
        else:
            from .terminal import rendered

            with whole_file(output, force=force) as stream:
                stream.write(rendered(content).encode())
        if note:
            echo(note, err=True)
        return
    chosen = next(known for known in FORMATS if known == form)
    if output is None:
        write_table(answer.batches, answer.schema, chosen, sys.stdout.buffer)
        return
    with whole_file(output, force=force) as stream:
        rows = write_table(answer.batches, answer.schema, chosen, stream)
    echo(f"wrote {rows} rows to {output}", err=True)


def _shown(answer: Answer, limit: int) -> tuple[Any, str]:
    """Return the first rows as a table, and what is to be said of the others."""
    from rich.box import SIMPLE_HEAD
    from rich.table import Table as Shown

    shown = Shown(box=SIMPLE_HEAD)
    for column in answer.schema:
        is_number = str(column.type).startswith(("int", "uint", "double", "float", "decimal"))
        shown.add_column(plain(column.name), justify="right" if is_number else "left")
    rows = 0
    for row in chain.from_iterable(batch.to_pylist() for batch in answer.batches):
        if rows < limit:
            shown.add_row(*(_cell(row[column.name]) for column in answer.schema))
        rows += 1
    return shown, f"{limit} of {rows} rows; --limit shows more" if rows > limit else ""


def _cell(value: Any) -> str:
    if value is None:
        return ""
    text = plain(f"{value:.6g}" if isinstance(value, float) else str(value))
    return text if len(text) <= WIDEST_CELL else f"{text[: WIDEST_CELL - 3]}..."


def _listed(known: dict[str, Table], names: list[str]) -> Any:
    """Return a list of all tables, or of the columns of some, with their meaning."""
    from rich.table import Table as Shown

    from ..many.query import QueryError

    if unknown := [name for name in names if name not in known]:
        raise QueryError(f"no table {unknown[0]}; --tables without names lists them")
    shown = Shown(box=None, pad_edge=False)
    for head in ("table", "column", "type", "meaning") if names else ("table", "rows", "meaning"):
        shown.add_column(head, justify="right" if head == "rows" else "left", overflow="fold")
    for name in names:
        for column in known[name].schema():
            meaning = (column.metadata or {}).get(b"description", b"").decode()
            shown.add_row(name, column.name, str(column.type), meaning)
    for name, table in () if names else known.items():
        meaning = (table.schema().metadata or {}).get(b"description", b"").decode()
        shown.add_row(name, str(table.rows()), meaning)
    return shown
