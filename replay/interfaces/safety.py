"""What may be sent where: nothing reaches a live network that the user has not allowed twice.

Once by naming the interface, once by `--allow-live-network`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from . import ranges
from .commands import InterfaceError
from .links import Link, Route, reach

if TYPE_CHECKING:
    from collections.abc import Sequence

STAYS = frozenset(
    (
        "veth",
        "dummy",
        "ifb",
        "bridge",
        "bond",
        "team",
        "vrf",
        "vlan",
        "macvlan",
        "macvtap",
        "ipvlan",
    )
)
"""Kinds of interfaces whose frames go to others of this machine. Those of tunnels go where routes
lead, and those of `tun` to a program."""

SHOWN = 3


class RefusedError(InterfaceError):
    """What would reach a live network; the message says why, and what allows it."""


@dataclass(frozen=True, slots=True)
class Destinations:
    """Where the frames go: the addresses and MAC addresses that they are sent to, each once."""

    addresses: Sequence[str] = ()
    macs: Sequence[str] = ()


def check(
    devices: Sequence[str],
    destinations: Destinations,
    links: dict[str, Link],
    routes: Sequence[Route],
    *,
    allow_live: bool,
) -> list[str]:
    """Return why this is a live network, where that is allowed; nothing when it is none.

    Raises
    ------
    RefusedError
        When it is one, and not allowed.
    InterfaceError
        When an interface is not there, or cannot send.
    """
    for device in devices:
        _usable(device, links)
    found = [words for device in devices for words in objections(device, links, routes)]
    found += _outward(destinations)
    if found and not allow_live:
        raise RefusedError(
            "refused, and nothing was touched:\n  "
            + "\n  ".join(found)
            + "\n--allow-live-network allows it"
        )
    return found


def objections(device: str, links: dict[str, Link], routes: Sequence[Route]) -> list[str]:
    """Return why frames sent on an interface may leave this machine, or its lab."""
    found = []
    for name, chain in reach(device, links).items():
        way = device if len(chain) == 1 else f"{device} (joined to {name}: {' - '.join(chain)})"
        found += [f"{way}: {words}" for words in _about(links[name], routes)]
    return found


def _about(link: Link, routes: Sequence[Route]) -> list[str]:
    found = []
    if link.hardware:
        found.append(f"a device is behind it ({link.hardware})")
    elif link.kind not in STAYS and link.link_type != "loopback":
        found.append(f"its kind is {link.kind or 'not known'}: where its frames go is not known")
    elif link.elsewhere and link.kind != "veth":
        found.append(f"the interface that this {link.kind} lies on is in another namespace")
    found += [
        f"the route to {route.destination} (table {route.table}) leads over it"
        for route in routes
        if route.device == link.name and not ranges.is_lab_network(route.network)
    ]
    found += [
        f"it has the address {address}, which is no lab's"
        for address in link.addresses
        if not ranges.is_lab_address(address)
    ]
    return found


def _outward(destinations: Destinations) -> list[str]:
    found = []
    if outside := ranges.outside(list(destinations.addresses)):
        found.append(f"frames go to addresses that are no lab's: {_some(outside)}")
    if control := [mac for mac in destinations.macs if is_control(mac)]:
        found.append(f"frames go to the switches themselves (IEEE 802.1Q, 8.6.3): {_some(control)}")
    return found


def is_control(mac: str) -> bool:
    """Whether a MAC address is one by which switches are told things (PAUSE, spanning tree)."""
    return mac.lower().startswith("01:80:c2:")


def _usable(device: str, links: dict[str, Link]) -> None:
    link = links.get(device)
    if link is None:
        there = ", ".join(sorted(links))
        raise InterfaceError(f"{device}: no such interface here; there are {there}")
    if link.link_type not in ("ether", "loopback"):
        raise InterfaceError(f"{device}: expected Ethernet, found {link.link_type}")
    if "UP" not in link.flags:
        raise InterfaceError(f"{device}: is down: ip link set {device} up")
    if "NO-CARRIER" in link.flags:
        raise InterfaceError(f"{device}: has no carrier, nothing is at its other end")


def _some(words: Sequence[str]) -> str:
    more = f" and {len(words) - SHOWN} more" if len(words) > SHOWN else ""
    return ", ".join(words[:SHOWN]) + more
