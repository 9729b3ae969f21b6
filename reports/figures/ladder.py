"""Packets between the two hosts, path by path: a ladder, time going down."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING, Any

import plotly.graph_objects as go

from ..report.theme import path_colour, template
from . import columns, instants
from .about import About
from .sheet import captioned, empty, level
from .text import counted, escaped

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ...analyzer.model import End
    from .look import Look
    from .part import Part, Window

Row = dict[str, Any]

ABOUT = About(
    title="Packets between the hosts",
    question="Which packet went which way, on which path, when?",
    unit="seconds since the association's first packet, downwards",
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

PACKET_PX, LEAST_PX, MOST_PX = 13, 360, 2600

HOSTS_APART, PATHS_APART = 1.0, 1.6
"""Between the two hosts of a path, and from one path to the next."""

LABELLED_PX = 150
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
        Instants of the handover in the window, by name.
    """

    labels: tuple[str, ...]
    paths: tuple[int, ...]
    hosts: tuple[tuple[str, str], ...]
    packets: tuple[Packet, ...]
    count: int
    marks: tuple[tuple[str, float], ...]
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
            (name, part.seconds(one["ns"]))
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
        marks=tuple(one for one in marks if one[1] <= shown[-1].at_s),
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
            ", ".join(_words(chunks)),
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
    places = {path: number * PATHS_APART for number, path in enumerate(found.paths)}
    has_room = look.width_px / len(found.paths) >= LABELLED_PX
    first, last = found.packets[0].at_s, found.packets[-1].at_s
    margin = max((last - first) * 0.02, 1e-6)
    for path, place in places.items():
        _draw_hosts(figure, look, place, first - margin, last + margin)
        for again in (False, True):
            own = [one for one in found.packets if one.path == path and one.is_sent_again == again]
            _draw_packets(figure, own, place, again=again, label=found.labels[path],
                          has_room=has_room)  # fmt: skip
    for name, at in found.marks:
        level(figure, at, name, look)
    _lay_out(figure, found, look, places, (first - margin, last + margin))
    words = ["Arrows are level: one capture has one time for each packet."]
    if len(found.packets) < found.count:
        words.append(
            f"The first {len(found.packets):,} of {counted(found.count, 'packet')} are drawn: "
            "choose a narrower window for the others."
        )
    return captioned(figure, words)


def _draw_hosts(figure: go.Figure, look: Look, place: float, top: float, bottom: float) -> None:
    for x in (place, place + HOSTS_APART):
        figure.add_shape(
            type="line",
            x0=x,
            x1=x,
            y0=top,
            y1=bottom,
            line={"width": 1.5, "color": look.colours.ink},
            layer="below",
        )


def _draw_packets(
    figure: go.Figure, own: list[Packet], place: float, *, again: bool, label: str, has_room: bool
) -> None:
    if not own:
        return
    x: list[float | None] = []
    y: list[float | None] = []
    told: list[str | None] = []
    for one in own:
        ends = (place, place + HOSTS_APART)
        start, end = ends if one.sender == "a" else ends[::-1]
        x += [start, (start + end) / 2, end, None]
        y += [one.at_s] * 3 + [None]
        told += [f"frame {one.frame}: {one.text}"] * 3 + [None]
    count = len(own)
    colour = path_colour(own[0].path)
    figure.add_trace(
        go.Scatter(
            x=x,
            y=y,
            customdata=told,
            name=f"{escaped(label)}{', sent again' if again else ''}",
            mode="lines+markers+text" if has_room else "lines+markers",
            text=[word for one in own for word in (None, one.text, None, None)]
            if has_room
            else None,
            textposition="top center",
            textfont={"size": 9},
            line={"color": colour, "width": 1.2, "dash": "dash" if again else "solid"},
            marker={
                "symbol": "arrow",
                "angleref": "previous",
                "size": [0, 0, 9, 0] * count,
                "color": colour,
            },
            hovertemplate="%{y:.6f} s<br>%{customdata}<extra>%{fullData.name}</extra>",
        )
    )


def _lay_out(
    figure: go.Figure,
    found: Ladder,
    look: Look,
    places: dict[int, float],
    y_range: tuple[float, float],
) -> None:
    longest = 12 if look.is_narrow else 40
    ticks = [
        (places[path] + across, host)
        for path, hosts in zip(found.paths, found.hosts, strict=True)
        for across, host in zip((0.0, HOSTS_APART), hosts, strict=True)
    ]
    height_px = min(max(LEAST_PX, 140 + PACKET_PX * len(found.packets)), MOST_PX)
    figure.update_layout(
        template=template(look.theme),
        height=height_px,
        margin={"l": 8 if look.is_narrow else 72, "r": 16, "t": 16, "b": 8},
        legend={"orientation": "h", "y": -0.02, "yanchor": "top"},
        hovermode="closest",
    )
    figure.update_xaxes(
        side="top",
        tickvals=[x for x, _ in ticks],
        ticktext=[escaped(host, longest) for _, host in ticks],
        range=[-0.25, places[found.paths[-1]] + HOSTS_APART + 0.25],
        showgrid=False,
        zeroline=False,
    )
    figure.update_yaxes(
        title_text="time since the association's first packet [s]",
        range=[y_range[1], y_range[0]],
        zeroline=False,
    )
