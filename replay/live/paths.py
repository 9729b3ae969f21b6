"""The lab's paths for those of a trace: which there are, what they are called, their addresses.

A path of the lab is a link with one address at each end, in a subnet of its own. A trace's paths
are pairs of addresses that packets went between: some of them share an address, which the lab's
cannot, and hosts of the Internet are not in one subnet.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network
from itertools import count
from typing import TYPE_CHECKING

from ..lab.neighbours import PREFIX_LENGTH
from ..lab.scenario import RESERVED
from .errors import LiveError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from ipaddress import IPv4Network, IPv6Network

    Address = IPv4Address | IPv6Address
    Network = IPv4Network | IPv6Network

MOST_PATHS = 32
"""Of a scenario."""

DEVICE = re.compile(r"[A-Za-z][A-Za-z0-9_.-]{0,14}", re.ASCII)
"""A name that an interface can have, too."""

FREE = {4: "10.{}.0.0/24", 6: "fd00:{:x}::/64"}
"""Subnets for paths whose own addresses the lab cannot give."""


@dataclass(frozen=True, slots=True)
class TracePath:
    """A path of the trace; `user_bytes` is new data of both ends."""

    number: int
    label: str
    a_address: str
    b_address: str
    user_bytes: int


@dataclass(frozen=True, slots=True)
class LivePath:
    """A path of the lab, and the one of the trace that it stands for."""

    name: str
    client: str
    server: str
    trace: TracePath

    @property
    def is_moved(self) -> bool:
        """Whether it has other addresses than in the trace."""
        return (self.client, self.server) != (self.trace.a_address, self.trace.b_address)


@dataclass(frozen=True, slots=True)
class Paths:
    """All of them, in the order of the trace, and those of the trace that have none."""

    paths: tuple[LivePath, ...]
    without: tuple[TracePath, ...] = ()

    @property
    def warnings(self) -> tuple[str, ...]:
        """What is not as it was."""
        return tuple(
            f"no path for {one.label}: it shares an address, and carried no data"
            for one in self.without
        )

    def of_trace(self, number: int) -> LivePath | None:
        """Return the lab's path for one of the trace."""
        return next((path for path in self.paths if path.trace.number == number), None)

    def labels(self) -> list[str]:
        """Return rules by which an analysis of the trace calls its paths as the lab does.

        An address that several paths have says nothing, and gets no rule.
        """
        ends = [(end, path.name) for path in self.paths for end in _ends(path.trace)]
        once = [address for address, _ in ends]
        return [f"{address}={name}" for address, name in ends if once.count(address) == 1]


def choose_paths(found: Sequence[TracePath]) -> Paths:
    """Return the lab's paths for those of a trace, in its order.

    Of paths that share an address with one before, those that carried new data stay: on a link of
    their own. The others are pairs of addresses that only signalling crossed between.

    Raises
    ------
    LiveError
        When there are too many, or none, or one that is no pair of IP addresses.
    """
    kept, crossed = _apart(found)
    if not kept or len(kept) > MOST_PATHS:
        raise LiveError(f"{len(kept)} paths: the lab has 1 to {MOST_PATHS}")
    names = _names(kept)
    addresses = _addresses(kept)
    made = tuple(
        LivePath(name, *pair, path) for path, name, pair in zip(kept, names, addresses, strict=True)
    )
    return Paths(made, tuple(crossed))


def _ends(path: TracePath) -> tuple[str, str]:
    return path.a_address, path.b_address


def _apart(found: Iterable[TracePath]) -> tuple[list[TracePath], list[TracePath]]:
    kept: list[TracePath] = []
    crossed: list[TracePath] = []
    taken: set[str] = set()
    # Those that carried most come first: a path is known by what it is for.
    for path in sorted(found, key=lambda one: (one.user_bytes == 0, one.number)):
        shares = not taken.isdisjoint(_ends(path))
        if shares and not path.user_bytes:
            crossed.append(path)
        else:
            kept.append(path)
            taken.update(_ends(path))
    return sorted(kept, key=lambda one: one.number), crossed


def _names(paths: Sequence[TracePath]) -> list[str]:
    """Call each by its label, or the first word of it, where an interface can be called so."""
    found: list[str] = []
    for number, path in enumerate(paths, 1):
        words = (path.label, path.label.partition(" ")[0])
        fit = (word for word in words if DEVICE.fullmatch(word) and word not in RESERVED)
        name = next((word for word in fit if word not in found), None)
        spare = (f"path{other}" for other in count(number))
        found.append(name or next(word for word in spare if word not in found))
    return found


def _addresses(paths: Sequence[TracePath]) -> list[tuple[str, str]]:
    """Return each path's addresses: the trace's own where the lab can give them."""
    parsed = [tuple(map(_parsed, _ends(path))) for path in paths]
    version = parsed[0][0].version
    kept: list[tuple[Address, Address] | None] = []
    taken: list[Network] = []
    for client, server in parsed:
        subnet = _subnet(client)
        own = version == client.version and _fits(client, server, subnet, taken)
        kept.append((client, server) if own else None)
        taken += [subnet] if own else []
    free = _free(version, taken)
    return [(str(pair[0]), str(pair[1])) if pair is not None else next(free) for pair in kept]


def _parsed(text: str) -> Address:
    try:
        return ip_address(text)
    except ValueError as error:
        raise LiveError(f"{text}: no IP address: a simulator's trace has no sockets") from error


def _subnet(address: Address) -> Network:
    return ip_network(f"{address}/{PREFIX_LENGTH[address.version]}", strict=False)


def _fits(client: Address, server: Address, subnet: Network, taken: Iterable[Network]) -> bool:
    """Whether two hosts on one link can have these, beside the paths that have theirs already."""
    edges = (subnet.network_address, subnet.broadcast_address)
    return (
        client != server
        and server in subnet
        and subnet not in taken
        and all(_is_plain(one) and one not in edges for one in (client, server))
    )


def _is_plain(address: Address) -> bool:
    return not (
        address.is_loopback
        or address.is_link_local
        or address.is_multicast
        or address.is_unspecified
        or (address.version == 4 and address.is_reserved)
    )


def _free(version: int, taken: Sequence[Network]) -> Iterator[tuple[str, str]]:
    for number in count(1):
        subnet = ip_network(FREE[version].format(number))
        if not any(subnet.overlaps(one) for one in taken):
            hosts = subnet.hosts()
            yield str(next(hosts)), str(next(hosts))
