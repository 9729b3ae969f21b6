"""The measurement of a replay: its log, what arrived, what was set and when, and the counters."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from . import checks, pooled
from .counts import Strangers, balances
from .delays import asked_for, tables_of_tc
from .impairments import findings
from .model import Fidelity, RouteCounts
from .pacing import pacing, spread
from .parts import Part
from .steps import cut, described
from .tolerances import Tolerances
from .verdicts import Placed, judged
from .ways import DROPPED, ERROR, REFUSED, SENT, Rows, limit_of, ways

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from .counts import Counters
    from .journeys import Journeys
    from .model import AppliedStep, Balance, Log, Pacing, Received, Step
    from .ways import Way

    Tables = Mapping[str, Sequence[float]]


def measure(
    log: Log,
    received: Mapping[int, Received],
    steps: Sequence[AppliedStep],
    counters: Mapping[int, Counters] | None = None,
    tolerances: Tolerances | None = None,
    *,
    tables: Tables | None = None,
    totals: Mapping[str, Any] | None = None,
    paced: bool = True,
    notes: Sequence[str] = (),
) -> Fidelity:
    """Measure a replay.

    Parameters
    ----------
    log
        Its header has `routes` (path and direction) and `base_realtime_ns`.
    received
        What was captured at the far end, by route: the number of it in the header. A route without
        one was not recorded there.
    steps
        Impairments as they were set, of all routes and in any order.
    counters
        The kernel's, by route, as `counts.readings` returns them.
    tolerances
        What the replay may be off by; None: the built-in ones.
    tables
        The profile's own distributions by name, beside those of `tc`.
    totals
        What the sender counted, for the report as it is.
    paced
        Whether frames had times of their own; else (top speed) no lateness is judged.
    notes
        What else the report is to say, such as that the machine did not keep up.

    Raises
    ------
    ValueError
        When a step is of a route that is not in the log.
    """
    tolerances = tolerances or Tolerances()
    rows = Rows.of(log)
    known = tables_of_tc() | dict(tables or {})
    found = ways(log, rows, received, steps, known)
    placed: list[Placed] = []
    told: list[Step] = []
    routes: list[RouteCounts] = []
    for way in found:
        parts, own = _parts(way, known, tolerances)
        told += own
        placed += _placed(way, parts, tolerances)
        routes.append(_counts(way, rows, own))
    pace = _pacing(rows, found, tolerances)
    return Fidelity(
        log.header,
        tolerances,
        pace,
        tuple(routes),
        tuple(told),
        (
            *(checks.of_pace(pace, tolerances) if paced else ()),
            *checks.of_counts(routes, tolerances),
            *checks.of_routes(routes, told, tolerances),
        ),
        tuple(judged(placed, tolerances.level)),
        tuple(_balances(found, routes, counters or {}, tolerances)),
        counters or {},
        totals or {},
        tuple(notes),
    )


def _parts(way: Way, tables: Tables, tolerances: Tolerances) -> tuple[list[Part], list[Step]]:
    if way.arrivals is None:
        return [], []
    journeys = way.arrivals.journeys
    cuts = cut(journeys, way.steps, round(tolerances.guard_ms * 1e6))
    parts = [
        Part(
            journeys.part(*ends),
            step.impairment,
            asked_for(step.impairment, tables),
            limit_of(step),
        )
        for ends, step in zip(cuts, way.steps, strict=True)
    ]
    return parts, described(way.number, journeys, way.steps, cuts, parts)


def _placed(way: Way, parts: Sequence[Part], tolerances: Tolerances) -> list[Placed]:
    found = [
        Placed(way.number, number, one)
        for number, part in enumerate(parts)
        if part.frames.came.size
        for one in findings(part, tolerances)
    ]
    if len(parts) > 1:
        found += [Placed(way.number, None, one) for one in pooled.findings(parts, tolerances)]
    return found


def _counts(way: Way, rows: Rows, steps: Sequence[Step]) -> RouteCounts:
    outcome = rows.outcome[rows.route == way.number]
    counted = RouteCounts(
        way.number,
        way.path,
        way.direction,
        planned=int(outcome.size),
        sent=int((outcome == SENT).sum()),
        refused=int((outcome == REFUSED).sum()),
        dropped_late=int((outcome == DROPPED).sum()),
        errors=int((outcome == ERROR).sum()),
    )
    if way.arrivals is None:
        return counted
    arrivals, journeys = way.arrivals, way.arrivals.journeys
    came = journeys.came > 0
    only_corrupted = came & (journeys.came == journeys.corrupted)
    return replace(
        counted,
        recorded=True,
        received=arrivals.received,
        arrived=int((came & ~only_corrupted).sum()),
        corrupted=int(only_corrupted.sum()),
        lost=int(journeys.was_lost().sum()),
        overflow=sum(step.overflow for step in steps),
        copies=arrivals.copies,
        others=arrivals.others,
        departures=arrivals.departures,
        reordered=int(journeys.is_reordered().sum()),
        ambiguous=int((~journeys.is_certain).sum()),
        delay=spread(_delays_ns(journeys)),
    )


def _delays_ns(journeys: Journeys) -> Any:
    known = (journeys.came > 0) & journeys.is_certain
    return (journeys.arrived_ns - journeys.sent_ns)[known]


def _pacing(rows: Rows, found: Sequence[Way], tolerances: Tolerances) -> Pacing:
    seen_ns = np.full(rows.route.size, np.nan)
    for way in found:
        if way.seen_ns is not None:
            seen_ns[rows.of_route(way.number)] = way.seen_ns
    return pacing(rows, seen_ns, round(tolerances.late_ms * 1e6))


def _balances(
    found: Sequence[Way],
    routes: Sequence[RouteCounts],
    counters: Mapping[int, Counters],
    tolerances: Tolerances,
) -> list[Balance]:
    def others(number: int | None) -> int | None:
        arrivals = None if number is None else found[number].arrivals
        return None if arrivals is None else arrivals.others

    def strangers(way: Way) -> Strangers:
        if way.arrivals is not None and way.arrivals.is_near:
            return Strangers(others(way.number), None)
        return Strangers(others(way.reverse), others(way.number))

    return [
        one
        for way, counts in zip(found, routes, strict=True)
        if way.number in counters
        for one in balances(
            counts,
            counters[way.number],
            strangers(way),
            any(step.impairment.get("duplicate_percent") for step in way.steps),
            round(tolerances.unexplained_packets),
        )
    ]
