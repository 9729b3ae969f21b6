"""The evidence of a route of which both ends are known: every packet arrived or did not."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from .delays import delay_steps, residuals_ms, table
from .losses import loss
from .model import NS_PER_MS, Points, RouteEvidence, opposite
from .ordering import early, order
from .outages import outages, shared
from .rates import queueing_ns, rate
from .stretches import lone

if TYPE_CHECKING:
    from ....analyzer.columns import Column
    from .model import Outage, Resolution, Series


def evidence(
    every: list[Series], resolution: Resolution, error_ms: float | None
) -> list[RouteEvidence]:
    """Measure routes; `error_ms`: how far every delay may be off, None where nothing says."""
    alone = {(one.path, one.direction): outages(one.sent_ns, ~one.arrived) for one in every}
    found = []
    for one in every:
        others = alone.get((one.path, opposite(one.direction)))
        down = shared(
            one.sent_ns,
            ~one.arrived,
            alone[one.path, one.direction][1],
            others[0] if others is not None else [],
        )
        found.append(_evidence(one, down, resolution, error_ms))
    return found


def _evidence(
    series: Series,
    down: tuple[list[Outage], Column],
    resolution: Resolution,
    error_ms: float | None,
) -> RouteEvidence:
    arrived = series.arrived
    sent_ns, arrived_ns = series.sent_ns[arrived], series.arrived_ns[arrived]
    delay_ms = (arrived_ns - sent_ns) / NS_PER_MS
    jumped = early(sent_ns, delay_ms)
    sent_ns, arrived_ns, delay_ms = sent_ns[~jumped], arrived_ns[~jumped], delay_ms[~jumped]
    sizes = series.wire_bytes[arrived][~jumped]
    of_queue = rate(sent_ns, arrived_ns, sizes)
    own_ms = delay_ms
    if of_queue.bps is not None:
        waited_ms = queueing_ns(sent_ns, sizes, of_queue.bps.value) / NS_PER_MS
        own_ms = np.maximum(delay_ms - waited_ms, 0)
    alone = lone(sent_ns, own_ms, resolution)
    steps = delay_steps(sent_ns[~alone], own_ms[~alone], resolution)
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
        order=order(sent_ns, delay_ms, residuals_ms(sent_ns, own_ms, steps), int(jumped.sum())),
        duplicated=series.duplicated,
        lone=int(alone.sum()),
    )
