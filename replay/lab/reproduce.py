"""A study's runs: which there are to be, making those that are not there, and measuring all.

The folder of a study has one for each experiment, which is that of a matrix.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ...analyzer import quantities
from ...analyzer.application import alone
from ...analyzer.json_text import parsed
from ...analyzer.quantities import ROUTE, Run
from ...dissectors._core import CaptureError
from . import experiment, folder, matrix
from . import run as lab
from .ns2.nodes import way
from .scenario import Scenario
from .study import StudyError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from pathlib import Path

    from ...analyzer.measure import Measure
    from ...analyzer.model import CaptureResult
    from .experiment import Planned
    from .run import Kernel, Runner
    from .study import Study

Plan = dict[str, list["Planned"]]
"""The runs of a study, by experiment."""

RESULT = "study.json"

OVERHEAD_S = 6
"""About what a run takes beside its scenario's time, for a progress bar alone."""


def plan(
    study: Study, only: Iterable[str] = (), *, quick: bool = False, repetitions: int | None = None
) -> Plan:
    """Return the runs of a study, or of some of its experiments.

    Raises
    ------
    StudyError
        When there is no such experiment.
    ScenarioError
        When a scenario of it cannot be run.
    """
    wanted = list(only)
    for name in wanted:
        if name not in study.experiments:
            known = ", ".join(study.experiments)
            raise StudyError(f"{study.name} has no experiment {name!r}, only {known}")
    return {
        name: experiment.runs(settings, quick=quick, repetitions=repetitions)
        for name, settings in study.experiments.items()
        if name in wanted or not wanted
    }


def claim(study: Study, out: Path, *, quick: bool) -> None:
    """Refuse a folder that holds something else than this study.

    Raises
    ------
    FolderError
        When it does.
    """
    if not out.exists():
        return
    if not out.is_dir():
        raise folder.FolderError(f"{out}: expected a folder")
    result = out / RESULT
    if not result.exists():
        if any(out.iterdir()) and not any(out.glob(f"*/{matrix.GRID}")):
            raise folder.FolderError(f"{out}: expected no folder, an empty one or that of a study")
        return
    try:
        told = parsed(result.read_text(encoding="utf-8"))
        there = (told["study"], told["quick"])
    except (ValueError, KeyError, TypeError) as error:
        raise folder.FolderError(f"{result}: expected the results of a study") from error
    if there != (study.name, quick):
        kind = "quick runs" if there[1] else "runs"
        raise folder.FolderError(f"{out}: {kind} of the study {there[0]} are there")


def runners(study: Study, planned: Plan, kernel: Kernel) -> dict[str, Runner]:
    """Return what is to make the runs of each experiment; a kernel is chosen for those in one.

    Raises
    ------
    LabError
        When what an experiment needs is not on this machine.
    """
    engines = {name: study.experiments[name]["engine"] for name in planned}
    chosen = {
        engine: lab.choose("auto" if engine == "ns2" else kernel, engine)
        for engine in dict.fromkeys(engines.values())
    }
    return {name: chosen[engine] for name, engine in engines.items()}


def make(planned: Plan, out: Path, by: Mapping[str, Runner]) -> Iterator[Planned]:
    """Make the runs that are not complete; yields every run when it was made, or has failed.

    Raises
    ------
    FolderError
        When a folder holds something else than its run.
    """
    for name, runs in planned.items():
        cells = matrix.run_cells([one.cell for one in runs], out / name, by[name])
        for one, _ in zip(runs, cells, strict=True):
            yield one


def length_s(one: Planned) -> float:
    """Return about how long a run takes: simulated time is no time."""
    scenario = one.cell.scenario
    return OVERHEAD_S + (0 if scenario["engine"] == "ns2" else float(scenario["duration_s"]))


def measure(
    one: Planned,
    place: Path,
    settings: Mapping[str, Any],
    analyze: Callable[[Path, str], CaptureResult],
) -> list[Run]:
    """Measure a run, if it is complete, by all that the figures of its experiment show.

    One of an experiment with `routes` gives a run for each of them.

    Parameters
    ----------
    one
        The run.
    place
        Its folder.
    settings
        Those of its experiment.
    analyze
        Analyzes the folder of a run by what an end saw.
    """
    figures = settings["figures"].values()
    wanted = dict.fromkeys((figure["end"], figure["quantity"]) for figure in figures)
    failure = _failure(one, place)
    results: dict[str, CaptureResult] = {}
    if failure is None:
        for end in dict.fromkeys(end for end, _ in wanted):
            try:
                results[end] = analyze(place, end)
            except (CaptureError, ValueError, OSError) as error:
                failure = f"not analyzed: {error}"
    run = Run(
        place=f"{place.parents[len(one.cell.place.split('/')) - 1].name}/{one.cell.place}",
        settings=one.settings,
        numbers=one.numbers,
        repetition=one.cell.repetition,
        failure=failure,
        values={},
        slow=() if failure else tuple(folder.too_slow(place)),
    )
    if failure is not None:
        return [run]
    if "routes" not in settings:
        return [replace(run, values=_values(wanted, results))]
    found = []
    for flow in settings["routes"]:
        joined = way(one.cell.scenario.settings, flow)
        of_flow = {end: alone(result, joined) for end, result in results.items()}
        values = _values(wanted, of_flow)
        found.append(replace(run, settings={**one.settings, ROUTE: flow}, values=values))
    return found


def _values(
    wanted: Iterable[tuple[str, str]], results: Mapping[str, CaptureResult]
) -> dict[tuple[str, str], Measure]:
    return {(end, name): quantities.measure(name, results[end]) for end, name in wanted}


def _failure(one: Planned, place: Path) -> str | None:
    """Say why a folder has nothing to measure."""
    state = folder.state(place)
    if state == "failed":
        return str(folder.facts(place).get("reason", "it failed"))
    if state != "complete":
        return "not made" if state == "absent" else f"not made: {state}"
    if Scenario.of_run(place).settings != one.cell.scenario.settings:
        return "a run with other settings is there"
    return None


def machines(planned: Plan, out: Path) -> str:
    """Say in which kernels, and by which simulator, the complete runs were made."""
    found: dict[str, None] = {}
    for name, runs in planned.items():
        for one in runs:
            place = out / name / one.cell.place
            if folder.state(place) == "complete":
                found[_machine(folder.facts(place))] = None
    return ", ".join(found) or "no run is complete"


def _machine(told: Mapping[str, Any]) -> str:
    versions = told["versions"]
    if told["runner"] == "ns2":
        return f"ns-2 {versions['ns2']}"
    return f"{versions['kernel'].split(' #')[0]} ({told['runner']})"
