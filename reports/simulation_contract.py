"""A simulator's trace in the result contract."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .values import measures

if TYPE_CHECKING:
    from ..analyzer.simulation import Route, Simulation


def simulation_object(simulation: Simulation, capture: int) -> dict[str, Any]:
    """Return a simulator's trace as the result contract has it."""
    return {
        "capture": capture,
        "routes": [_route_object(route) for route in simulation.routes],
        "links": [
            {"from": link.from_node, "to": link.to_node, "metrics": measures(link.metrics)}
            for link in simulation.links
        ],
        "unlisted_packets": simulation.unlisted_packets,
        "unsent_packets": simulation.unsent_packets,
    }


def _route_object(route: Route) -> dict[str, Any]:
    return {
        "id": route.number,
        "protocol": route.protocol,
        "packet_type": route.packet_type,
        "source": route.source,
        "source_port": route.source_port,
        "destination": route.destination,
        "destination_port": route.destination_port,
        "flow_id": route.flow_id,
        "hops": route.hops,
        "packets": measures(route.packets),
        "data": measures(route.data),
        "metrics": measures(route.metrics),
        "losses": [
            {"from": loss.from_node, "to": loss.to_node, "packets": loss.packets}
            for loss in route.losses
        ],
    }
