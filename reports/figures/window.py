"""Outstanding bytes of each path, and the window that the peer advertised."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from . import bins, clock, columns
from .about import About
from .bins import Steps
from .sheet import MOST_MARKS, Sheet, empty
from .text import escaped, left_out

if TYPE_CHECKING:
    import plotly.graph_objects as go
    import pyarrow as pa

    from .look import Look
    from .part import Part, Window

ABOUT = About(
    title="Outstanding bytes and advertised window",
    question="How much was under way on each path, and did the receiver's window hold it back?",
    unit=f"kB (1,000 bytes); {clock.SECONDS}",
    definition=(
        "Most user bytes outstanding on a path in a time bin with DATA: sent there last and not "
        "acknowledged. Advertised window: the least a_rwnd of the peer's SACKs in a bin; in a "
        "window of chunks, that of each SACK, until the next one. The window was closed from a "
        "SACK with 0 bytes to one with more."
    ),
    basis=("observed",),
)

MOST_PATHS = 12

HEIGHT_PX, SHARES = 420, (0.62, 0.38)
"""And of the height: what is outstanding, which may be far less than the window below."""


@dataclass(frozen=True, slots=True)
class Outstanding:
    """What the figure draws; x in seconds since frame 1, y in kB.

    Attributes
    ----------
    flight
        Path, and the most outstanding in each bin with DATA.
    advertised
        The peer's window.
    by_sack
        Whether that is of each SACK; else the least of each time bin.
    closed
        When the window was 0: from and to.
    """

    labels: tuple[str, ...]
    from_s: float
    to_s: float
    flight: tuple[tuple[int, Steps], ...]
    advertised: Steps
    by_sack: bool
    closed: tuple[tuple[float, float], ...]


def inputs(part: Part, window: Window | None = None) -> Outstanding | None:
    """Return what the figure draws of one sender's DATA under way; None without a ledger."""
    if part.tables is None:
        return None
    seen = part.window(window)
    sent, heard = (
        bins.ordered(bins.in_window(part.rows("intervals", end), part.bin_ns, seen))
        for end in (part.sender, part.other)
    )
    flight = []
    for path in part.paths(MOST_PATHS):
        own = columns.of(sent, path=path)
        # What is outstanding is known when DATA is sent: other bins have none of it to tell.
        own = columns.chosen(own, columns.integers(own, "data_chunks") > 0)
        most = columns.numbers(own, "flight_max_bytes", 1e-3)
        starts = columns.integers(own, "start_ns")
        flight.append((path, bins.levels(starts, most, part.bin_ns, part.origin_ns)))
    closed = columns.touching(
        part.rows("zero_windows", part.other), "start_ns", "end_ns", seen.from_ns, seen.to_ns
    )
    last_s = part.seconds(seen.to_ns)
    return Outstanding(
        labels=part.labels,
        from_s=part.seconds(seen.from_ns),
        to_s=last_s,
        flight=tuple(flight),
        advertised=_least_of_bins(part, heard) if part.chunks is None else _each(part, seen),
        by_sack=part.chunks is not None,
        closed=tuple(
            (start, last_s if np.isnan(end) else end)
            for start, end in zip(
                columns.seconds(closed, "start_ns", part.origin_ns).tolist(),
                columns.seconds(closed, "end_ns", part.origin_ns).tolist(),
                strict=True,
            )
        ),
    )


def _least_of_bins(part: Part, heard: pa.Table) -> Steps:
    """Least window of each bin, over the paths that SACKs came on."""
    least = columns.numbers(heard, "a_rwnd_min_bytes", 1e-3)
    heard, least = columns.chosen(heard, np.isfinite(least)), least[np.isfinite(least)]
    if not len(least):
        return Steps(np.empty(0), np.empty(0))
    starts = columns.integers(heard, "start_ns")
    first = np.concatenate(([0], np.flatnonzero(np.diff(starts) > 0) + 1))
    least = np.minimum.reduceat(least, first)
    return bins.levels(starts[first], least, part.bin_ns, part.origin_ns)


def _each(part: Part, seen: Window) -> Steps:
    """Window of each SACK in rows of chunks."""
    chunks = part.chunks
    if chunks is None:
        return Steps(np.empty(0), np.empty(0))
    own = columns.touching(
        columns.of(chunks, association=part.association["id"]),
        "time_ns",
        "time_ns",
        seen.from_ns,
        seen.to_ns,
    )
    is_theirs = np.array([one == part.other for one in columns.words(own, "sender")], bool)
    has_window = columns.integers(own, "a_rwnd") != columns.ABSENT
    has_tsn = columns.integers(own, "cumulative_tsn") != columns.ABSENT
    own = columns.chosen(own, is_theirs & has_window & has_tsn)
    x = columns.seconds(own, "time_ns", part.origin_ns)
    return Steps(x, columns.numbers(own, "a_rwnd", 1e-3))


def draw(found: Outstanding | None, look: Look) -> go.Figure:
    """Return the figure."""
    if found is None:
        return empty("A stored result has no ledger: there are no time bins to draw.", look)
    if not len(found.advertised.x) and not any(len(line.x) for _, line in found.flight):
        return empty("Nothing of this sender was outstanding in this window.", look)
    sheet = Sheet(look, lines=len(found.flight) + 1, shares=SHARES, height_px=HEIGHT_PX)
    for path, line in found.flight:
        sheet.line(
            line.x,
            line.y,
            name=f"outstanding: {escaped(found.labels[path])}",
            path=path,
            line={"shape": "hv"},
            hovertemplate="%{x:.3f} s: %{y:.4g} kB<extra>%{fullData.name}</extra>",
        )
    sheet.line(
        found.advertised.x,
        found.advertised.y,
        name="advertised window",
        row=2,
        line={"color": look.colours.ink, "width": 1, "shape": "hv"},
        hovertemplate="%{x:.3f} s: %{y:.4g} kB<extra>%{fullData.name}</extra>",
    )
    for number, (start, end) in enumerate(found.closed[:MOST_MARKS]):
        sheet.shade(start, end, "window closed" if number == 0 else "")
    titles = ["outstanding [kB]", "a_rwnd [kB]"]
    sheet.axes(y=titles, x_range=(found.from_s, found.to_s))
    sheet.figure.update_yaxes(rangemode="tozero")
    return sheet.done(*_words(found))


def _words(found: Outstanding) -> list[str]:
    words = ["The window of each SACK." if found.by_sack else "The least window of each time bin."]
    if not len(found.advertised.x):
        words = ["No SACK of the peer in this window."]
    if len(found.closed) > MOST_MARKS:
        words.append(f"Only the first {MOST_MARKS} times that it was closed are shaded.")
    words.append(left_out(len(found.labels), len(found.flight), MOST_PATHS))
    return words
