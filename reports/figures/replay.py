"""A replay: what was asked of each route over time, and what came of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import plotly.graph_objects as go
from plotly.subplots import make_subplots

from ..report import theme
from .about import About
from .sheet import captioned, empty, with_room
from .text import counted, escaped

if TYPE_CHECKING:
    from .look import Look
    from .part import Node

ABOUT = About(
    title="Asked against achieved",
    question="Did the network do what was asked of it, step by step?",
    unit="that of each quantity; seconds since the replay's base",
    definition=(
        "Lines: what each step of a route asked for. Points: what came of it, in the middle of "
        "the step, with the 95 % interval, and the verdict of the fidelity report."
    ),
    basis=("observed",),
)

QUANTITIES = {
    "delay_ms": "delay [ms]",
    "loss_percent": "loss [%]",
    "loss_burst_packets": "burst of losses [packets]",
    "duplicate_percent": "duplicated [%]",
    "corrupt_percent": "corrupted [%]",
    "reorder_percent": "sent ahead [%]",
    "rate_kbit": "rate [kbit/s]",
}
"""Quantities that steps ask for, in the order of their panels."""

VERDICTS = {"pass": "circle", "fail": "x", "no verdict": "circle-open"}

PANEL_PX = 190


@dataclass(frozen=True, slots=True)
class Point:
    """What came of a step: in seconds, in the quantity's unit; low and high None: no interval."""

    from_s: float
    to_s: float
    asked: float | None
    achieved: float | None
    low: float | None
    high: float | None
    n: int
    verdict: str


@dataclass(frozen=True, slots=True)
class Series:
    """A quantity of a route, step by step."""

    quantity: str
    route: int
    name: str
    points: tuple[Point, ...]


@dataclass(frozen=True, slots=True)
class Replay:
    """What the figure draws; `absent` counts steps without a number."""

    series: tuple[Series, ...]
    absent: int


def inputs(document: Node) -> Replay:
    """Return what a document of `pathscope.fidelity/1` says of every step of every route."""
    steps = {(one["route"], one["number"]): one for one in document["steps"]}
    ends_ns = [one["after_ns"] for one in document["steps"]]
    last_ns = max([document["pacing"]["duration_ns"], *ends_ns])
    series, absent = [], 0
    for route in document["routes"]:
        for quantity in QUANTITIES:
            points = [
                _point(row, steps[row["route"], row["step"]], last_ns)
                for row in document["rows"]
                if (row["route"], row["quantity"]) == (route["route"], quantity)
                and (row["route"], row["step"]) in steps
            ]
            absent += sum(one.achieved is None for one in points)
            if any(one.achieved is not None for one in points):
                name = f"{route['path']} {route['direction']}"
                series.append(Series(quantity, route["route"], name, tuple(points)))
    return Replay(tuple(series), absent)


def _point(row: Node, step: Node, last_ns: int) -> Point:
    until_ns = last_ns if step["until_ns"] is None else step["until_ns"]
    return Point(
        step["after_ns"] / 1e9,
        until_ns / 1e9,
        row["asked"],
        row["achieved"],
        row["low"],
        row["high"],
        row["n"],
        row["verdict"],
    )


def draw(found: Replay, look: Look) -> go.Figure:
    """Return the figure."""
    if not found.series:
        return empty("No step of this replay asked for anything that was measured.", look)
    panels = [name for name in QUANTITIES if any(one.quantity == name for one in found.series)]
    figure = make_subplots(
        rows=len(panels), cols=1, shared_xaxes=True, vertical_spacing=0.12 / len(panels)
    )
    seen: set[str] = set()
    for one in found.series:
        row = panels.index(one.quantity) + 1
        for trace in _traces(one, look):
            # Each name stands once in the legend, whatever the number of panels.
            trace.update(legendgroup=trace.name, showlegend=trace.name not in seen)
            seen.add(trace.name)
            figure.add_trace(trace, row=row, col=1)
    figure.update_layout(
        template=look.template,
        height=110 + PANEL_PX * len(panels),
        margin={"l": 8 if look.is_narrow else 72, "r": 16, "t": 24, "b": 8},
    )
    for row, name in enumerate(panels, 1):
        figure.update_yaxes(title_text=QUANTITIES[name], rangemode="tozero", row=row, col=1)
    figure.update_xaxes(title_text="time since the replay's base [s]", row=len(panels), col=1)
    with_room(figure, look)
    words = f"{counted(found.absent, 'number')} of a step absent: not drawn."
    return captioned(figure, [words] if found.absent else [])


def _traces(one: Series, look: Look) -> list[go.Scatter]:
    x: list[float | None] = []
    y: list[float | None] = []
    for point in one.points:
        x += [point.from_s, point.to_s, None]
        y += [point.asked, point.asked, None]
    name = escaped(one.name)
    asked = go.Scatter(
        mode="lines",
        x=x,
        y=y,
        name=f"asked: {name}",
        line={
            "color": look.path(one.route),
            "dash": theme.path_dash(one.route),
            "width": 1.5,
        },
        hovertemplate="%{x:.3f} s: asked %{y:.6g}<extra>%{fullData.name}</extra>",
    )
    found = [asked]
    for verdict, symbol in VERDICTS.items():
        own = [p for p in one.points if p.verdict == verdict and p.achieved is not None]
        if own:
            found.append(_achieved(one, own, f"{verdict}: {name}", symbol, look))
    return found


def _achieved(one: Series, own: list[Point], name: str, symbol: str, look: Look) -> go.Scatter:
    return go.Scatter(
        mode="markers",
        x=[(point.from_s + point.to_s) / 2 for point in own],
        y=[point.achieved for point in own],
        error_y={
            "type": "data",
            "symmetric": False,
            "array": [_reach(point.high, point.achieved) for point in own],
            "arrayminus": [_reach(point.achieved, point.low) for point in own],
            "color": look.colours.muted,
            "thickness": 1.2,
        },
        name=name,
        customdata=[point.n for point in own],
        hovertemplate="%{x:.3f} s: %{y:.6g} (n %{customdata})<extra>%{fullData.name}</extra>",
        marker={"color": look.path(one.route), "symbol": symbol, "size": 8},
    )


def _reach(high: float | None, low: float | None) -> float | None:
    return None if high is None or low is None else high - low
