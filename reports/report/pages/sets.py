"""Sets: how every number spreads over the runs, by scenario."""

from __future__ import annotations

import statistics
from typing import TYPE_CHECKING, Any

from ... import names
from ..blocks import Choices, Column, Figure, Link, Number, Table
from . import common

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ....analyzer.compare.model import Sample
    from ..blocks import Block, Cell
    from ..data import Case, ReportData
    from ..view import View

Node = dict[str, Any]

FIRST = ("link_failure_recovery_s", "goodput_bps")
"""Shown where nothing else is asked for: the first that any run has."""

UNNAMED = "captures"
"""The scenario of what is no run of the lab."""


def by_scenario(cases: Sequence[Case]) -> dict[str, list[Case]]:
    """Return the runs of each scenario, in order."""
    found: dict[str, list[Case]] = {}
    for case in cases:
        found.setdefault(case.scenario or UNNAMED, []).append(case)
    return found


def samples(data: ReportData) -> dict[str, list[Sample]]:
    """Return every number of the runs of each scenario."""
    from ....analyzer.compare.samples import samples as collected

    return {
        scenario: collected({case.key: case.document for case in cases}, names.units())
        for scenario, cases in by_scenario(data.cases).items()
    }


def metrics(found: dict[str, list[Sample]]) -> list[str]:
    """Return the numbers that any run has, in the contract's order."""
    return list(dict.fromkeys(s.metric for group in found.values() for s in group if s.values))


def chosen(view: View, known: Sequence[str]) -> str | None:
    """Return the number that is looked at."""
    if view.state.metric in known:
        return view.state.metric
    return next((one for one in FIRST if one in known), known[0] if known else None)


def blocks(view: View) -> Iterator[Block]:
    """Yield what the page is made of."""
    found = samples(view.data)
    known = metrics(found)
    metric = chosen(view, known)
    if metric is None:
        yield common.nothing("No run has a number", "Name runs, or a folder with runs in it.")
        return
    here = view.state
    options = tuple(Link(one, here.to("sets", metric=one)) for one in known)
    yield Choices("Number", options, here.to("sets", metric=metric), "docs/metrics.md defines it")
    yield Figure("distributions")
    yield _table(metric, found)


SPREAD = {
    "min": "The least of the runs.",
    "median": "Half of the runs have less.",
    "mean": "Their sum by their number.",
    "sd": "Standard deviation of the sample, with n - 1.",
    "max": "The greatest of the runs.",
}


def _table(metric: str, found: dict[str, list[Sample]]) -> Table:
    units = {s.unit for group in found.values() for s in group if s.metric == metric}
    unit = next(iter(units), "")
    columns = (
        Column("scenario", "scenario", "", "What the runs are of; captures where none is known."),
        Column("place", "where", "", "At which place of a run's result the number stands."),
        Column("n", "n", "runs", "Runs that have the number."),
        Column("absent", "absent", "runs", "Runs that do not."),
        *(Column(key, key, unit, meaning) for key, meaning in SPREAD.items()),
    )
    rows: list[tuple[Cell, ...]] = []
    for scenario, group in found.items():
        for one in group:
            if one.metric != metric:
                continue
            cells = (_number(value, unit) for value in _spread(one.values))
            rows.append((scenario, one.place, len(one.values), len(one.absent), *cells))
    return Table("numbers", metric, columns, rows, is_long=len(rows) > FEW)


FEW = 60
"""More rows get filters and sorting of their own."""


def _number(value: float | None, unit: str) -> Number:
    if value is None:
        return Number({"value": None, "reason": "too few runs"}, unit)
    return Number({"value": value, "basis": "observed"}, unit)


def _spread(values: Sequence[float]) -> tuple[float | None, ...]:
    if not values:
        return (None,) * 5
    sd = statistics.stdev(values) if len(values) > 1 else None
    middle = statistics.median(values)
    return (min(values), middle, statistics.fmean(values), sd, max(values))
