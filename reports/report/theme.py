"""Light and dark: colours that the colour-blind tell apart, and Plotly templates made of them.

The palette is that of Okabe and Ito (2008), without yellow and black, which one of the two papers
swallows, and with lighter shades for the dark one. Nothing is told by colour alone: a path has a
dash and a marker, too.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import plotly.graph_objects as go

Theme = Literal["light", "dark"]
THEMES: tuple[Theme, ...] = ("light", "dark")

Hue = Literal["blue", "vermillion", "green", "purple", "orange", "sky"]

PALETTE: dict[Theme, dict[Hue, str]] = {
    "light": {
        "blue": "#0072B2",
        "vermillion": "#D55E00",
        "green": "#009E73",
        "purple": "#CC79A7",
        "orange": "#E69F00",
        "sky": "#56B4E9",
    },
    "dark": {
        "blue": "#3F93E0",
        "vermillion": "#F0702A",
        "green": "#1FB58A",
        "purple": "#DE8FC0",
        "orange": "#F5BD3A",
        "sky": "#A9DEFA",
    },
}
"""The same hues, lighter for dark paper. The order is that of paths: the first four keep the most
contrast."""

HUES: tuple[Hue, ...] = ("blue", "vermillion", "green", "purple", "orange", "sky")

DASHES = ("solid", "7px,3px", "2px,2px", "7px,3px,2px,3px", "14px,4px")
"""Short ones: a line may be in pieces."""

MARKERS = ("circle", "square", "diamond", "cross", "triangle-up", "star", "hexagon")
"""Numbers without a common divisor: many paths go by before two look alike."""

FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Noto Sans', sans-serif"


@dataclass(frozen=True, slots=True)
class Colours:
    """The colours of a theme that mean no path.

    Attributes
    ----------
    paper
        Behind the figure.
    ink, muted
        Text, and text or lines of less weight; both readable on the paper.
    grid, shade
        Grid lines, and areas behind the data.
    """

    paper: str
    ink: str
    muted: str
    grid: str
    shade: str


_COLOURS: dict[Theme, Colours] = {
    "light": Colours("#ffffff", "#1c1e21", "#5b6168", "#e3e6ea", "#eef1f4"),
    "dark": Colours("#1f2023", "#e8eaed", "#a4abb3", "#383b40", "#2a2c30"),
}


def colours(theme: Theme) -> Colours:
    """Return the colours of a theme that mean no path."""
    return _COLOURS[theme]


def colour(hue: Hue, theme: Theme) -> str:
    """Return a hue of the palette as a theme has it."""
    return PALETTE[theme][hue]


def path_colour(index: int, theme: Theme = "light") -> str:
    """Return the colour of a path, by its `id`: of the same hue in every figure."""
    return colour(HUES[index % len(HUES)], theme)


def path_dash(index: int) -> str:
    """Return the dash of a path's lines: what tells paths apart without colour."""
    return DASHES[index % len(DASHES)]


def path_marker(index: int) -> str:
    """Return the marker of a path's points, likewise."""
    return MARKERS[index % len(MARKERS)]


def template(theme: Theme, letters_px: int = 13) -> go.layout.Template:
    """Return the Plotly template of a theme, with letters of a size."""
    found = colours(theme)
    axis: dict[str, Any] = {
        "gridcolor": found.grid,
        "linecolor": found.muted,
        "zerolinecolor": found.grid,
        "tickcolor": found.muted,
        "tickfont": {"color": found.ink, "size": letters_px},
        "title": {"font": {"color": found.ink, "size": letters_px}, "standoff": 8},
        "ticks": "outside",
        "ticklen": 4,
        "automargin": True,
        # Prefixes such as 10k and 40µ would stand beside units that have their own.
        "exponentformat": "none",
    }
    return go.layout.Template(
        layout={
            "paper_bgcolor": found.paper,
            "plot_bgcolor": found.paper,
            "font": {"family": FONT, "size": letters_px, "color": found.ink},
            "colorway": list(PALETTE[theme].values()),
            "xaxis": axis,
            "yaxis": axis,
            "legend": {
                "font": {"color": found.ink, "size": letters_px},
                "bgcolor": "rgba(0,0,0,0)",
            },
            "hoverlabel": {
                "bgcolor": found.shade,
                "bordercolor": found.muted,
                "font": {"family": FONT, "color": found.ink},
                "namelength": -1,
                "align": "left",
            },
            "annotationdefaults": {"font": {"color": found.ink}, "arrowcolor": found.muted},
            "modebar": {
                "bgcolor": "rgba(0,0,0,0)",
                "color": found.muted,
                "activecolor": found.ink,
            },
        }
    )
