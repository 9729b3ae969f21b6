"""Where the time of a handover went: a bar of its parts, one after the other."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import plotly.graph_objects as go

from ..units import duration, ratio
from .about import About
from .sheet import Sheet, empty
from .text import escaped

if TYPE_CHECKING:
    from ..report.theme import Hue
    from .look import Look
    from .part import Part, Window

ABOUT = About(
    title="Phases of the handover",
    question="What did the handover wait for, and for how long?",
    unit="seconds since the handover's first phase began",
    definition=(
        "The phases of docs/explain.md, from what made the handover necessary until all that was "
        "outstanding was delivered; they follow one another without gaps."
    ),
    basis=("observed", "annotated", "inferred"),
)

PAINT: dict[str, tuple[Hue, str]] = {
    "unnoticed": ("vermillion", ""),
    "first-wait": ("orange", ""),
    "back-off": ("orange", "/"),
    "unprobed": ("vermillion", "\\"),
    "probe": ("sky", "/"),
    "request": ("sky", ""),
    "moving": ("blue", ""),
    "quiet": ("purple", "."),
    "recovery": ("green", ""),
}
"""Hue and pattern of each phase: waiting is warm."""

HEIGHT_PX = 240


@dataclass(frozen=True, slots=True)
class Bar:
    """A phase: its name and words, from and to in seconds since the first one began."""

    name: str
    text: str
    from_s: float
    to_s: float


@dataclass(frozen=True, slots=True)
class Phases:
    """What the figure draws; `reason` says why there is nothing."""

    bars: tuple[Bar, ...]
    reason: str = ""


def inputs(part: Part, window: Window | None = None) -> Phases:  # noqa: ARG001  as of all figures
    """Return the phases of a handover's story. They are of the whole handover in any window."""
    if part.handover is None:
        return Phases((), "No handover was chosen, or the association has none.")
    if part.story is None:
        return Phases((), "There is no story of this handover: that takes its capture.")
    phases = part.story["phases"]
    if not phases:
        return Phases((), "Nothing in the capture tells the phases of this handover.")
    start_ns = phases[0]["start_ns"]
    return Phases(
        tuple(
            Bar(
                one["name"],
                one["text"],
                (one["start_ns"] - start_ns) / 1e9,
                (one["end_ns"] - start_ns) / 1e9,
            )
            for one in phases
        )
    )


def draw(found: Phases, look: Look) -> go.Figure:
    """Return the figure."""
    if not found.bars:
        return empty(found.reason, look)
    sheet = Sheet(look, height_px=HEIGHT_PX)
    whole_s = found.bars[-1].to_s
    for one in found.bars:
        hue, pattern = PAINT[one.name]
        length_s = one.to_s - one.from_s
        share = f" ({ratio(length_s / whole_s)})" if whole_s else ""
        sheet.add(
            go.Bar(
                orientation="h",
                base=[one.from_s],
                x=[length_s],
                y=[0],
                width=0.6,
                name=f"{one.name} {duration(length_s)}",
                customdata=[escaped(one.text, 160)],
                hovertemplate=f"{one.name}: {duration(length_s)}{share}<br>%{{customdata}}"
                "<extra></extra>",
                marker={
                    "color": look.hue(hue),
                    "line": {"width": 1, "color": look.colours.paper},
                    "pattern": {
                        "shape": pattern,
                        "fillmode": "overlay",
                        "fgcolor": look.colours.paper,
                        "size": 8,
                    },
                },
            )
        )
    sheet.axes(x="time since the first phase began [s]", y=[""], x_range=(0.0, whole_s))
    sheet.figure.update_yaxes(visible=False, range=[-0.6, 0.6])
    longest = max(found.bars, key=lambda one: one.to_s - one.from_s)
    return sheet.done(
        f"{duration(whole_s)} in all; longest: {longest.name}, "
        f"{duration(longest.to_s - longest.from_s)}."
    )
