"""Quantities of a simulated network's routes, of routes written by hand and of a committed capture.

Of real traces they are checked in tests/replay/lab/test_ns2_studies.py.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import lab
import pytest
from pathscope.analyzer import quantities
from pathscope.analyzer.application import Way, alone
from pathscope.analyzer.measure import Measure
from pathscope.analyzer.route_quantities import ROUTE_QUANTITIES
from pathscope.analyzer.simulation import Route, Simulation

CAPTURE = lab.analysis("lab-failover/client.pcapng", events=True).result
"""Its client sends, from two addresses; here these are taken for those of a simulation."""

ASSOCIATION = CAPTURE.associations[0]
A, B = ASSOCIATION.endpoints["a"], ASSOCIATION.endpoints["b"]


def route(
    source: str,
    sink: str,
    arrived: int,
    dropped: int,
    data: dict[str, Measure] | None = None,
    metrics: dict[str, Measure] | None = None,
) -> Route:
    """A route; where packets arrived, two more were on their way at the end."""
    fates = {"dropped_packets": dropped, "unfinished_packets": 2 if arrived else 0}
    return Route(
        number=0,
        protocol="sctp",
        packet_type="sctp",
        source=source,
        source_port=A.port,
        destination=sink,
        destination_port=B.port,
        flow_id=0,
        hops=1,
        packets={},
        data={"arrived_packets": Measure.observed(arrived)} | (data or {}),
        metrics={name: Measure.observed(count) for name, count in fates.items()} | (metrics or {}),
        losses=(),
    )


def result(*routes: Route) -> Any:
    return replace(CAPTURE, simulation=Simulation(routes, (), 0, 0))


FIRST = route(
    A.addresses[0],
    B.addresses[0],
    arrived=30,
    dropped=8,
    data={
        "one_way_delay_mean_ns": Measure.observed(2e8),
        "jitter_w_ns": Measure.observed(5e6),
    },
    metrics={
        "transmission_mean_ns": Measure(1e7, "inferred", 0.9e7, 1.2e7),
        "processing_mean_ns": Measure.observed(1e6),
    },
)
SECOND = route(
    A.addresses[1],
    B.addresses[1],
    arrived=10,
    dropped=0,
    data={
        "one_way_delay_mean_ns": Measure.observed(6e8),
        "jitter_w_ns": Measure.observed(7e6),
    },
    metrics={
        "transmission_mean_ns": Measure(3e7, "inferred", 2.5e7, 3.2e7),
        "processing_mean_ns": Measure.observed(3e6),
    },
)
BACK = replace(
    FIRST,
    source=FIRST.destination,
    destination=FIRST.source,
    source_port=B.port,
    destination_port=A.port,
)
OTHER_PORT = replace(FIRST, source_port=A.port + 1)
IDLE = route(A.addresses[1], B.addresses[0], arrived=0, dropped=0)


def test_packets_of_an_association_are_those_of_its_senders_routes() -> None:
    of = result(BACK, FIRST, OTHER_PORT, IDLE, SECOND)
    found = {
        name: quantities.measure(f"route_{name}_packets", of).value
        for name in ("sent", "arrived", "dropped", "unfinished", "lost")
    }
    assert found == {"sent": 52, "arrived": 40, "dropped": 8, "unfinished": 4, "lost": 12}
    assert quantities.measure("route_dropped_ratio", of).value == pytest.approx(8 / 52)
    assert quantities.measure("route_loss_ratio", of).value == pytest.approx(12 / 52)


def test_means_are_those_of_all_packets_with_their_bounds() -> None:
    of = result(FIRST, SECOND)
    assert quantities.measure("route_delay_s", of).value == pytest.approx(0.3)
    assert quantities.measure("route_processing_s", of).value == pytest.approx(0.0015)
    found = quantities.measure("route_transmission_s", of)
    assert found.basis == "inferred"
    assert [found.low, found.value, found.high] == pytest.approx([0.013, 0.015, 0.017])


def test_jitter_is_of_one_route() -> None:
    assert quantities.measure("route_jitter_s", result(FIRST)).value == pytest.approx(0.005)
    both = quantities.measure("route_jitter_s", result(FIRST, SECOND))
    assert both == Measure.absent("of one route, and packets took 2")


def test_a_part_that_one_route_does_not_tell_is_told_of_none() -> None:
    unknown = replace(
        SECOND, metrics={**SECOND.metrics, "transmission_mean_ns": Measure.absent("one size")}
    )
    found = quantities.measure("route_transmission_s", result(FIRST, unknown))
    assert found == Measure.absent("one size")


def test_nothing_was_sent_and_nothing_arrived() -> None:
    assert quantities.measure("route_delay_s", result(IDLE)).reason == (
        "no packet with user data was sent on this route"
    )
    lost = route(A.addresses[0], B.addresses[0], arrived=0, dropped=3)
    assert quantities.measure("route_delay_s", result(lost)).reason == "no packet arrived"
    assert quantities.measure("route_loss_ratio", result(lost)).value == 1


@pytest.mark.parametrize("name", ROUTE_QUANTITIES)
def test_a_capture_has_none_of_them(name: str) -> None:
    found = quantities.measure(name, CAPTURE)
    assert found.reason == "no simulation: a capture does not show its packets at both ends"


def test_a_flow_alone_is_what_goes_between_its_hosts() -> None:
    ends = (frozenset(A.addresses), frozenset(B.addresses))
    for way in (Way(*ends), Way(*ends[::-1])):
        assert alone(CAPTURE, way).associations == (ASSOCIATION,)
    elsewhere = alone(result(FIRST), Way(ends[0], frozenset({"n7"})))
    assert (elsewhere.associations, elsewhere.flows) == ((), ())
    assert quantities.measure("route_delay_s", elsewhere).value is None
