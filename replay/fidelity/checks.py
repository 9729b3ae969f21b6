"""The sender's numbers, and those of each route, against the tolerances."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .verdicts import held

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from .model import Check, Pacing, RouteCounts, Step
    from .tolerances import Tolerances


def of_pace(pace: Pacing, tolerances: Tolerances) -> Iterator[Check]:
    """Yield what is asked of a sender that had times to keep."""
    nothing = "nothing was sent"
    sent = 0 if pace.lateness is None else pace.lateness.n
    p99_us = None if pace.lateness is None else pace.lateness.p99_ns / 1e3
    drift_us = None if pace.drift_ns is None else abs(pace.drift_ns) / 1e3
    yield held("late_share", _share(pace.late, sent), tolerances.late_share, nothing)
    yield held("early_frames", float(pace.early), 0.0, nothing)
    yield held("lateness_p99_us", p99_us, tolerances.lateness_p99_us, nothing)
    yield held("drift_us", drift_us, tolerances.drift_us, "too short for a line")
    yield held("out_of_order_frames", float(pace.out_of_order), 0.0, nothing)


def of_counts(routes: Sequence[RouteCounts], tolerances: Tolerances) -> Iterator[Check]:
    """Yield what is asked of every sender: that what was planned went out."""
    empty = "nothing was planned"
    planned = sum(route.planned for route in routes)
    refused = sum(route.refused for route in routes)
    dropped = sum(route.dropped_late for route in routes)
    yield held("refused_share", _share(refused, planned), tolerances.refused_share, empty)
    yield held("dropped_share", _share(dropped, planned), tolerances.dropped_share, empty)
    yield held("error_frames", float(sum(route.errors for route in routes)), 0.0, empty)


def of_routes(
    routes: Sequence[RouteCounts], steps: Sequence[Step], tolerances: Tolerances
) -> Iterator[Check]:
    """Yield for each route whether its far end was recorded, and its steps set in time."""
    for route in routes:
        own = [step for step in steps if step.route == route.route]
        if not route.recorded:
            why = "nothing was recorded at its far end"
            yield held("recorded", None, 0.0, why, route.route)
        for step in own:
            # Frames may show that it was not in effect yet when it had been set.
            effect_ns = max(step.after_ns, step.seen_after_ns or step.after_ns)
            late_ms = (effect_ns - step.at_ns) / 1e6
            if late_ms > tolerances.step_ms:
                yield held("step_late_ms", late_ms, tolerances.step_ms, "", route.route)


def _share(count: int, of: int) -> float | None:
    return count / of if of else None
