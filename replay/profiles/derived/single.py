"""What one capture alone says of its paths: everything is inferred.

It has both directions' packets at one place. A round trip is parted into halves, a chunk that was
sent again was lost, and an outage is what got no answer, whichever direction failed.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ....analyzer.context import ENDS
from .delays import delay_steps, table
from .losses import Cell, merged, wilson
from .model import NS_PER_MS, Interval, Loss, Outage, Points, Rate, RouteEvidence
from .series import named

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from ....analyzer.model import CaptureResult, End, Path
    from ....dissectors.ledger import Ledger, Row
    from .model import Direction, Resolution

NO_RATE = "one capture does not show how far apart packets arrive"

Rows = dict[tuple[int, int], list["Row"]]
"""By association and path."""

Sample = tuple[int, float]
"""When, in ns, and a time in ms."""


@dataclass(frozen=True, slots=True)
class _Part:
    """What one association says of a route; times since time 0."""

    delays: list[Sample]
    outages: list[Outage]
    sent: list[tuple[int, int]]
    lost: list[int]
    doubtful: int


def evidence(
    result: CaptureResult, ledger: Ledger, base_ns: int, resolution: Resolution
) -> list[RouteEvidence]:
    """Measure the routes of the associations of one capture, by the times of its own place."""
    routes = named(result)
    bins, beats = (_by_path(ledger.rows(name), "path") for name in ("intervals", "heartbeats"))
    again = _by_path(ledger.rows("retransmissions"), "previous_path")
    parts: dict[tuple[str, Direction], list[_Part]] = {}
    for association in result.associations:
        seen_by = association.captured_at
        for path in association.paths:
            way = (association.number, path.number)
            delays = _delays(seen_by, bins.get(way, []), beats.get(way, []), base_ns)
            least_ms = min((half_ms for _, half_ms in delays), default=0.0)
            down = _outages(path, base_ns, round(2 * least_ms * NS_PER_MS))
            for end in ENDS:
                own, lost = (
                    [row for row in rows.get(way, ()) if row["sender"] == end]
                    for rows in (bins, again)
                )
                sent = [(row["start_ns"] - base_ns, row["data_chunks"]) for row in own]
                sure = [row["previous_ns"] - base_ns for row in lost if row["spurious"] is None]
                part = _Part(delays, down, sent, sure, len(lost) - len(sure))
                parts.setdefault(routes[(*way, end)], []).append(part)
    return [_evidence(route, found, resolution) for route, found in parts.items()]


def _by_path(rows: Iterable[Row], column: str) -> Rows:
    found: Rows = defaultdict(list)
    for row in rows:
        if row[column] is not None and row.get("previous_ns", 0) is not None:
            found[row["association"], row[column]].append(row)
    return found


def _delays(seen_by: str, bins: list[Row], beats: list[Row], base_ns: int) -> list[Sample]:
    """Return half the round trip of a path: the least of each bin, and that of each HEARTBEAT.

    At an end of the path its own round trips are the whole. Between the ends those of either are a
    part, and the last of both together are the whole.
    """
    found: list[tuple[int, End, float]] = [
        (row["start_ns"] - base_ns, row["sender"], row["rtt_min_ns"] / NS_PER_MS)
        for row in bins
        if row["rtt_min_ns"] is not None
    ]
    found += [
        (row["time_ns"] - base_ns, row["sender"], row["rtt_ns"] / NS_PER_MS)
        for row in beats
        if row["rtt_ns"] is not None
    ]
    found.sort()
    whole = [one for one in ENDS if seen_by == one] or list(ENDS)
    whole = [one for one in whole if any(end == one for _, end, _ in found)]
    last: dict[End, float] = {}
    halves = []
    for at_ns, end, rtt_ms in found:
        if end in whole:
            last[end] = rtt_ms
            if len(last) == len(whole):
                halves.append((max(at_ns, 0), sum(last.values()) / 2))
    return halves


def _outages(path: Path, base_ns: int, rtt_ns: int) -> list[Outage]:
    """Return the outages that either end noticed.

    What was heard last may have answered something that was sent a round trip before: from then on
    nothing shows that both directions worked.
    """
    return [
        Outage(
            one.start.ns - base_ns - rtt_ns,
            one.first_lost.ns - base_ns,
            one.last_lost.ns - base_ns,
            None if one.end is None else one.end.ns - base_ns,
            None,
            both=True,
        )
        for one in path.outages
    ]


def _evidence(
    route: tuple[str, Direction], parts: Sequence[_Part], resolution: Resolution
) -> RouteEvidence:
    samples = sorted(sample for part in parts for sample in part.delays)
    at_ns = np.array([at for at, _ in samples], np.int64)
    half_ms = np.array([value for _, value in samples], float)
    steps = delay_steps(at_ns, half_ms, resolution)
    down = joined([one for part in parts for one in part.outages])
    loss = _loss(parts, down, resolution)
    return RouteEvidence(
        path=route[0],
        direction=route[1],
        basis="inferred",
        sent=sum(sent for part in parts for _, sent in part.sent),
        lost=sum(len(part.lost) for part in parts),
        points=Points(*route, at_ns, half_ms, half_ms),
        # All of a round trip may be one direction's.
        delay_error_ms=float(half_ms.max()) if len(half_ms) else None,
        delays=tuple(steps),
        distribution=table(at_ns, half_ms, steps),
        loss=loss,
        outages=tuple(down),
        rate=Rate((), 0, None, NO_RATE),
        order=None,
        duplicated=None,
    )


def joined(outages: Iterable[Outage]) -> list[Outage]:
    """Make one of outages that overlap, as those are that both ends noticed."""
    found: list[Outage] = []
    for one in sorted(outages, key=lambda one: one.first_loss_ns):
        last = found[-1] if found else None
        if last is None or (
            last.first_arrival_ns is not None and last.first_arrival_ns <= one.first_loss_ns
        ):
            found.append(one)
            continue
        last_loss_ns = max(last.last_loss_ns, one.last_loss_ns)
        ends = [
            each.first_arrival_ns
            for each in (last, one)
            if each.first_arrival_ns is not None and each.first_arrival_ns > last_loss_ns
        ]
        starts = [
            each.last_arrival_ns
            for each in (last, one)
            if each.last_arrival_ns is not None and each.last_arrival_ns <= last.first_loss_ns
        ]
        found[-1] = Outage(
            max(starts, default=None),
            last.first_loss_ns,
            last_loss_ns,
            min(ends, default=None),
            None,
            both=True,
        )
    return found


def _loss(parts: Sequence[_Part], down: list[Outage], resolution: Resolution) -> Loss:
    """Estimate losses outside outages by what was sent again, in cells of time.

    The interval is that of what was surely lost, and above it that of all that was sent again.
    """
    sent: dict[int, int] = defaultdict(int)
    lost: dict[int, int] = defaultdict(int)
    for part in parts:
        for at_ns, chunks in part.sent:
            sent[at_ns // resolution.step_ns] += chunks
        for at_ns in part.lost:
            if not any(_holds(one, at_ns) for one in down):
                lost[at_ns // resolution.step_ns] += 1
    cells = [
        Cell(max(0, at * resolution.step_ns), min(lost[at], chunks), chunks)
        for at, chunks in sorted(sent.items())
        if chunks and not any(_holds(one, at * resolution.step_ns) for one in down)
    ]
    hits, chunks = sum(cell.lost for cell in cells), sum(cell.sent for cell in cells)
    ratio, worth = None, _worth(cells, hits, chunks)
    if chunks:
        most = min(chunks, hits + sum(part.doubtful for part in parts))
        sure = wilson(hits, chunks, worth)
        ratio = Interval(sure.value, sure.low, wilson(most, chunks, worth).high)
    return Loss(hits, chunks, ratio, None, None, None, merged(cells, worth, resolution))


def _worth(cells: list[Cell], hits: int, chunks: int) -> float:
    """Return what a chunk is worth of an independent one, by how unevenly losses fall.

    Chunks of a packet are lost together, and losses come in bursts: cells then differ by more than
    the binomial distribution says.
    """
    if len(cells) < 2 or not 0 < hits < chunks:
        return 1.0
    ratio = hits / chunks
    squares = sum((one.lost - one.sent * ratio) ** 2 / one.sent for one in cells)
    return min(1.0, ratio * (1 - ratio) * (len(cells) - 1) / squares)


def _holds(outage: Outage, at_ns: int) -> bool:
    end_ns = outage.end_ns
    return outage.start_ns <= at_ns and (end_ns is None or at_ns < end_ns)
