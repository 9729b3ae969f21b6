"""The interfaces of this network namespace and the routes over them, by what the kernel says.

Asked by netlink (`ip`), not by `/sys`: what is mounted there may be another namespace's.
"""

from __future__ import annotations

from dataclasses import dataclass
from ipaddress import ip_interface, ip_network
from typing import TYPE_CHECKING, Any

from . import commands

if TYPE_CHECKING:
    from collections.abc import Iterable

    from .ranges import Address, Network


@dataclass(frozen=True, slots=True)
class Link:
    """An interface.

    `kind` is that of a virtual one ("veth", "bridge"), "" for others; `hardware` the device behind
    it ("virtio virtio0"); `joined` the interfaces of this namespace that it is a port of, or lies
    on, or that are the other end of it. `elsewhere`: what it lies on, or its other end, is in
    another namespace.
    """

    name: str
    index: int
    kind: str
    link_type: str
    flags: frozenset[str]
    hardware: str | None
    joined: tuple[str, ...]
    elsewhere: bool
    addresses: tuple[Address, ...]


@dataclass(frozen=True, slots=True)
class Route:
    """A way out: a unicast route over an interface."""

    destination: str
    network: Network
    table: str
    device: str


def read() -> dict[str, Link]:
    """Return the interfaces of this namespace, by name.

    Raises
    ------
    InterfaceError
        When `ip` fails.
    """
    return {link.name: link for link in map(link, commands.table("ip", "-j", "-d", "addr"))}


def routes() -> list[Route]:
    """Return the unicast routes of every table, IPv4 and IPv6; one for each next hop.

    Raises
    ------
    InterfaceError
        When `ip` fails.
    """
    found = []
    for family, everything in (("-4", "0.0.0.0/0"), ("-6", "::/0")):
        for row in commands.table("ip", "-j", family, "route", "show", "table", "all"):
            if row.get("type", "unicast") != "unicast":
                continue
            network = ip_network(everything if row["dst"] == "default" else row["dst"])
            table = str(row.get("table", "main"))
            hops = [row, *row.get("nexthops", ())]
            found += [Route(row["dst"], network, table, hop["dev"]) for hop in hops if "dev" in hop]
    return found


def reach(start: str, links: dict[str, Link]) -> dict[str, tuple[str, ...]]:
    """Return the interfaces that frames of one may come to, each with the chain that leads there.

    Every joint counts in both directions: a frame sent on one port of a bridge leaves the bridge's
    other side, and one that a veth sends goes where its other end is a port.
    """
    chains: dict[str, tuple[str, ...]] = {start: (start,)}
    waiting = [start]
    for here in waiting:
        for there in _neighbours(here, links.values()):
            if there in links and there not in chains:
                chains[there] = (*chains[here], there)
                waiting.append(there)
    return chains


def _neighbours(name: str, links: Iterable[Link]) -> set[str]:
    found = set()
    for link in links:
        if link.name == name:
            found |= set(link.joined)
        elif name in link.joined:
            found.add(link.name)
    return found


def link(row: dict[str, Any]) -> Link:
    """Return an interface as a row of `ip -j -d addr` tells of it."""
    # The other end in another namespace has the number that it has there, and no name here.
    other = row.get("link") if "link_netnsid" not in row else None
    behind = (row.get("parentbus"), row.get("parentdev"))
    return Link(
        name=row["ifname"],
        index=row["ifindex"],
        kind=row.get("linkinfo", {}).get("info_kind", ""),
        link_type=row["link_type"],
        flags=frozenset(row["flags"]),
        hardware=" ".join(filter(None, behind)) or None,
        joined=tuple(filter(None, (row.get("master"), other))),
        elsewhere="link_netnsid" in row,
        addresses=tuple(
            ip_interface(known["local"]).ip for known in row["addr_info"] if "local" in known
        ),
    )
