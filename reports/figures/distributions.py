"""How a number spreads over the runs of each scenario: every run a point, and quartiles."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import plotly.graph_objects as go

from ..report.theme import path_marker
from .about import About
from .sheet import captioned, empty
from .text import counted, escaped

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ...analyzer.compare.model import Sample
    from .look import Look

ABOUT = About(
    title="Distribution over runs",
    question="How does the number spread over the runs of each scenario?",
    unit="that of the number",
    definition=(
        "Each point is the number of one run, at one place of its result. A box has the quartiles "
        "(by linear interpolation) and the median, from 5 runs on; its whiskers reach to the "
        "least and the greatest. docs/metrics.md defines the number."
    ),
    basis=("observed", "annotated", "inferred"),
)

FEWEST = 5
"""Runs that quartiles can be taken of."""

MOST_GROUPS = 40

GROUP_PX = 46

SPREAD = 0.22
"""Of a row, how far points are apart that would lie on each other."""


@dataclass(frozen=True, slots=True)
class Group:
    """The number at one place in the runs of one scenario.

    `absent` counts the runs that do not have it.
    """

    scenario: str
    place: str
    runs: tuple[str, ...]
    values: tuple[float, ...]
    absent: int

    @property
    def quartiles(self) -> tuple[float, float, float] | None:
        """First quartile, median, third; None of too few runs."""
        if len(self.values) < FEWEST:
            return None
        low, middle, high = np.percentile(self.values, [25, 50, 75]).tolist()
        return low, middle, high


@dataclass(frozen=True, slots=True)
class Distributions:
    """What the figure draws."""

    metric: str | None
    unit: str
    groups: tuple[Group, ...]


def inputs(samples: Mapping[str, Sequence[Sample]], metric: str | None) -> Distributions:
    """Return one number of every scenario, place by place.

    Parameters
    ----------
    samples
        Every number of the runs of each scenario (`analyzer.compare.samples`).
    metric
        Its key in the result contract; None for none.
    """
    found = [
        (one.unit, Group(scenario, one.place, one.runs, one.values, len(one.absent)))
        for scenario, numbers in samples.items()
        for one in numbers
        if one.metric == metric and one.values
    ]
    return Distributions(metric, found[0][0] if found else "", tuple(group for _, group in found))


def draw(found: Distributions, look: Look) -> go.Figure:
    """Return the figure."""
    if found.metric is None or not found.groups:
        return empty("No run has this number.", look)
    groups = found.groups[:MOST_GROUPS]
    scenarios = {name: n for n, name in enumerate(dict.fromkeys(g.scenario for g in groups))}
    figure = go.Figure()
    for row, group in enumerate(groups):
        _draw_group(figure, group, row, scenarios[group.scenario], look)
    longest = 22 if look.is_narrow else 60
    figure.update_layout(
        template=look.template,
        height=120 + GROUP_PX * len(groups),
        showlegend=False,
        margin={"l": 8, "r": 16, "t": 16, "b": 8},
    )
    figure.update_xaxes(title_text=f"{escaped(found.metric)} [{escaped(found.unit)}]")
    figure.update_yaxes(
        tickvals=list(range(len(groups))),
        ticktext=[_title(group, longest) for group in groups],
        range=[len(groups) - 0.5, -0.5],
        zeroline=False,
    )
    return captioned(figure, _words(found, groups))


def _title(group: Group, longest: int) -> str:
    return f"{escaped(group.scenario, longest)}<br>{escaped(group.place, longest)}"


def _draw_group(figure: go.Figure, group: Group, row: int, scenario: int, look: Look) -> None:
    colour = look.path(scenario)
    if group.quartiles is not None:
        low, middle, high = group.quartiles
        figure.add_trace(
            go.Box(
                orientation="h",
                y=[row],
                q1=[low],
                median=[middle],
                q3=[high],
                lowerfence=[min(group.values)],
                upperfence=[max(group.values)],
                name=f"{escaped(group.scenario)}: {escaped(group.place)}",
                line={"color": colour, "width": 1.5},
                fillcolor="rgba(0,0,0,0)",
                width=0.6,
                hoverinfo="x",
            )
        )
    count = len(group.values)
    # Apart by rank, not by chance: the same runs make the same figure.
    offsets = (np.arange(count) % 5 - 2) / 2 * SPREAD if count > 1 else np.zeros(1)
    ranks = np.argsort(np.argsort(group.values, kind="stable"), kind="stable")
    figure.add_trace(
        go.Scatter(
            mode="markers",
            x=list(group.values),
            y=(row + offsets[ranks]).tolist(),
            customdata=[escaped(run) for run in group.runs],
            name=f"{escaped(group.scenario)}: {escaped(group.place)}",
            marker={"color": colour, "symbol": path_marker(scenario), "size": 7, "opacity": 0.8},
            hovertemplate="%{x:.6g}: run %{customdata}<extra>%{fullData.name}</extra>",
        )
    )


def _words(found: Distributions, groups: tuple[Group, ...]) -> list[str]:
    runs = sum(len(group.values) for group in groups)
    words = [f"{counted(runs, 'value')}."]
    absent = sum(group.absent for group in groups)
    if absent:
        words.append(f"{counted(absent, 'run')} in which it is absent: not drawn.")
    if any(group.quartiles is None for group in groups):
        words.append(f"Fewer than {FEWEST} runs have no box.")
    if len(groups) < len(found.groups):
        words.append(f"The first {len(groups)} of {len(found.groups)} places are drawn.")
    return words
