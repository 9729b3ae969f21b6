"""Two sets of runs: the ratio of each number with its interval, and what came out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import plotly.graph_objects as go

from ..report import theme
from ..study.numbers import number
from .about import About
from .sheet import captioned, empty, with_room
from .text import counted, escaped

if TYPE_CHECKING:
    from .look import Look
    from .part import Node

ABOUT = About(
    title="Candidate against baseline",
    question="Which numbers changed, by how much, and how sure is that?",
    unit="candidate / baseline, of means, on a logarithmic axis",
    definition=(
        "The ratio of the means with its 95 % interval (BCa bootstrap), and the verdict of "
        "docs/compare.md: better, worse or changed only where the difference is significant "
        "(Holm) and beyond tolerance."
    ),
    basis=("observed", "annotated", "inferred"),
)

VERDICTS: dict[str, tuple[theme.Hue | None, str]] = {
    "worse": ("vermillion", "triangle-down"),
    "better": ("blue", "triangle-up"),
    "changed": ("orange", "diamond"),
    "same": ("green", "circle"),
    "not-significant": (None, "circle-open"),
    "not-enough-runs": (None, "x-thin-open"),
}
"""Hue (None: muted) and marker, the most telling first."""

MOST_ROWS = 60

ROW_PX, NARROW_ROW_PX = 26, 36


@dataclass(frozen=True, slots=True)
class Row:
    """A number: what it is called, its verdict, the ratio with its bounds (None: there is none)."""

    name: str
    verdict: str
    ratio: float | None
    low: float | None
    high: float | None
    means: str


@dataclass(frozen=True, slots=True)
class Intervals:
    """What the figure draws; `without` counts numbers that have no ratio."""

    baseline: str
    candidate: str
    rows: tuple[Row, ...]
    without: int
    reason: str = ""


def inputs(comparison: Node | None) -> Intervals:
    """Return every number of a document of `pathscope.compare/1` that has a ratio.

    The most telling verdicts first, and of one the largest differences.
    """
    if comparison is None:
        return Intervals("", "", (), 0, "Two sets are compared where both are given.")
    several = len(comparison["groups"]) > 1
    rows = [
        _row(row, group["name"] if several else "")
        for group in comparison["groups"]
        for row in group["rows"]
    ]
    order = {verdict: place for place, verdict in enumerate(VERDICTS)}
    shown = sorted(
        (row for row in rows if row.ratio is not None),
        key=lambda row: (order[row.verdict], -_distance(row.ratio)),
    )
    return Intervals(
        comparison["baseline"],
        comparison["candidate"],
        tuple(shown),
        len(rows) - len(shown),
        "No number has a ratio: they are 0, differ in sign, or one side lacks them.",
    )


def _distance(ratio: float | None) -> float:
    return 0.0 if not ratio else max(ratio, 1 / ratio)


def _row(row: Node, group: str) -> Row:
    ratio = row["ratio"] or {"value": None, "low": None, "high": None}
    name = ", ".join(filter(None, (row["metric"], row["place"], group)))
    sides = [row[side] and row[side]["mean"] for side in ("baseline", "candidate")]
    means = f"{number(sides[0])} and {number(sides[1])} {row['unit']}"
    return Row(name, row["verdict"], ratio["value"], ratio["low"], ratio["high"], means)


def draw(found: Intervals, look: Look) -> go.Figure:
    """Return the figure."""
    if not found.rows:
        return empty(found.reason, look)
    rows = found.rows[:MOST_ROWS]
    figure = go.Figure()
    for verdict, (hue, symbol) in VERDICTS.items():
        own = [(place, row) for place, row in enumerate(rows) if row.verdict == verdict]
        colour = look.colours.muted if hue is None else look.hue(hue)
        if own:
            figure.add_trace(_trace(own, verdict, colour, symbol))
    figure.add_vline(x=1, line={"width": 1, "color": look.colours.ink})
    figure.update_layout(
        template=look.template,
        height=150 + (NARROW_ROW_PX if look.is_narrow else ROW_PX) * len(rows),
        margin={"l": 8, "r": 16, "t": 24, "b": 8},
        showlegend=True,
    )
    figure.update_xaxes(type="log", title_text="candidate / baseline", dtick="D2", tickformat="~g")
    figure.update_yaxes(
        tickvals=list(range(len(rows))),
        ticktext=[_title(row, look) for row in rows],
        range=[len(rows) - 0.5, -0.5],
        zeroline=False,
    )
    with_room(figure, look)
    words = [f"Baseline {found.baseline}, candidate {found.candidate}."]
    if found.without:
        words.append(f"{counted(found.without, 'number')} without a ratio: not drawn.")
    bare = sum(row.low is None or row.high is None for row in rows)
    if bare:
        words.append(f"{counted(bare, 'number')} without an interval: too few runs.")
    if len(rows) < len(found.rows):
        words.append(
            f"{len(rows)} of {counted(len(found.rows), 'number')} are drawn, the most telling; the "
            "table has all."
        )
    return captioned(figure, words)


def _title(row: Row, look: Look) -> str:
    """Name a row: in the hand, where it is in a line of its own."""
    if not look.is_narrow:
        return escaped(row.name, 70)
    metric, _, place = row.name.partition(", ")
    return f"{escaped(metric, 27)}<br>{escaped(place, 27)}"


def _trace(own: list[tuple[int, Row]], verdict: str, colour: str, symbol: str) -> go.Scatter:
    return go.Scatter(
        mode="markers",
        x=[row.ratio for _, row in own],
        y=[place for place, _ in own],
        error_x={
            "type": "data",
            "symmetric": False,
            "array": [_reach(row.high, row.ratio) for _, row in own],
            "arrayminus": [_reach(row.ratio, row.low) for _, row in own],
            "color": colour,
            "thickness": 1.5,
        },
        name=verdict,
        customdata=[escaped(f"{row.name}: {row.means}", 200) for _, row in own],
        hovertemplate="%{x:.4g}: %{customdata}<extra>%{fullData.name}</extra>",
        marker={"color": colour, "symbol": symbol, "size": 10, "line": {"width": 1.5}},
    )


def _reach(high: float | None, low: float | None) -> float | None:
    return None if high is None or low is None else high - low
