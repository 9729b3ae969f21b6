"""Packet replay on given interfaces: which they are, and that they get every frame."""

from __future__ import annotations

import json
import os
import subprocess
from typing import TYPE_CHECKING

import pytest
from pathscope.replay import given, prepare
from pathscope.replay.lab import folder, guest, host
from pathscope.replay.profiles.profile import parse
from replaying import orders
from running import CAPTURES, PROGRAM, ROOT

if TYPE_CHECKING:
    from pathlib import Path

    from pathscope.replay.request import Replay

pytestmark = pytest.mark.guest

NO_HOST = host.missing(("namespaces", "links"))

TRACE = CAPTURES / "lab-failover" / "client.pcapng"

PATHS = ("wlan", "cellular")


def test_both_directions_or_one() -> None:
    found = given.places(["wlan=lo", "cellular.to_client=lo"], PATHS)
    assert set(found) == {
        ("wlan", "to_server"),
        ("wlan", "to_client"),
        ("cellular", "to_client"),
    }
    assert {device for device, _ in found.values()} == {"lo"}


@pytest.mark.parametrize("word", ["wlan", "=lo", "wlan=", "wlan.up=lo", "wlan=a/b", "other=lo"])
def test_what_names_no_interface_of_a_path(word: str) -> None:
    with pytest.raises(ValueError, match="--interface"):
        given.places([word], PATHS)


def asked(*outlets: tuple[str, str, str]) -> Replay:
    places = {(path, direction): (device, 1500) for path, direction, device in outlets}
    profile = parse({"paths": {"*": {"both": {"delay_ms": 20}}}})
    return prepare.on_interfaces(orders(TRACE), places, profile, ["test"]).replay  # type: ignore[arg-type]


def test_the_direction_that_is_not_sent_is_what_comes_in() -> None:
    assert given.ways(asked(("wlan", "to_server", "v0"))) == {
        ("wlan", "to_server"): ("v0", True),
        ("wlan", "to_client"): ("v0", False),
    }


def test_two_routes_cannot_be_impaired_apart_on_one_interface() -> None:
    both = asked(("wlan", "to_server", "v0"), ("wlan", "to_client", "v0"))
    with pytest.raises(ValueError, match=r"v0: wlan.to_server and wlan.to_client cannot be"):
        given.ways(both)


CABLES = """
ip link set lo up
for path in wlan cellular; do
    ip link add name $path-a type veth peer name $path-b
    for end in a b; do
        echo 1 > /proc/sys/net/ipv6/conf/$path-$end/disable_ipv6
        ip link set dev $path-$end arp off up
    done
done
exec "$@"
"""


@pytest.mark.skipif(NO_HOST is not None, reason=f"no namespaces for us here: {NO_HOST}")
def test_every_frame_leaves_through_its_interface(tmp_path: Path) -> None:
    words = ["replay", str(TRACE), "--from", "2.9", "--no-analysis", "--allow-live-network"]
    for path in PATHS:
        words += ["--interface", f"{path}.to_server={path}-a"]
        words += ["--interface", f"{path}.to_client={path}-b"]
    words += ["--out", str(tmp_path / "run"), "--json", str(tmp_path / "report.json")]
    command = host.isolated("sh", "-c", CABLES, "sh", *PROGRAM, *words)
    done = subprocess.run(
        command, capture_output=True, text=True, cwd=ROOT, timeout=120, check=False
    )
    assert "Fidelity" in done.stdout, done.stderr
    report = json.loads((tmp_path / "report.json").read_text())
    assert [route["sent"] for route in report["routes"]] == [171, 65, 157, 82]
    for route in report["routes"]:
        assert route["sent"] == route["planned"] == route["arrived"]
        assert route["lost"] == route["others"] == 0
    facts = folder.facts(tmp_path / "run")
    assert (facts["state"], facts["runner"]) == ("complete", "interfaces")


IN_THE_GUEST = """
import subprocess, sys
folder, *words = sys.argv[1], *{words!r}
for module in ("ifb", "cls_bpf"):
    subprocess.run(["modprobe", "-d", "/run", module], check=True)
command = ["sh", "-c", {cables!r}, "sh", *{program!r}, *words, "--json", folder + "/report.json"]
done = subprocess.run(command, capture_output=True, text=True, cwd={root!r})
after = subprocess.run(["tc", "qdisc", "show"], capture_output=True, text=True).stdout
print(done.stdout, done.stderr, after, flush=True)
sys.exit(0 if after.count("noqueue") == after.count("qdisc") else "qdiscs are left")
"""


def test_an_interface_that_is_impaired(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    profile = tmp_path / "profile.toml"
    profile.write_text("[paths.wlan]\nto_server = {delay_ms = 10, loss_percent = 20}\n")
    words = ["replay", str(TRACE), "--from", "2.9", "--no-analysis", "--allow-live-network"]
    words += ["--interface", "wlan.to_server=wlan-a", "--profile", str(profile)]
    words += ["--out", "/run/made"]
    inside = IN_THE_GUEST.format(words=words, cables=CABLES, program=PROGRAM, root=str(ROOT))
    (tmp_path / "impaired_inside.py").write_text(inside)
    found = os.pathsep.join([*os.environ.get("PYTHONPATH", "").split(os.pathsep), str(tmp_path)])
    monkeypatch.setenv("PYTHONPATH", found)
    run = tmp_path / "run"
    (run / "logs").mkdir(parents=True)
    guest.run(run, 120, "impaired_inside")
    report = json.loads((run / "report.json").read_text())
    (route,) = report["routes"]
    assert route["planned"] == route["sent"] == route["arrived"] + route["lost"] == 171
    (delay,) = (row for row in report["rows"] if row["quantity"] == "delay_ms")
    assert delay["asked"] == 10
    (loss,) = (
        row
        for row in report["rows"]
        if row["quantity"] == "loss_percent" and row["step"] is not None
    )
    assert (loss["asked"], loss["verdict"]) == (20, "pass")
    assert {one["verdict"] for one in report["balances"]} == {"pass"}
