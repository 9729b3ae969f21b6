"""Throughput of each path over time, with the handoff regions shaded (study A)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from . import bins, clock, columns
from .about import About
from .sheet import MOST_MARKS, Sheet, empty
from .text import escaped, left_out

if TYPE_CHECKING:
    import plotly.graph_objects as go
    import pyarrow as pa

    from .bins import Steps
    from .look import Look
    from .part import Part, Window

ABOUT = About(
    title="Throughput",
    question="How much did each path carry, and what did handovers cost?",
    unit=f"bit/s; {clock.SECONDS}",
    definition=(
        "Bytes on the wire that the sender put on a path in a time bin, link header included, x 8 "
        "/ the bin's width; goodput: user bytes that a SACK in the bin acknowledged first, over "
        "all paths, likewise. A handoff region lasts from the acknowledgement of an ASCONF ADD to "
        "that of the next DELETE by the same end (study A)."
    ),
    basis=("observed",),
)

MOST_PATHS = 12


@dataclass(frozen=True, slots=True)
class Throughput:
    """What the figure draws; x in seconds since frame 1, y in bit/s.

    `regions` are handoff regions, `moves` the first new DATA of handovers.
    """

    labels: tuple[str, ...]
    paths: tuple[int, ...]
    from_s: float
    to_s: float
    bin_s: float
    sent: tuple[Steps, ...]
    goodput: Steps
    regions: tuple[tuple[float, float], ...]
    moves: tuple[float, ...]


def inputs(part: Part, window: Window | None = None) -> Throughput | None:
    """Return what the figure draws of one sender's bytes; None without a ledger."""
    if part.tables is None:
        return None
    seen = part.window(window)
    paths = part.paths(MOST_PATHS)
    width_ns = bins.width(part.bin_ns, seen)
    table = bins.in_window(part.rows("intervals", part.sender), width_ns, seen)
    from_s, to_s = part.seconds(seen.from_ns), part.seconds(seen.to_ns)
    regions = [
        (part.seconds(region["start"]["ns"]), part.seconds(region["end"]["ns"]))
        for region in part.association["handoff_regions"]
    ]
    moves = [
        part.seconds(one["instants"]["t_first_new"]["ns"])
        for one in part.association["handovers"]
        if one["sender"] == part.sender
    ]
    return Throughput(
        labels=part.labels,
        paths=paths,
        from_s=from_s,
        to_s=to_s,
        bin_s=width_ns / columns.NS_PER_S,
        sent=tuple(
            _rate(part, columns.of(table, path=path), "wire_bytes", width_ns) for path in paths
        ),
        goodput=_rate(part, table, "acked_bytes", width_ns),
        regions=tuple((a, b) for a, b in regions if a <= to_s and b >= from_s),
        moves=tuple(at for at in moves if from_s <= at <= to_s),
    )


def _rate(part: Part, table: pa.Table, name: str, width_ns: int) -> Steps:
    starts = bins.widened(columns.integers(table, "start_ns"), width_ns)
    scale = 8 * columns.NS_PER_S / width_ns
    return bins.steps(starts, columns.integers(table, name), width_ns, part.origin_ns, scale)


def draw(found: Throughput | None, look: Look) -> go.Figure:
    """Return the figure."""
    if found is None:
        return empty("A stored result has no ledger: there are no time bins to draw.", look)
    most = max((float(line.y.max()) for line in found.sent if len(line.y)), default=0.0)
    if most == 0:
        return empty("This sender put nothing on these paths in this window.", look)
    scale, unit = bins.rate_unit(most)
    sheet = Sheet(look, lines=len(found.sent) + 1)
    for path, line in zip(found.paths, found.sent, strict=True):
        sheet.line(
            line.x,
            line.y * scale,
            name=escaped(found.labels[path]),
            path=path,
            line={"shape": "hv"},
            hovertemplate=f"%{{x:.3f}} s: %{{y:.4g}} {unit}<extra>%{{fullData.name}}</extra>",
        )
    sheet.line(
        found.goodput.x,
        found.goodput.y * scale,
        name="goodput, all paths",
        line={"shape": "hv", "color": look.colours.ink, "width": 1},
        hovertemplate=f"%{{x:.3f}} s: %{{y:.4g}} {unit}<extra>%{{fullData.name}}</extra>",
    )
    for number, (start, end) in enumerate(found.regions[:MOST_MARKS]):
        sheet.shade(start, end, "handoff region" if number == 0 else "")
    for at in found.moves[:MOST_MARKS]:
        sheet.upright(at)
    sheet.axes(y=[f"throughput [{unit}]"], x_range=(found.from_s, found.to_s))
    sheet.figure.update_yaxes(rangemode="tozero")
    return sheet.done(*_words(found))


def _words(found: Throughput) -> list[str]:
    words = [f"Time bins of {found.bin_s * 1000:g} ms; a narrower window has narrower ones."]
    if found.moves:
        words.append("Dotted: the first new DATA after a handover.")
    if max(len(found.moves), len(found.regions)) > MOST_MARKS:
        words.append(f"Only the first {MOST_MARKS} handovers and regions are marked.")
    words.append(left_out(len(found.labels), len(found.paths), MOST_PATHS))
    return words
