"""A simulator's trace in the report: from end to end, and the links."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .layout import ABSENT, Fitted, grid, number, section, shown
from .units import bits_per_second, duration, ratio

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.table import Table

    from ..analyzer.measure import Measure
    from ..analyzer.simulation import Route, Simulation

MOST_ROWS = 40
"""Rows of one table; more would not be read."""

END_TO_END = ("sent", "dropped", "ratio", "delay", "jitter", "throughput")
PARTS = {
    "queueing": "queueing_mean_ns",
    "transmission": "transmission_mean_ns",
    "propagation": "propagation_mean_ns",
    "processing": "processing_mean_ns",
}


def simulation_sections(simulation: Simulation) -> list[RenderableType]:
    """Show routes with user data, and links that dropped packets."""
    parts: list[RenderableType] = []
    routes = [route for route in simulation.routes if route.data["sent_packets"].value]
    if routes:
        parts.append(section("From end to end, packets with user data", _routes(routes)))
    lossy = [link for link in simulation.links if link.metrics["dropped_packets"].value]
    if lossy:
        table = grid("link", "packets", "dropped", "ratio", right=("packets", "dropped", "ratio"))
        for link in lossy[:MOST_ROWS]:
            found = link.metrics
            counts = (number(found["packets"]), number(found["dropped_packets"]))
            name = f"{link.from_node} -> {link.to_node}"
            table.add_row(name, *counts, shown(found["loss_ratio"], ratio))
        parts.append(section("Links that dropped packets", _cut(table, len(lossy))))
    return parts


def _routes(routes: list[Route]) -> RenderableType:
    rows = [_row(route) for route in routes[:MOST_ROWS]]
    return Fitted(("route", "type"), END_TO_END, tuple(PARTS), (*END_TO_END, *PARTS), rows)


def _cut(table: Table, count: int) -> RenderableType:
    if count > MOST_ROWS:
        table.caption = f"{count - MOST_ROWS} more: pathscope dissect TRACE --table links"
    return table


def _row(route: Route) -> dict[str, str]:
    data = route.data
    found = {
        "route": f"{route.source} -> {route.destination}",
        "type": route.packet_type,
        "sent": number(data["sent_packets"]),
        "dropped": number(data["lost_packets"]),
        "ratio": shown(data["loss_ratio"], ratio),
        "delay": _time(data["one_way_delay_mean_ns"]),
        "jitter": _time(data["jitter_w_ns"]),
        "throughput": shown(route.metrics["throughput_w_bps"], bits_per_second),
    }
    return found | {word: _time(route.metrics[name]) for word, name in PARTS.items()}


def _time(measure: Measure) -> str:
    return ABSENT if measure.value is None else duration(measure.value / 1e9)
