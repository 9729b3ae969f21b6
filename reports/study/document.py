"""The results of a study as plain data, `pathscope.study/1`: every value by run, and what they say.

Tables and the page are made from this document alone.
"""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from ...analyzer.quantities import QUANTITIES, ROUTE
from ...analyzer.statistics import CONFIDENCE, fit, summarize
from ..values import measure

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from ...analyzer.measure import Measure
    from ...analyzer.quantities import Run
    from ...analyzer.statistics import Line

SCHEMA = "pathscope.study/1"

Node = dict[str, Any]

Value = tuple[float, bool]
"""Of a run, and whether the machine was too slow for it."""


def document(
    name: str,
    settings: Mapping[str, Any],
    runs: Mapping[str, Sequence[Run]],
    facts: Mapping[str, Any],
    numbers: Mapping[str, Mapping[str, str]],
) -> Node:
    """Put the results of a study together.

    Parameters
    ----------
    name
        The study's.
    settings
        The study's checked settings.
    runs
        Every run that was to be made, by experiment.
    facts
        What is to be told of how they were made: versions, the kernel, whether `--quick`.
    numbers
        Unit and definition of the numbers that follow from settings, by name.
    """
    told = {key: settings[key] for key in ("title", "source", "kept", "approximated")}
    units = {key: number["unit"] for key, number in numbers.items()}
    experiments = [
        _experiment(key, settings["experiments"][key], found, units) for key, found in runs.items()
    ]
    figures = [figure for one in experiments for figure in one["figures"]]
    used = sorted({figure["quantity"] for figure in figures})
    xs = sorted({figure["x"]["name"] for figure in figures} & set(numbers))
    return {
        "schema": SCHEMA,
        "study": name,
        **told,
        **facts,
        "confidence": CONFIDENCE,
        "quantities": {
            key: {"unit": QUANTITIES[key].unit, "definition": QUANTITIES[key].text} for key in used
        },
        "numbers": {key: dict(numbers[key]) for key in xs},
        "experiments": experiments,
    }


def _experiment(
    name: str, settings: Mapping[str, Any], runs: Sequence[Run], units: Mapping[str, str]
) -> Node:
    axes = {axis["name"]: axis.get("unit", "") for axis in settings["axes"]}
    return {
        "name": name,
        "title": settings["title"],
        "scenario": settings["scenario"],
        "note": settings.get("note"),
        "set": settings["set"],
        "routes": settings.get("routes", []),
        "axes": [
            {key: axis.get(key) for key in ("name", "unit", "keys")} for axis in settings["axes"]
        ],
        "figures": [
            _figure(key, figure, runs, {**units, **axes, ROUTE: ""}, settings["engine"])
            for key, figure in settings["figures"].items()
        ],
        "runs": [_run(run) for run in runs],
    }


def _run(run: Run) -> Node:
    values: dict[str, Node] = {}
    for (end, quantity), value in run.values.items():
        values.setdefault(end, {})[quantity] = measure(value)
    return {
        "folder": run.place,
        "settings": run.settings,
        "numbers": run.numbers,
        "repetition": run.repetition,
        "failure": run.failure,
        "slow": list(run.slow),
        "values": values,
    }


def _figure(
    name: str,
    settings: Mapping[str, Any],
    runs: Sequence[Run],
    units: Mapping[str, str],
    engine: str,
) -> Node:
    quantity, x, series = settings["quantity"], settings["x"], settings.get("series")
    groups = _grouped(runs, settings)
    present = [(key[1], value) for key, values in groups.items() for value, _ in values]
    absent = [
        {"folder": run.place, "reason": value.reason}
        for run, value in _values(runs, settings)
        if value.value is None
    ]
    return {
        "name": name,
        "title": settings["title"],
        "quantity": quantity,
        "unit": QUANTITIES[quantity].unit,
        "shown_in": settings.get("shown_in"),
        "digits": settings["digits"],
        # The trace of a simulator is of both ends.
        "end": None if engine == "ns2" else settings["end"],
        "x": {"name": x, "unit": units[x]},
        "series": None if series is None else {"name": series, "unit": units[series]},
        "ours": [
            {"series": key[0], "x": key[1], **_point(values)}
            for key, values in groups.items()
            if values
        ],
        "absent": absent,
        "published": {
            "text": settings.get("published"),
            "points": settings["points"],
            "line": settings.get("line"),
        },
        "fit": _line(fit(present)) if settings["fit"] else None,
    }


def _values(runs: Sequence[Run], figure: Mapping[str, Any]) -> Iterator[tuple[Run, Measure]]:
    """What a figure shows of every run that there is."""
    for run in runs:
        if run.failure is None:
            yield run, run.values[figure["end"], figure["quantity"]]


def _point(values: list[Value]) -> Node:
    """What the runs of one setting say, and how many of them a machine made that was too slow."""
    summary = summarize([value for value, _ in values])
    return {**asdict(summary), "slow": sum(slow for _, slow in values)}


def _grouped(runs: Sequence[Run], figure: Mapping[str, Any]) -> dict[tuple[Any, Any], list[Value]]:
    """Values by series and x, in the order of the runs; series after series."""
    found: dict[tuple[Any, Any], list[Value]] = {}
    x, series = figure["x"], figure.get("series")
    for run, value in _values(runs, figure):
        of_x = run.settings.get(x, run.numbers.get(x))
        group = found.setdefault((None if series is None else run.settings[series], of_x), [])
        if value.value is not None:
            group.append((float(value.value), bool(run.slow)))
    order = list(dict.fromkeys(key[0] for key in found))
    return dict(sorted(found.items(), key=lambda item: order.index(item[0][0])))


def _line(line: Line | None) -> Node | None:
    return None if line is None else asdict(line)
