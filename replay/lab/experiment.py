"""From an experiment of a study to its runs: every combination of its axes, each so many times."""

from __future__ import annotations

import json
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING, Any

from . import catalog, matrix
from .derived import NUMBERS
from .scenario import load

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from .matrix import Cell
    from .scenario import Scenario

Settings = dict[str, Any]

DECIMALS = 3
"""Of a duration: more would only make the same run look like another one."""

LONGEST_S = 86400
"""What the schema of scenarios allows."""


@dataclass(frozen=True, slots=True)
class Planned:
    """One run of an experiment.

    Attributes
    ----------
    cell
        The run, as a matrix has it.
    settings
        Values of the axes, by the axes' names.
    numbers
        Those of `derived.NUMBERS` that the scenario has, by name.
    """

    cell: Cell
    settings: Settings
    numbers: dict[str, float]


def runs(
    experiment: Mapping[str, Any], *, quick: bool = False, repetitions: int | None = None
) -> list[Planned]:
    """Return every run of an experiment, the repetitions of one setting after each other.

    Parameters
    ----------
    experiment
        From a checked study.
    quick
        Whether the smaller values are taken.
    repetitions
        Of each combination; None for the study's own number.

    Raises
    ------
    ScenarioError
        When a scenario of it cannot be run.
    """
    path = catalog.find(experiment["scenario"])
    fewer: Settings = experiment.get("quick", {}) if quick else {}
    changes = [*experiment["set"], *fewer.get("set", ())]
    duration = fewer.get("duration", experiment.get("duration"))
    if repetitions is None:
        repetitions = fewer.get("repetitions", 1) if quick else experiment["repetitions"]
    return [
        planned
        for settings, tied, varied in _points(experiment["axes"], quick=quick)
        for planned in _at(path, [*changes, *tied], varied, settings, duration, repetitions)
    ]


def _points(
    axes: list[Settings], *, quick: bool
) -> Iterator[tuple[Settings, list[str], list[str]]]:
    """Every combination: values by axis, settings that go with them, and those that name it."""
    values = [axis.get("quick", axis["values"]) if quick else axis["values"] for axis in axes]
    for point in product(*values):
        chosen = list(zip(axes, point, strict=True))
        settings = {axis["name"]: value for axis, value in chosen}
        varied = [f"{axis['keys'][0]}={json.dumps(value)}" for axis, value in chosen]
        tied = [f"{key}={json.dumps(value)}" for axis, value in chosen for key in axis["keys"][1:]]
        yield settings, tied, varied


def _at(
    path: Path,
    changes: list[str],
    varied: list[str],
    settings: Settings,
    duration: Settings | None,
    repetitions: int,
) -> Iterator[Planned]:
    """The runs of one combination, as long as the study says that they last."""
    # Actions have to lie within the duration, which follows from numbers: any will do for these.
    longest = [] if duration is None else [f"duration_s={LONGEST_S}"]
    numbers = _numbers(load(path, [*changes, *longest, *varied]))
    if duration is not None:
        of = numbers[duration["of"]] if "of" in duration else 0.0
        duration_s = round(duration["times"] * of + duration["plus_s"], DECIMALS)
        changes = [*changes, f"duration_s={duration_s}"]
    for cell in matrix.cells(path, changes, varied, repetitions):
        yield Planned(cell, settings, numbers)


def _numbers(scenario: Scenario) -> dict[str, float]:
    """Those numbers that the scenario has; one of another engine has none of them."""
    if scenario["engine"] != "kernel":
        return {}
    return {name: number.of(scenario.settings) for name, number in NUMBERS.items()}
