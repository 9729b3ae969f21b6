"""A profile as a Plotly figure: delay, loss and rate of every route over time. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import groupby, pairwise
from typing import TYPE_CHECKING, Any

import plotly.graph_objects as go
from plotly.subplots import make_subplots

from ..lab.impairment import UNIFORM
from .schedule import DIRECTIONS, schedule

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from .profile import Profile
    from .schedule import Step

COLOURS = ("#1f5fa8", "#d1495b", "#2a9d8f", "#6a4c93", "#b5651d", "#5c7c2f", "#0b7fab", "#3d405b")

DASHES = {"to_server": "solid", "to_client": "dash"}
"""Lines of both directions of a path, which are often one upon the other."""

DOWN_FILL = "rgba(209, 73, 91, 0.15)"

WORDS = {"to_server": "to server", "to_client": "to client"}
OTHER = {"to_server": "to client", "to_client": "to server"}

NS_PER_S = 1e9

Route = tuple[str, str]
"""Path and direction."""

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
    """Return a figure of delay with its jitter, loss, and rate where there is one; down is shaded.

    Raises
    ------
    ProfileError
        When the profile cannot be scheduled.
    """
    steps = schedule(profile, paths, duration_ns)
    rows = ROWS if any("rate_kbit" in step.impairment for step in steps) else ROWS[:-1]
    heights = [2, *(1 for _ in rows[1:])]
    drawn = make_subplots(
        rows=len(rows), shared_xaxes=True, vertical_spacing=0.05, row_heights=heights
    )
    end_s = duration_ns / NS_PER_S
    points = {(one.path, one.direction): one for one in measured}
    for (path, direction), of_route in _routes(steps, paths):
        colour = COLOURS[paths.index(path) % len(COLOURS)]
        for trace, row in _traces((path, direction), of_route, end_s, colour):
            drawn.add_trace(trace, row=row, col=1)
        if (path, direction) in points:
            drawn.add_trace(_points(points[path, direction], colour), row=1, col=1)
    for (start_s, stop_s), names in _down(_routes(steps, paths), end_s).items():
        _shade(drawn, len(rows), start_s, stop_s, ", ".join(names))
    for row, (title, _) in enumerate(rows, 1):
        drawn.update_yaxes(title={"text": title}, rangemode="tozero", row=row, col=1)
    drawn.update_xaxes(title={"text": "time [s]"}, range=[0, end_s], row=len(rows), col=1)
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


def _routes(steps: Sequence[Step], paths: Sequence[str]) -> list[tuple[Route, list[Step]]]:
    """Steps of each route, paths in the order in which they were named."""
    return [
        ((path, way), [step for step in steps if (step.path, step.direction) == (path, way)])
        for path in dict.fromkeys(paths)
        for way in DIRECTIONS
    ]


def _traces(
    route: Route, steps: list[Step], end_s: float, colour: str
) -> Iterator[tuple[go.Scatter, int]]:
    name = f"{route[0]} {WORDS[route[1]]}"
    times = [step.at_ns / NS_PER_S for step in steps] + [end_s]
    if any(step.impairment["jitter_ms"] for step in steps):
        yield _band(steps, times, name, colour), 1
    for row, (_, key) in enumerate(ROWS, 1):
        values = [step.impairment.get(key) for step in steps]
        if all(value is None for value in values):
            continue
        yield (
            go.Scatter(
                x=times,
                y=[*values, values[-1]],
                name=name,
                legendgroup=name,
                showlegend=row == 1,
                mode="lines",
                line={"color": colour, "shape": "hv", "dash": DASHES[route[1]]},
            ),
            row,
        )


def _band(steps: list[Step], times: list[float], name: str, colour: str) -> go.Scatter:
    """From delay - jitter to delay + jitter: the whole of a uniform delay, a deviation else."""
    spans = [time for pair in pairwise(times) for time in pair]
    ends = []
    for sign in (1, -1):
        edge = [s.impairment["delay_ms"] + sign * s.impairment["jitter_ms"] for s in steps]
        ends.append([max(0.0, value) for value in edge for _ in range(2)])
    uniform = all(step.impairment["distribution"] == UNIFORM for step in steps)
    return go.Scatter(
        x=[*spans, *reversed(spans)],
        y=[*ends[0], *reversed(ends[1])],
        fill="toself",
        mode="none",
        fillcolor=_faint(colour),
        name=f"{name}: {'range' if uniform else 'deviation'}",
        legendgroup=name,
        showlegend=False,
        hoverinfo="skip",
    )


def _faint(colour: str) -> str:
    red, green, blue = (int(colour[at : at + 2], 16) for at in (1, 3, 5))
    return f"rgba({red}, {green}, {blue}, 0.18)"


def _points(measured: Measured, colour: str) -> go.Scattergl:
    apart = -(-len(measured.time_s) // MOST_POINTS) or 1
    return go.Scattergl(
        x=list(measured.time_s[::apart]),
        y=list(measured.delay_ms[::apart]),
        name=f"{measured.path} {WORDS[measured.direction]}: measured",
        mode="markers",
        marker={"color": colour, "size": 3, "opacity": 0.35},
        hoverinfo="skip",
    )


def _down(
    routes: list[tuple[Route, list[Step]]], end_s: float
) -> dict[tuple[float, float], list[str]]:
    """When routes are down, and which: a path where both of its directions are."""
    found: dict[tuple[float, float], list[str]] = {}
    for route, steps in routes:
        for span in _spans_down(steps, end_s):
            names = found.setdefault(span, [])
            other = f"{route[0]} {OTHER[route[1]]}"
            if other in names:
                names[names.index(other)] = route[0]
            else:
                names.append(f"{route[0]} {WORDS[route[1]]}")
    return found


def _spans_down(steps: list[Step], end_s: float) -> Iterator[tuple[float, float]]:
    times = [*(step.at_ns / NS_PER_S for step in steps), end_s]
    lasting = zip(steps, pairwise(times), strict=True)
    for down, group in groupby(lasting, key=lambda one: one[0].impairment["loss_percent"] >= 100):
        spans = [span for _, span in group]
        if down:
            yield spans[0][0], spans[-1][1]


def _shade(drawn: go.Figure, rows: int, start_s: float, stop_s: float, name: str) -> None:
    shape: dict[str, Any] = {"fillcolor": DOWN_FILL, "line_width": 0, "layer": "below"}
    note = {"annotation_text": f"{name} down", "annotation_position": "top left"}
    drawn.add_vrect(x0=start_s, x1=stop_s, **shape, **note, annotation_font_size=10, row=1, col=1)
    for row in range(2, rows + 1):
        drawn.add_vrect(x0=start_s, x1=stop_s, **shape, row=row, col=1)
