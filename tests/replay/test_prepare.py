"""From what a user asks for to a complete replay."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from pathscope.replay import prepare
from pathscope.replay.packets.orders import Mapping, Outlet, Pair
from pathscope.replay.profiles.profile import ProfileError, parse
from replaying import Flow, network, orders, write_flows

if TYPE_CHECKING:
    from pathlib import Path

    from pathscope.replay.packets.orders import Orders

PROFILE = parse({"paths": {"*": {"both": {"delay_ms": 20}}}})


@pytest.fixture
def flows(tmp_path: Path) -> Orders:
    trace = write_flows(tmp_path / "flows.pcap", [Flow(1, 10), Flow(2, 10, 2000)], 1)
    return orders(trace, {network(1): "wlan", network(2): "cellular"})


def test_a_wire_a_path_as_wide_as_the_largest_frame(flows: Orders) -> None:
    prepared = prepare.for_lab(flows, None, ["test"])
    outlets = prepared.replay.orders.outlets
    assert [(one.path, one.direction, one.device, one.netns) for one in outlets] == [
        ("wlan", "to_server", "wlan", "client"),
        ("wlan", "to_client", "wlan", "server"),
        ("cellular", "to_server", "cellular", "client"),
        ("cellular", "to_client", "cellular", "server"),
    ]
    assert {one.mtu for one in outlets} == {1986}
    assert prepared.replay.frames == 20
    assert prepared.replay.profile is None


def test_what_does_not_fit_is_left_out(flows: Orders) -> None:
    prepared = prepare.for_lab(flows, None, ["test"], mtu=1500)
    assert prepared.replay.frames == 10
    assert prepare.left_out(prepared.plan) == {"above the MTU": 10}


def test_nothing_to_send(flows: Orders) -> None:
    with pytest.raises(prepare.NothingToSendError, match="of 20 frames none is sent: 20 above"):
        prepare.for_lab(flows, None, ["test"], mtu=100)


def test_a_trace_that_the_hosts_do_not_see(flows: Orders) -> None:
    with pytest.raises(
        ValueError, match=r"/run/x\.pcap: the lab's hosts have a /run/ of their own"
    ):
        prepare.for_lab(replace(flows, trace=("/run/x.pcap",)), None, ["test"])


def test_a_profile_of_no_path_here(flows: Orders) -> None:
    other = parse({"paths": {"wlna": {"both": {"delay_ms": 20}}}})
    with pytest.raises(ProfileError, match="there is no such path here, only wlan, cellular"):
        prepare.for_lab(flows, other, ["test"])


def test_a_profile_that_impairs_nothing_needs_no_netem(flows: Orders) -> None:
    nothing = parse({"paths": {}})
    assert prepare.for_lab(flows, nothing, ["test"]).replay.steps() == []


def test_another_seed() -> None:
    again = prepare.reseeded(PROFILE, 7)
    assert again is not None
    assert again.seed == 7
    assert again.paths == PROFILE.paths
    assert prepare.reseeded(None, 7) is None
    assert prepare.reseeded(PROFILE, None) is PROFILE


RULES = (("10.0.0.0/8", "11.0.0.0/8"), ("10.0.1.0/24", "10.9.1.0/24"), ("10.0.1.5", "10.0.9.9"))


@pytest.mark.parametrize(
    ("address", "sent_as"),
    [
        ("10.0.1.1", "10.9.1.1"),
        ("10.0.1.5", "10.0.9.9"),
        ("10.3.2.1", "11.3.2.1"),
        ("192.168.1.1", "192.168.1.1"),
        ("2001:db8::1", "2001:db8::1"),
    ],
)
def test_the_longest_prefix_counts(address: str, sent_as: str) -> None:
    assert prepare.mapped(address, RULES) == sent_as


def test_names_and_destinations_are_of_what_is_sent(flows: Orders) -> None:
    pairs = (Pair("10.0.1.1", "10.0.1.2", "wlan"), Pair("10.0.1.1", "10.0.3.2", "other"))
    mapping = Mapping(addresses=(("10.0.1.0/24", "10.9.1.0/24"),))
    outlets = (Outlet("wlan", "to_server", "v0"), Outlet("other", "to_client", "v1"))
    asked = replace(flows, pairs=pairs, mapping=mapping, outlets=outlets)
    # The client's address is that of both paths: it names neither.
    assert prepare.labels(asked) == ["10.9.1.2=wlan", "10.0.3.2=other"]
    assert prepare.destinations(asked) == ["10.9.1.2", "10.9.1.1"]
