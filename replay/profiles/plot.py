"""A profile as a Plotly figure: delay, loss and rate of every route over time. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING, Any

import plotly.graph_objects as go
from plotly.subplots import make_subplots

from ..lab.impairment import UNIFORM
from .schedule import schedule

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from .profile import Profile
    from .schedule import Step

COLOURS = ("#1f5fa8", "#d1495b", "#2a9d8f", "#6a4c93", "#b5651d", "#5c7c2f", "#0b7fab", "#3d405b")

DOWN_FILL = "rgba(209, 73, 91, 0.15)"

NS_PER_S = 1e9

ROWS = (
    ("delay [ms]", "delay_ms"),
    ("loss [%]", "loss_percent"),
    ("rate [kbit/s]", "rate_kbit"),
)

MOST_POINTS = 20_000
"""Of a measurement, on a route: as many as are seen apart."""


@dataclass(frozen=True, slots=True)
class Measured:
    """What was measured of a route, to be drawn beside its profile.

    Attributes
    ----------
    path, direction
        The route.
    time_s, delay_ms
        Of each packet: when it was sent, since the profile's beginning, and how long it took.
    """

    path: str
    direction: str
    time_s: Sequence[float]
    delay_ms: Sequence[float]


def figure(
    profile: Profile, paths: Sequence[str], duration_ns: int, measured: Iterable[Measured] = ()
) -> go.Figure:
    """Return a figure of three rows: delay with its jitter, loss, and rate; down is shaded.

    Raises
    ------
    ProfileError
        When the profile cannot be scheduled.
    """
    drawn = make_subplots(
        rows=len(ROWS), shared_xaxes=True, vertical_spacing=0.05, row_heights=[2, 1, 1]
    )
    steps = schedule(profile, paths, duration_ns)
    end_s = duration_ns / NS_PER_S
    points = {(one.path, one.direction): one for one in measured}
    routes = sorted(steps, key=_route)
    for number, (route, group) in enumerate(groupby(routes, key=_route)):
        colour = COLOURS[number % len(COLOURS)]
        for trace, row in _traces(route, list(group), end_s, colour):
            drawn.add_trace(trace, row=row, col=1)
        if route in points:
            drawn.add_trace(_points(points[route], colour), row=1, col=1)
    for start_s, stop_s, name in _down(steps, end_s):
        _shade(drawn, start_s, stop_s, name)
    for row, (title, _) in enumerate(ROWS, 1):
        drawn.update_yaxes(title={"text": title}, rangemode="tozero", row=row, col=1)
    drawn.update_xaxes(title={"text": "time [s]"}, range=[0, end_s], row=len(ROWS), col=1)
    drawn.update_layout(
        template="plotly_white",
        height=760,
        margin={"l": 70, "r": 20, "t": 50, "b": 60},
        title={"text": profile.description or profile.name},
        legend={"orientation": "h", "y": -0.12},
        hovermode="x unified",
    )
    return drawn


def page(drawn: go.Figure) -> str:
    """Return a figure as an HTML page that needs no network."""
    text: str = drawn.to_html(include_plotlyjs=True, full_html=True)
    return text


def _route(step: Step) -> tuple[str, str]:
    return step.path, step.direction


def _traces(
    route: tuple[str, str], steps: list[Step], end_s: float, colour: str
) -> Iterator[tuple[go.Scatter, int]]:
    name = f"{route[0]} {route[1].replace('_', ' ')}"
    times = [step.at_ns / NS_PER_S for step in steps] + [end_s]
    if any(step.impairment["jitter_ms"] for step in steps):
        yield _band(steps, times, name, colour), 1
    for row, (_, key) in enumerate(ROWS, 1):
        values = [step.impairment.get(key) for step in steps]
        if key == "rate_kbit" and not any(values):
            continue
        yield (
            go.Scatter(
                x=times,
                y=[*values, values[-1]],
                name=name,
                legendgroup=name,
                showlegend=row == 1,
                mode="lines",
                line={"color": colour, "shape": "hv"},
            ),
            row,
        )


def _band(steps: list[Step], times: list[float], name: str, colour: str) -> go.Scatter:
    """From delay - jitter to delay + jitter: the whole of a uniform delay, a deviation else."""
    lows, highs = [], []
    for step in [*steps, steps[-1]]:
        delay, jitter = step.impairment["delay_ms"], step.impairment["jitter_ms"]
        lows.append(max(0.0, delay - jitter))
        highs.append(delay + jitter)
    uniform = all(step.impairment["distribution"] == UNIFORM for step in steps)
    return go.Scatter(
        x=[*_corners(times), *reversed(_corners(times))],
        y=[*_held(highs), *reversed(_held(lows))],
        fill="toself",
        mode="none",
        fillcolor=_faint(colour),
        name=f"{name}: {'range' if uniform else 'deviation'}",
        legendgroup=name,
        showlegend=False,
        hoverinfo="skip",
    )


def _corners(times: list[float]) -> list[float]:
    """Every instant twice but the first: a filled shape has no steps of its own."""
    return [times[0], *(time for time in times[1:] for _ in range(2))]


def _held(values: list[float]) -> list[float]:
    return [*(value for value in values[:-1] for _ in range(2)), values[-1]]


def _faint(colour: str) -> str:
    red, green, blue = (int(colour[at : at + 2], 16) for at in (1, 3, 5))
    return f"rgba({red}, {green}, {blue}, 0.18)"


def _points(measured: Measured, colour: str) -> go.Scattergl:
    apart = -(-len(measured.time_s) // MOST_POINTS) or 1
    return go.Scattergl(
        x=list(measured.time_s[::apart]),
        y=list(measured.delay_ms[::apart]),
        name=f"{measured.path} {measured.direction.replace('_', ' ')}: measured",
        mode="markers",
        marker={"color": colour, "size": 3, "opacity": 0.35},
        hoverinfo="skip",
    )


def _down(steps: Sequence[Step], end_s: float) -> Iterator[tuple[float, float, str]]:
    for route, group in groupby(sorted(steps, key=_route), key=_route):
        since: float | None = None
        for step in group:
            down = step.impairment["loss_percent"] >= 100
            at_s = step.at_ns / NS_PER_S
            if down and since is None:
                since = at_s
            elif not down and since is not None:
                yield since, at_s, f"{route[0]} {route[1].replace('_', ' ')}"
                since = None
        if since is not None:
            yield since, end_s, f"{route[0]} {route[1].replace('_', ' ')}"


def _shade(drawn: go.Figure, start_s: float, stop_s: float, name: str) -> None:
    shape: dict[str, Any] = {"fillcolor": DOWN_FILL, "line_width": 0, "layer": "below"}
    note = {"annotation_text": f"{name} down", "annotation_position": "top left"}
    drawn.add_vrect(x0=start_s, x1=stop_s, **shape, **note, annotation_font_size=10, row=1, col=1)
    for row in range(2, len(ROWS) + 1):
        drawn.add_vrect(x0=start_s, x1=stop_s, **shape, row=row, col=1)
