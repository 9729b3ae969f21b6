"""Neighbours: what they are built of, and the one number that says how many there are."""

from __future__ import annotations

from typing import Any

import pytest
from pathscope.replay.lab import catalog, matrix, neighbours
from pathscope.replay.lab.plan import plan
from pathscope.replay.lab.scenario import Scenario, ScenarioError, load, parse

BASE: dict[str, Any] = {
    "duration_s": 10,
    "paths": {
        "wlan": {"client": "10.0.1.1", "server": "10.0.1.2", "both": {"delay_ms": 5}},
        "lte": {"client": "10.0.2.1", "server": "10.0.2.2"},
    },
}


def crowded(**background: Any) -> Scenario:
    return parse(BASE | {"background": background})


def test_hosts_on_every_path() -> None:
    scenario = crowded(hosts=7, protocol="sctp", rate_kbit=50)
    assert [
        (flow["path"], flow["protocol"], flow["flows"], flow["neighbour"], flow["rate_kbit"])
        for flow in scenario["background"]
    ] == [("wlan", "sctp", 7, True, 50), ("lte", "sctp", 7, True, 50)]
    assert crowded(hosts=0)["background"] == []


def test_neighbours_are_a_host_on_the_bridges() -> None:
    made = plan(crowded(hosts=3))
    assert made.hosts == ["client", "middle", "server", "neighbours"]
    lines = [(host, line) for host, lines in made.links for line in lines]
    assert ("middle", "link set dev neighbour2 master bridge2 up") in lines
    assert ("neighbours", "address add 10.0.2.254/24 dev lte") in lines
    # The bridge is there before what joins it.
    assert lines.index(("middle", "link set dev bridge2 up")) < lines.index(
        ("middle", "link set dev neighbour2 master bridge2 up")
    )
    assert ("neighbours", "wlan") in made.devices
    towards_them = [port for port in made.ports if port.device.startswith("neighbour")]
    assert [(port.path, port.direction) for port in towards_them] == [
        ("wlan", "to_client"),
        ("lte", "to_client"),
    ]
    assert towards_them[0].arguments == made.ports[1].arguments


def test_their_flows_are_not_the_clients() -> None:
    made = plan(crowded(hosts=3))
    assert set(made.traffic) == {"neighbours", "server"}
    near, far = made.traffic["neighbours"], made.traffic["server"]
    assert len(near) == len(far) == 6
    assert [flow["port"] for flow in near] == [flow["port"] for flow in far]
    assert len({flow["port"] for flow in near}) == 6
    first = near[0]
    assert (first["role"], first["sends"]) == ("client", True)
    assert (first["own"], first["peer"]) == ("10.0.1.254", "10.0.1.2")
    assert (far[0]["role"], far[0]["sends"], far[0]["own"]) == ("server", False, "10.0.1.2")


def test_other_runs_know_nothing_of_them() -> None:
    made = plan(parse(BASE | {"background": [{"protocol": "tcp", "path": "wlan"}]}))
    assert made.hosts == ["client", "middle", "server"]
    assert set(made.traffic) == {"client", "server"}
    assert made.traffic["client"][0]["own"] == "10.0.1.1"


@pytest.mark.parametrize(
    ("client", "server", "expected"),
    [
        ("10.0.1.1", "10.0.1.2", "10.0.1.254"),
        ("10.0.1.254", "10.0.1.2", "10.0.1.253"),
        ("10.0.1.254", "10.0.1.253", "10.0.1.252"),
        ("2001:db8:1::1", "2001:db8:1::2", "2001:db8:1:0:ffff:ffff:ffff:fffe"),
    ],
)
def test_an_address_that_nobody_has(client: str, server: str, expected: str) -> None:
    assert neighbours.address({"client": client, "server": server}) == expected


def test_one_setting_changes_their_number() -> None:
    naith = catalog.find("naith")
    assert [flow["flows"] for flow in load(naith)["background"]] == [5, 5]
    more = load(naith, ["background.hosts=20", "background.protocol=sctp"])
    assert [(one["flows"], one["protocol"]) for one in more["background"]] == [(20, "sctp")] * 2
    grid = matrix.cells(naith, [], ["background.hosts=5,30"], 1)
    assert [cell.scenario["background"][1]["flows"] for cell in grid] == [5, 30]
    assert [cell.place for cell in grid] == [
        "background.hosts=5/run-1",
        "background.hosts=30/run-1",
    ]


@pytest.mark.parametrize(
    ("background", "message"),
    [
        ({}, "background: hosts is missing"),
        ({"hosts": 101}, r"background\.hosts: 101 is greater"),
        ({"hosts": 3, "flows": 2}, r"background\.flows: there is no such key"),
        ({"hosts": 3, "protocol": "udp"}, "background: hosts of udp need rate_kbit"),
    ],
)
def test_a_mistake_in_a_crowd(background: dict[str, Any], message: str) -> None:
    with pytest.raises(ScenarioError, match=message):
        crowded(**background)


def test_a_link_of_others_does_not_fail_with_the_clients_range() -> None:
    walk = {"speed_kmh": 60, "acquisition_ms": 500, "duration_s": 36}
    document = {"walk": walk, "sctp": {"asconf": True}, "background": {"hosts": 2}}
    with pytest.raises(ScenarioError, match=r"walk\.out_of_range: expected nothing"):
        parse(document)
    assert parse(document | {"walk": walk | {"out_of_range": "nothing"}})["background"]


@pytest.mark.parametrize(("radio_mbit", "rate_kbit"), [(54, 24781), (36, 19859), (24, 15340)])
def test_the_studys_rates(radio_mbit: int, rate_kbit: int) -> None:
    scenario = load(catalog.find("naith"), [f"walk.wlan_mbit={radio_mbit}"])
    for path in scenario.paths.values():
        assert path["to_server"]["rate_kbit"] == path["to_client"]["rate_kbit"] == rate_kbit


@pytest.mark.parametrize("speed_kmh", [4.5, 6.5, 15.5])
def test_the_studys_speeds(speed_kmh: float) -> None:
    scenario = load(catalog.find("naith"), [f"walk.speed_kmh={speed_kmh}"])
    does = [one["do"] for one in scenario["actions"]]
    assert does == [
        "address-add",
        "heartbeat",
        "set-peer-primary",
        "set-primary",
        "address-delete",
    ]
    assert scenario["actions"][-1]["at_s"] < scenario["duration_s"] == 30
