"""A handover from its first instant to its last, with every instant marked by its basis."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import plotly.graph_objects as go

from ..units import duration
from . import clock, columns
from .about import About
from .part import Window, bounds
from .sheet import Sheet, empty
from .text import escaped

if TYPE_CHECKING:
    from .columns import Bools, Floats, Ints
    from .look import Look
    from .part import Node, Part

ABOUT = About(
    title="Instants of the handover",
    question="What happened when, from the last DATA that arrived until all was delivered?",
    unit=clock.SECONDS,
    definition=(
        "The instants of docs/metrics.md, from t_last_ok to t_recovered: filled circles are "
        "frames (observed), diamonds the user's word (annotated), hollow squares bounded by "
        "evidence (inferred), with their bounds. Below: DATA of the sender by path, new and sent "
        "again."
    ),
    basis=("observed", "annotated", "inferred"),
)

MARKS = {"observed": "circle", "annotated": "diamond", "inferred": "square-open"}

MARGIN = 0.05
"""Of the handover's time, on either side."""

ROW_PX = 24


@dataclass(frozen=True, slots=True)
class Instant:
    """An instant that is known: seconds since frame 1, its bounds."""

    name: str
    at_s: float
    low_s: float
    high_s: float
    basis: str
    frame: int | None


@dataclass(frozen=True, slots=True)
class Packets:
    """DATA chunks of the sender, a row each: path, seconds, whether new, frame."""

    path: Ints
    at_s: Floats
    is_new: Bools
    frame: Ints


@dataclass(frozen=True, slots=True)
class Instants:
    """What the figure draws.

    Attributes
    ----------
    known
        In the order of time.
    absent
        Names of those that the capture cannot give, with the reason.
    ways
        Ids of the old path and the new one, and of others with DATA in the window.
    packets
        None where no chunks were read.
    """

    labels: tuple[str, ...]
    from_s: float
    to_s: float
    known: tuple[Instant, ...]
    absent: tuple[tuple[str, str], ...]
    ways: tuple[int, ...]
    packets: Packets | None


def window(part: Part) -> Window | None:
    """Return the window of a handover: from its first instant to its last, and a margin."""
    handover = chosen(part)
    if handover is None:
        return None
    times = [one["ns"] for one in handover["instants"].values() if one["ns"] is not None]
    margin = max(int((max(times) - min(times)) * MARGIN), 1_000_000)
    return Window(min(times) - margin, max(times) + margin)


def chosen(part: Part) -> Node | None:
    """Return the handover that was chosen, if there is one."""
    handovers: list[Node] = part.association["handovers"]
    if part.handover is None or not 0 <= part.handover < len(handovers):
        return None
    return handovers[part.handover]


def inputs(part: Part, within: Window | None = None) -> Instants | None:
    """Return what the figure draws of a handover, in a window or in its own; None without one."""
    handover, seen = chosen(part), within or window(part)
    if handover is None or seen is None:
        return None
    known = sorted(
        (
            _instant(part, name, one)
            for name, one in handover["instants"].items()
            if one["ns"] is not None
        ),
        key=lambda one: one.at_s,
    )
    packets = _packets(part, seen, handover["sender"])
    others = [] if packets is None else np.unique(packets.path).tolist()
    ways = dict.fromkeys((handover["from_path"], handover["to_path"], *others))
    return Instants(
        labels=part.labels,
        from_s=part.seconds(seen.from_ns),
        to_s=part.seconds(seen.to_ns),
        known=tuple(known),
        absent=tuple(
            (name, one["reason"]) for name, one in handover["instants"].items() if one["ns"] is None
        ),
        ways=tuple(ways),
        packets=packets,
    )


def _instant(part: Part, name: str, one: Node) -> Instant:
    low_ns, high_ns = bounds(one)
    return Instant(
        name,
        part.seconds(one["ns"]),
        part.seconds(low_ns),
        part.seconds(high_ns),
        one["basis"],
        one["frame"],
    )


def _packets(part: Part, seen: Window, sender: str) -> Packets | None:
    if part.chunks is None:
        return None
    own = columns.touching(
        columns.of(part.chunks, association=part.association["id"]),
        "time_ns",
        "time_ns",
        seen.from_ns,
        seen.to_ns,
    )
    is_theirs = np.array([one == sender for one in columns.words(own, "sender")], bool)
    is_data = columns.integers(own, "user_bytes") != columns.ABSENT
    transmission = columns.integers(own, "transmission")
    own = columns.chosen(own, is_theirs & is_data & (transmission != columns.ABSENT))
    return Packets(
        columns.integers(own, "path"),
        columns.seconds(own, "time_ns", part.origin_ns),
        columns.integers(own, "transmission") <= 1,
        columns.integers(own, "frame"),
    )


def draw(found: Instants | None, look: Look) -> go.Figure:
    """Return the figure."""
    if found is None:
        return empty("No handover was chosen, or the association has none.", look)
    rows = len(found.known)
    has_packets = found.packets is not None
    lanes = len(found.ways) if has_packets else 0
    height_px = 130 + ROW_PX * (rows + 2 * lanes)
    share = 2 * lanes / (rows + 2 * lanes)
    shares = (1 - share, share) if has_packets else (1.0,)
    sheet = Sheet(look, lines=2 * max(lanes, 1), height_px=height_px, shares=shares)
    for basis, symbol in MARKS.items():
        _draw_instants(sheet, found, basis, symbol)
    for one in found.known:
        sheet.upright(one.at_s)
    if found.packets is not None:
        _draw_packets(sheet, found, found.packets)
    sheet.axes(y=["", "DATA on"][: len(shares)], x_range=(found.from_s, found.to_s))
    sheet.figure.update_yaxes(
        tickvals=list(range(rows)),
        ticktext=[one.name for one in found.known],
        range=[rows - 0.5, -0.5],
        row=1,
        col=1,
    )
    absent = "; ".join(f"{name} ({reason})" for name, reason in found.absent)
    return sheet.done(
        _span(found),
        f"Absent: {absent}." if absent else "",
        "" if has_packets else "Without the window's chunks, no DATA is drawn.",
    )


def _span(found: Instants) -> str:
    first, last = found.known[0], found.known[-1]
    return f"{duration(last.at_s - first.at_s)} from {first.name} to {last.name}."


def _draw_instants(sheet: Sheet, found: Instants, basis: str, symbol: str) -> None:
    own = [(row, one) for row, one in enumerate(found.known) if one.basis == basis]
    if not own:
        return
    ink = sheet.look.colours.ink
    sheet.add(
        go.Scatter(
            mode="markers",
            x=[one.at_s for _, one in own],
            y=[row for row, _ in own],
            error_x={
                "type": "data",
                "symmetric": False,
                "array": [one.high_s - one.at_s for _, one in own],
                "arrayminus": [one.at_s - one.low_s for _, one in own],
                "color": ink,
                "thickness": 1.5,
                "visible": basis == "inferred",
            },
            name=basis,
            customdata=[
                f"{one.name}, frame {one.frame}" if one.frame is not None else one.name
                for _, one in own
            ],
            hovertemplate="%{x:.6f} s: %{customdata} (%{fullData.name})<extra></extra>",
            marker={"symbol": symbol, "size": 10, "color": ink, "line": {"width": 2}},
        )
    )


def _draw_packets(sheet: Sheet, found: Instants, packets: Packets) -> None:
    for lane, path in enumerate(found.ways):
        for is_new, word, symbol in ((True, "new", "line-ns-open"), (False, "sent again", "x")):
            own = (packets.path == path) & (packets.is_new == is_new)
            at = packets.at_s[own]
            sheet.events(
                at,
                np.full(len(at), float(lane)),
                name=f"{word}: {escaped(found.labels[path])}",
                row=2,
                data=packets.frame[own],
                marker={
                    "symbol": symbol,
                    "size": 14 if is_new else 8,
                    "color": sheet.look.path(path),
                    "line": {"width": 1.5, "color": sheet.look.path(path)},
                },
                hovertemplate="%{x:.6f} s: frame %{customdata}<extra>%{fullData.name}</extra>",
            )
    longest = 14 if sheet.look.is_narrow else 36
    sheet.figure.update_yaxes(
        tickvals=list(range(len(found.ways))),
        ticktext=[escaped(found.labels[path], longest) for path in found.ways],
        range=[len(found.ways) - 0.5, -0.5],
        row=2,
        col=1,
    )
