"""A route with all that is known of it: its frames, where they came, and its steps."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ..lab import netem
from .corrupted import find_corrupted
from .delays import REACH, asked_for
from .journeys import Journeys
from .matching import ABSENT, Frames, match
from .steps import untouched

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy.typing as npt

    from .model import AppliedStep, Fingerprints, Log, Received, Sizes, Times

SENT, REFUSED, DROPPED, ERROR = range(4)
"""Outcomes in the log."""

NS_PER_S = 1_000_000_000

RESERVE_NS = 100_000_000
"""On top of the longest delay asked for, before equal bytes are taken for another frame."""

DEPARTURE_NS = NS_PER_S
"""A frame that leaves is captured there this soon."""


@dataclass(frozen=True, slots=True)
class Rows:
    """The log's rows as arrays, in its order; times are 0 where there is none."""

    route: npt.NDArray[np.int64]
    due_ns: Times
    sent_ns: Times
    bytes: Sizes
    outcome: npt.NDArray[np.int64]
    fingerprint: Fingerprints

    @classmethod
    def of(cls, log: Log) -> Rows:
        """Read a log's table."""

        def column(name: str, kind: type[np.integer[Any]]) -> npt.NDArray[Any]:
            values = log.table.column(name).combine_chunks().fill_null(0)
            return np.asarray(values.to_numpy(zero_copy_only=False)).astype(kind)

        return cls(
            column("route", np.int64),
            column("due_ns", np.int64),
            column("sent_ns", np.int64),
            column("bytes", np.int64),
            column("outcome", np.int64),
            column("fingerprint", np.uint64),
        )

    def of_route(self, route: int) -> npt.NDArray[np.int64]:
        """Return the numbers of the rows of a route's frames that were handed over."""
        return np.flatnonzero((self.route == route) & (self.outcome == SENT))

    def frames(self, route: int) -> Frames:
        """Return a route's frames that were handed over."""
        here = self.of_route(route)
        return Frames(self.sent_ns[here], self.bytes[here], self.fingerprint[here])


@dataclass(frozen=True, slots=True)
class Arrivals:
    """What was recorded at the far end of a route, without frames that leave there.

    `is_near`: it was recorded at the near end instead.
    """

    is_near: bool
    received: int
    departures: int
    others: int
    copies: int
    journeys: Journeys


@dataclass(frozen=True, slots=True)
class Way:
    """A route. `reverse` is the number of the other direction of its path.

    `seen_ns` is when the near end's capture saw each frame that was handed over; None where there
    is no such capture.
    """

    number: int
    path: str
    direction: str
    reverse: int | None
    steps: list[AppliedStep]
    arrivals: Arrivals | None
    seen_ns: npt.NDArray[np.float64] | None


def ways(
    log: Log,
    rows: Rows,
    received: Mapping[int, Received],
    steps: Sequence[AppliedStep],
    tables: Mapping[str, Sequence[float]],
) -> list[Way]:
    """Put together what belongs to each route of a log.

    Raises
    ------
    ValueError
        When a step is of a route that is not in the log.
    """
    routes = [(route["path"], route["direction"]) for route in log.header["routes"]]
    base_ns = int(log.header["base_realtime_ns"])
    captured = {number: _of_base(one, base_ns) for number, one in received.items()}
    found = []
    for number, own in enumerate(_by_route(routes, steps)):
        path, direction = routes[number]
        others = (n for n, one in enumerate(routes) if one[0] == path and n != number)
        reverse = next(others, None)
        sent = rows.frames(number)
        leaving = None if reverse is None else rows.frames(reverse)
        here, there = captured.get(number), None if reverse is None else captured.get(reverse)
        arrivals = None
        if here is not None:
            is_near = received[number].is_near
            arrivals = _arrivals(sent, here, leaving, own, tables, is_near=is_near)
        seen_ns = None if there is None else _seen_ns(sent, there)
        found.append(Way(number, path, direction, reverse, own, arrivals, seen_ns))
    return found


def limit_of(step: AppliedStep) -> int:
    """Return how many packets netem holds under a step."""
    if step.queue_packets is not None:
        return step.queue_packets
    return netem.queue_packets(dict(step.impairment))


def _of_base(received: Received, base_ns: int) -> Frames:
    return Frames(
        received.time_ns.astype(np.int64) - base_ns,
        received.bytes.astype(np.int64),
        received.fingerprint.astype(np.uint64),
    )


def _by_route(
    routes: Sequence[tuple[str, str]], steps: Sequence[AppliedStep]
) -> list[list[AppliedStep]]:
    """Steps of each route in order of time, one at least."""
    found: list[list[AppliedStep]] = [[] for _ in routes]
    for step in sorted(steps, key=lambda one: one.after_ns):
        if (step.path, step.direction) not in routes:
            raise ValueError(f"a step of {step.path} {step.direction}: no route of the log")
        found[routes.index((step.path, step.direction))].append(step)
    return [own or [untouched(*name)] for own, name in zip(found, routes, strict=True)]


def _arrivals(
    sent: Frames,
    here: Frames,
    leaving: Frames | None,
    steps: Sequence[AppliedStep],
    tables: Mapping[str, Sequence[float]],
    *,
    is_near: bool,
) -> Arrivals:
    left = np.zeros(here.time_ns.size, dtype=np.bool_)
    if leaving is not None:
        departed = match(leaving, here, DEPARTURE_NS)
        left = (departed.source != ABSENT) & ~departed.is_copy
    came = Frames(here.time_ns[~left], here.bytes[~left], here.fingerprint[~left])
    horizon_ns = _horizon_ns(steps, tables)
    matching = match(sent, came, horizon_ns)
    if any(step.impairment.get("corrupt_percent") for step in steps):
        copies = any(step.impairment.get("duplicate_percent") for step in steps)
        matching = find_corrupted(sent, came, matching, horizon_ns, copies=copies)
    return Arrivals(
        is_near,
        int(came.time_ns.size),
        int(left.sum()),
        int((matching.source == ABSENT).sum()),
        int(matching.is_copy.sum()),
        Journeys.of(sent, came, matching),
    )


def _seen_ns(sent: Frames, there: Frames) -> npt.NDArray[np.float64]:
    arrival = match(sent, there, DEPARTURE_NS).arrival
    found = np.full(arrival.size, np.nan)
    seen = arrival != ABSENT
    found[seen] = there.time_ns[arrival[seen]]
    return found


def _horizon_ns(steps: Sequence[AppliedStep], tables: Mapping[str, Sequence[float]]) -> int:
    """How long a frame can be on its way: what is asked for, and a full queue before it."""
    longest_ms = 0.0
    for step in steps:
        asked, delays = step.impairment, asked_for(step.impairment, tables)
        if delays is None:
            own_ms = asked["delay_ms"] + REACH * asked["jitter_ms"]
        else:
            own_ms = delays.high_ms
        if "rate_kbit" in asked:
            own_ms += limit_of(step) * netem.PACKET_BYTES * 8 / asked["rate_kbit"]
        own_ms += max(asked.get("slot_min_ms", 0), asked.get("slot_max_ms", 0))
        longest_ms = max(longest_ms, own_ms)
    return round(longest_ms * 1e6) + RESERVE_NS
