"""Many runs: a grid of settings, each so many times, and only those that are not there yet."""

from __future__ import annotations

import json
import re
import tomllib
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING, Any

from . import folder
from .run import LabError, run
from .scenario import Scenario, ScenarioError, load

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from .run import Runner

GRID = "matrix.json"

SCHEMA = "pathscope.matrix/1"

UNFIT = re.compile(r"[^A-Za-z0-9_.=+-]+")
"""What the name of a folder should not have."""


@dataclass(frozen=True, slots=True)
class Cell:
    """One run of a matrix.

    Attributes
    ----------
    settings
        The varied settings, by key.
    repetition
        From 1.
    scenario
        The scenario with these settings, and the seed of this repetition.
    place
        The run's folder, within that of the matrix.
    """

    settings: dict[str, Any]
    repetition: int
    scenario: Scenario
    place: str


def variation(text: str) -> tuple[str, list[Any]]:
    """Read `KEY=VALUE,VALUE...`; values are TOML, or words.

    Raises
    ------
    ScenarioError
        When it is not that.
    """
    key, equals, values = text.partition("=")
    if not equals or not key.strip() or not values.strip():
        raise ScenarioError(f"--vary {text}: expected KEY=VALUE,VALUE...")
    try:
        found: list[Any] = tomllib.loads(f"v = [{values}]")["v"]
    except tomllib.TOMLDecodeError:
        found = [value.strip() for value in values.split(",")]
    return key.strip(), found


def cells(
    path: Path, changes: Sequence[str], varied: Sequence[str], repetitions: int | None
) -> list[Cell]:
    """Return every run of a grid, the repetitions of one setting after each other.

    Parameters
    ----------
    path
        The scenario's file.
    changes
        Settings that hold in all runs, as for `scenario.load`.
    varied
        Settings that are varied, as for `variation`.
    repetitions
        Of each setting; None for the scenario's own number.

    Raises
    ------
    ScenarioError
        When a scenario of the grid cannot be run.
    """
    axes = [variation(text) for text in varied]
    found = []
    for values in product(*(values for _, values in axes)):
        settings = dict(zip((key for key, _ in axes), values, strict=True))
        more = [f"{key}={json.dumps(value)}" for key, value in settings.items()]
        base = load(path, [*changes, *more])
        name = ",".join(f"{key}={value}" for key, value in settings.items())
        count = base["repetitions"] if repetitions is None else repetitions
        # A simulator may be left its own seed, with which every run is the same.
        seed = base.settings.get("seed", 1)
        seeded = count > 1 or "seed" in base.settings
        for number in range(1, count + 1):
            # Read anew: what a walk stands for depends on the seed.
            own = ["repetitions=1", *([f"seed={seed + number - 1}"] if seeded else [])]
            scenario = load(path, [*changes, *more, *own])
            place = "/".join(filter(None, (UNFIT.sub("_", name), f"run-{number}")))
            found.append(Cell(settings, number, scenario, place))
    return found


def run_cells(grid: Sequence[Cell], out: Path, runner: Runner) -> Iterator[tuple[Cell, str | None]]:
    """Make the runs that are not complete; yields every cell when it is done, and why it failed.

    Raises
    ------
    FolderError
        When a folder holds something else than this run.
    """
    out.mkdir(parents=True, exist_ok=True)
    _write_grid(grid, out)
    for cell in grid:
        place = out / cell.place
        if folder.state(place) == "complete":
            if Scenario.of_run(place).settings != cell.scenario.settings:
                raise folder.FolderError(f"{place}: a run with other settings is there")
            yield cell, None
            continue
        try:
            run(cell.scenario, place, runner)
        except LabError as error:
            yield cell, str(error)
        else:
            yield cell, None


def _write_grid(grid: Sequence[Cell], out: Path) -> None:
    runs = [
        {"folder": cell.place, "settings": cell.settings, "repetition": cell.repetition}
        for cell in grid
    ]
    document = {"schema": SCHEMA, "runs": runs}
    (out / GRID).write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")
