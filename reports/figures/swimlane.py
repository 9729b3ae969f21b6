"""Paths as lanes: their states, where new DATA went, HEARTBEATs, and what happened to links."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

import numpy as np
import plotly.graph_objects as go

from . import clock, columns, resample
from .about import About
from .part import LinkChange, bounds
from .sheet import Sheet, empty
from .text import escaped, left_out

if TYPE_CHECKING:
    from .columns import Floats, Ints
    from .look import Look
    from .part import Node, Part, Window

ABOUT = About(
    title="Paths",
    question="Where did new DATA go, in which state was each path, and what happened to its link?",
    unit=f"{clock.SECONDS}; a lane a path",
    definition=(
        "States are those that the sender must see (RFC 9260 section 8, RFC 7829). Bars are runs: "
        "new DATA chunks in sending order on one path, retransmissions left out. A HEARTBEAT is "
        "answered when a HEARTBEAT ACK has the same Heartbeat Information. A link changes by the "
        "user's word (annotated), or between bounds (inferred)."
    ),
    basis=("observed", "annotated", "inferred"),
)

MOST_LANES = 24

LANE_PX = 64

PATTERNS = {"ACTIVE": "", "UNCONFIRMED": ".", "PF": "/", "INACTIVE": "x"}
"""Of the states: what tells them apart without colour."""

STATE_HIGH, DATA_HIGH, HEARTBEATS_UP = 0.84, 0.3, 0.3
"""Of a lane: how high states and DATA are, and how far HEARTBEATs are above its middle."""


@dataclass(frozen=True, slots=True)
class Stretch:
    """A time that a path was in a state."""

    path: int
    state: str
    from_s: float
    to_s: float
    evidence: str


@dataclass(frozen=True, slots=True)
class Runs:
    """Runs of new DATA, a row each: path, from and to in seconds, chunks."""

    path: Ints
    from_s: Floats
    to_s: Floats
    chunks: Ints


@dataclass(frozen=True, slots=True)
class Heartbeats:
    """HEARTBEATs, a row each: path, seconds, round-trip time in ms (NaN: unanswered), frame."""

    path: Ints
    at_s: Floats
    rtt_ms: Floats
    frame: Ints


@dataclass(frozen=True, slots=True)
class Swimlane:
    """What the figure draws; times in seconds since frame 1.

    `runs` and `heartbeats` are None without a ledger.
    """

    labels: tuple[str, ...]
    lanes: tuple[int, ...]
    from_s: float
    to_s: float
    states: tuple[Stretch, ...]
    changes: tuple[tuple[LinkChange, float, float, float], ...]
    runs: Runs | None
    heartbeats: Heartbeats | None


def inputs(part: Part, window: Window | None = None) -> Swimlane:
    """Return what the figure draws of one sender's paths in a window of time."""
    seen = part.window(window)
    from_s, to_s = part.seconds(seen.from_ns), part.seconds(seen.to_ns)
    lanes = part.paths(MOST_LANES)
    changes = tuple(
        (one, part.seconds(one.ns), part.seconds(one.low_ns), part.seconds(one.high_ns))
        for one in link_changes(part)
        if one.path in lanes and one.low_ns <= seen.to_ns and one.high_ns >= seen.from_ns
    )
    has_ledger = part.tables is not None
    return Swimlane(
        labels=part.labels,
        lanes=lanes,
        from_s=from_s,
        to_s=to_s,
        states=tuple(
            replace(one, from_s=max(one.from_s, from_s), to_s=min(one.to_s, to_s))
            for path in lanes
            for one in _states(part, path)
            if one.from_s <= to_s and one.to_s >= from_s
        ),
        changes=changes,
        runs=_runs(part, seen, lanes) if has_ledger else None,
        heartbeats=_heartbeats(part, seen, lanes) if has_ledger else None,
    )


def link_changes(part: Part) -> list[LinkChange]:
    """Return the changes of links, each once: by the user's word, else as handovers bound them."""
    found = {(one.path, one.ns): one for one in part.links}
    for handover in part.association["handovers"]:
        if handover["sender"] != part.sender:
            continue
        for name, path, up in (
            ("t_fail", handover["from_path"], False),
            ("t_return_link", handover["to_path"], True),
        ):
            instant = handover["instants"][name]
            if instant["ns"] is not None:
                change = _change(instant, path, up=up)
                found.setdefault((path, change.ns), change)
    return sorted(found.values(), key=lambda one: (one.ns, one.path))


def _change(instant: Node, path: int, *, up: bool) -> LinkChange:
    ns: int = instant["ns"]
    basis: Literal["annotated", "inferred"] = (
        "inferred" if instant["basis"] == "inferred" else "annotated"
    )
    return LinkChange(path, ns, up, basis, *bounds(instant))


def _states(part: Part, path: int) -> list[Stretch]:
    """States of a path, each until the next one, the last until the association's end."""
    own = [one for one in part.association["paths"][path]["states"] if one["sender"] == part.sender]
    ends = [one["at"]["ns"] for one in own[1:]] + [part.association["end_ns"]]
    return [
        Stretch(
            path,
            one["state"],
            part.seconds(one["at"]["ns"]),
            part.seconds(max(end_ns, one["at"]["ns"])),
            one["evidence"],
        )
        for one, end_ns in zip(own, ends, strict=False)
    ]


def _runs(part: Part, seen: Window, lanes: tuple[int, ...]) -> Runs:
    table = columns.touching(
        part.rows("runs", part.sender), "first_ns", "last_ns", seen.from_ns, seen.to_ns
    )
    table = columns.chosen(table, np.isin(columns.integers(table, "path"), lanes))
    first, last = (columns.integers(table, name) for name in ("first_ns", "last_ns"))
    return Runs(
        columns.integers(table, "path"),
        columns.from_origin(np.maximum(first, seen.from_ns), part.origin_ns),
        columns.from_origin(np.minimum(last, seen.to_ns), part.origin_ns),
        columns.integers(table, "chunks"),
    )


def _heartbeats(part: Part, seen: Window, lanes: tuple[int, ...]) -> Heartbeats:
    table = columns.touching(
        part.rows("heartbeats", part.sender), "time_ns", "time_ns", seen.from_ns, seen.to_ns
    )
    table = columns.chosen(table, np.isin(columns.integers(table, "path"), lanes))
    return Heartbeats(
        columns.integers(table, "path"),
        columns.seconds(table, "time_ns", part.origin_ns),
        columns.numbers(table, "rtt_ns", 1e-6),
        columns.integers(table, "frame"),
    )


def draw(found: Swimlane, look: Look) -> go.Figure:
    """Return the figure."""
    if not found.lanes:
        return empty("The association has no such path.", look)
    height_px = 110 + LANE_PX * len(found.lanes)
    sheet = Sheet(look, lines=2, height_px=height_px)
    place = {path: lane for lane, path in enumerate(found.lanes)}
    for state in PATTERNS:
        _draw_states(sheet, [one for one in found.states if one.state == state], state, place)
    if found.runs is not None:
        _draw_runs(sheet, found, found.runs, place)
    if found.heartbeats is not None:
        _draw_heartbeats(sheet, found.heartbeats, place)
    _draw_changes(sheet, found, place)
    sheet.axes(y=["path"], x_range=(found.from_s, found.to_s))
    longest = 14 if look.is_narrow else 36
    sheet.figure.update_yaxes(
        tickvals=list(place.values()),
        ticktext=[escaped(found.labels[path], longest) for path in found.lanes],
        range=[len(found.lanes) - 0.5, -0.5],
        showgrid=False,
        zeroline=False,
    )
    return sheet.done(*_words(found))


def _words(found: Swimlane) -> list[str]:
    words = []
    if found.runs is None:
        words.append("A stored result has no ledger: no DATA and no HEARTBEATs are drawn.")
    words.append(left_out(len(found.labels), len(found.lanes), MOST_LANES))
    if any(one.basis == "inferred" for one, *_ in found.changes):
        words.append("Hollow marks of links are inferred, with their bounds.")
    return words


def _draw_states(sheet: Sheet, own: list[Stretch], state: str, place: dict[int, int]) -> None:
    if not own:
        return
    sheet.add(
        go.Bar(
            orientation="h",
            base=[one.from_s for one in own],
            x=[one.to_s - one.from_s for one in own],
            y=[place[one.path] for one in own],
            width=STATE_HIGH,
            name=state,
            customdata=[escaped(one.evidence, 160) for one in own],
            hovertemplate="%{base:.6f} s: %{fullData.name}<br>%{customdata}<extra></extra>",
            opacity=0.5 if state == "ACTIVE" else 0.8,
            marker={
                "color": sheet.look.colours.grid,
                "line": {"width": 1, "color": sheet.look.colours.muted},
                "pattern": {
                    "shape": PATTERNS[state],
                    "fgcolor": sheet.look.colours.muted,
                    "size": 7,
                    "solidity": 0.25,
                },
            },
        )
    )


def _draw_runs(sheet: Sheet, found: Swimlane, runs: Runs, place: dict[int, int]) -> None:
    pixel_s = (found.to_s - found.from_s) / sheet.look.width_px
    for path in found.lanes:
        own = runs.path == path
        merged = resample.stretches(runs.from_s[own], runs.to_s[own], runs.chunks[own], pixel_s)
        if not len(merged.start):
            continue
        sheet.add(
            go.Bar(
                orientation="h",
                base=merged.start,
                # A single packet takes no time, and is to be seen.
                x=np.maximum(merged.end - merged.start, pixel_s),
                y=np.full(len(merged.start), place[path]),
                width=DATA_HIGH,
                name=f"new DATA: {escaped(found.labels[path])}",
                customdata=merged.weight,
                hovertemplate="from %{base:.6f} s: %{customdata} new chunks<extra></extra>",
                marker={"color": sheet.look.path(path), "line": {"width": 0}},
            )
        )


def _draw_heartbeats(sheet: Sheet, beats: Heartbeats, place: dict[int, int]) -> None:
    ink = sheet.look.colours.ink
    lanes = np.array([place[path] for path in beats.path.tolist()], float) - HEARTBEATS_UP
    answered = ~np.isnan(beats.rtt_ms)
    for own, name, symbol, size in (
        (answered, "HEARTBEAT, answered", "triangle-up", 8),
        (~answered, "HEARTBEAT, unanswered", "x-thin-open", 9),
    ):
        told = np.stack([beats.frame[own], beats.rtt_ms[own]], axis=-1)
        rtt = ", answered after %{customdata[1]:.3f} ms" if symbol == "triangle-up" else ""
        sheet.events(
            beats.at_s[own],
            lanes[own],
            name=name,
            data=told,
            marker={"symbol": symbol, "size": size, "color": ink, "line": {"width": 1.5}},
            hovertemplate=f"%{{x:.6f}} s: HEARTBEAT in frame %{{customdata[0]:.0f}}{rtt}"
            "<extra></extra>",
        )


def _draw_changes(sheet: Sheet, found: Swimlane, place: dict[int, int]) -> None:
    for up, name, symbol in (
        (False, "link down", "triangle-down"),
        (True, "link up", "triangle-up"),
    ):
        own = [one for one in found.changes if one[0].up == up]
        if not own:
            continue
        sheet.add(
            go.Scatter(
                mode="markers",
                x=[at for _, at, _, _ in own],
                y=[place[one.path] for one, *_ in own],
                error_x={
                    "type": "data",
                    "symmetric": False,
                    "array": [high - at for _, at, _, high in own],
                    "arrayminus": [at - low for _, at, low, _ in own],
                    "color": sheet.look.colours.ink,
                    "thickness": 1.5,
                },
                name=name,
                customdata=[one.basis for one, *_ in own],
                hovertemplate="%{x:.6f} s: %{fullData.name} (%{customdata})<extra></extra>",
                marker={
                    "symbol": [
                        symbol if one.basis == "annotated" else f"{symbol}-open" for one, *_ in own
                    ],
                    "size": 13,
                    "color": sheet.look.colours.ink,
                    "line": {"width": 2, "color": sheet.look.colours.ink},
                },
            )
        )
