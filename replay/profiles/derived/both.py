"""The evidence of a route of which both ends are known: every packet arrived or did not."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from .delays import delay_steps, residuals_ms, table
from .losses import loss
from .model import NS_PER_MS, Points, RouteEvidence, opposite
from .ordering import early, order
from .outages import narrowed, outages, shared
from .rates import queueing_ns, rate
from .stretches import lone

if TYPE_CHECKING:
    from ....analyzer.columns import Column
    from .model import Outage, Resolution, Series
    from .series import Route

    Down = tuple[list[Outage], Column]


def evidence(
    every: list[Series], resolution: Resolution, error_ms: float | None
) -> list[RouteEvidence]:
    """Measure routes; `error_ms`: how far every delay may be off, None where nothing says."""
    down = _outages(every)
    return [_evidence(one, down[one.path, one.direction], resolution, error_ms) for one in every]


def _outages(every: list[Series]) -> dict[Route, Down]:
    """Find the outages of all routes, by those of the other direction, too."""
    alone = {(one.path, one.direction): outages(one.sent_ns, ~one.arrived) for one in every}
    nothing: list[Outage] = []
    found = {}
    for one in every:
        _, inside = alone[one.path, one.direction]
        others, _ = alone.get((one.path, opposite(one.direction)), (nothing, None))
        found[one.path, one.direction] = shared(one.sent_ns, ~one.arrived, inside, others)
    return {
        (path, direction): (
            narrowed(own, found.get((path, opposite(direction)), (nothing, None))[0]),
            inside,
        )
        for (path, direction), (own, inside) in found.items()
    }


def _evidence(
    series: Series,
    down: Down,
    resolution: Resolution,
    error_ms: float | None,
) -> RouteEvidence:
    arrived = series.arrived
    sent_ns, arrived_ns = series.sent_ns[arrived], series.arrived_ns[arrived]
    delay_ms = (arrived_ns - sent_ns) / NS_PER_MS
    jumped = early(sent_ns, delay_ms)
    sent_ns, arrived_ns, delay_ms = sent_ns[~jumped], arrived_ns[~jumped], delay_ms[~jumped]
    sizes = series.wire_bytes[arrived][~jumped]
    of_queue = rate(sent_ns, arrived_ns, sizes, resolution.step_ns)
    own_ms = delay_ms
    if of_queue.steps:
        waited_ms = queueing_ns(sent_ns, sizes, list(of_queue.steps)) / NS_PER_MS
        own_ms = np.maximum(delay_ms - waited_ms, 0)
    alone = lone(sent_ns, own_ms, resolution)
    steps = delay_steps(sent_ns[~alone], own_ms[~alone], resolution)
    # A queue of some rate keeps the order by itself.
    residuals = residuals_ms(sent_ns, own_ms, [] if of_queue.steps else steps)
    return RouteEvidence(
        path=series.path,
        direction=series.direction,
        basis="observed",
        sent=len(arrived),
        lost=int((~arrived).sum()),
        points=Points(series.path, series.direction, sent_ns, delay_ms, own_ms),
        delay_error_ms=error_ms,
        delays=tuple(steps),
        distribution=table(sent_ns, own_ms, steps),
        loss=loss(series.sent_ns, ~arrived, down[1], resolution),
        outages=tuple(down[0]),
        rate=of_queue,
        order=order(sent_ns, delay_ms, residuals, int(jumped.sum())),
        duplicated=series.duplicated,
        lone=int(alone.sum()),
        outside=series.outside,
        unsent=series.unsent,
    )
