"""Where the time of a handover went: a bar of its parts, one after the other."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import plotly.graph_objects as go

from ..units import duration, ratio
from . import clock
from .about import About
from .part import Window
from .sheet import Sheet, empty
from .text import escaped

if TYPE_CHECKING:
    from ..report.theme import Hue
    from .look import Look
    from .part import Part

ABOUT = About(
    title="Phases of the handover",
    question="What did the handover wait for, and for how long?",
    unit=clock.SECONDS,
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
    """A phase: its name and words, from and to in seconds since frame 1."""

    name: str
    text: str
    from_s: float
    to_s: float


@dataclass(frozen=True, slots=True)
class Phases:
    """What the figure draws, from and to in seconds; `reason` says why there is nothing."""

    bars: tuple[Bar, ...]
    from_s: float = 0.0
    to_s: float = 0.0
    reason: str = ""


def inputs(part: Part, window: Window | None = None) -> Phases:
    """Return the phases of a handover's story, each whole, in a window or in their own."""
    if part.handover is None:
        return Phases((), reason="No handover was chosen, or the association has none.")
    if part.story is None:
        return Phases((), reason="There is no story of this handover: that takes its capture.")
    phases = part.story["phases"]
    if not phases:
        return Phases((), reason="Nothing in the capture tells the phases of this handover.")
    seen = window or Window(phases[0]["start_ns"], phases[-1]["end_ns"])
    if not any(one["start_ns"] <= seen.to_ns and one["end_ns"] >= seen.from_ns for one in phases):
        return Phases((), reason="No phase of the handover is in this window.")
    return Phases(
        tuple(
            Bar(
                one["name"],
                one["text"],
                part.seconds(one["start_ns"]),
                part.seconds(one["end_ns"]),
            )
            for one in phases
        ),
        part.seconds(seen.from_ns),
        part.seconds(seen.to_ns),
    )


def draw(found: Phases, look: Look) -> go.Figure:
    """Return the figure."""
    if not found.bars:
        return empty(found.reason, look)
    sheet = Sheet(look, height_px=HEIGHT_PX)
    whole_s = found.bars[-1].to_s - found.bars[0].from_s
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
    sheet.axes(y=[""], x_range=(found.from_s, found.to_s))
    sheet.figure.update_yaxes(visible=False, range=[-0.6, 0.6])
    longest = max(found.bars, key=lambda one: one.to_s - one.from_s)
    return sheet.done(
        f"{duration(whole_s)} in all; longest: {longest.name}, "
        f"{duration(longest.to_s - longest.from_s)}."
    )
