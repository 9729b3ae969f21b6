"""What a user says of mappings, such as `10.0.1.0/24=10.9.1.0/24`, as orders."""

from __future__ import annotations

import re
from ipaddress import IPv4Network, IPv6Network, ip_network
from typing import TYPE_CHECKING

from .orders import DIRECTIONS, Direction, Mapping

if TYPE_CHECKING:
    from collections.abc import Iterable

MAC = re.compile(r"[0-9a-f]{2}(:[0-9a-f]{2}){5}", re.ASCII | re.IGNORECASE)

MOST_PORT = 65_535


def parse(
    addresses: Iterable[str] = (), ports: Iterable[str] = (), macs: Iterable[str] = ()
) -> Mapping:
    """Read what a user says of addresses, ports and MACs.

    Parameters
    ----------
    addresses
        `10.0.1.1=10.9.1.1`, or prefixes of one length: `10.0.1.0/24=10.9.1.0/24`.
    ports
        `5000=6000`: of TCP, UDP and SCTP.
    macs
        `02:00:00:00:00:01=02:00:00:00:00:09`; or, of all that goes in a direction, its source and
        destination: `to_server=02:00:00:00:00:01,02:00:00:00:00:02`.

    Raises
    ------
    ValueError
        When one of them cannot be read or followed; the message says which and why.
    """
    by_direction: dict[Direction, tuple[str, str]] = {}
    by_address: list[tuple[str, str]] = []
    for text in macs:
        left, right = _split(text, "MAC=MAC or DIRECTION=SOURCE,DESTINATION")
        direction = next((known for known in DIRECTIONS if known == left), None)
        if direction is None:
            by_address.append((_mac(left, text), _mac(right, text)))
            continue
        source, _, destination = right.partition(",")
        by_direction[direction] = (_mac(source, text), _mac(destination, text))
    if by_direction and by_address:
        raise ValueError("MACs are mapped one by one or by direction, not both")
    return Mapping(
        tuple(_addresses(text) for text in addresses),
        tuple(_ports(text) for text in ports),
        tuple(by_address),
        by_direction,
    )


def _addresses(text: str) -> tuple[str, str]:
    left, right = _split(text, "ADDRESS=ADDRESS or PREFIX=PREFIX")
    before, after = _network(left, text), _network(right, text)
    if before.version != after.version:
        raise ValueError(f"{text!r}: IPv4 cannot become IPv6, nor the other way round")
    if before.prefixlen != after.prefixlen:
        raise ValueError(f"{text!r}: the prefixes have different lengths")
    return left, right


def _network(text: str, whole: str) -> IPv4Network | IPv6Network:
    try:
        return ip_network(text)
    except ValueError as error:
        raise ValueError(f"{whole!r}: {error}") from error


def _ports(text: str) -> tuple[int, int]:
    left, right = _split(text, "PORT=PORT, such as 5000=6000")
    return _port(left, text), _port(right, text)


def _port(text: str, whole: str) -> int:
    if not (text.isascii() and text.isdigit() and int(text) <= MOST_PORT):
        raise ValueError(f"{whole!r}: {text!r} is not a port from 0 to {MOST_PORT}")
    return int(text)


def _mac(text: str, whole: str) -> str:
    if not MAC.fullmatch(text):
        raise ValueError(f"{whole!r}: {text!r} is not a MAC such as 02:00:00:00:00:01")
    return text.lower()


def _split(text: str, expected: str) -> tuple[str, str]:
    left, separator, right = text.partition("=")
    if not (left and separator and right):
        raise ValueError(f"{text!r}: expected {expected}")
    return left, right
