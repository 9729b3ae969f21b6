"""An analysis of a simulator's trace, completed by what the trace knows of both ends.

Of every association and flow the view of the end that sent first was taken. What it sent arrived,
or did not, at instants that the trace has too: all by one clock, all observed.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from .context import ENDS, other
from .measure import Instant, elapsed_s
from .transit import ABSENT_NS

if TYPE_CHECKING:
    from .flow_model import Flow
    from .model import Association, CaptureResult, End, Handover, Path
    from .simulation import Route, Simulation
    from .transit import Packets

    # Protocol, source and its port, destination and its port.
    Key = tuple[str | None, str, int, str, int]

LOST = "the first new DATA on the new path was lost"
BY_BOTH = "packets sent and not arrived, by the trace"


def complete(
    result: CaptureResult, simulation: Simulation, packets: dict[int, Packets]
) -> CaptureResult:
    """Add to the analysis of one end's view what the trace knows of the other.

    Parameters
    ----------
    result
        What the view says.
    simulation
        What the trace says.
    packets
        Packets of each route, by its number.
    """
    routes = {
        (one.protocol, one.source, one.source_port, one.destination, one.destination_port): one
        for one in simulation.routes
    }
    return replace(
        result,
        associations=tuple(_association(one, routes, packets) for one in result.associations),
        flows=tuple(_flow(one, routes) for one in result.flows),
        simulation=simulation,
    )


def _association(
    association: Association, routes: dict[Key, Route], packets: dict[int, Packets]
) -> Association:
    ways = {
        (path.number, end): route
        for path in association.paths
        for end in ENDS
        if (route := routes.get(_key(association, path, end))) is not None
    }
    return replace(
        association,
        paths=tuple(_path(path, ways) for path in association.paths),
        handovers=tuple(_handover(one, ways, packets) for one in association.handovers),
    )


def _key(association: Association, path: Path, sender: End) -> Key:
    addresses = {"a": path.a_address, "b": path.b_address}
    receiver = other(sender)
    ports = {end: association.endpoints[end].port for end in ENDS}
    return ("sctp", addresses[sender], ports[sender], addresses[receiver], ports[receiver])


def _path(path: Path, ways: dict[tuple[int, End], Route]) -> Path:
    directions = {}
    for end in ENDS:
        direction, route = path.directions[end], ways.get((path.number, end))
        if route is not None:
            ratio = route.packets["loss_ratio"]
            metrics = direction.metrics
            if ratio.value is not None:
                metrics = metrics | {"loss_ratio": replace(ratio, note=BY_BOTH)}
            direction = replace(direction, metrics=metrics, transit=route.packets)
        directions[end] = direction
    return replace(path, directions=directions)


def _flow(flow: Flow, routes: dict[Key, Route]) -> Flow:
    directions = {}
    for end in ENDS:
        source, sink = flow.endpoints[end], flow.endpoints[other(end)]
        route = routes.get((flow.protocol, source.address, source.port, sink.address, sink.port))
        found = flow.directions[end]
        directions[end] = found if route is None else replace(found, transit=route.packets)
    return replace(flow, directions=directions)


def _handover(
    handover: Handover, ways: dict[tuple[int, End], Route], packets: dict[int, Packets]
) -> Handover:
    """Put in when the first new DATA of end a arrived, and how long none did (study B)."""
    route = ways.get((handover.to_path, handover.sender))
    frame = handover.instants["t_first_new"].frame
    # What end b sends is seen as it arrives.
    if route is None or frame is None or handover.sender == "b":
        return handover
    arrival = _arrival(packets[route.number], frame)
    interruption = handover.metrics["data_interruption_s"]
    if arrival.ns is not None:
        interruption = elapsed_s(handover.instants["t_last_data_old"], arrival)
    return replace(
        handover,
        instants=handover.instants | {"t_first_arrival": arrival},
        metrics=handover.metrics | {"data_interruption_s": interruption},
    )


def _arrival(packets: Packets, frame: int) -> Instant:
    places = np.flatnonzero(packets.frame == frame)
    if not len(places):
        return Instant.absent("beyond the packets that the table of transits has")
    place = places[0]
    arrived_ns = int(packets.arrived_ns[place])
    if arrived_ns == ABSENT_NS:
        return Instant.absent(LOST)
    return Instant.seen(arrived_ns, int(packets.arrival_frame[place]))
