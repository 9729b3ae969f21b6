"""What a study measures of a simulated network: packets of one application, from end to end.

All are of packets with user data, from the application's sender to its receiver. An association
can use several routes, one a path: packets are added up, and means are those of all its packets.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .application import routes
from .measure import NS_PER_S, Basis, Measure
from .quantity import Quantity

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from .model import CaptureResult
    from .simulation import Route

    Of = Callable[[Route], Measure]
    OfRoutes = Callable[[Sequence[Route]], Measure]

NO_SIMULATION = Measure.absent("no simulation: a capture does not show its packets at both ends")
NO_PACKETS = Measure.absent("no packet with user data was sent on this route")
NOTHING_ARRIVED = Measure.absent("no packet arrived")


def _quantity(unit: str, text: str, of_routes: OfRoutes) -> Quantity:
    """A number of the routes that the application's packets took: one at least."""

    def of(result: CaptureResult) -> Measure:
        if result.simulation is None:
            return NO_SIMULATION
        found = [route for route in routes(result) if _count([route], *SENT)]
        return of_routes(found) if found else NO_PACKETS

    return Quantity(unit, text, of)


def _of_data(name: str) -> Of:
    """A number from end to end (`transit`) of the packets with user data."""
    return lambda route: route.data[name]


def _of_route(name: str) -> Of:
    return lambda route: route.metrics[name]


ARRIVED = _of_data("arrived_packets")
DROPPED = _of_route("dropped_packets")
UNFINISHED = _of_route("unfinished_packets")
LOST = (DROPPED, UNFINISHED)
SENT = (ARRIVED, *LOST)
"""Counts, which every route has: what is sent has one of three fates."""


def _count(found: Sequence[Route], *counts: Of) -> float:
    return sum(of(route).value or 0 for route in found for of in counts)


def _sum(*counts: Of) -> OfRoutes:
    return lambda found: Measure.observed(_count(found, *counts))


def _ratio(*counts: Of) -> OfRoutes:
    """Counts by the packets sent, of which there are some."""
    return lambda found: Measure.observed(_count(found, *counts) / _count(found, *SENT))


def _only(of: Of) -> OfRoutes:
    """A number that several routes do not have together."""

    def of_routes(found: Sequence[Route]) -> Measure:
        if len(found) > 1:
            return Measure.absent(f"of one route, and packets took {len(found)}")
        return of(found[0])

    return of_routes


def _mean_s(of: Of) -> OfRoutes:
    """The mean in seconds of all packets that arrived, from each route's mean in nanoseconds."""

    def of_routes(found: Sequence[Route]) -> Measure:
        weights = [ARRIVED(route).value or 0 for route in found]
        used = [(of(route), weight) for route, weight in zip(found, weights, strict=True) if weight]
        if not used:
            return NOTHING_ARRIVED
        missing = next((one for one, _ in used if one.value is None), None)
        if missing is not None:
            return missing

        def mean(values: list[float]) -> float:
            pairs = zip(values, (weight for _, weight in used), strict=True)
            return sum(value * weight for value, weight in pairs) / sum(weights) / NS_PER_S

        value = mean([one.value or 0 for one, _ in used])
        basis: Basis = "inferred" if any(one.basis == "inferred" for one, _ in used) else "observed"
        if basis == "observed":
            return Measure.observed(value)
        # What is observed on one route is as good as its own bounds.
        low = mean([(one.value or 0) if one.low is None else one.low for one, _ in used])
        high = mean([(one.value or 0) if one.high is None else one.high for one, _ in used])
        return Measure(value, basis, low, high)

    return of_routes


ROUTE_QUANTITIES = {
    "route_delay_s": _quantity(
        "s",
        "mean time of packets with user data from their first queue at the source to their arrival"
        " at the destination",
        _mean_s(_of_data("one_way_delay_mean_ns")),
    ),
    "route_jitter_s": _quantity(
        "s",
        "mean |D(i) - D(i-1)| of these delays, of packets that arrived, in the order of sending"
        " (study W)",
        _only(lambda route: _mean_s(_of_data("jitter_w_ns"))([route])),
    ),
    "route_throughput_bps": _quantity(
        "bit/s",
        "bytes of packets of at least 1000 bytes that arrived, of each packet the full thousands"
        " alone, by the time from the first such packet's sending to the last one's arrival"
        " (study W)",
        _only(_of_route("throughput_w_bps")),
    ),
    "route_sent_packets": _quantity(
        "packets", "packets with user data that were sent", _sum(*SENT)
    ),
    "route_arrived_packets": _quantity("packets", "of those sent, that arrived", _sum(ARRIVED)),
    "route_dropped_packets": _quantity(
        "packets", "of those sent, that a queue or a link dropped", _sum(DROPPED)
    ),
    "route_unfinished_packets": _quantity(
        "packets",
        "of those sent, that were on their way when the run ended",
        _sum(UNFINISHED),
    ),
    "route_lost_packets": _quantity(
        "packets",
        "sent less arrived: what was dropped and what was on its way at the end",
        _sum(*LOST),
    ),
    "route_dropped_ratio": _quantity("1", "dropped / sent", _ratio(DROPPED)),
    "route_loss_ratio": _quantity("1", "(sent - arrived) / sent", _ratio(*LOST)),
    "route_queueing_s": _quantity(
        "s", "part of the mean delay: waiting in queues", _mean_s(_of_route("queueing_mean_ns"))
    ),
    "route_transmission_s": _quantity(
        "s",
        "part of the mean delay: a packet's bits at the rates of its links",
        _mean_s(_of_route("transmission_mean_ns")),
    ),
    "route_propagation_s": _quantity(
        "s",
        "part of the mean delay: on the links, less transmission",
        _mean_s(_of_route("propagation_mean_ns")),
    ),
    "route_processing_s": _quantity(
        "s",
        "part of the mean delay: in nodes, from the arrival of a link to the queue of the next",
        _mean_s(_of_route("processing_mean_ns")),
    ),
}
"""By name; docs/ns2.md has the metrics that they are made of."""
