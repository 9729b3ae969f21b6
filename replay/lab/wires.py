"""The hosts and links of a packet replay: pure lists of commands, as `plan` makes for a scenario.

Client, middle, server, and a wire for each path. Nothing but the replayed frames is on it: the ends
have no addresses, IPv6 and ARP are off, so no kernel has anything to say or to answer. Between the
two cables of a wire the middle hands over every frame as it is. A bridge would not: it drops frames
from the address 00:00:00:00:00:00, which all frames of a loopback capture have, keeps those
for 01:80:c2:00:00:00 to itself, and holds back what is for an address that it has seen on the port
where the frame came in.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from ..routes import FAR, NEAR, Route
from .plan import HOSTS

ETHERNET_BYTES = 14

LEAST_MTU, MOST_MTU = 1500, 65535
"""Of Ethernet, and of what the kernel's virtual cables carry."""

QUIET = {
    "net/ipv6/conf/all/disable_ipv6": "1",
    "net/ipv6/conf/default/disable_ipv6": "1",
    "net/ipv4/conf/all/arp_ignore": "8",
}


@dataclass(slots=True)
class Wires:
    """What `building.build` makes, and what is done in the middle when it is made.

    Attributes
    ----------
    hosts, links, devices, sysctls
        As `building.build` takes them.
    hand_over
        Lines for `tc -batch` in the middle, which join the cables of each wire.
    ports
        The middle's interface through which a route's frames leave: where it is impaired.
    """

    hosts: tuple[str, ...] = HOSTS
    links: list[tuple[str, list[str]]] = field(default_factory=list)
    devices: list[tuple[str, str]] = field(default_factory=list)
    sysctls: dict[str, dict[str, str]] = field(default_factory=dict)
    hand_over: list[str] = field(default_factory=list)
    ports: dict[Route, str] = field(default_factory=dict)


def wires(mtu_by_path: dict[str, int]) -> Wires:
    """Return the hosts and links for these paths, which are the interfaces' names at both ends."""
    made = Wires(sysctls=dict.fromkeys(HOSTS, QUIET))
    for number, (path, mtu) in enumerate(mtu_by_path.items(), 1):
        cables = []
        for host in ("client", "server"):
            port = f"{host}{number}"
            peer = f"type veth peer name {path} mtu {mtu} netns {host}"
            cables += [
                f"link add name {port} mtu {mtu} {peer}",
                f"link set dev {port} arp off up",
            ]
            made.links.append((host, [f"link set dev {path} arp off up"]))
            made.devices.append((host, path))
        # The middle's cables first: they bring the ends' interfaces.
        made.links.insert(number - 1, ("middle", cables))
        for direction, host in FAR.items():
            made.ports[path, direction] = f"{host}{number}"
            made.hand_over += _hand_over(f"{NEAR[direction]}{number}", f"{host}{number}")
    return made


def mtu_of(largest_frame_bytes: int) -> int:
    """Return the MTU of a wire that carries frames up to this length, Ethernet header included."""
    return min(MOST_MTU, max(LEAST_MTU, largest_frame_bytes - ETHERNET_BYTES))


def _hand_over(came_in: str, goes_out: str) -> list[str]:
    everything = "protocol all u32 match u32 0 0"
    action = f"action mirred egress redirect dev {goes_out}"
    return [
        f"qdisc add dev {came_in} handle ffff: ingress",
        f"filter add dev {came_in} parent ffff: {everything} {action}",
    ]
