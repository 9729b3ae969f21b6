"""The edges of what a lab's address is."""

from __future__ import annotations

from ipaddress import ip_address, ip_network

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pathscope.replay.interfaces import ranges

FORWARDED = (
    *("8.8.8.8", "172.15.255.255", "172.32.0.0", "198.17.255.255", "198.20.0.0", "224.0.1.0"),
    *("100.64.0.1", "2000::1", "ff03::1", "fec0::1", "2001:3::1", "239.255.0.1", "::2"),
)
KEPT = ("10.0.0.0", "172.31.255.255", "198.19.255.255", "224.0.0.255", "fdff::1", "febf::1")


@pytest.mark.parametrize("text", FORWARDED)
def test_addresses_that_routers_forward(text: str) -> None:
    assert ranges.outside([text]) == [text]


@pytest.mark.parametrize("text", KEPT)
def test_addresses_of_a_lab(text: str) -> None:
    assert ranges.outside([text]) == []


@given(st.ip_addresses(v=4))
def test_what_python_calls_global_is_no_labs(address: ranges.Address) -> None:
    """Its list is IANA's; that of a lab is shorter, never longer."""
    if ranges.is_lab_address(address):
        assert not address.is_global or address in ip_network("224.0.0.0/24")


@given(st.ip_addresses(v=6))
def test_the_same_of_ipv6(address: ranges.Address) -> None:
    if ranges.is_lab_address(address):
        assert not address.is_global or address in ip_network("ff00::/8")


def test_networks_that_are_partly_a_labs() -> None:
    assert not ranges.is_lab_network(ip_network("0.0.0.0/0"))
    assert not ranges.is_lab_network(ip_network("8.0.0.0/6"))
    assert ranges.is_lab_network(ip_network("10.0.0.0/9"))
    assert ranges.is_lab_address(ip_address("::ffff:10.0.0.1"))
