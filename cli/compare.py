"""`pathscope compare`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ..reports.unseen import json_text
from .faults import BAD_INPUT, need, refusals
from .options import CAPTURE
from .terminal import echo, rendered, show

if TYPE_CHECKING:
    from ..analyzer.compare.comparison import Comparison

REGRESSION = 1
"""Exit code of --fail-on."""

LARGEST_SEED = (1 << 32) - 1

store_option = click.option(
    "--store",
    type=CAPTURE,
    metavar="DIR",
    help="Folder of baselines. [default: pathscope/baselines in the user's data folder]",
)


labels_option = click.option(
    "--label",
    "labels",
    multiple=True,
    metavar="NET=NAME",
    help="Names for paths of captures, as for analyze: what is compared has the same name.",
)


def tell(name: str) -> None:
    """Say on standard error what is being analyzed, where someone waits for it."""
    if sys.stderr.isatty():
        echo(f"analyzing {name}", err=True)


@click.command("compare")
@click.argument("baseline")
@click.argument("candidate", required=False)
@store_option
@labels_option
@click.option(
    "--tolerances",
    type=CAPTURE,
    metavar="FILE",
    help="TOML: by how much a number may differ, and which way it is better.",
)
@click.option(
    "--metric", "metrics", multiple=True, metavar="NAME", help="Only this number; repeat for more."
)
@click.option(
    "--fail-on",
    type=click.Choice(["worse", "changed"]),
    help="Exit with 1 when a number is worse; changed: also when it is better or other, or when"
    " what happened in all runs of one side happened in none of the other.",
)
@click.option(
    "--format",
    "form",
    type=click.Choice(["text", "json", "markdown", "junit"]),
    default="text",
    show_default=True,
    help="json: the contract pathscope.compare/1. markdown: for a pull request.",
)
@click.option(
    "--all",
    "everything",
    is_flag=True,
    help="List every number. [default: what is worse or better]",
)
@click.option("--output", "-o", type=CAPTURE, help="Write here instead of to standard output.")
@click.option("--html", type=CAPTURE, metavar="FILE", help="Also write a page to look at.")
@click.option("--force", is_flag=True, help="Let --output and --html overwrite.")
@click.option(
    "--plan",
    metavar="CHANGE",
    help="Instead say how many runs of the BASELINE's kind it takes to see such a change of a"
    " --metric: 5% of it, or an amount in its unit.",
)
@click.option(
    "--seed",
    type=click.IntRange(0, LARGEST_SEED),
    default=0,
    show_default=True,
    help="Of the random numbers that intervals and tests draw.",
)
def compare_command(
    baseline: str,
    candidate: str | None,
    store: Path | None,
    labels: tuple[str, ...],
    tolerances: Path | None,
    metrics: tuple[str, ...],
    fail_on: str | None,
    form: str,
    everything: bool,
    output: Path | None,
    html: Path | None,
    force: bool,
    plan: str | None,
    seed: int,
) -> None:
    """Say whether runs of CANDIDATE are better or worse than those of BASELINE, and by how much.

    Each is a set of runs: a folder, which is searched for captures, runs of the lab and results of
    analyze --out; a glob in quotes; the name of a baseline (pathscope baseline save); or several of
    these with commas between. Runs of the same scenario and settings are held against each other.

    Exit codes: 0 compared, 1 failed by --fail-on, 2 something could not be read or compared.

    \b
    Example:
      pathscope compare fixtures/compare/rto-1000 fixtures/compare/rto-500 \\
        --metric link_failure_recovery_s --fail-on worse
    """
    if (candidate is None) == (plan is None):
        raise click.UsageError("give a BASELINE and a CANDIDATE, or a BASELINE and --plan")
    if plan is not None and (html is not None or form in ("markdown", "junit") or not metrics):
        raise click.UsageError("--plan needs --metric, and is told as text or json")
    need("compare", "scipy", "jsonschema")
    with refusals():
        for path in (output, html):
            if path is not None and path.exists() and not force:
                raise FileExistsError(f"{path} exists; --force overwrites it")
        if candidate is None:
            from .plan import give_plan

            give_plan(baseline, str(plan), store, labels, metrics, form, seed)
            return
        from ..comparisons import compare
        from ..reports.compare.document import document

        found = compare(
            baseline,
            candidate,
            store=store,
            labels=labels,
            tolerances=tolerances,
            metrics=metrics,
            seed=seed,
            progress=tell,
        )
        told = document(found, seed)
        if html is not None:
            from ..reports.compare.page import page

            _write(html, page(told), force=force)
        shown = _shown(fail_on, everything=everything or bool(metrics))
        if output is not None:
            _write(output, _text(told, form, fail_on, shown), force=force)
        elif form == "text":
            from ..reports.compare.text import report

            show(report(told, shown))
        else:
            echo(_text(told, form, fail_on, shown), nl=False)
    if code := _exit_code(found, fail_on):
        sys.exit(code)


def _shown(fail_on: str | None, *, everything: bool) -> frozenset[str]:
    """Return the verdicts whose rows are listed: what fails is always among them."""
    from ..reports.compare.cells import FIRST, ORDER, TOLD

    if everything:
        return frozenset(ORDER)
    return TOLD if fail_on == "changed" else FIRST


def _text(told: dict[str, Any], form: str, fail_on: str | None, shown: frozenset[str]) -> str:
    if form == "json":
        return json_text(told) + "\n"
    if form == "markdown":
        from ..reports.compare import markdown

        return markdown.text(told, shown)
    if form == "junit":
        from ..reports.compare.junit import xml

        return xml(told, fail_on or "worse")
    from ..reports.compare.text import report

    return rendered(report(told, shown))


def _write(path: Path, text: str, *, force: bool) -> None:
    from ..reports.export import whole_file

    with whole_file(path, force=force) as stream:
        stream.write(text.encode())
    echo(f"wrote {path}", err=True)


def _exit_code(found: Comparison, fail_on: str | None) -> int:
    """Return 2 for what could not be compared: a run that is not there is no run that is fine."""
    for one in found.unread:
        echo(f"Error: {one.side}: {one.name}: {one.reason}", err=True)
    if found.unread:
        return BAD_INPUT
    if not found.pairing.groups:
        echo("Error: no run of the one set has a partner in the other", err=True)
        return BAD_INPUT
    failed = {"worse": found.is_worse, "changed": found.is_changed}
    return REGRESSION if fail_on is not None and failed[fail_on] else 0
