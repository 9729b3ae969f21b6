"""Names for paths: by rule of the user, else by interface, else by addresses."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from ..dissectors.ledger import Ledger, Row


NODE = re.compile(r"n\d+", re.ASCII)
"""A node of a simulated network, as the ledger writes it."""

Address = IPv4Address | IPv6Address | str
"""A string is a node's."""


class Network(Protocol):
    """Anything that says whether an address is in it."""

    def __contains__(self, address: object, /) -> bool:
        """Whether it is."""


@dataclass(frozen=True, slots=True)
class LabelRule:
    """Paths with an address in `network`, or that node, are called `name`."""

    network: Network
    name: str

    @classmethod
    def parse(cls, text: str) -> LabelRule:
        """Read a rule such as `10.0.1.0/24=wlan`, or `n3=wlan` for a node of a simulation.

        Raises
        ------
        ValueError
            When it is not NETWORK=NAME.
        """
        network, separator, name = text.partition("=")
        if not separator or not name:
            raise ValueError(f"{text!r}: expected NETWORK=NAME, such as 10.0.1.0/24=wlan")
        if NODE.fullmatch(network):
            return cls(frozenset((network,)), name)
        try:
            return cls(ip_network(network, strict=False), name)
        except ValueError as error:
            raise ValueError(f"{text!r}: expected NETWORK=NAME: {error}") from error


def path_labels(ledger: Ledger, rules: tuple[LabelRule, ...]) -> dict[tuple[int, int], str]:
    """Name every path, by association and path number; names are unique in an association."""
    labels: dict[tuple[int, int], str] = {}
    for association, paths in ledger.by_association("paths").items():
        names = [label_of(path, rules) for path in paths]
        counts = Counter(names)
        for path, name in zip(paths, names, strict=True):
            # A name that several paths share says too little: the addresses tell them apart.
            unique = counts[name] == 1
            label = name if unique else f"{name} {_addresses(path)}"
            labels[association, path["path"]] = label
    return labels


def label_of(path: Row, rules: tuple[LabelRule, ...]) -> str:
    """Name a path, or the one that a flow takes; another may have the same name."""
    ends = [_address(path["a_address"]), _address(path["b_address"])]
    named = [_rule_name(end, rules) for end in ends]
    distinct = list(dict.fromkeys(name for name in named if name))
    if distinct:
        # A path between two named networks has both names.
        return "-".join(distinct)
    return path["interface"] or _addresses(path)


def _address(text: str) -> Address:
    return text if NODE.fullmatch(text) else ip_address(text)


def _rule_name(address: Address, rules: tuple[LabelRule, ...]) -> str | None:
    return next((rule.name for rule in rules if address in rule.network), None)


def _addresses(path: Row) -> str:
    return f"{path['a_address']}-{path['b_address']}"
