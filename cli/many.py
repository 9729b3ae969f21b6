"""`pathscope analyze` of many captures."""

from __future__ import annotations

import sys
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from .faults import DAMAGED_INPUT, refusals
from .terminal import echo

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from ..many.run import Progress, Summary

SOME_FAILED = 3
"""Exit code where captures have no result, and all others have."""

MOST_JOBS = 1024


def many_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options that say who does the work of many captures, and what comes of it."""
    options = (
        click.option(
            "--jobs",
            type=click.IntRange(1, MOST_JOBS),
            metavar="N",
            help="Of many captures: analyze in this many processes. [default: 1]",
        ),
        click.option(
            "--scheduler",
            metavar="ADDRESS",
            help="Of many captures: analyze on the Dask cluster there, such as tcp://host:8786.",
        ),
        click.option(
            "--ledger",
            is_flag=True,
            help="Of many captures: also write the ledger's tables.",
        ),
    )
    for option in reversed(options):
        command = option(command)
    return command


def is_many(
    captures: Sequence[str], out: Path | None, jobs: int | None, scheduler: str | None
) -> bool:
    """Whether this makes a dataset: of captures far away, of a folder of them, or by workers."""
    if jobs is not None or scheduler is not None or any("://" in text for text in captures):
        return True
    return out is not None and any(map(_holds_many, captures))


def _holds_many(text: str) -> bool:
    """Whether this is a folder that is no run, or a glob: a file may be called like one."""
    path = Path(text)
    if path.exists():
        from ..replay.lab.folder import is_run

        return path.is_dir() and not is_run(path)
    return any(mark in text for mark in "*?[")


def analyze_to_dataset(
    captures: Sequence[str], out: Path | None, *, strict: bool, **how: Any
) -> None:
    """Analyze captures into a dataset, say what came of it, and exit by that."""
    if out is None:
        raise click.UsageError("many captures need --out: a folder for their results")
    if how["jobs"] > 1 and how["scheduler"] is not None:
        raise click.UsageError("give --jobs or --scheduler: a cluster has its own workers")
    from ..many.dataset import is_dataset

    if how["jobs"] > 1 and not is_dataset(out):
        from ..many.forking import prepare

        prepare()  # before all else is imported
    from ..many.run import analyze_many

    with refusals(), _bar() as advance:
        summary = analyze_many(captures, out, progress=advance, **how)
    _tell(summary)
    if summary.failures:
        sys.exit(SOME_FAILED)
    if strict and summary.damaged:
        sys.exit(DAMAGED_INPUT)


@contextmanager
def _bar() -> Iterator[Callable[[Progress], None] | None]:
    """Show a progress bar on standard error, when it is a terminal."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as Bar

    columns = (
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[skipped]} skipped, {task.fields[failed]} failed"),
        TimeRemainingColumn(),
    )
    with Bar(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("", total=None, skipped=0, failed=0)

        def advance(now: Progress) -> None:
            ended = now.done + now.skipped + now.failed
            bar.update(
                task,
                total=now.total,
                completed=ended,
                skipped=now.skipped,
                failed=now.failed,
            )

        yield advance


def _tell(summary: Summary) -> None:
    for name, first in summary.same:
        echo(f"{name}: the same content as {first}, counted once", err=True)
    if summary.removed:
        echo(
            f"{summary.removed} earlier results were of other content or settings: removed",
            err=True,
        )
    told = [f"{summary.done} analyzed", f"{summary.skipped} skipped"]
    told += [f"{summary.damaged} damaged"] if summary.damaged else []
    told += [f"{len(summary.failures)} failed"] if summary.failures else []
    echo(f"{summary.folder}: {', '.join(told)}", err=True)
    for failure in summary.failures:
        echo(f"Error: {failure.name}: {failure.reason}", err=True)
