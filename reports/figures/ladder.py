"""Packets between the two hosts, path by path: a ladder, time going down."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import plotly.graph_objects as go

from . import clock, columns, instants
from .about import About
from .sheet import captioned, empty, level
from .text import counted, escaped

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ...analyzer.model import End
    from .columns import Floats
    from .look import Look
    from .part import Part, Window

Row = dict[str, Any]

ABOUT = About(
    title="Packets between the hosts",
    question="Which packet went which way, on which path, when?",
    unit=f"{clock.SECONDS}, downwards; a row a packet",
    definition=(
        "Every SCTP packet of the window, with its chunks, from its sender to its receiver, at "
        "the time at which the capture has it. How long it was on its way, and whether it "
        "arrived, one capture does not show. Broken lines carry DATA that were sent before."
    ),
    basis=("observed",),
)

MOST_PACKETS = 250
"""More cannot be told apart on a screen."""

MOST_PATHS = 6

PACKET_PX, LEAST_PX = 17, 320
"""Height of a packet's row, with room for its words, and of the least figure."""

PAUSE, GAP = 0.05, 1.2
"""From which share of the whole time on a pause is shown, and by how many rows."""

LONGEST = 60
"""Letters of what is said of a packet."""

MOST_TIMES = 60
"""Beside the rows."""

HOSTS_APART, PATHS_APART = 1.0, 1.6
"""Between the two hosts of a path, and from one path to the next."""

LABELLED_PX = 240
"""A path narrower than this has no room for what its packets say."""

COLUMNS = ("frame", "time_ns", "sender", "path", "chunk_name", "tsn", "transmission",
           "cumulative_tsn", "duplicate_frame")  # fmt: skip


@dataclass(frozen=True, slots=True)
class Packet:
    """A packet: its frame, path, sender, seconds, chunks in words, whether sent before."""

    frame: int
    path: int
    sender: End
    at_s: float
    text: str
    is_sent_again: bool


class Mark(NamedTuple):
    """An instant of the handover: its name, seconds since frame 1, frame (None: no frame's)."""

    name: str
    at_s: float
    frame: int | None


@dataclass(frozen=True, slots=True)
class Ladder:
    """What the figure draws; `reason` says why there is nothing.

    Attributes
    ----------
    hosts
        Addresses of a and b by path, in the order of `paths`.
    count
        Packets in the window, of which `packets` has the first.
    marks
        Instants of the handover in the window.
    """

    labels: tuple[str, ...]
    paths: tuple[int, ...]
    hosts: tuple[tuple[str, str], ...]
    packets: tuple[Packet, ...]
    count: int
    marks: tuple[Mark, ...]
    reason: str = ""


def inputs(part: Part, window: Window | None = None) -> Ladder:
    """Return the packets of a window, or of the handover that was chosen."""
    nothing = Ladder(part.labels, (), (), (), 0, ())
    if part.chunks is None:
        return _because(
            nothing,
            "The packets of this window were not read: choose a narrower one, or a handover.",
        )
    seen = part.window(window or instants.window(part))
    table = columns.touching(
        columns.of(part.chunks, association=part.association["id"], path=part.path),
        "time_ns",
        "time_ns",
        seen.from_ns,
        seen.to_ns,
    )
    rows = table.select(list(COLUMNS)).to_pylist()
    packets = list(_packets(part, rows))
    if not packets:
        return _because(nothing, "No packet of the association in this window.")
    shown = packets[:MOST_PACKETS]
    paths = tuple(sorted({one.path for one in shown}))[:MOST_PATHS]
    nodes = part.association["paths"]
    handover = instants.chosen(part)
    marks = (
        []
        if handover is None
        else [
            Mark(name, part.seconds(one["ns"]), one["frame"])
            for name, one in handover["instants"].items()
            if one["ns"] is not None and seen.from_ns <= one["ns"] <= seen.to_ns
        ]
    )
    return Ladder(
        labels=part.labels,
        paths=paths,
        hosts=tuple((nodes[path]["a_address"], nodes[path]["b_address"]) for path in paths),
        packets=tuple(one for one in shown if one.path in paths),
        count=len(packets),
        marks=tuple(one for one in marks if one.at_s <= shown[-1].at_s),
    )


def _because(nothing: Ladder, reason: str) -> Ladder:
    return Ladder(nothing.labels, (), (), (), 0, (), reason)


def _packets(part: Part, rows: list[Row]) -> Iterator[Packet]:
    """Yield packets out of rows of chunks; copies of frames, which have no path, are left out."""
    own = [row for row in rows if row["path"] is not None and not row["duplicate_frame"]]
    for frame, group in groupby(own, key=lambda row: row["frame"]):
        chunks = list(group)
        first = chunks[0]
        yield Packet(
            frame,
            first["path"],
            first["sender"],
            part.seconds(first["time_ns"]),
            escaped(", ".join(_words(chunks)), LONGEST),
            any((row["transmission"] or 0) > 1 for row in chunks),
        )


def _words(chunks: list[Row]) -> Iterator[str]:
    """Name a packet's chunks, those of one type in a row together."""
    for name, group in groupby(chunks, key=lambda row: row["chunk_name"]):
        same = list(group)
        tsns = [row["tsn"] for row in same if row["tsn"] is not None]
        if tsns:
            yield f"{name} {tsns[0]}" if len(tsns) == 1 else f"{name} {tsns[0]}..{tsns[-1]}"
        elif same[0]["cumulative_tsn"] is not None:
            yield f"{name} {same[-1]['cumulative_tsn']}"
        else:
            yield name if len(same) == 1 else f"{name} x {len(same)}"


def draw(found: Ladder, look: Look) -> go.Figure:
    """Return the figure."""
    if not found.packets:
        return empty(found.reason, look)
    figure = go.Figure()
    across = {path: number * PATHS_APART for number, path in enumerate(found.paths)}
    down = _rows(found.packets)
    has_room = look.width_px / len(found.paths) >= LABELLED_PX
    bottom = float(down[-1]) + 1
    for path, place in across.items():
        _draw_hosts(figure, look, place, bottom)
        for again in (False, True):
            own = [
                (float(row), one)
                for row, one in zip(down, found.packets, strict=True)
                if one.path == path and one.is_sent_again == again
            ]
            label = f"{escaped(found.labels[path])}{', sent again' if again else ''}"
            _draw_packets(figure, own, place, label, look, has_room=has_room)
    _draw_marks(figure, found, down, look)
    _lay_out(figure, found, look, across, down)
    words = ["Arrows are level: one capture has one time for each packet. A gap is a pause."]
    if len(found.packets) < found.count:
        words.append(
            f"The first {len(found.packets):,} of {counted(found.count, 'packet')} are drawn: "
            "choose a narrower window for the others."
        )
    return captioned(figure, words)


def _rows(packets: tuple[Packet, ...]) -> Floats:
    """Return the row of each packet: one after the other, with gaps where nothing was sent."""
    times = np.array([one.at_s for one in packets])
    pauses = np.diff(times, prepend=times[0])
    is_long = pauses > max(float(times[-1] - times[0]) * PAUSE, 0.0)
    rows: Floats = np.cumsum(1.0 + is_long * GAP)
    return rows


def _draw_hosts(figure: go.Figure, look: Look, place: float, bottom: float) -> None:
    for x in (place, place + HOSTS_APART):
        figure.add_shape(
            type="line",
            x0=x,
            x1=x,
            y0=0,
            y1=bottom,
            line={"width": 1.5, "color": look.colours.ink},
            layer="below",
        )


def _draw_packets(
    figure: go.Figure,
    own: list[tuple[float, Packet]],
    place: float,
    label: str,
    look: Look,
    *,
    has_room: bool,
) -> None:
    if not own:
        return
    x: list[float | None] = []
    y: list[float | None] = []
    told: list[str | None] = []
    for row, one in own:
        ends = (place, place + HOSTS_APART)
        start, end = ends if one.sender == "a" else ends[::-1]
        x += [start, (start + end) / 2, end, None]
        y += [row] * 3 + [None]
        told += [f"frame {one.frame}, {clock.written(one.at_s)} s: {one.text}"] * 3 + [None]
    first = own[0][1]
    colour = look.path(first.path)
    figure.add_trace(
        go.Scatter(
            x=x,
            y=y,
            customdata=told,
            name=label,
            mode="lines+markers",
            line={
                "color": colour,
                "width": 1.2,
                "dash": "dash" if first.is_sent_again else "solid",
            },
            marker={
                "symbol": "arrow",
                "angleref": "previous",
                "size": [0, 0, 9, 0] * len(own),
                "color": colour,
                "opacity": 1,
                "line": {"width": 0},
            },
            hovertemplate="%{customdata}<extra>%{fullData.name}</extra>",
        )
    )
    if has_room:
        figure.add_trace(
            go.Scatter(
                x=[place + HOSTS_APART / 2] * len(own),
                y=[row for row, _ in own],
                mode="text",
                text=[one.text for _, one in own],
                textposition="top center",
                textfont={"size": 9},
                name="chunks",
                hoverinfo="skip",
                showlegend=False,
            )
        )


def _draw_marks(figure: go.Figure, found: Ladder, down: Floats, look: Look) -> None:
    """Draw the handover's instants at their packets, or before the first one after them."""
    times = np.array([one.at_s for one in found.packets])
    rows = {one.frame: float(row) for row, one in zip(down, found.packets, strict=True)}
    names: dict[float, list[str]] = {}
    for name, at_s, frame in found.marks:
        after = float(down[min(int(np.searchsorted(times, at_s)), len(down) - 1)])
        row = rows.get(frame, after - 0.5) if frame is not None else after - 0.5
        names.setdefault(row, []).append(name)
    for row, together in names.items():
        level(figure, row, ", ".join(together), look)


def _beside(found: Ladder, look: Look) -> float:
    """Return the room beside the last host: for the names of instants, where there are any."""
    if not found.marks:
        return 0.25
    return 1.4 if look.is_narrow else 0.6


def _lay_out(
    figure: go.Figure, found: Ladder, look: Look, across: dict[int, float], down: Floats
) -> None:
    longest = 7 if look.is_narrow else 40
    hosts = [
        (across[path] + right, host)
        for path, both in zip(found.paths, found.hosts, strict=True)
        for right, host in zip((0.0, HOSTS_APART), both, strict=True)
    ]
    bottom = float(down[-1]) + 1
    every = max(1, len(down) // MOST_TIMES)
    digits = 4 if look.is_narrow else 6
    figure.update_layout(
        template=look.template,
        height=max(LEAST_PX, 120 + int(PACKET_PX * bottom)),
        margin={"l": 72, "r": 16, "t": 40, "b": 8},
        legend={"orientation": "h", "y": -8 / (PACKET_PX * bottom), "yanchor": "top"},
        hovermode="closest",
    )
    figure.update_xaxes(
        side="top",
        tickvals=[x for x, _ in hosts],
        # Addresses of a network differ at their ends.
        ticktext=[
            escaped(host if len(host) <= longest else f"…{host[1 - longest :]}")
            for _, host in hosts
        ],
        tickangle=0,
        range=[-0.25, across[found.paths[-1]] + HOSTS_APART + _beside(found, look)],
        showgrid=False,
        zeroline=False,
    )
    figure.add_annotation(
        # An upright title would be in the middle of a figure that is longer than the screen.
        xref="paper", yref="paper", x=0, y=1, xanchor="right", yanchor="bottom", xshift=-6,
        text=clock.TITLE.replace("since ", "since<br>"), align="right", showarrow=False,
    )  # fmt: skip
    figure.update_yaxes(
        tickvals=down[::every],
        ticktext=[f"{one.at_s:.{digits}f}" for one in found.packets[::every]],
        range=[bottom, 0],
        showgrid=False,
        zeroline=False,
    )
