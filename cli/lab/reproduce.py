"""`pathscope lab reproduce`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ...reports.unseen import json_text
from ..faults import Failure, need
from ..terminal import echo
from .options import kernel_of, kernel_option, lab_refusals

if TYPE_CHECKING:
    from ...analyzer.model import CaptureResult
    from ...analyzer.quantities import Run
    from ...replay.lab.experiment import Planned
    from ...replay.lab.reproduce import Plan
    from ...replay.lab.study import Study

NEEDED = {"scipy": "lab", "plotly": "report"}
"""Packages, and the extras of pathscope that bring them."""

MOST_LINES = 20
"""Of runs on the console: hundreds would push out of sight what they are about."""


@click.command("reproduce")
@click.argument("study")
@click.option("--quick", is_flag=True, help="Fewer values and repetitions: some minutes.")
@click.option(
    "--only", multiple=True, metavar="NAME", help="Only this experiment; repeat for more."
)
@click.option(
    "--repetitions", type=click.IntRange(1), help="Of each setting. [default: the study's]"
)
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    metavar="DIR",
    help="A folder for runs and results. [default: study-STUDY, or study-STUDY-quick]",
)
@kernel_option
@click.option("--dry-run", is_flag=True, help="List the runs and their states, and make none.")
@click.option("--no-runs", is_flag=True, help="Report on the runs that are there, and make none.")
def reproduce_command(
    study: str,
    quick: bool,
    only: tuple[str, ...],
    repetitions: int | None,
    out: Path | None,
    kernel: str,
    dry_run: bool,
    no_runs: bool,
) -> None:
    """Repeat the experiments of a study, and show what came out beside what was published.

    STUDY is a name that `pathscope lab studies` shows, or a TOML file. Runs that are complete are
    not made again: what was interrupted goes on with the same command. The folder gets study.json
    (every value of every run), study.md (tables) and study.html (the same with figures, one page).

    \b
    Example:
      pathscope lab reproduce bokor --quick --only recovery --dry-run
    """
    from ...replay.lab import folder, reproduce
    from ...replay.lab import study as studies

    with lab_refusals():
        found = studies.load(studies.find(study))
        plan = reproduce.plan(found, only, quick=quick, repetitions=repetitions)
        place = out or Path(f"study-{found.name}{'-quick' if quick else ''}")
        if dry_run:
            for name, runs in plan.items():
                for one in runs:
                    at = place / name / one.cell.place
                    echo(f"{folder.state(at)}  {at}")
            return
        _check_packages()
        reproduce.claim(found, place, quick=quick)
        complete = no_runs or _make(found, plan, place, kernel)
        made = _measure(found, plan, place)
        _write(found, plan, made, place, quick=quick)
    _tell(made, place, complete=complete)


def _check_packages() -> None:
    """Before the runs: nobody should wait for hours to be told that a package is missing."""
    for package, extra in NEEDED.items():
        need(extra, package)


def _make(study: Study, plan: Plan, out: Path, kernel: str) -> bool:
    """Make the runs; returns whether nobody interrupted that."""
    from ...replay.lab import reproduce

    by = reproduce.runners(study, plan, kernel_of(kernel))
    runs = [one for found in plan.values() for one in found]
    with click.progressbar(
        length=round(sum(map(reproduce.length_s, runs))),
        label=f"{len(runs)} runs",
        item_show_func=_place,
        file=sys.stderr,
    ) as bar:
        try:
            for one in reproduce.make(plan, out, by):
                bar.update(round(reproduce.length_s(one)), one)
        except KeyboardInterrupt:
            return False
    return True


def _place(one: Planned | None) -> str | None:
    return None if one is None else one.cell.place


def _measure(study: Study, plan: Plan, out: Path) -> dict[str, list[Run]]:
    from ...api import analyze
    from ...replay.lab import reproduce

    def analyzed(place: Path, end: str) -> CaptureResult:
        return analyze(place, end=end).result

    return {
        name: [
            measured
            for one in runs
            for measured in reproduce.measure(
                one, out / name / one.cell.place, study.experiments[name], analyzed
            )
        ]
        for name, runs in plan.items()
    }


def _write(study: Study, plan: Plan, made: dict[str, list[Run]], out: Path, *, quick: bool) -> None:
    from ... import __version__
    from ...replay.lab import reproduce
    from ...replay.lab.derived import NUMBERS
    from ...reports.study.document import document
    from ...reports.study.markdown import text
    from ...reports.study.page import page

    facts: dict[str, Any] = {
        "tool": {"version": __version__},
        "quick": quick,
        "machine": reproduce.machines(plan, out),
    }
    numbers = {
        name: {"unit": number.unit, "definition": number.text} for name, number in NUMBERS.items()
    }
    result = document(study.name, study.settings, made, facts, numbers)
    out.mkdir(parents=True, exist_ok=True)
    written = json_text(result, indent=1) + "\n"
    (out / reproduce.RESULT).write_text(written, encoding="utf-8")
    (out / "study.md").write_text(text(result), encoding="utf-8")
    (out / "study.html").write_text(page(result), encoding="utf-8")


def _tell(made: dict[str, list[Run]], out: Path, *, complete: bool) -> None:
    for name in ("study.json", "study.md", "study.html"):
        echo(out / name)
    # A run of several routes is one run.
    runs = {run.place: run for found in made.values() for run in found}.values()
    slow = [f"{run.place}: {', '.join(run.slow)}" for run in runs if run.slow]
    if slow:
        what = f"warning: in {len(slow)} of {len(runs)} runs the machine did not keep up"
        echo(f"{what}:\n{_listed(slow)}", err=True)
    failures = [f"{run.place}: {run.failure}" for run in runs if run.failure is not None]
    if not complete:
        raise Failure(f"interrupted: {len(failures)} runs are left; the same command goes on")
    if failures:
        raise Failure(f"{len(failures)} runs without a result:\n{_listed(failures)}")


def _listed(lines: list[str]) -> str:
    more = len(lines) - MOST_LINES
    rest = [f"and {more} more, which study.md names"] if more > 0 else []
    return "\n".join([*lines[:MOST_LINES], *rest])
