"""A replay's fidelity as Plotly figures: lateness, and what was asked against what came of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import plotly.graph_objects as go

from . import words

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ...replay.fidelity.model import Bin, Fidelity, Row, Step

ASKED = "#555555"

ACHIEVED = {"pass": "#1f5fa8", "fail": "#d1495b", "no verdict": "#a0a0a0"}

OVER_TIME = ("delay_ms", "loss_percent", "loss_burst_packets", "duplicate_percent",
             "corrupt_percent", "reorder_percent", "rate_kbit")  # fmt: skip
"""Quantities that a figure is made of, in this order, where a step asked for them."""


def lateness(fidelity: Fidelity) -> go.Figure:
    """Return the histogram of lateness, in the report's own bins."""
    bins = fidelity.pacing.histogram
    drawn = go.Figure(
        go.Bar(
            x=[_edge(one) for one in bins],
            y=[one.count for one in bins],
            marker={"color": ACHIEVED["pass"]},
            hovertemplate="%{x}: %{y} frames<extra></extra>",
        )
    )
    return _laid_out(drawn, "lateness", "frames", {"type": "category"})


def over_time(fidelity: Fidelity, route: int, quantity: str) -> go.Figure | None:
    """Return what was asked of a route over time, and what came of it with 95 % intervals.

    None where no step has a number for the quantity.
    """
    steps = {step.number: step for step in fidelity.steps if step.route == route}
    rows = [
        row
        for row in fidelity.rows
        if (row.route, row.quantity) == (route, quantity) and row.step in steps
    ]
    if not any(row.achieved is not None for row in rows):
        return None
    end_ns = max(step.after_ns for step in steps.values())
    end_ns = max(end_ns, fidelity.pacing.duration_ns)
    placed = [(row, steps[row.step]) for row in rows if row.step is not None]
    drawn = go.Figure(_asked(placed, end_ns))
    for verdict, colour in ACHIEVED.items():
        own = [one for one in placed if one[0].verdict == verdict and one[0].achieved is not None]
        if own:
            drawn.add_trace(_achieved(own, end_ns, verdict, colour))
    return _laid_out(drawn, "time [s]", words.quantity(quantity) + _unit(quantity), {})


def figures(fidelity: Fidelity) -> dict[str, go.Figure]:
    """Return every figure of a report by its title."""
    found = {"Lateness": lateness(fidelity)}
    for route in fidelity.routes:
        for quantity in OVER_TIME:
            drawn = over_time(fidelity, route.route, quantity)
            if drawn is not None:
                title = f"{route.path} {route.direction}: {words.quantity(quantity)}"
                found[title] = drawn
    return found


def _edge(one: Bin) -> str:
    if one.high_ns is None:
        return f"from {words.time(one.low_ns)}"
    return f"below {words.time(one.high_ns)}"


def _asked(placed: Sequence[tuple[Row, Step]], end_ns: int) -> go.Scatter:
    """A line of steps, with a gap where nothing was asked."""
    xs: list[float | None] = []
    ys: list[float | None] = []
    for row, step in placed:
        until_ns = end_ns if step.until_ns is None else step.until_ns
        xs += [step.after_ns / 1e9, until_ns / 1e9, None]
        ys += [row.asked, row.asked, None]
    return go.Scatter(x=xs, y=ys, mode="lines", name="asked", line={"color": ASKED})


def _achieved(
    own: Sequence[tuple[Row, Step]], end_ns: int, verdict: str, colour: str
) -> go.Scatter:
    """Points in the middle of their steps."""
    middles = [
        (step.after_ns + (end_ns if step.until_ns is None else step.until_ns)) / 2e9
        for _, step in own
    ]
    return go.Scatter(
        x=middles,
        y=[row.achieved for row, _ in own],
        error_y={
            "type": "data",
            "symmetric": False,
            "array": [_reach(row.high, row.achieved) for row, _ in own],
            "arrayminus": [_reach(row.achieved, row.low) for row, _ in own],
            "thickness": 1.2,
        },
        customdata=[row.n for row, _ in own],
        hovertemplate="%{x:.3f} s: %{y:.6g} (n %{customdata})<extra></extra>",
        mode="markers",
        name=verdict,
        marker={"color": colour, "size": 7},
    )


def _reach(high: float | None, low: float | None) -> float:
    return 0.0 if high is None or low is None else high - low


def _unit(quantity: str) -> str:
    return {"ms": " [ms]", "percent": " [%]", "kbit": " [kbit/s]"}.get(
        quantity.rsplit("_", 1)[-1], ""
    )


def _laid_out(drawn: go.Figure, x: str, y: str, axis: dict[str, Any]) -> go.Figure:
    drawn.update_layout(
        template="plotly_white",
        margin={"l": 70, "r": 20, "t": 20, "b": 60},
        height=360,
        legend={"orientation": "h", "y": -0.25},
        xaxis={"title": {"text": x}, **axis},
        yaxis={"title": {"text": y}, "rangemode": "tozero"},
    )
    return drawn
