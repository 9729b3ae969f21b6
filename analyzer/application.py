"""Of a run with many flows, one: what an analysis says of it alone.

A quantity is one of the run's application, the first association or flow in its capture. A
simulator's trace has the flows of a whole network, and each can be the one that is asked for.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from .context import ENDS, other

if TYPE_CHECKING:
    from .flow_model import Flow
    from .model import Association, CaptureResult, End
    from .simulation import Route

Sockets = frozenset[tuple[str, int]]
"""Addresses with their ports."""


@dataclass(frozen=True, slots=True)
class Way:
    """From the addresses of one host to those of another, as a result writes them."""

    sources: frozenset[str]
    destinations: frozenset[str]

    def joins(self, one: set[str], another: set[str]) -> bool:
        """Whether two ends are these two hosts, whichever of them is which."""
        return any(
            first <= self.sources and second <= self.destinations
            for first, second in ((one, another), (another, one))
        )


def alone(result: CaptureResult, way: Way) -> CaptureResult:
    """Return a result with nothing but the associations and the flows between two hosts."""
    return replace(
        result,
        associations=tuple(
            one
            for one in result.associations
            if way.joins(*(set(one.endpoints[end].addresses) for end in ENDS))
        ),
        flows=tuple(
            one
            for one in result.flows
            if way.joins(*({one.endpoints[end].address} for end in ENDS))
        ),
    )


def sender(association: Association) -> End:
    """Return the end that sent most user data."""
    return max(ENDS, key=lambda end: association.totals[end]["new_bytes"].value or 0)


def routes(result: CaptureResult) -> tuple[Route, ...]:
    """Return the routes from the application's sender to its receiver in a simulated network.

    An association can have several, one a pair of addresses. A capture has none.
    """
    if result.simulation is None:
        return ()
    if result.associations:
        association = result.associations[0]
        sending = sender(association)
        ends = [association.endpoints[end] for end in (sending, other(sending))]
        sources, sinks = (frozenset((one, end.port) for one in end.addresses) for end in ends)
    elif result.flows:
        sources, sinks = _sockets(result.flows[0])
    else:
        return ()
    return tuple(
        route
        for route in result.simulation.routes
        if (route.source, route.source_port) in sources
        and (route.destination, route.destination_port) in sinks
    )


def _sockets(flow: Flow) -> tuple[Sockets, Sockets]:
    """Return the socket of the flow's sender and that of its receiver."""
    sending = max(ENDS, key=lambda end: flow.directions[end].metrics["payload_bytes"].value or 0)
    ends = (flow.endpoints[end] for end in (sending, other(sending)))
    source, sink = (frozenset({(end.address, end.port)}) for end in ends)
    return source, sink
