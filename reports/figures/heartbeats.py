"""HEARTBEATs of each path: when they were sent, and how long their answers took."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from . import clock, columns
from .about import About
from .sheet import Sheet, empty, path_marking
from .text import counted, escaped

if TYPE_CHECKING:
    import plotly.graph_objects as go

    from .columns import Floats, Ints
    from .look import Look
    from .part import Part, Window

ABOUT = About(
    title="HEARTBEATs",
    question="Which paths were probed when, and which answered?",
    unit=f"ms; {clock.SECONDS}",
    definition=(
        "Above: the time from a HEARTBEAT to the HEARTBEAT ACK with the same Heartbeat "
        "Information (RFC 9260 section 8.3). Below: every HEARTBEAT of a path, those without an "
        "answer as crosses."
    ),
    basis=("observed",),
)

MOST_PATHS = 12

SHARES = (0.62, 0.38)
"""Of the height: round-trip times, and lanes."""


@dataclass(frozen=True, slots=True)
class Heartbeats:
    """What the figure draws: HEARTBEATs, a row each.

    Attributes
    ----------
    path, at_s, rtt_ms, frame
        Its path, seconds since frame 1, ms until its answer (NaN: none)
        and frame.
    """

    labels: tuple[str, ...]
    paths: tuple[int, ...]
    from_s: float
    to_s: float
    path: Ints
    at_s: Floats
    rtt_ms: Floats
    frame: Ints


def inputs(part: Part, window: Window | None = None) -> Heartbeats | None:
    """Return what the figure draws of one sender's HEARTBEATs; None without a ledger."""
    if part.tables is None:
        return None
    seen = part.window(window)
    paths = part.paths(MOST_PATHS)
    table = columns.touching(
        part.rows("heartbeats", part.sender), "time_ns", "time_ns", seen.from_ns, seen.to_ns
    )
    table = columns.chosen(table, np.isin(columns.integers(table, "path"), paths))
    return Heartbeats(
        labels=part.labels,
        paths=paths,
        from_s=part.seconds(seen.from_ns),
        to_s=part.seconds(seen.to_ns),
        path=columns.integers(table, "path"),
        at_s=columns.seconds(table, "time_ns", part.origin_ns),
        rtt_ms=columns.numbers(table, "rtt_ns", 1e-6),
        frame=columns.integers(table, "frame"),
    )


def draw(found: Heartbeats | None, look: Look) -> go.Figure:
    """Return the figure."""
    if found is None:
        return empty("A stored result has no ledger: there are no HEARTBEATs to draw.", look)
    if not len(found.at_s):
        return empty("This sender sent no HEARTBEAT on these paths in this window.", look)
    sheet = Sheet(look, lines=3 * len(found.paths), shares=SHARES, height_px=400)
    answered = ~np.isnan(found.rtt_ms)
    for lane, path in enumerate(found.paths):
        label, own = escaped(found.labels[path]), found.path == path
        sheet.events(
            found.at_s[own & answered],
            found.rtt_ms[own & answered],
            name=f"answered: {label}",
            data=found.frame[own & answered],
            marker=path_marking(path, look, size=8),
            hovertemplate="%{x:.6f} s: %{y:.4g} ms, frame %{customdata}"
            "<extra>%{fullData.name}</extra>",
        )
        for which, word, marker in (
            (own & answered, "answered", path_marking(path, look, size=8)),
            (own & ~answered, "unanswered", path_marking(path, look, symbol="x", size=9)),
        ):
            at = found.at_s[which]
            sheet.events(
                at,
                np.full(len(at), float(lane)),
                name=f"{word}: {label}",
                row=2,
                data=found.frame[which],
                marker=marker,
                showlegend=word == "unanswered",
                hovertemplate="%{x:.6f} s: frame %{customdata}<extra>%{fullData.name}</extra>",
            )
    sheet.axes(y=["answer after [ms]", ""], x_range=(found.from_s, found.to_s))
    sheet.figure.update_yaxes(rangemode="tozero", row=1, col=1)
    longest = 14 if look.is_narrow else 36
    sheet.figure.update_yaxes(
        tickvals=list(range(len(found.paths))),
        ticktext=[escaped(found.labels[path], longest) for path in found.paths],
        range=[len(found.paths) - 0.5, -0.5],
        row=2,
        col=1,
    )
    sent, lost = len(found.at_s), int((~answered).sum())
    return sheet.done(f"{counted(sent, 'HEARTBEAT')}, {lost:,} of them unanswered.")
