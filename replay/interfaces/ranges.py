"""The addresses that a lab may use: those that no router carries into the Internet."""

from __future__ import annotations

from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network

Address = IPv4Address | IPv6Address
Network = IPv4Network | IPv6Network

LAB: tuple[Network, ...] = tuple(
    ip_network(text)
    for text in (
        # Private (RFC 1918, RFC 4193), loopback and link-local (RFC 1122, RFC 3927, RFC 4291).
        *("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "fc00::/7"),
        *("127.0.0.0/8", "::1/128", "169.254.0.0/16", "fe80::/10"),
        # Documentation (RFC 5737, RFC 3849, RFC 9637), benchmarks (RFC 2544, RFC 5180).
        *("192.0.2.0/24", "198.51.100.0/24", "203.0.113.0/24", "2001:db8::/32", "3fff::/20"),
        *("198.18.0.0/15", "2001:2::/48"),
        # The limited broadcast (RFC 919); multicast that stays on the link (RFC 5771, RFC 4291).
        *("255.255.255.255/32", "224.0.0.0/24", "ff01::/16", "ff02::/16"),
    )
)


def is_lab_address(address: Address) -> bool:
    """Whether an address is one of a lab; an IPv4 address mapped into IPv6 is that of IPv4."""
    mapped = address.ipv4_mapped if isinstance(address, IPv6Address) else None
    return is_lab_network(ip_network(mapped or address))


def is_lab_network(network: Network) -> bool:
    """Whether all addresses of a network are those of a lab."""
    return any(
        network.version == lab.version and network.subnet_of(lab)  # type: ignore[arg-type]
        for lab in LAB
    )


def outside(addresses: list[str]) -> list[str]:
    """Return the addresses that are no lab's, in the order given."""
    return [text for text in addresses if not is_lab_address(ip_address(text))]
