"""A figure in the making: its axes, lines resampled to the screen, and the words below it."""

from __future__ import annotations

from math import log10
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from ..report.theme import path_dash, path_marker
from . import clock, resample
from .text import counted, escaped

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .columns import Floats, Ints
    from .look import Look

HEIGHT_PX = 360

LINE_PX = 1.8

MOST_MARKS = 100
"""Shaded stretches, and upright lines, of a figure: more would hide what they are to mark."""

INSTANT_S = 0.1
"""Shown around what takes no time."""

AXIS_PX, NAME_PX = 64, 19
"""Of an axis with its numbers and title, and of a name in a legend."""


class Sheet:
    """A figure in the making.

    Attributes
    ----------
    figure
        What has been drawn so far.
    look
        How it is to look.
    """

    def __init__(
        self,
        look: Look,
        *,
        lines: int = 1,
        height_px: int = HEIGHT_PX,
        shares: Sequence[float] = (1.0,),
    ) -> None:
        """Begin a figure.

        Parameters
        ----------
        lines
            How many there will be: they share the points that a browser can take.
        shares
            Of the height, by panels that share the axis of time, the uppermost first.
        """
        self.look = look
        self._points = look.points(lines)
        self._drawn = self._given = 0
        self.figure = make_subplots(
            rows=len(shares),
            cols=1,
            shared_xaxes=True,
            row_heights=list(shares),
            vertical_spacing=0.06,
        )
        self.figure.update_layout(
            template=look.template,
            height=height_px,
            margin={"l": 8 if look.is_narrow else 72, "r": 16, "t": 16, "b": 8},
            # A single line has a name, too.
            showlegend=True,
            hovermode="closest",
            barmode="overlay",
        )

    def line(
        self,
        x: Floats,
        y: Floats,
        *,
        name: str,
        path: int | None = None,
        row: int = 1,
        data: Ints | Floats | None = None,
        **style: Any,
    ) -> None:
        """Draw a line, resampled; without points nothing, so that no legend speaks of it.

        Parameters
        ----------
        name
            As text of the figure: escaped.
        path
            Whose colour, dash and marker it takes, unless the style has others.
        data
            A number for each point (its frame, say) that the style's hover text can tell.
        """
        if not len(x) or bool(np.isnan(y).all()):
            return
        kept = resample.line(x, y, self._points)
        self._count(len(kept), len(x))
        own = {} if path is None else {"color": self.look.path(path), "dash": path_dash(path)}
        line = {"width": LINE_PX, **own, **style.pop("line", {})}
        self.figure.add_trace(
            go.Scatter(
                x=x[kept],
                y=y[kept],
                customdata=None if data is None else data[kept],
                name=name,
                line=line,
                **{"mode": "lines", **style},
            ),
            row=row,
            col=1,
        )

    def events(
        self,
        x: Floats,
        y: Floats,
        *,
        name: str,
        row: int = 1,
        data: Any = None,
        marker: dict[str, Any] | None = None,
        **style: Any,
    ) -> None:
        """Draw instants as markers; of very many, the first in every part of time.

        Values of `marker` that are arrays belong to the points, and go with them.
        """
        if not len(x):
            return
        kept = resample.events(x, self._points)
        self._count(len(kept), len(x))
        own = {
            key: [value[place] for place in kept.tolist()]
            if isinstance(value, list | np.ndarray)
            else value
            for key, value in (marker or {}).items()
        }
        self.figure.add_trace(
            go.Scatter(
                x=x[kept],
                y=y[kept],
                customdata=None if data is None else np.asarray(data)[kept],
                name=name,
                marker=own,
                **{"mode": "markers", **style},
            ),
            row=row,
            col=1,
        )

    def add(self, trace: Any, row: int = 1) -> None:
        """Draw a trace as it is."""
        self.figure.add_trace(trace, row=row, col=1)

    def axes(
        self, *, x: str = clock.TITLE, y: Sequence[str], x_range: tuple[float, float] | None = None
    ) -> None:
        """Name the axes, one of values for each panel, and cut the axis of x."""
        narrow = {"standoff": 2} if self.look.is_narrow else {}
        for row, title in enumerate(y, start=1):
            self.figure.update_yaxes(title={"text": title, **narrow}, row=row, col=1)
        self.figure.update_xaxes(title={"text": x, **narrow}, row=len(y), col=1)
        if x_range is not None:
            low, high = x_range
            # A single packet takes no time, and has a place on the axis.
            pad = 0.0 if high > low else INSTANT_S / 2
            self.figure.update_xaxes(range=[low - pad, high + pad])

    def shade(self, from_x: float, to_x: float, text: str, *, colour: str | None = None) -> None:
        """Shade a stretch of x behind all panels, with words at its upper left."""
        self.figure.add_shape(
            type="rect",
            xref="x",
            yref="paper",
            x0=from_x,
            x1=to_x,
            y0=0,
            y1=1,
            layer="below",
            line={"width": 0},
            fillcolor=colour or self.look.colours.grid,
            opacity=0.7,
        )
        if text:
            self.figure.add_annotation(
                xref="x",
                yref="paper",
                x=from_x,
                y=1,
                xanchor="left",
                yanchor="top",
                text=text,
                showarrow=False,
                font={"size": 11, "color": self.look.colours.muted},
            )

    def upright(self, x: float, *, dash: str = "dot", colour: str | None = None) -> None:
        """Draw a vertical line through all panels."""
        self.figure.add_shape(
            type="line",
            xref="x",
            yref="paper",
            x0=x,
            x1=x,
            y0=0,
            y1=1,
            line={"width": 1, "dash": dash, "color": colour or self.look.colours.muted},
        )

    def done(self, *sentences: str) -> go.Figure:
        """Return the figure, with its caption: the sentences, and what was not drawn."""
        with_room(self.figure, self.look)
        words = [one for one in sentences if one]
        if self._drawn < self._given:
            words.append(
                f"{self._drawn:,} of {counted(self._given, 'point')} are drawn, chosen so that "
                "the screen shows the same; a narrower window shows more of them."
            )
        return captioned(self.figure, words)

    def _count(self, drawn: int, given: int) -> None:
        self._drawn += drawn
        self._given += given


def legend(look: Look, height_px: int) -> dict[str, Any]:
    """Return where the legend is: above, or below the axis on a screen in the hand."""
    if look.is_narrow:
        below = -AXIS_PX / max(height_px - AXIS_PX, AXIS_PX)
        return {"orientation": "h", "y": below, "yanchor": "top"}
    return {"orientation": "h", "y": 1.02, "yanchor": "bottom", "x": 0}


def with_room(figure: go.Figure, look: Look) -> None:
    """Put the legend where it takes no room of the data: on a narrow screen, below."""
    height_px = figure.layout.height
    figure.update_layout(legend=legend(look, height_px))
    if look.is_narrow:
        # Names stand one below the other there.
        names = sum(trace.showlegend is not False for trace in figure.data)
        figure.update_layout(height=height_px + NAME_PX * names)


def level(
    figure: go.Figure,
    y: float,
    text: str,
    look: Look,
    *,
    at: Literal["left", "right"] = "right",
    is_log: bool = False,
) -> None:
    """Draw a horizontal line through the first panel, with words at one end."""
    muted = look.colours.muted
    figure.add_shape(
        type="line",
        xref="paper",
        yref="y",
        x0=0,
        x1=1,
        y0=y,
        y1=y,
        line={"width": 1, "dash": "dot", "color": muted},
    )
    figure.add_annotation(
        xref="paper",
        yref="y",
        x=1 if at == "right" else 0,
        # On a logarithmic axis Plotly takes the places of words, but not of lines, as logarithms.
        y=log10(y) if is_log else y,
        xanchor=at,
        yanchor="bottom",
        text=text,
        showarrow=False,
        font={"size": 10, "color": muted},
    )


def path_marking(path: int, look: Look, **more: Any) -> dict[str, Any]:
    """Return the marker of a path's points."""
    return {"color": look.path(path), "symbol": path_marker(path), "size": 6, **more}


def captioned(figure: go.Figure, sentences: Sequence[str]) -> go.Figure:
    """Give a figure its caption, which goes with it as `layout.meta.caption`."""
    figure.update_layout(meta={"caption": " ".join(sentences)})
    return figure


def caption(figure: go.Figure) -> str:
    """Return the caption of a figure."""
    found: str = (figure.layout.meta or {}).get("caption", "")
    return found


def empty(reason: str, look: Look, *, height_px: int = 200) -> go.Figure:
    """Return a figure of nothing that says why.

    Parameters
    ----------
    reason
        A sentence; what is in it from a capture is escaped here.
    """
    figure = go.Figure()
    blank = {"visible": False, "range": [0, 1], "fixedrange": True}
    figure.update_layout(
        template=look.template,
        height=height_px,
        margin={"l": 16, "r": 16, "t": 16, "b": 16},
        xaxis=blank,
        yaxis=blank,
        shapes=[
            {
                "type": "rect",
                "xref": "paper",
                "yref": "paper",
                "x0": 0,
                "x1": 1,
                "y0": 0,
                "y1": 1,
                "line": {"width": 1, "dash": "dot", "color": look.colours.muted},
                "fillcolor": look.colours.shade,
                "layer": "below",
            }
        ],
        annotations=[
            {
                "xref": "paper",
                "yref": "paper",
                "x": 0.5,
                "y": 0.5,
                "showarrow": False,
                "text": _wrapped(escaped(reason, 400), look),
                "font": {"size": 14, "color": look.colours.muted},
            }
        ],
    )
    return captioned(figure, [reason])


def _wrapped(text: str, look: Look) -> str:
    """Break a text into lines that are as wide as the figure; Plotly breaks none by itself."""
    widest = max(20, look.width_px // 9)
    lines: list[str] = []
    for word in text.split():
        if lines and len(lines[-1]) + 1 + len(word) <= widest:
            lines[-1] += f" {word}"
        else:
            lines.append(word)
    return "<br>".join(lines)
