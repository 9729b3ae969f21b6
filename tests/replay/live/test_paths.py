"""Paths of the lab for those of a trace."""

from __future__ import annotations

from ipaddress import ip_address, ip_network

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pathscope.replay.lab.neighbours import PREFIX_LENGTH
from pathscope.replay.lab.scenario import parse
from pathscope.replay.live.errors import LiveError
from pathscope.replay.live.paths import TracePath, choose_paths


def path(number: int, label: str, a: str, b: str, user_bytes: int = 1) -> TracePath:
    return TracePath(number, label, a, b, user_bytes)


def test_addresses_and_names_of_the_trace_are_kept_where_they_can_be() -> None:
    found = choose_paths(
        [path(0, "wlan", "10.0.1.1", "10.0.1.2"), path(1, "lte", "10.0.2.1", "10.0.2.9")]
    )
    assert [(one.name, one.client, one.server) for one in found.paths] == [
        ("wlan", "10.0.1.1", "10.0.1.2"),
        ("lte", "10.0.2.1", "10.0.2.9"),
    ]
    assert not any(one.is_moved for one in found.paths)
    assert found.labels() == ["10.0.1.1=wlan", "10.0.1.2=wlan", "10.0.2.1=lte", "10.0.2.9=lte"]


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("192.0.2.1", "198.51.100.7"),  # routers in between
        ("127.0.0.1", "127.0.0.2"),
        ("10.0.1.0", "10.0.1.2"),
        ("10.0.1.1", "10.0.1.255"),
        ("224.0.0.1", "224.0.0.2"),
    ],
)
def test_what_no_link_can_have_is_moved(a: str, b: str) -> None:
    (found,) = choose_paths([path(0, "v1", a, b)]).paths
    assert found.is_moved
    assert (found.client, found.server) == ("10.1.0.1", "10.1.0.2")


def test_paths_that_share_an_address_get_links_of_their_own() -> None:
    found = choose_paths(
        [path(0, "one", "10.0.1.1", "10.0.1.2"), path(1, "two", "10.0.1.1", "10.0.1.3")]
    )
    assert [one.is_moved for one in found.paths] == [False, True]
    assert found.labels() == ["10.0.1.2=one", "10.0.1.3=two"]


def test_crossed_addresses_without_data_are_told() -> None:
    found = choose_paths(
        [
            path(0, "wlan", "10.0.1.1", "10.0.1.2"),
            path(1, "lte", "10.0.2.1", "10.0.2.2"),
            path(2, "crossed", "10.0.2.1", "10.0.1.2", 0),
        ]
    )
    assert [one.name for one in found.paths] == ["wlan", "lte"]
    assert found.warnings == ("no path for crossed: it shares an address, and carried no data",)
    assert found.of_trace(2) is None


def test_one_family_for_all() -> None:
    found = choose_paths(
        [path(0, "six", "2001:db8::1", "2001:db8::2"), path(1, "four", "10.0.1.1", "10.0.1.2")]
    )
    assert {ip_address(one.client).version for one in found.paths} == {6}


def test_a_simulation_has_no_sockets() -> None:
    with pytest.raises(LiveError, match="n3"):
        choose_paths([path(0, "link", "n3", "n4")])


def test_more_paths_than_the_lab_has_are_refused() -> None:
    many = [path(n, f"p{n}", f"10.0.{n}.1", f"10.0.{n}.2") for n in range(33)]
    with pytest.raises(LiveError, match="33 paths"):
        choose_paths(many)


ADDRESSES = st.one_of(st.ip_addresses(v=4), st.ip_addresses(v=6)).map(str)
TRACES = st.lists(
    st.tuples(st.text(max_size=20), ADDRESSES, ADDRESSES, st.integers(0, 9)),
    min_size=1,
    max_size=8,
)


@given(TRACES)
def test_any_paths_make_a_scenario(given_paths: list[tuple[str, str, str, int]]) -> None:
    found = choose_paths([path(n, *one) for n, one in enumerate(given_paths)])
    scenario = parse(
        {
            "duration_s": 1,
            "paths": {
                one.name: {"client": one.client, "server": one.server} for one in found.paths
            },
        }
    )
    assert len(scenario.paths) == len(found.paths)
    subnets = [
        ip_network(f"{one.client}/{PREFIX_LENGTH[ip_address(one.client).version]}", strict=False)
        for one in found.paths
    ]
    assert len(set(subnets)) == len(subnets)
    for one, subnet in zip(found.paths, subnets, strict=True):
        assert ip_address(one.server) in subnet
