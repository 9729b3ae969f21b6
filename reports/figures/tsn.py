"""TSN against time, coloured by path: what was sent, sent again, and acknowledged (study B)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from . import clock, columns, tsn_columns
from .about import About
from .sheet import Sheet, empty, path_marking
from .text import escaped, left_out

if TYPE_CHECKING:
    import plotly.graph_objects as go

    from .look import Look
    from .part import Part, Window
    from .tsn_columns import Gaps, Line, Resent

ABOUT = About(
    title="TSN against time",
    question="What was sent on which path, what was sent again and why, and when did it arrive?",
    unit=f"TSN, as distance from the sender's first; {clock.SECONDS}",
    definition=(
        "New DATA chunks by the path that they went on; a line is broken where another path was "
        "in use, or none for long. In a window of chunks: each chunk, the cumulative TSN (until "
        "the next SACK) and the gap blocks of each SACK. Of a whole run: the runs, with the "
        "chunks of each time bin in between, and how many chunks were acknowledged so far. What "
        "was sent again is in the ledger one by one, with its cause: T3-rtx expired (t3), three "
        "miss indications (fast, RFC 9260 section 7.2.4), or unknown."
    ),
    basis=("observed", "inferred"),
)

MOST_PATHS = 12

CAUSES = {"t3": "x", "fast": "triangle-up", "unknown": "circle-open"}
"""Markers of what made the sender send again."""

HEIGHT_PX = 440


@dataclass(frozen=True, slots=True)
class Tsn:
    """What the figure draws; x in seconds since frame 1.

    Attributes
    ----------
    first_tsn
        The TSN that is 0 on the axis; None when the sender sent none.
    by_chunk
        Whether points are chunks; else runs and time bins.
    lines
        New DATA by path.
    acknowledged
        Cumulative TSN of each SACK; or chunks acknowledged so far.
    stalls
        Stops of the cumulative TSN for 100 ms or more.
    """

    labels: tuple[str, ...]
    paths: tuple[int, ...]
    from_s: float
    to_s: float
    bin_s: float
    first_tsn: int | None
    by_chunk: bool
    lines: tuple[Line, ...]
    acknowledged: Line
    gaps: Gaps
    stalls: Gaps
    resent: Resent


def inputs(part: Part, window: Window | None = None) -> Tsn | None:
    """Return what the figure draws of one sender's DATA; None without a ledger."""
    if part.tables is None:
        return None
    seen = part.window(window)
    paths = part.paths(MOST_PATHS)
    scale = tsn_columns.Scale.of(part, seen)
    by_chunk = part.chunks is not None
    lines, acknowledged, gaps = (
        tsn_columns.by_chunk(part, seen, paths, scale)
        if by_chunk
        else tsn_columns.by_bin(part, seen, paths, scale)
    )
    return Tsn(
        labels=part.labels,
        paths=paths,
        from_s=part.seconds(seen.from_ns),
        to_s=part.seconds(seen.to_ns),
        bin_s=part.bin_ns / columns.NS_PER_S,
        first_tsn=scale.first_tsn,
        by_chunk=by_chunk,
        lines=lines,
        acknowledged=acknowledged,
        gaps=gaps,
        stalls=tsn_columns.stalls(part, seen, scale),
        resent=tsn_columns.resent(part, seen, paths, scale),
    )


def draw(found: Tsn | None, look: Look) -> go.Figure:
    """Return the figure."""
    if found is None:
        return empty("A stored result has no ledger: there are no TSNs to draw.", look)
    if not _has_any(found):
        return empty("No DATA of this sender, and no SACK of it, in this window.", look)
    sheet = Sheet(look, lines=len(found.lines) + 4, height_px=HEIGHT_PX)
    for line in found.lines:
        if line.path is None:
            continue
        sheet.line(
            line.x,
            line.y,
            name=f"new DATA: {escaped(found.labels[line.path])}",
            path=line.path,
            data=line.frame,
            mode="lines+markers" if found.by_chunk else "lines",
            marker=path_marking(line.path, look, size=4),
            line={"width": 0.8 if found.by_chunk else 2.5},
            hovertemplate=_hover(found),
        )
    _draw_acknowledged(sheet, found)
    _draw_resent(sheet, found)
    sheet.axes(y=[f"TSN, from {found.first_tsn}"], x_range=(found.from_s, found.to_s))
    return sheet.done(*_words(found))


def _has_any(found: Tsn) -> bool:
    lines = (*found.lines, found.acknowledged)
    has_line = any(bool(np.isfinite(line.y).any()) for line in lines)
    return found.first_tsn is not None and (has_line or bool(len(found.resent.x)))


def _hover(found: Tsn) -> str:
    place = "%{x:.6f} s: %{y:,.0f}"
    return (
        f"{place}<br>frame %{{customdata}}<extra>%{{fullData.name}}</extra>"
        if (found.by_chunk)
        else f"{place}<extra>%{{fullData.name}}</extra>"
    )


def _draw_acknowledged(sheet: Sheet, found: Tsn) -> None:
    ink, muted = sheet.look.colours.ink, sheet.look.colours.muted
    name = "SACK: cumulative TSN" if found.by_chunk else "acknowledged so far"
    sheet.line(
        found.acknowledged.x,
        found.acknowledged.y,
        name=name,
        data=found.acknowledged.frame if found.by_chunk else None,
        line={"color": ink, "shape": "hv", "width": 1.2},
        hovertemplate=_hover(found),
    )
    sheet.line(
        *found.gaps.upright(),
        name="SACK: gap blocks",
        line={"color": muted, "width": 2},
        hovertemplate="%{x:.6f} s: reported up to %{y:,.0f}<extra>%{fullData.name}</extra>",
    )
    sheet.line(
        *found.stalls.level(),
        name="stall of the cumulative TSN",
        line={"color": muted, "width": 5},
        opacity=0.6,
        hovertemplate="%{x:.6f} s: stalled at %{y:,.0f}<extra>%{fullData.name}</extra>",
    )


def _draw_resent(sheet: Sheet, found: Tsn) -> None:
    colours = np.array([sheet.look.path(path) for path in found.resent.path.tolist()])
    for cause, symbol in CAUSES.items():
        own = found.resent.cause == cause
        sheet.events(
            found.resent.x[own],
            found.resent.y[own],
            name=f"sent again: {cause}",
            data=np.stack([found.resent.frame[own], found.resent.transmission[own]], axis=-1),
            marker={
                "symbol": symbol,
                "size": 8,
                "color": colours[own].tolist(),
                "line": {"width": 1.2, "color": sheet.look.colours.ink},
            },
            hovertemplate="%{x:.6f} s: %{y:,.0f}<br>transmission %{customdata[1]}, frame "
            "%{customdata[0]}<extra>%{fullData.name}</extra>",
        )


def _words(found: Tsn) -> list[str]:
    words = [
        "Each chunk and each SACK of the window."
        if found.by_chunk
        else f"From runs and time bins of {found.bin_s * 1000:g} ms; acknowledged are chunks, in "
        "gap blocks, too. A narrow window reads every chunk.",
        "What was sent again has the colour of the path that it went on.",
    ]
    if len(found.gaps.at) == tsn_columns.MOST_GAPS:
        words.append(f"Only the first {tsn_columns.MOST_GAPS:,} gap blocks are drawn.")
    words.append(left_out(len(found.labels), len(found.paths), MOST_PATHS))
    return words
