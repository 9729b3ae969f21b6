"""TSNs against time as columns: by chunk where a window's chunks were read, else by time bin."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING

import numpy as np

from . import bins, columns

if TYPE_CHECKING:
    import pyarrow as pa

    from .columns import Floats, Ints
    from .part import Part, Window

SACKS = ("SACK", "NR-SACK")

MOST_GAPS = 20_000
"""Gap blocks of a window: a hostile SACK has thousands."""

Names = np.ndarray[tuple[int], np.dtype[np.str_]]


@dataclass(frozen=True, slots=True)
class Line:
    """Points of one path, or of none: x in seconds, y distances of TSNs, frames (-1: none)."""

    path: int | None
    x: Floats
    y: Floats
    frame: Ints


@dataclass(frozen=True, slots=True)
class Gaps:
    """Stretches of one axis at places of the other: where, from, to."""

    at: Floats
    low: Floats
    high: Floats

    def upright(self) -> tuple[Floats, Floats]:
        """Return x and y of vertical lines, with breaks between."""
        return _broken(self.at, self.at), _broken(self.low, self.high, gap=np.nan)

    def level(self) -> tuple[Floats, Floats]:
        """Return x and y of horizontal lines, with breaks between."""
        return _broken(self.low, self.high), _broken(self.at, self.at, gap=np.nan)


@dataclass(frozen=True, slots=True)
class Resent:
    """Retransmissions, a row each."""

    x: Floats
    y: Floats
    path: Ints
    frame: Ints
    transmission: Ints
    cause: Names


@dataclass(frozen=True, slots=True)
class Scale:
    """Where TSNs are on the axis.

    Attributes
    ----------
    first_tsn
        The sender's first in the capture, which is 0; None when it sent none.
    near_tsn, near
        A TSN of about the time of the window, and its distance: the first may be more than 2^31
        away.
    """

    first_tsn: int | None
    near_tsn: int
    near: int

    @classmethod
    def of(cls, part: Part, seen: Window) -> Scale:
        """Find the scale in the sender's runs."""
        runs = part.rows("runs", part.sender)
        if not runs.num_rows:
            return cls(None, 0, 0)
        tsns = columns.integers(runs, "first_tsn")
        distances = columns.unwrapped(tsns, int(tsns[0]))
        before = np.flatnonzero(columns.integers(runs, "first_ns") <= seen.from_ns)
        place = int(before[-1]) if len(before) else 0
        return cls(int(tsns[0]), int(tsns[place]), int(distances[place]))

    def distances(self, tsns: Ints) -> Ints:
        """Return the distances of TSNs in the order of time, all of them in the window."""
        return columns.unwrapped(tsns, self.near_tsn) + self.near


def by_chunk(
    part: Part, seen: Window, paths: tuple[int, ...], scale: Scale
) -> tuple[tuple[Line, ...], Line, Gaps]:
    """Return new DATA by path, the cumulative TSNs and gap blocks of SACKs: of chunk rows."""
    chunks = part.chunks
    if chunks is None:
        raise ValueError("no chunk rows")
    own = columns.touching(
        columns.of(chunks, association=part.association["id"]),
        "time_ns",
        "time_ns",
        seen.from_ns,
        seen.to_ns,
    )
    sender = np.array([one == part.sender for one in columns.words(own, "sender")], bool)
    transmission = columns.integers(own, "transmission")
    user_bytes = columns.integers(own, "user_bytes")
    is_new = sender & (user_bytes != columns.ABSENT) & np.isin(transmission, (0, 1))
    is_sack = ~sender & np.isin(np.array(columns.words(own, "chunk_name"), str), SACKS)
    data = columns.chosen(own, is_new)
    y = scale.distances(columns.integers(data, "tsn"))
    x = columns.seconds(data, "time_ns", part.origin_ns)
    path = columns.integers(data, "path")
    frame = columns.integers(data, "frame")
    lines = tuple(_of_path(one, np.flatnonzero(path == one), (x, y, frame), part) for one in paths)
    sacks = columns.chosen(own, is_sack)
    times = columns.seconds(sacks, "time_ns", part.origin_ns)
    cumulative = scale.distances(columns.integers(sacks, "cumulative_tsn"))
    acknowledged = Line(None, times, cumulative.astype(float), columns.integers(sacks, "frame"))
    return lines, acknowledged, _gap_blocks(sacks, times, cumulative)


def _of_path(path: int, own: Ints, chunks: tuple[Floats, Ints, Ints], part: Part) -> Line:
    """Return the line of a path's chunks, broken where it was not the one in use.

    Parameters
    ----------
    own
        Places of its chunks among all of the sender's.
    chunks
        Times, distances and frames of all.
    """
    times, distances, frames = chunks
    x = times[own]
    elsewhere = np.flatnonzero(np.diff(own) > 1) + 1
    apart = np.union1d(elsewhere, bins.pauses(x, part.bin_ns / columns.NS_PER_S))
    return _cut(Line(path, x, distances[own].astype(float), frames[own]), apart)


def _cut(line: Line, apart: Ints) -> Line:
    """Break a line before some of its points."""
    return Line(
        line.path,
        np.insert(line.x, apart, line.x[apart]),
        np.insert(line.y, apart, np.nan),
        np.insert(line.frame, apart, -1),
    )


def _gap_blocks(sacks: pa.Table, times: Floats, cumulative: Ints) -> Gaps:
    """Return gap blocks as TSNs: on the wire they count from the cumulative TSN."""
    rows = (
        (at, base + int(first), base + int(last))
        for at, base, text in zip(
            times.tolist(), cumulative.tolist(), columns.words(sacks, "gaps"), strict=True
        )
        if text
        for first, _, last in (block.partition("-") for block in text.split(","))
    )
    found = np.array(list(islice(rows, MOST_GAPS)), float).reshape(-1, 3)
    return Gaps(found[:, 0], found[:, 1], found[:, 2])


def by_bin(
    part: Part, seen: Window, paths: tuple[int, ...], scale: Scale
) -> tuple[tuple[Line, ...], Line, Gaps]:
    """Return new DATA by path, and what was acknowledged so far: of runs and time bins."""
    runs = part.rows("runs", part.sender)
    distances = columns.unwrapped(columns.integers(runs, "first_tsn"), scale.first_tsn or 0)
    intervals = part.rows("intervals", part.sender)
    lines = tuple(
        _within(_path_line(part, runs, distances, intervals, path), part, seen) for path in paths
    )
    none = np.empty(0)
    acknowledged = _within(_acknowledged(part, intervals), part, seen)
    return lines, acknowledged, Gaps(none, none, none)


def _path_line(part: Part, runs: pa.Table, distances: Ints, intervals: pa.Table, path: int) -> Line:
    """Return the runs of a path, each with its time bins between its first and last chunk.

    A bin that two runs share counts for the one that it ends in.
    """
    own = columns.integers(runs, "path") == path
    if not own.any():
        return Line(path, np.empty(0), np.empty(0), np.empty(0, np.int64))
    runs, first = columns.chosen(runs, own), distances[own]
    from_ns, to_ns = (columns.integers(runs, name) for name in ("first_ns", "last_ns"))
    length = (columns.integers(runs, "last_tsn") - columns.integers(runs, "first_tsn")) % 2**32
    intervals = columns.of(intervals, path=path)
    intervals = columns.chosen(intervals, columns.integers(intervals, "new_chunks") > 0)
    order = np.argsort(columns.integers(intervals, "start_ns"), kind="stable")
    chunks = columns.integers(intervals, "new_chunks")[order]
    at_ns = columns.integers(intervals, "last_ns")[order]
    run = np.maximum(np.searchsorted(from_ns, at_ns, side="right") - 1, 0)
    total = np.cumsum(chunks)
    # What was sent before the first bin of a run, so that each run begins with nothing.
    starts = np.searchsorted(run, np.arange(len(first)))
    before = np.concatenate(([0], total))[starts]
    y = first[run] + np.minimum(total - before[run] - 1, length[run])
    at_ns = np.clip(at_ns, from_ns[run], to_ns[run])
    count = len(first)
    times = np.concatenate((from_ns, at_ns, to_ns, to_ns))
    values = np.concatenate((first, y, first + length, np.full(count, np.nan)))
    kinds = np.repeat(np.arange(4), (count, len(at_ns), count, count))
    # By run first: one that ends where the next begins is broken off before that.
    of_run = np.concatenate((np.arange(count), run, np.arange(count), np.arange(count)))
    order = np.lexsort((times, kinds, of_run))
    x = columns.from_origin(times[order], part.origin_ns)
    line = Line(path, x, values[order], np.full(len(x), -1))
    return _cut(line, bins.pauses(x, part.bin_ns / columns.NS_PER_S))


def _acknowledged(part: Part, intervals: pa.Table) -> Line:
    """Return chunks acknowledged so far, at the end of each time bin."""
    start_ns, chunks = (columns.integers(intervals, name) for name in ("start_ns", "acked_chunks"))
    starts, places = np.unique(start_ns[chunks > 0], return_inverse=True)
    sums = np.bincount(places, chunks[chunks > 0], len(starts))
    ends = np.minimum(starts + part.bin_ns, part.association["end_ns"])
    x = columns.from_origin(ends, part.origin_ns)
    return Line(None, x, np.cumsum(sums, dtype=float) - 1, np.full(len(x), -1))


def _within(line: Line, part: Part, seen: Window) -> Line:
    """Cut a line to a window, with a point on either side, so that it reaches the edges."""
    inside = np.flatnonzero(
        (line.x >= part.seconds(seen.from_ns)) & (line.x <= part.seconds(seen.to_ns))
    )
    if len(inside):
        low, high = max(int(inside[0]) - 1, 0), int(inside[-1]) + 2
    else:
        # Nothing happened in it, but a run may reach over all of it.
        after = int(np.searchsorted(line.x, part.seconds(seen.from_ns)))
        low, high = max(after - 1, 0), after + 1
    cut = slice(low, high)
    return Line(line.path, line.x[cut], line.y[cut], line.frame[cut])


def stalls(part: Part, seen: Window, scale: Scale) -> Gaps:
    """Return stops of the cumulative TSN: at which TSN, from and to."""
    table = columns.touching(
        part.rows("stalls", part.sender), "start_ns", "end_ns", seen.from_ns, seen.to_ns
    )
    return Gaps(
        scale.distances(columns.integers(table, "tsn_before")).astype(float),
        columns.seconds(table, "start_ns", part.origin_ns),
        columns.seconds(table, "end_ns", part.origin_ns),
    )


def resent(part: Part, seen: Window, paths: tuple[int, ...], scale: Scale) -> Resent:
    """Return what was sent again in the window on the paths."""
    table = columns.touching(
        part.rows("retransmissions", part.sender),
        "time_ns",
        "time_ns",
        seen.from_ns,
        seen.to_ns,
    )
    y = scale.distances(columns.integers(table, "tsn")).astype(float)
    keep = np.isin(columns.integers(table, "path"), paths)
    y, table = y[keep], columns.chosen(table, keep)
    return Resent(
        columns.seconds(table, "time_ns", part.origin_ns),
        y,
        columns.integers(table, "path"),
        columns.integers(table, "frame"),
        columns.integers(table, "transmission"),
        np.array(columns.words(table, "cause"), str),
    )


def _broken(first: Floats, second: Floats, gap: float | None = None) -> Floats:
    """Interleave two columns, and after each pair what breaks a line: the second again, or NaN."""
    third = second if gap is None else np.full(len(first), gap)
    found: Floats = np.stack((first, second, third), axis=-1).reshape(-1)
    return found
