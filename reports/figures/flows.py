"""A TCP or UDP flow over time: throughput, and round-trip times, of both of its ends."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ...analyzer.columns import is_letter
from . import bins, clock, columns
from .about import About
from .part import Window
from .sheet import Sheet, empty, path_marking
from .text import counted

if TYPE_CHECKING:
    from collections.abc import Mapping

    import plotly.graph_objects as go
    import pyarrow as pa

    from ...analyzer.model import End
    from .bins import Steps
    from .columns import Floats, Ints
    from .look import Look
    from .part import Node

ABOUT = About(
    title="Throughput and round-trip time of the flow",
    question="How much did each end send, how long did answers take, and what was sent again?",
    unit=f"bit/s and ms; {clock.SECONDS}",
    definition=(
        "Bytes on the wire of a time bin x 8 / its width. Round-trip time: mean of a bin's "
        "samples of segments sent once (Karn's rule), from the capture to the peer and back. "
        "Crosses: segments sent again, at their time."
    ),
    basis=("observed",),
)

ENDS: tuple[End, End] = ("a", "b")

CAUSES = {"timeout": "x", "fast": "triangle-up", "probe": "diamond", "unknown": "circle-open"}


@dataclass(frozen=True, slots=True)
class Direction:
    """What one end sent: throughput in bit/s, mean round-trip times in ms at seconds x."""

    end: End
    name: str
    sent: Steps
    x: Floats
    rtt_ms: Floats


@dataclass(frozen=True, slots=True)
class Resent:
    """Segments that were sent again, a row each: whether b's, seconds, frame, cause."""

    is_b: columns.Bools
    x: Floats
    frame: Ints
    cause: list[str | None]


@dataclass(frozen=True, slots=True)
class Flow:
    """What the figure draws; x in seconds since frame 1.

    `bin_s` is the width of the bins of throughput, `ledger_bin_s` that of the ledger's.
    """

    from_s: float
    to_s: float
    bin_s: float
    ledger_bin_s: float
    directions: tuple[Direction, ...]
    resent: Resent


def inputs(
    flow: Node,
    tables: Mapping[str, pa.Table] | None,
    origin_ns: int,
    window: Window | None = None,
    bin_ns: int = 100_000_000,
) -> Flow | None:
    """Return what the figure draws of a flow; None without a ledger.

    Parameters
    ----------
    flow
        Its entry in a document of `pathscope.result/1`.
    tables
        Its capture's ledger.
    origin_ns
        Frame 1 of its capture, in ns since 1970.
    window
        None for all of it.
    bin_ns
        Width of the ledger's time bins.
    """
    if tables is None:
        return None
    seen = window or Window(flow["start_ns"], flow["end_ns"])
    width_ns = bins.width(bin_ns, seen)
    table = bins.in_window(columns.of(tables["flow_intervals"], flow=flow["id"]), width_ns, seen)
    resent = columns.touching(
        columns.of(tables["tcp_retransmissions"], flow=flow["id"]),
        "time_ns",
        "time_ns",
        seen.from_ns,
        seen.to_ns,
    )
    return Flow(
        from_s=(seen.from_ns - origin_ns) / columns.NS_PER_S,
        to_s=(seen.to_ns - origin_ns) / columns.NS_PER_S,
        bin_s=width_ns / columns.NS_PER_S,
        ledger_bin_s=bin_ns / columns.NS_PER_S,
        directions=tuple(
            _direction(flow, table, end, origin_ns, (bin_ns, width_ns)) for end in ENDS
        ),
        resent=Resent(
            is_letter(resent["sender"], "b"),
            columns.seconds(resent, "time_ns", origin_ns),
            columns.integers(resent, "frame"),
            columns.words(resent, "cause"),
        ),
    )


def _direction(
    flow: Node, table: pa.Table, end: End, origin_ns: int, widths_ns: tuple[int, int]
) -> Direction:
    """Return what an end sent, in the ledger's bins (round trips) and in wide ones (bytes)."""
    bin_ns, width_ns = widths_ns
    own = bins.ordered(columns.of(table, sender=end))
    start_ns, wire_bytes = (columns.integers(own, name) for name in ("start_ns", "wire_bytes"))
    count = columns.numbers(own, "rtt_count")
    has_sample = count > 0
    socket = flow["endpoints"][end]
    return Direction(
        end,
        f"{end}, {socket['address']} port {socket['port']}",
        bins.steps(
            bins.widened(start_ns, width_ns),
            wire_bytes,
            width_ns,
            origin_ns,
            8 * columns.NS_PER_S / width_ns,
        ),
        bins.middles(own, bin_ns, origin_ns)[has_sample],
        columns.numbers(own, "rtt_sum_ns", 1e-6)[has_sample] / count[has_sample],
    )


def draw(found: Flow | None, look: Look) -> go.Figure:
    """Return the figure."""
    if found is None:
        return empty("A stored result has no ledger: there are no time bins to draw.", look)
    most = max((float(one.sent.y.max()) for one in found.directions if len(one.sent.y)), default=0)
    if most == 0:
        return empty("The flow has no packet in this window.", look)
    scale, unit = bins.rate_unit(most)
    has_rtt = any(len(one.x) for one in found.directions)
    shares = (0.55, 0.45) if has_rtt else (1.0,)
    sheet = Sheet(look, lines=6, shares=shares, height_px=440 if has_rtt else 300)
    for number, one in enumerate(found.directions):
        sheet.line(
            one.sent.x,
            one.sent.y * scale,
            name=f"sent by {one.name}",
            path=number,
            line={"shape": "hv"},
            hovertemplate=f"%{{x:.3f}} s: %{{y:.4g}} {unit}<extra>%{{fullData.name}}</extra>",
        )
        sheet.line(
            *bins.broken(one.x, found.ledger_bin_s, one.rtt_ms),
            name=f"RTT seen by {one.end}",
            path=number,
            row=len(shares),
            mode="lines+markers",
            marker=path_marking(number, look, size=4),
            line={"width": 1},
            hovertemplate="%{x:.3f} s: %{y:.4g} ms<extra>%{fullData.name}</extra>",
        )
    _draw_resent(sheet, found)
    titles = [f"throughput [{unit}]", "RTT [ms]"][: len(shares)]
    sheet.axes(y=titles, x_range=(found.from_s, found.to_s))
    sheet.figure.update_yaxes(rangemode="tozero")
    again = len(found.resent.x)
    return sheet.done(
        f"Time bins of {found.bin_s * 1000:g} ms for throughput, narrower in a narrower window.",
        "" if has_rtt else "No round trip was seen.",
        f"{counted(again, 'segment')} sent again." if again else "",
    )


def _draw_resent(sheet: Sheet, found: Flow) -> None:
    causes = np.array(found.resent.cause, str)
    for number, end in enumerate(ENDS):
        for cause, symbol in CAUSES.items():
            own = (found.resent.is_b == (end == "b")) & (causes == cause)
            x = found.resent.x[own]
            sheet.events(
                x,
                np.zeros(len(x)),
                name=f"sent again by {end}: {cause}",
                data=found.resent.frame[own],
                marker={
                    "symbol": symbol,
                    "size": 8,
                    "color": sheet.look.path(number),
                    "line": {"width": 1, "color": sheet.look.colours.ink},
                },
                cliponaxis=False,
                hovertemplate="%{x:.6f} s: frame %{customdata}<extra>%{fullData.name}</extra>",
            )
