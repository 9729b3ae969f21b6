"""Other hosts of the client's networks: one namespace that has an address on every path it is on.

What they send goes through the same queue towards the server as what the client sends. Towards
themselves they have the path's delay and rate apart from it. The client's captures know nothing of
them.
"""

from __future__ import annotations

from ipaddress import ip_address, ip_interface
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .scenario import Scenario

HOST = "neighbours"

PREFIX_LENGTH = {4: 24, 6: 64}
"""Of every path's subnet."""


def paths(scenario: Scenario) -> list[str]:
    """Return the paths that have some, in the order of the scenario's paths."""
    wanted = {flow["path"] for flow in scenario["background"] if flow["neighbour"]}
    return [name for name in scenario.paths if name in wanted]


def address(path: dict[str, Any]) -> str:
    """Return the neighbours' address on a path: the last of the subnet that neither end has."""
    client = ip_address(path["client"])
    subnet = ip_interface(f"{client}/{PREFIX_LENGTH[client.version]}").network
    last = int(subnet.broadcast_address)
    taken = {int(client), int(ip_address(path["server"]))}
    free = next(number for number in range(last - 1, last - 4, -1) if number not in taken)
    return str(type(client)(free))


def port(number: int) -> str:
    """Return the middle's device of the neighbours' cable on the path of a number."""
    return f"neighbour{number}"
