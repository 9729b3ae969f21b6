"""What is refused, each in a namespace that has it, and what would allow it."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest
from interfaces_wire import shown
from pathscope.replay.interfaces import links, safety
from pathscope.replay.interfaces.commands import InterfaceError
from pathscope.replay.interfaces.safety import Destinations, RefusedError
from pathscope.replay.interfaces.session import open_session

pytestmark = pytest.mark.usefixtures("cable")


def ip(*lines: str) -> None:
    for line in lines:
        subprocess.run(["ip", *line.split()], check=True)


def found(device: str = "v0") -> list[str]:
    return safety.objections(device, links.read(), links.routes())


def test_a_cable_of_this_machine_is_no_live_network() -> None:
    ip("addr add fd00::1/64 dev v0 nodad", "addr add 198.18.0.1/15 dev v1")
    ip("route add 192.0.2.0/24 dev v0", "route add fd01::/16 dev v0")
    assert found() == []


@pytest.mark.parametrize(
    ("route", "said"),
    [
        ("route add default via 10.7.0.2 dev v0 onlink", "default (table main)"),
        ("route add default dev v0 table 77", "default (table 77)"),
        ("-6 route add default dev v0 table 99", "default (table 99)"),
        # How VPNs take the default route without touching it.
        ("route add 128.0.0.0/1 dev v0", "128.0.0.0/1 (table main)"),
        ("route add 8.8.8.8 dev v0", "8.8.8.8 (table main)"),
        ("route add default nexthop dev v0 nexthop dev v1", "default (table main)"),
    ],
)
def test_a_route_out(route: str, said: str) -> None:
    ip(route)
    (words, *_) = found()
    assert words == f"v0: the route to {said} leads over it"


def test_a_route_by_a_next_hop_object() -> None:
    ip("nexthop add id 5 dev v0", "route add default nhid 5")
    assert found() == ["v0: the route to default (table main) leads over it"]


def test_a_route_that_leads_nowhere_is_none() -> None:
    ip("route add unreachable default", "route add blackhole 8.0.0.0/8")
    assert found() == []


@pytest.mark.parametrize("address", ["8.8.8.1/24", "2a00:1450::1/64", "100.64.0.1/10"])
def test_an_address_that_is_no_labs(address: str) -> None:
    ip(f"addr add {address} dev v1 noprefixroute")
    assert found("v1") == [f"v1: it has the address {address.partition('/')[0]}, which is no lab's"]


def test_a_port_of_a_bridge_that_leads_out() -> None:
    ip("link add b0 type bridge", "link set v1 master b0", "link set b0 up")
    ip("link add w0 type veth peer name w1", "link set w0 master b0", "link set w0 up")
    ip("link set w1 up", "route add default dev w1")
    assert found() == [
        "v0 (joined to w1: v0 - v1 - b0 - w0 - w1): the route to default (table main) leads over it"
    ]


def test_the_master() -> None:
    ip("link add b0 type bridge", "link set v0 master b0", "link set b0 up")
    ip("route add default dev b0")
    assert found("v0")[0].startswith("v0 (joined to b0: v0 - b0): the route")
    assert found("v1")[0].startswith("v1 (joined to b0: v1 - v0 - b0): the route")
    assert found("b0")[0].startswith("b0: the route")


@pytest.fixture
def vlan(cable: None) -> None:
    _ = cable
    if subprocess.run(
        ["ip", "link", "add", "link", "v1", "name", "v1.5", "type", "vlan", "id", "5"], check=False
    ).returncode:
        pytest.skip("this kernel has no VLANs")
    ip("link set v1.5 up")


@pytest.mark.usefixtures("vlan")
def test_the_lower_and_the_upper_interface() -> None:
    ip("route add default dev v0")
    assert found("v1.5")[0].startswith("v1.5 (joined to v0: v1.5 - v1 - v0): the route")
    ip("route del default", "route add default dev v1.5")
    assert found("v1")[0].startswith("v1 (joined to v1.5: v1 - v1.5): the route")


@pytest.mark.usefixtures("vlan")
def test_a_vlan_on_an_interface_of_another_namespace() -> None:
    other = subprocess.Popen(["unshare", "--net", "sleep", "60"])
    try:
        ip(f"link set v1.5 netns {wait_for(other)}")
        inside = ["nsenter", f"--net=/proc/{other.pid}/ns/net", "ip", "-j", "-d", "addr"]
        rows = json.loads(subprocess.run(inside, capture_output=True, check=True).stdout)
        there = {link.name: link for link in map(links.link, rows)}
        assert safety.objections("v1.5", there, []) == [
            "v1.5: the interface that this vlan lies on is in another namespace"
        ]
    finally:
        other.kill()
        other.wait()


def test_a_cable_to_another_namespace_is_what_labs_are_made_of() -> None:
    other = subprocess.Popen(["unshare", "--net", "sleep", "60"])
    try:
        ip(f"link set v1 netns {wait_for(other)}")
        assert found("v0") == []
    finally:
        other.kill()
        other.wait()


def wait_for(process: subprocess.Popen[bytes]) -> int:
    own = Path("/proc/thread-self/ns/net").readlink()
    while Path(f"/proc/{process.pid}/ns/net").readlink() == own:
        assert process.poll() is None
    return process.pid


def test_a_kind_whose_frames_go_to_a_program() -> None:
    made = subprocess.run(["ip", "tuntap", "add", "t0", "mode", "tap"], check=False)
    if made.returncode:
        pytest.skip("this kernel has no tap")
    assert found("t0") == ["t0: its kind is tun: where its frames go is not known"]


def test_hardware() -> None:
    there = {"v0": links.Link("v0", 2, "", "ether", frozenset(), "virtio virtio0", (), False, ())}
    assert safety.objections("v0", there, []) == ["v0: a device is behind it (virtio virtio0)"]


@pytest.mark.parametrize(
    ("destinations", "said"),
    [
        (Destinations(["10.0.0.1", "8.8.8.8", "2a00::1"]), "no lab's: 8.8.8.8, 2a00::1"),
        (Destinations(["239.1.2.3"]), "no lab's: 239.1.2.3"),
        (Destinations(["ff05::2"]), "no lab's: ff05::2"),
        (Destinations(["::ffff:8.8.8.8"]), "no lab's: ::ffff:8.8.8.8"),
        (Destinations([f"9.0.0.{n}" for n in range(5)]), "9.0.0.0, 9.0.0.1, 9.0.0.2 and 2 more"),
        (Destinations(macs=["01:80:C2:00:00:01"]), "switches themselves (IEEE 802.1Q, 8.6.3): 01"),
    ],
)
def test_frames_that_leave_the_lab(destinations: Destinations, said: str, tmp_path: Path) -> None:
    outlets = [("wlan", "to_server", "v0")]
    before = shown("v0")
    with (
        pytest.raises(RefusedError) as refusal,
        open_session(outlets, egress=["v0"], destinations=destinations, state_dir=tmp_path),
    ):
        pass
    assert said in str(refusal.value)
    assert "nothing was touched" in str(refusal.value)
    assert str(refusal.value).endswith("--allow-live-network allows it")
    assert shown("v0") == before
    assert list(tmp_path.iterdir()) == []
    with open_session(
        outlets, destinations=destinations, allow_live=True, state_dir=tmp_path
    ) as session:
        assert said in session.notes[0]


def test_frames_that_stay_in_the_lab(tmp_path: Path) -> None:
    stay = ["10.1.2.3", "fd00::5", "fe80::1", "224.0.0.251", "ff02::fb", "255.255.255.255"]
    macs = ["ff:ff:ff:ff:ff:ff", "33:33:00:00:00:fb", "02:00:00:00:00:01"]
    with open_session(
        [("wlan", "to_server", "v0")], destinations=Destinations(stay, macs), state_dir=tmp_path
    ) as session:
        assert session.notes == []


@pytest.mark.parametrize(
    ("lines", "device", "said"),
    [
        ((), "eth7", "eth7: no such interface here; there are .*v0, v1"),
        (("link set v0 down",), "v0", "v0: is down: ip link set v0 up"),
        (("link set v1 down",), "v0", "v0: has no carrier"),
    ],
)
def test_interfaces_that_cannot_send(
    lines: tuple[str, ...], device: str, said: str, tmp_path: Path
) -> None:
    ip(*lines)
    with (
        pytest.raises(InterfaceError, match=said),
        open_session([("wlan", "to_server", device)], allow_live=True, state_dir=tmp_path),
    ):
        pass
