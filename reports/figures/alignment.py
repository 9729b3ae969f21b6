"""The same handover in two runs, its instants from a common origin on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import plotly.graph_objects as go

from ..report import theme
from .about import About
from .sheet import captioned, empty, with_room
from .text import escaped

if TYPE_CHECKING:
    from .look import Look
    from .part import Node

ABOUT = About(
    title="Handovers side by side",
    question="At which instant did two runs part?",
    unit="seconds from the common origin",
    definition=(
        "Instants of docs/metrics.md of the same handover in two runs. They count from the link's "
        "failure where both runs' events tell it, else from the first new DATA on the new path."
    ),
    basis=("observed", "annotated", "inferred"),
)

SIDES: dict[str, tuple[theme.Hue, str]] = {
    "baseline": ("blue", "circle"),
    "candidate": ("vermillion", "diamond"),
}

MOST_HANDOVERS = 6

ROW_PX = 22


@dataclass(frozen=True, slots=True)
class Moment:
    """An instant in both runs, in seconds from the origin; None: absent there."""

    handover: int
    instant: str
    baseline_s: float | None
    candidate_s: float | None


@dataclass(frozen=True, slots=True)
class Alignment:
    """What the figure draws: moments of the handovers called `places`."""

    places: tuple[str, ...]
    origins: tuple[str, ...]
    moments: tuple[Moment, ...]
    count: int
    reason: str = ""


def inputs(comparison: Node | None) -> Alignment:
    """Return the aligned handovers of a document of `pathscope.compare/1`, the first ones."""
    if comparison is None:
        return Alignment((), (), (), 0, "Two sets are compared where both are given.")
    timelines = [one for group in comparison["groups"] for one in group["timelines"]]
    shown = timelines[:MOST_HANDOVERS]
    return Alignment(
        tuple(one["place"] for one in shown),
        tuple(one["origin"] for one in shown),
        tuple(
            Moment(number, two["instant"], _seconds(two["baseline"]), _seconds(two["candidate"]))
            for number, one in enumerate(shown)
            for two in one["instants"]
        ),
        len(timelines),
        "Handovers are aligned where each side is a single run and both have them.",
    )


def _seconds(moment: Node) -> float | None:
    return None if moment["offset_ns"] is None else moment["offset_ns"] / 1e9


def draw(found: Alignment, look: Look) -> go.Figure:
    """Return the figure."""
    if not found.moments:
        return empty(found.reason, look)
    figure = go.Figure()
    rows = list(enumerate(found.moments))
    _draw_links(figure, rows, look)
    for side, (hue, symbol) in SIDES.items():
        own = [(row, at) for row, one in rows if (at := getattr(one, f"{side}_s")) is not None]
        figure.add_trace(
            go.Scatter(
                mode="markers",
                x=[at for _, at in own],
                y=[row for row, _ in own],
                name=side,
                customdata=[found.moments[row].instant for row, _ in own],
                hovertemplate="%{customdata}: %{x:.6f} s<extra>%{fullData.name}</extra>",
                marker={"color": look.hue(hue), "symbol": symbol, "size": 10},
            )
        )
    figure.add_vline(x=0, line={"width": 1, "dash": "dot", "color": look.colours.muted})
    _name_rows(figure, found, look)
    figure.update_layout(
        template=look.template,
        height=140 + ROW_PX * (len(rows) + len(found.places)),
        margin={"l": 8, "r": 16, "t": 24, "b": 8},
    )
    figure.update_xaxes(title_text="time from the origin [s]")
    with_room(figure, look)
    return captioned(figure, _words(found))


def _draw_links(figure: go.Figure, rows: list[tuple[int, Moment]], look: Look) -> None:
    """Join the two runs of each instant: the longer the line, the farther they are apart."""
    x: list[float | None] = []
    y: list[float | None] = []
    for row, one in rows:
        if one.baseline_s is not None and one.candidate_s is not None:
            x += [one.baseline_s, one.candidate_s, None]
            y += [row, row, None]
    figure.add_trace(
        go.Scatter(
            mode="lines",
            x=x,
            y=y,
            name="difference",
            showlegend=False,
            hoverinfo="skip",
            line={"color": look.colours.muted, "width": 2},
        )
    )


def _name_rows(figure: go.Figure, found: Alignment, look: Look) -> None:
    longest = 22 if look.is_narrow else 60
    titles, last = [], None
    for one in found.moments:
        place = f"<b>{escaped(found.places[one.handover], longest)}</b><br>"
        titles.append(f"{place if one.handover != last else ''}{escaped(one.instant)}")
        last = one.handover
    figure.update_yaxes(
        tickvals=list(range(len(titles))),
        ticktext=titles,
        range=[len(titles) - 0.5, -0.8],
        zeroline=False,
    )


def _words(found: Alignment) -> list[str]:
    words = [f"Origin: {', '.join(dict.fromkeys(found.origins))}."]
    absent = [one for one in found.moments if None in (one.baseline_s, one.candidate_s)]
    if absent:
        names = ", ".join(dict.fromkeys(one.instant for one in absent))
        words.append(f"In one run only: {names}.")
    if found.count > len(found.places):
        words.append(f"The first {len(found.places)} of {found.count} handovers are drawn.")
    return words
