"""Sessions on interfaces that have all kinds of qdiscs, which none of them touches."""

from __future__ import annotations

import re
import signal
import subprocess
import time
from pathlib import Path

import pytest
from interfaces_wire import (
    impair,
    kernel_has,
    listening,
    numbers,
    processes,
    send,
    shown,
    started,
    tc,
    tc_takes,
)
from pathscope.replay.interfaces.commands import InterfaceError
from pathscope.replay.interfaces.diversion import HOOKS
from pathscope.replay.interfaces.session import Session, open_session

OUTLETS = [("wlan", "to_server", "v0")]

TREES = {
    "default": (),
    "pfifo": ("root handle 10: pfifo limit 77",),
    "bfifo": ("root handle 10: bfifo limit 77777",),
    "pfifo_fast": ("root handle 10: pfifo_fast",),
    "fq_codel": ("root handle 10: fq_codel limit 999 target 7ms interval 70ms noecn",),
    "fq": ("root handle 10: fq limit 999 flow_limit 55",),
    "sfq": ("root handle 10: sfq perturb 11 limit 99",),
    "tbf": ("root handle 10: tbf rate 5mbit burst 9k latency 70ms",),
    "cake": ("root handle 10: cake bandwidth 20mbit diffserv4 rtt 30ms",),
    "netem": ("root handle 10: netem delay 3ms rate 50mbit limit 500",),
    "prio": (
        "root handle 10: prio bands 3",
        "parent 10:1 handle 20: pfifo limit 5",
        "parent 10:2 handle 30: sfq",
    ),
    "htb": ("root handle 10: htb default 20", "parent 10:20 handle 40: pfifo limit 9"),
    "ingress": ("handle ffff: ingress",),
    "clsact": ("clsact",),
}
CLASSES = {
    "htb": (
        "parent 10: classid 10:1 htb rate 20mbit ceil 40mbit",
        "parent 10:1 classid 10:20 htb rate 5mbit ceil 40mbit prio 2",
    )
}
FILTERS = {
    "htb": ("parent 10: protocol ip pref 5 u32 match ip dst 10.9.0.0/16 flowid 10:20",),
    "ingress": ("ingress protocol ip pref 5 u32 match ip src 10.9.0.0/16 flowid :1",),
    "clsact": (
        "ingress protocol ip pref 5 u32 match ip src 10.9.0.0/16 flowid :1",
        "egress protocol ip pref 49152 u32 match ip src 10.9.0.0/16 flowid :1",
    ),
}


def plant(name: str) -> None:
    """Build one of the trees on `v0`; skip where the kernel does not know it."""
    first = TREES[name][:1]
    kind = name if name in ("ingress", "clsact") else f"root {name}"
    minimal = {"root tbf": TREES["tbf"][0]}.get(kind, kind)
    if first and not kernel_has(minimal):
        pytest.skip(f"this kernel has no {name}")
    for line in first:
        tc(f"qdisc add dev v0 {line}")
    for line in CLASSES.get(name, ()):
        tc(f"class add dev v0 {line}")
    for line in TREES[name][1:]:
        tc(f"qdisc add dev v0 {line}")
    for line in FILTERS.get(name, ()):
        tc(f"filter add dev v0 {line}")


@pytest.mark.usefixtures("cable")
@pytest.mark.parametrize("name", TREES)
def test_what_is_there_stays_there(name: str, tmp_path: Path) -> None:
    plant(name)
    before = shown("v0")
    hooks = [hook for hook in HOOKS if (name, hook) != ("ingress", "egress")]
    egress = ["v0"] if "egress" in hooks else []
    with open_session(OUTLETS, egress=egress, ingress=["v0"], state_dir=tmp_path) as session:
        during = shown("v0")
        # The root qdisc, its classes and its filters are there all the time.
        assert before.partition("qdisc clsact")[0].splitlines()[0] in during
        with listening("v0") as receiver:
            send("v1", 20)
            assert numbers(receiver, 20) == list(range(20))
        if "egress" in hooks:
            with listening("v1") as receiver:
                send("v0", 20)
                assert numbers(receiver, 20) == list(range(20))
        passed = {row["ifname"]: row["stats64"] for row in session.counters()["interfaces"]}
        for hook in hooks:
            assert passed[session.tap("v0", hook)]["tx"]["packets"] >= 20
    assert shown("v0") == before
    beside = [f"v0: it has {hook} filters" for hook in hooks if name in ("ingress", "clsact")]
    assert [note.partition(",")[0] for note in sorted(session.notes)] == sorted(beside)
    assert list(tmp_path.iterdir()) == []
    assert not processes(str(tmp_path))


@pytest.mark.usefixtures("cable")
def test_the_statistics_stay_too(tmp_path: Path) -> None:
    tc("qdisc add dev v0 root handle 10: tbf rate 5mbit burst 9k latency 70ms")
    send("v0", 7)
    with open_session(OUTLETS, egress=["v0"], state_dir=tmp_path):
        send("v0", 5)
    assert " 12 pkt " in tc("-s qdisc show dev v0")


@pytest.mark.usefixtures("cable")
def test_an_egress_impairment_beside_an_ingress_qdisc_is_refused(tmp_path: Path) -> None:
    plant("ingress")
    before = shown("v0")
    with (
        pytest.raises(InterfaceError, match="with a clsact in its place"),
        open_session(OUTLETS, egress=["v0"], state_dir=tmp_path),
    ):
        pass
    assert shown("v0") == before
    assert list(tmp_path.iterdir()) == []


@pytest.mark.usefixtures("cable")
def test_filters_of_others_decide_first_and_once(tmp_path: Path) -> None:
    tc("qdisc add dev v0 clsact")
    fourth = "protocol 0x88b5 pref 7 u32 match u32 0x00000003 0xffffffff at 0 action drop"
    if not tc_takes(f"filter add dev v0 egress {fourth}"):
        pytest.skip("this kernel has no gact")
    tc(f"filter add dev v0 ingress {fourth}")
    with open_session(OUTLETS, egress=["v0"], ingress=["v0"], state_dir=tmp_path) as session:
        impair(session, "v0")
        for sender, receives in (("v0", "v1"), ("v1", "v0")):
            with listening(session.tap("v0", "ingress") if receives == "v0" else "v1") as receiver:
                send(sender, 6)
                assert numbers(receiver, 5) == [0, 1, 2, 4, 5]
        for hook in ("egress", "ingress"):
            assert re.search(r"Sent \d+ bytes 1 pkt ", tc(f"-s filter show dev v0 {hook} pref 7"))


@pytest.mark.usefixtures("cable")
def test_without_an_impairment_nothing_is_made(tmp_path: Path) -> None:
    before = shown("v0")
    with open_session(OUTLETS, state_dir=tmp_path) as session:
        assert shown("v0") == before
        assert not processes(str(tmp_path))
        with pytest.raises(InterfaceError, match="v0: not opened to impair its egress"):
            session.apply("v0", ())


@pytest.mark.usefixtures("cable")
def test_netem_does_what_it_is_told(tmp_path: Path) -> None:
    if not kernel_has("root netem"):
        pytest.skip("this kernel has no netem")
    with open_session(OUTLETS, egress=["v0"], ingress=["v0"], state_dir=tmp_path) as session:
        lost, late = ("limit", "100", "loss", "100%"), ("limit", "100", "delay", "20ms")
        with listening("v1") as receiver:
            assert "loss 100%" in session.apply("v0", lost)
            send("v0", 5)
            assert "delay 20ms" in session.apply("v0", late)
            send("v0", 5, first=10)
            assert numbers(receiver, 5) == [10, 11, 12, 13, 14]
        with listening("v0") as receiver, listening(session.tap("v0", "ingress")) as tap:
            session.apply_ingress("v0", lost)
            send("v1", 5)
            session.apply_ingress("v0", late)
            send("v1", 5, first=10)
            # A capture on the interface sees them before they are impaired; the tap, after.
            assert numbers(tap, 5) == [10, 11, 12, 13, 14]
            assert numbers(receiver, 10) == [*range(5), *range(10, 15)]
        rows = [row for row in session.counters()["qdiscs"] if row["kind"] == "netem"]
        assert [row["dev"] for row in rows] == [
            session.tap("v0", "egress"),
            session.tap("v0", "ingress"),
        ]
        # The kernel has sent some of its own.
        assert all(row["drops"] >= 5 for row in rows)


@pytest.mark.usefixtures("cable")
def test_what_tc_refuses_is_said_and_the_session_goes_on(tmp_path: Path) -> None:
    before = shown("v0")
    with open_session(OUTLETS, egress=["v0"], state_dir=tmp_path) as session:
        with pytest.raises(InterfaceError, match="v0: egress: "):
            session.apply("v0", ("delay", "much"))
        assert session.counters()["interfaces"]
    assert shown("v0") == before
    with pytest.raises(InterfaceError, match="the session is closed"):
        session.apply("v0", ())


@pytest.mark.usefixtures("cable")
def test_an_interface_that_vanishes_hinders_no_other(tmp_path: Path) -> None:
    subprocess.run(["ip", "link", "add", "w0", "type", "veth", "peer", "name", "w1"], check=True)
    for name in ("w0", "w1"):
        subprocess.run(["ip", "link", "set", name, "up"], check=True)
    before = shown("v0")
    outlets = [*OUTLETS, ("cellular", "to_server", "w0")]
    with open_session(outlets, egress=["w0", "v0"], state_dir=tmp_path) as session:
        subprocess.run(["ip", "link", "del", "w0"], check=True)
        impaired = {row["ifname"] for row in session.counters()["interfaces"]}
        assert {"v0", session.tap("v0", "egress")} <= impaired
    assert session.notes == ["w0: vanished meanwhile; there is nothing to restore"]
    assert shown("v0") == before.replace("\nw0\nw1", "")


@pytest.mark.usefixtures("cable")
def test_an_interface_that_is_renamed_is_restored(tmp_path: Path) -> None:
    before = shown("v0")
    with open_session(OUTLETS, egress=["v0"], state_dir=tmp_path):
        subprocess.run(["ip", "link", "set", "v0", "name", "x0"], check=True)
    subprocess.run(["ip", "link", "set", "x0", "name", "v0"], check=True)
    assert shown("v0") == before


@pytest.mark.usefixtures("cable")
def test_what_others_change_meanwhile_stays_and_is_said(tmp_path: Path) -> None:
    with open_session(OUTLETS, egress=["v0"], state_dir=tmp_path) as session:
        tc("filter add dev v0 ingress protocol ip pref 5 u32 match ip src 10.9.0.0/16 flowid :1")
        tc("qdisc add dev v0 root handle 10: pfifo limit 77")
    assert session.notes == [
        "v0: the clsact stays, as others have put filters in it meanwhile",
        "v0: others changed its qdiscs and ingress filters meanwhile",
    ]
    assert "10.9.0.0" not in tc("filter show dev v0 egress")
    assert "match 0a090000/ffff0000" in tc("filter show dev v0 ingress")


def impair_and_fail(session: Session) -> None:
    impair(session, "v0")
    raise ZeroDivisionError


@pytest.mark.usefixtures("cable")
def test_an_error_in_the_block_restores(tmp_path: Path) -> None:
    before = shown("v0")
    opened = open_session(OUTLETS, egress=["v0"], ingress=["v0"], state_dir=tmp_path)
    with pytest.raises(ZeroDivisionError), opened as session:
        impair_and_fail(session)
    assert shown("v0") == before
    assert list(tmp_path.iterdir()) == []
    assert not processes(str(tmp_path))


HOLD = """
import signal, sys, time
from pathlib import Path
from pathscope.replay.interfaces.session import open_session
# Tests that were started to outlive a terminal ignore it, and so would this.
signal.signal(signal.SIGHUP, signal.SIG_DFL)
with open_session([("wlan", "to_server", "v0")], egress=["v0"], state_dir=Path(sys.argv[1])):
    print("open", flush=True)
    time.sleep(60)
"""


@pytest.mark.usefixtures("cable")
def test_two_sessions_at_once_are_refused(tmp_path: Path) -> None:
    holder = started(HOLD, str(tmp_path / "a"))
    try:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "open\n"
        before = shown("v0")
        # Another state folder is no way round.
        for folder in ("a", "b"):
            with (
                pytest.raises(InterfaceError, match="v0: another replay uses it"),
                open_session(OUTLETS, state_dir=tmp_path / folder),
            ):
                pass
        assert shown("v0") == before
    finally:
        holder.terminate()
        holder.communicate()


@pytest.mark.usefixtures("cable")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_signals_that_end_a_process(number: signal.Signals, tmp_path: Path) -> None:
    before = shown("v0")
    holder = started(HOLD, str(tmp_path))
    assert holder.stdout is not None
    assert holder.stdout.readline() == "open\n"
    assert shown("v0") != before
    # More than once, as by somebody in a hurry: what comes while it restores is held back.
    while holder.poll() is None:
        holder.send_signal(number)
        time.sleep(0.02)
    _, said = holder.communicate()
    # By SystemExit; or by the signal itself, once all is restored.
    assert holder.returncode in (128 + number, -number), said
    # By the session itself, before it ended.
    assert shown("v0") == before
    assert list(tmp_path.iterdir()) == []
    assert not processes(str(tmp_path))
