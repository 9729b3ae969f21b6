"""From a scenario to commands: what is built, told and done, and when."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pathscope.replay.lab import netem
from pathscope.replay.lab.plan import Change, Plan, Request, Restart, plan
from pathscope.replay.lab.scenario import parse

BASE: dict[str, Any] = {
    "duration_s": 10,
    "paths": {
        "wlan": {"client": "10.0.1.1", "server": "10.0.1.2", "both": {"delay_ms": 5}},
        "lte": {"client": "10.0.2.1", "server": "10.0.2.2", "to_client": {"loss_percent": 2}},
    },
}

NOTHING_ELSE = ["reorder", "0%", "corrupt", "0%", "rate", "0bit", "slot", "0ms", "0ms"]


def planned(**more: Any) -> Plan:
    return plan(parse(BASE | more))


def test_every_path_is_a_bridge_with_netem_towards_both_ends() -> None:
    made = planned()
    middle = [line for host, lines in made.links if host == "middle" for line in lines]
    assert sum(" type bridge" in line for line in middle) == 2
    client = [line for host, lines in made.links if host == "client" for line in lines]
    assert "address add 10.0.1.1/24 dev wlan" in client
    assert [(port.path, port.direction, port.device) for port in made.ports] == [
        ("wlan", "to_server", "server1"),
        ("wlan", "to_client", "client1"),
        ("lte", "to_server", "server2"),
        ("lte", "to_client", "client2"),
    ]
    assert made.ports[0].arguments == ("limit", "1000", "delay", "5ms", *NOTHING_ELSE)
    assert made.ports[3].arguments == ("limit", "1000", "loss", "2%", *NOTHING_ELSE)


def test_no_duplicate_address_detection_holds_up_ipv6() -> None:
    paths = {"wlan": {"client": "2001:db8::1", "server": "2001:db8::2"}}
    lines = [line for _, lines in planned(paths=paths).links for line in lines]
    assert "address add 2001:db8::1/64 dev wlan nodad" in lines


def test_settings_are_the_kernels_files() -> None:
    made = planned(sctp={"rto_min_ms": 300, "udp_port": 9899, "asconf": True})
    client = made.sysctls["client"]
    assert client["net/sctp/rto_min"] == "300"
    assert client["net/sctp/addip_enable"] == "1"
    assert client["net/sctp/encap_port"] == "9899"
    assert client["net/sctp/pf_retrans"] == "65535"
    failing = planned(sctp={"potentially_failed": True, "pf_max_retrans": 1})
    assert failing.sysctls["server"]["net/sctp/pf_retrans"] == "1"


def test_the_primary_path_is_the_first() -> None:
    made = planned(application={"primary": "lte"})
    assert made.orders["client"]["own"] == ["10.0.2.1", "10.0.1.1"]
    assert made.orders["client"]["primary"] == "10.0.2.2"
    assert made.orders["server"]["primary"] == "10.0.2.1"
    assert planned().orders["client"]["primary"] is None


def test_an_address_that_comes_later_is_not_there_at_first() -> None:
    paths = BASE["paths"] | {"lte": BASE["paths"]["lte"] | {"at_start": "server"}}
    made = planned(
        paths=paths,
        sctp={"asconf": True},
        actions=[{"at_s": 1, "do": "address-add", "path": "lte"}],
    )
    lines = [(host, line) for host, lines in made.links for line in lines]
    assert ("client", "address add 10.0.2.1/24 dev lte") not in lines
    assert ("server", "address add 10.0.2.2/24 dev lte") in lines
    assert made.orders["client"]["own"] == ["10.0.1.1"]
    assert made.orders["client"]["peer"] == ["10.0.1.2", "10.0.2.2"]
    (request,) = made.timeline
    assert isinstance(request, Request)
    assert request.what == {
        "do": "address-add",
        "path": "lte",
        "client": "10.0.2.1",
        "server": "10.0.2.2",
    }


def test_actions_are_done_in_order_of_time() -> None:
    made = planned(
        actions=[
            {"at_s": 5, "do": "restart"},
            {"at_s": 3, "do": "link-up", "path": "wlan"},
            {"at_s": 1, "do": "link-down", "path": "wlan", "direction": "to_server"},
            {"at_s": 2, "do": "impair", "path": "wlan", "impairment": {"delay_ms": 50}},
        ]
    )
    down, worse, up, restart = made.timeline
    assert isinstance(down, Change)
    assert down.ports == (("server1", netem.DOWN),)
    assert (down.note["event"], down.note["note"]) == ("link", "down")
    assert isinstance(worse, Change)
    assert [device for device, _ in worse.ports] == ["server1", "client1"]
    assert all("50ms" in arguments for _, arguments in worse.ports)
    # To the analyzer a link is down or up; what is between is only noted.
    assert worse.note["event"] == "impair"
    assert isinstance(up, Change)
    before = ("limit", "1000", "delay", "5ms", *NOTHING_ELSE)
    assert all(arguments == before for _, arguments in up.ports)
    assert restart == Restart(5.0, "client")


def test_an_impairment_that_stands_alone_leaves_nothing_of_the_paths_own() -> None:
    alone = {"do": "link-up", "path": "wlan", "reset": True, "impairment": {"loss_percent": 1}}
    (up,) = planned(actions=[{"at_s": 1, **alone}]).timeline
    assert isinstance(up, Change)
    expected = ("limit", "1000", "loss", "1%", *NOTHING_ELSE)
    assert all(arguments == expected for _, arguments in up.ports)
    assert (up.note["event"], up.note["note"]) == ("link", "up")


def test_what_was_recorded_is_in_the_folder_of_the_run(tmp_path: Path) -> None:
    scenario = parse(BASE | {"application": {"kind": "recorded"}})
    scenario.folder = tmp_path
    orders = plan(scenario).orders
    assert orders["client"]["messages"] == str(tmp_path / "client.messages")
    assert orders["server"]["messages"] == str(tmp_path / "server.messages")
    assert "messages" not in planned().orders["client"]


def test_background_is_told_to_both_ends() -> None:
    made = planned(
        background=[
            {"protocol": "tcp", "path": "lte", "flows": 2, "sender": "server"},
            {"protocol": "udp", "path": "wlan", "rate_kbit": 100, "stop_s": 4},
        ]
    )
    client, server = made.traffic["client"], made.traffic["server"]
    assert [flow["port"] for flow in client] == [5001, 5002, 5003]
    assert [flow["sends"] for flow in client] == [False, False, True]
    assert [flow["sends"] for flow in server] == [True, True, False]
    assert (server[0]["own"], server[0]["peer"]) == ("10.0.2.2", "10.0.2.1")
    assert [flow["stop_s"] for flow in client] == [10, 10, 4]
