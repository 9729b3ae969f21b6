"""What time-outs took, beside what the model and the formulas say."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import plotly.graph_objects as go
from plotly.subplots import make_subplots

from ..report import theme
from . import instants, sheet
from .about import About
from .sheet import empty

if TYPE_CHECKING:
    from .look import Look
    from .part import Node, Part, Window

ABOUT = About(
    title="Timers, measured and predicted",
    question="Did T3-rtx run as long as RFC 9260 says, and do the formulas fit?",
    unit="seconds",
    definition=(
        "Left: each expiry of T3-rtx that led to the handover. Measured: the time since the timer "
        "was started, so the RTO in force and the sender's tick; RTO model: SRTT + 4 RTTVAR "
        "(RFC 9260 section 6.3.1), doubled by the expiries before; clamped: the same between the "
        "inferred RTO.Min and RTO.Max. Right: from the start of the first timer to t_decision, "
        "and what each formula makes of the inferred settings, with its bounds."
    ),
    basis=("observed", "inferred"),
)

HEIGHT_PX = 340

SERIES: tuple[tuple[str, theme.Hue, str], ...] = (
    ("measured", "blue", ""),
    ("RTO model", "sky", "/"),
    ("model, clamped", "orange", "\\"),
)


@dataclass(frozen=True, slots=True)
class Expiry:
    """An expiry of T3-rtx, in seconds; None: absent."""

    number: int
    frame: int | None
    measured_s: float | None
    model_s: float | None
    clamped_s: float | None


@dataclass(frozen=True, slots=True)
class Number:
    """A number of the document, in seconds, with its bounds; None: absent, for the reason."""

    name: str
    value_s: float | None
    low_s: float | None
    high_s: float | None
    reason: str


@dataclass(frozen=True, slots=True)
class Timers:
    """What the figure draws; `reason` says why there is nothing."""

    expiries: tuple[Expiry, ...]
    numbers: tuple[Number, ...]
    reason: str = ""


def inputs(part: Part, window: Window | None = None) -> Timers:  # noqa: ARG001  as of all figures
    """Return the time-outs of a handover. They are of the whole handover in any window."""
    handover = instants.chosen(part)
    if handover is None:
        return Timers((), (), "No handover was chosen, or the association has none.")
    if not handover["timeouts"]:
        return Timers((), (), "No expiry of T3-rtx led to this handover.")
    expiries = tuple(
        Expiry(
            one["consecutive"],
            one["at"]["frame"],
            one["elapsed_s"],
            one["rto_model_s"],
            one["rto_clamped_s"],
        )
        for one in handover["timeouts"]
    )
    prediction = handover["prediction"]
    numbers = (
        ()
        if prediction is None
        else (
            _number("measured", prediction["measured_s"]),
            *(_number(one["name"], one["predicted_s"]) for one in prediction["forms"]),
        )
    )
    return Timers(expiries, numbers)


def _number(name: str, number: Node) -> Number:
    return Number(
        name, number["value"], number.get("low"), number.get("high"), number.get("reason", "")
    )


def draw(found: Timers, look: Look) -> go.Figure:
    """Return the figure."""
    if not found.expiries:
        return empty(found.reason, look)
    across = look.is_narrow
    figure = make_subplots(
        rows=2 if across else 1,
        cols=1 if across else 2,
        horizontal_spacing=0.12,
        vertical_spacing=0.2,
    )
    figure.update_layout(
        template=look.template,
        height=HEIGHT_PX * (2 if across else 1),
        barmode="group",
        margin={"l": 60, "r": 16, "t": 24, "b": 8},
    )
    _draw_expiries(figure, found, look)
    _draw_numbers(figure, found, look, (2, 1) if across else (1, 2))
    figure.update_yaxes(title_text="T3-rtx [s]", rangemode="tozero", row=1, col=1)
    sheet.with_room(figure, look)
    return sheet.captioned(figure, _words(found))


def _draw_expiries(figure: go.Figure, found: Timers, look: Look) -> None:
    names = [f"expiry {one.number}<br>frame {one.frame}" for one in found.expiries]
    values = (
        [one.measured_s for one in found.expiries],
        [one.model_s for one in found.expiries],
        [one.clamped_s for one in found.expiries],
    )
    for (name, hue, pattern), column in zip(SERIES, values, strict=True):
        if all(value is None for value in column):
            continue
        figure.add_trace(
            go.Bar(
                x=names,
                y=column,
                name=name,
                hovertemplate="%{x}: %{y:.6g} s<extra>%{fullData.name}</extra>",
                marker={
                    "color": look.hue(hue),
                    "pattern": {
                        "shape": pattern,
                        "fillmode": "overlay",
                        "fgcolor": look.colours.paper,
                        "size": 8,
                    },
                },
            ),
            row=1,
            col=1,
        )


def _draw_numbers(figure: go.Figure, found: Timers, look: Look, place: tuple[int, int]) -> None:
    row, col = place
    known = [one for one in found.numbers if one.value_s is not None]
    if not known:
        figure.update_xaxes(visible=False, row=row, col=col)
        figure.update_yaxes(visible=False, row=row, col=col)
        return
    figure.add_trace(
        go.Scatter(
            mode="markers",
            x=[one.value_s for one in known],
            y=[one.name for one in known],
            error_x={
                "type": "data",
                "symmetric": False,
                "array": [_reach(one.high_s, one.value_s) for one in known],
                "arrayminus": [_reach(one.value_s, one.low_s) for one in known],
                "color": look.colours.ink,
                "thickness": 1.5,
            },
            name="time-outs together",
            showlegend=False,
            hovertemplate="%{y}: %{x:.6g} s<extra></extra>",
            marker={
                "size": 11,
                "color": [
                    look.hue("blue") if one.name == "measured" else look.colours.ink
                    for one in known
                ],
                "symbol": ["circle" if one.name == "measured" else "square-open" for one in known],
                "line": {"width": 2},
            },
        ),
        row=row,
        col=col,
    )
    for one in known:
        if one.name == "measured":
            figure.add_vline(
                x=one.value_s,
                line={"width": 1, "dash": "dot", "color": look.hue("blue")},
                row=row,
                col=col,
            )
    figure.update_xaxes(title_text="time-outs together [s]", rangemode="tozero", row=row, col=col)
    figure.update_yaxes(autorange="reversed", row=row, col=col)


def _reach(high: float | None, low: float | None) -> float | None:
    return None if high is None or low is None else high - low


def _words(found: Timers) -> list[str]:
    missing = [
        name
        for name, absent in (
            ("the start of a timer", any(one.measured_s is None for one in found.expiries)),
            ("a round trip for the RTO model", any(one.model_s is None for one in found.expiries)),
        )
        if absent
    ]
    words = [f"Absent in the capture: {' and '.join(missing)}."] if missing else []
    words += [f"{one.name}: absent ({one.reason})." for one in found.numbers if one.value_s is None]
    return words
