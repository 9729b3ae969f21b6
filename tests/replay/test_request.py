"""A replay as its folder has it, written and read."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from pathscope.replay.packets.orders import (
    BitRate,
    Late,
    Mapping,
    Orders,
    Original,
    Outlet,
    PacketRate,
    Pair,
    TopSpeed,
)
from pathscope.replay.profiles.profile import parse
from pathscope.replay.request import Replay

if TYPE_CHECKING:
    from pathlib import Path

    from pathscope.replay.packets.orders import Pace

ORDERS = Orders(
    trace=("/x.pcap", "/y.pcap"),
    pairs=(Pair("10.0.1.1", "10.0.1.2", "wlan"),),
    outlets=(
        Outlet("wlan", "to_server", "wlan", "client", 9000),
        Outlet("wlan", "to_client", "v1", mtu=9000),
    ),
    from_ns=5,
    filter="sctp",
    udp_ports=(9899, 36422),
    mapping=Mapping(addresses=(("10.0.1.1", "10.9.1.1"),), ports=((5000, 6000),)),
    late=Late("drop", 7),
)


@pytest.mark.parametrize(
    "pace", [Original(0.5), PacketRate(1000), BitRate(1e6), TopSpeed()], ids=repr
)
def test_what_is_written_is_read(pace: Pace, tmp_path: Path) -> None:
    profile = parse({"seed": 3, "paths": {"*": {"both": {"delay_ms": 20}}}})
    asked = Replay(
        orders=replace(ORDERS, pace=pace),
        profile=profile,
        duration_ns=9,
        frames=4,
        labels=["10.9.1.1=wlan"],
        command=["pathscope", "replay"],
    )
    asked.write(tmp_path)
    again = Replay.of_run(tmp_path)
    assert again.orders == asked.orders
    assert again.orders.to_json() == asked.orders.to_json()
    assert again.profile is not None
    assert again.profile.document() == profile.document()
    assert (again.seed, again.frames, again.duration_ns) == (3, 4, 9)
    assert (again.labels, again.command) == (asked.labels, asked.command)
    assert again.steps() == asked.steps()


def test_macs_by_direction(tmp_path: Path) -> None:
    ends = ("02:00:00:00:00:01", "02:00:00:00:00:02")
    orders = replace(ORDERS, mapping=Mapping(mac_ends={"to_server": ends}))
    Replay(orders=orders).write(tmp_path)
    assert Replay.of_run(tmp_path).orders.to_json() == orders.to_json()


def test_without_a_profile_nothing_is_impaired(tmp_path: Path) -> None:
    Replay(orders=ORDERS).write(tmp_path)
    again = Replay.of_run(tmp_path)
    assert (again.profile, again.seed, again.steps()) == (None, None, [])
    assert again.mtu_by_path == {"wlan": 9000}


def test_a_profile_of_the_whole_trace_of_which_a_part_is_replayed() -> None:
    steps = [{"at_s": 2, "delay_ms": 30}, {"at_s": 5, "delay_ms": 40}, {"at_s": 8, "delay_ms": 50}]
    profile = parse({"paths": {"wlan": {"to_server": {"delay_ms": 20}, "steps": steps}}})
    asked = Replay(
        orders=ORDERS, profile=profile, profile_from_ns=3_000_000_000, duration_ns=4_000_000_000
    )
    found = [
        (step.at_ns, step.impairment["delay_ms"])
        for step in asked.steps()
        if step.direction == "to_server"
    ]
    assert found == [(0, 30), (2_000_000_000, 40)]
    assert {step.direction for step in asked.steps() if not step.at_ns} == {
        "to_server",
        "to_client",
    }
