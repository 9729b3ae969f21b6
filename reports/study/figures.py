"""The results of a study as Plotly figures: ours with error bars, in red the published."""

from __future__ import annotations

from typing import Any

import plotly.graph_objects as go

from ..figures.text import escaped
from .numbers import plain
from .tables import title_of_series, unit_of

Node = dict[str, Any]

OURS = ("#1f5fa8", "#2a9d8f", "#6a4c93", "#5c7c2f", "#0b7fab", "#3d405b")
"""Colours of our series: cold ones, that none is taken for a published one."""

LONGEST = 120
"""Letters of what a study calls something."""

PUBLISHED = "#d1495b"

FITTED = "#555555"

PLAIN = {"rangemode": "tozero", "exponentformat": "none"}
"""Axes of numbers."""


def figure(result: Node) -> go.Figure:
    """Return the figure of one `figures` entry of a document of `pathscope.study/1`."""
    scale, unit = unit_of(result)
    drawn = go.Figure()
    series = list(dict.fromkeys(point["series"] for point in result["ours"]))
    for number, value in enumerate(series):
        points = [point for point in result["ours"] if point["series"] == value]
        drawn.add_trace(_ours(result, value, points, OURS[number % len(OURS)], scale))
    for trace in _lines(result, scale):
        drawn.add_trace(trace)
    for trace in _published(result, scale):
        drawn.add_trace(trace)
    x = result["x"]
    # Plotly would take words such as 2-12 for dates, and write 10k and 40µ.
    kind = {"type": "category"} if _in_words(result) else PLAIN
    drawn.update_layout(
        template="plotly_white",
        margin={"l": 70, "r": 20, "t": 20, "b": 60},
        height=420,
        legend={"orientation": "h", "y": -0.25},
        showlegend=result["series"] is not None or len(drawn.data) > 1,
        xaxis={"title": {"text": _named(x["name"], x["unit"])}, **kind},
        yaxis={"title": {"text": _named(result["quantity"], unit)}, **PLAIN},
    )
    return drawn


def _named(name: str, unit: str) -> str:
    return escaped(f"{name} [{unit}]" if unit else name, LONGEST)


def _ours(result: Node, value: Any, points: list[Node], colour: str, scale: float) -> go.Scatter:
    halves = [
        None if point["low"] is None else (point["high"] - point["low"]) / 2 * scale
        for point in points
    ]
    shown = any(half is not None for half in halves)
    is_marked = result["fit"] or _in_words(result)
    return go.Scatter(
        x=[_x(point["x"]) for point in points],
        y=[point["mean"] * scale for point in points],
        error_y={"type": "data", "array": halves, "thickness": 1.2} if shown else None,
        name=escaped(title_of_series(result, value), LONGEST) or "ours",
        customdata=[point["n"] for point in points],
        hovertemplate="%{x}: %{y:.6g} (n %{customdata})<extra></extra>",
        mode="markers" if is_marked else "lines+markers",
        cliponaxis=False,
        marker={
            "color": colour,
            "size": 8,
            "symbol": ["circle-open" if point["slow"] else "circle" for point in points],
        },
        line={"color": colour},
    )


def _x(value: Any) -> Any:
    """Numbers as they are; anything else is a category."""
    return value if _is_number(value) else escaped(plain(value), LONGEST)


def _in_words(result: Node) -> bool:
    """Whether x has no order, so that no line leads from one to the next."""
    points = [*result["ours"], *result["published"]["points"]]
    return not all(_is_number(point["x"]) for point in points)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _lines(result: Node, scale: float) -> list[go.Scatter]:
    """The fitted line and the published one, over the x of ours."""
    fit, line = result["fit"], result["published"]["line"]
    xs = [point["x"] for point in result["ours"]]
    if not xs:
        return []
    ends = [0, max(xs)] if fit or line else []
    drawn = []
    if fit:
        slope, intercept = fit["slope"]["value"], fit["intercept"]["value"]
        drawn.append(_line(ends, slope, intercept, scale, "fitted to ours", FITTED, "dot"))
    if line:
        slope, intercept = line["slope"], line["intercept"]
        text = escaped(line["text"], LONGEST)
        drawn.append(_line(ends, slope, intercept, scale, text, PUBLISHED, "dash"))
    return drawn


def _line(
    xs: list[float], slope: float, intercept: float, scale: float, name: str, colour: str, dash: str
) -> go.Scatter:
    return go.Scatter(
        x=xs,
        y=[(slope * x + intercept) * scale for x in xs],
        name=name,
        mode="lines",
        line={"color": colour, "dash": dash, "width": 1.5},
    )


def _published(result: Node, scale: float) -> list[go.Scatter]:
    points = result["published"]["points"]
    drawn = []
    for value in dict.fromkeys(point.get("series") for point in points):
        own = [point for point in points if point.get("series") == value]
        deviations = [point.get("sd") for point in own]
        known = any(one is not None for one in deviations)
        array = [None if one is None else one * scale for one in deviations]
        title = "" if value is None else escaped(title_of_series(result, value), LONGEST)
        drawn.append(
            go.Scatter(
                x=[_x(point["x"]) for point in own],
                y=[point["y"] * scale for point in own],
                error_y={"type": "data", "array": array, "thickness": 1} if known else None,
                name=f"published {title}".strip(),
                mode="markers",
                marker={
                    "color": PUBLISHED,
                    "symbol": "diamond-open",
                    "size": 12,
                    "line": {"width": 1.5},
                },
            )
        )
    return drawn
