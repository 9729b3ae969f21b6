"""Frames over real links, and what independent readers and the kernel say of them."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import oracle
import pyarrow as pa
import pytest
from crafting import Record, pcap
from pathscope.replay import _native
from pathscope.replay.packets import log, sender
from pathscope.replay.packets.orders import (
    BitRate,
    Late,
    Orders,
    Original,
    PacketRate,
    Pair,
    TopSpeed,
)
from pathscope.replay.packets.sockets import OutletError
from scapy.layers.inet import IP, UDP
from scapy.layers.l2 import Ether
from scapy.packet import Raw
from wires import Wires, wires

MILLISECOND = 1_000_000
START_NS = 1_700_000_000_000_000_000
NAMES = ("wlan", "lte")
PAIRS = tuple(Pair(f"10.0.{n}.1", f"10.0.{n}.2", name) for n, name in enumerate(NAMES, 1))


def frame(number: int, path: int, *, to_server: bool, size: int = 60) -> bytes:
    """A frame of a path that says its number."""
    ends = ["1", "2"] if to_server else ["2", "1"]
    source, destination = (f"10.0.{path + 1}.{end}" for end in ends)
    headers = (
        Ether(src="02:00:00:00:00:01", dst="02:00:00:00:00:02")
        / IP(src=source, dst=destination)
        / UDP(sport=5000, dport=6000)
    )
    payload = f"{number:06}".encode()
    return bytes(headers / Raw(payload.ljust(size - 42, b".")))


def trace(path: Path, count: int, *, gap_ns: int = MILLISECOND, size: int = 60) -> Path:
    """Frames over two paths and both directions, in turn; as far apart as is said."""
    ways = [(0, True), (1, True), (0, False), (1, False)]
    records = []
    for number in range(count):
        way, to_server = ways[number % 4]
        data = frame(number, way, to_server=to_server, size=size)
        records.append(Record(START_NS + number * gap_ns, data))
    path.write_bytes(pcap(records))
    return path


def orders(path: Path, made: Wires, **changes: object) -> Orders:
    return replace(Orders((str(path),), PAIRS, made.outlets()), **changes)  # type: ignore[arg-type]


def heard(path: Path) -> list[tuple[int, str]]:
    """Time and bytes of what tcpdump recorded, by tshark."""
    names = ("frame.time_epoch", "udp.payload", "udp.checksum.status")
    found = oracle.fields(path, names)
    return [
        (
            oracle.nanoseconds(one["frame.time_epoch"][0]),
            bytes.fromhex(one["udp.payload"][0])[:6].decode(),
        )
        for one in found
    ]


def test_every_frame_arrives_where_and_when_it_should(tmp_path: Path) -> None:
    file = trace(tmp_path / "trace.pcap", 400)
    with wires(*NAMES) as made:
        asked = orders(file, made)
        with made.recorded(made.client, tmp_path), made.recorded(made.server, tmp_path):
            told: list[log.Base] = []
            done = sender.send(
                asked, tmp_path / "sent.arrows", command=["x"], seed=3, on_start=told.append
            )
    assert [route["sent"] for route in done.sent["routes"]] == [100] * 4
    assert done.sent["starved"] == 0
    assert told == [done.base]
    written = log.read(tmp_path / "sent.arrows")
    assert written.cut is None
    rows = written.table.to_pylist()
    assert [row["frame"] for row in rows] == list(range(1, 401))
    assert [row["due_ns"] for row in rows] == [n * MILLISECOND for n in range(400)]
    assert all(row["sent_ns"] >= row["due_ns"] for row in rows)
    # What tcpdump saw at the other end: the same frames, in the order of sending over all links.
    arrived = []
    for route, outlet in enumerate(asked.outlets):
        netns = made.server if outlet.direction == "to_server" else made.client
        recording = made.recording(netns, outlet.device, tmp_path)
        frames = heard(recording)
        assert [int(number) % 4 for _, number in frames] == [{0: 0, 1: 2, 2: 1, 3: 3}[route]] * 100
        arrived += frames
        (fingerprints,) = (pa.record_batch(batch) for batch in _native.fingerprints(recording))
        own = [row["fingerprint"] for row in rows if row["route"] == route]
        assert fingerprints["fingerprint"].to_pylist() == own
    arrived.sort()
    assert [int(number) for _, number in arrived] == list(range(400))
    for (time_ns, _), row in zip(arrived, rows, strict=True):
        # The base by the two clocks is not read at once, but within microseconds.
        assert -10_000 < time_ns - done.base.realtime_ns - row["sent_ns"] < 50 * MILLISECOND


def test_the_header_says_what_was_done(tmp_path: Path) -> None:
    file = trace(tmp_path / "trace.pcap", 4)
    with wires(*NAMES) as made:
        done = sender.send(orders(file, made), tmp_path / "log", command=["a", "b"], seed=7)
        devices = [(outlet.device, outlet.netns) for outlet in made.outlets()]
    found = log.read(tmp_path / "log").header
    assert found["format"] == "pathscope.replay-log/1"
    assert (found["command"], found["seed"]) == (["a", "b"], 7)
    assert found["base_monotonic_ns"] == done.base.monotonic_ns
    assert found["base_realtime_ns"] == done.base.realtime_ns
    assert list(found["input_sha256"]) == [str(file)]
    assert [(route["device"], route["netns"]) for route in found["routes"]] == devices


@pytest.mark.parametrize(
    ("pace", "gap_ns"),
    [
        (Original(), MILLISECOND),
        (Original(2.0), MILLISECOND // 2),
        (PacketRate(4000), 250_000),
        (BitRate(60 * 8 * 1000), MILLISECOND),
        (TopSpeed(), 0),
    ],
)
def test_the_plan_is_what_is_sent(tmp_path: Path, pace: object, gap_ns: int) -> None:
    file = trace(tmp_path / "trace.pcap", 80)
    with wires(*NAMES) as made:
        asked = orders(file, made, pace=pace, loops=2)
        planned = sender.plan(asked)
        with made.recorded(made.server, tmp_path):
            done = sender.send(asked, tmp_path / "log")
        counters = json.loads(made.inside(made.client, "ip", "-s", "-j", "link", "show"))
    assert done.plan == planned
    rows = log.read(tmp_path / "log").table.to_pylist()
    dues = [row["due_ns"] for row in rows]
    assert len(rows) == 160
    assert {later - earlier for earlier, later in pairwise(dues[:80])} == {gap_ns}
    assert planned["duration_ns"] == dues[-1]
    assert [row["loop"] for row in rows] == [0] * 80 + [1] * 80
    # The kernel counts the same, and tcpdump.
    sent = {link["ifname"]: link["stats64"]["tx"]["packets"] for link in counters}
    for route, name in ((0, "wlan"), (2, "lte")):
        assert planned["routes"][route]["frames"] == sent[name] == 40
        recording = made.recording(made.server, name, tmp_path)
        assert len(heard(recording)) == 40


def test_window_and_filter(tmp_path: Path) -> None:
    file = trace(tmp_path / "trace.pcap", 40)
    with wires(*NAMES) as made:
        asked = orders(
            file, made, from_ns=10 * MILLISECOND, to_ns=30 * MILLISECOND, filter="src host 10.0.2.1"
        )
        done = sender.send(asked, tmp_path / "log")
    rows = log.read(tmp_path / "log").table.to_pylist()
    assert [row["frame"] for row in rows] == [14, 18, 22, 26, 30]
    assert [row["due_ns"] for row in rows] == [n * MILLISECOND for n in (3, 7, 11, 15, 19)]
    frames = done.plan["frames"]
    assert (frames["read"], frames["outside_window"], frames["filtered"]) == (40, 19, 16)


def test_a_full_queue_is_no_loss_on_the_link(tmp_path: Path) -> None:
    file = trace(tmp_path / "trace.pcap", 400, gap_ns=10_000, size=1000)
    with wires(*NAMES) as made:
        # One of the links takes a tenth of what comes, and keeps ten frames.
        limit = ("tbf", "rate", "10mbit", "burst", "2000", "limit", "10000")
        made.inside(made.client, "tc", "qdisc", "add", "dev", "wlan", "root", *limit)
        with made.recorded(made.server, tmp_path):
            done = sender.send(orders(file, made), tmp_path / "log")
            qdisc = json.loads(made.inside(made.client, "tc", "-s", "-j", "qdisc", "show"))
    refused = done.sent["routes"][0]["enobufs"]
    assert refused == next(one["drops"] for one in qdisc if one["kind"] == "tbf") > 0
    assert done.sent["routes"][0]["sent"] == 100 - refused
    rows = log.read(tmp_path / "log").table.to_pylist()
    lost = [row for row in rows if row["outcome"] == log.ENOBUFS]
    assert len(lost) == refused
    assert all(row["sent_ns"] is None and row["route"] == 0 for row in lost)
    # Each frame that was refused is missing at the other end, and no other.
    numbers = {int(number) for _, number in heard(made.recording(made.server, "wlan", tmp_path))}
    asked = {row["frame"] - 1 for row in rows if row["route"] == 0}
    assert asked - numbers == {row["frame"] - 1 for row in lost}


def test_top_speed_waits_for_a_full_queue(tmp_path: Path) -> None:
    file = trace(tmp_path / "trace.pcap", 400, size=1000)
    with wires(*NAMES) as made:
        limit = ("tbf", "rate", "10mbit", "burst", "2000", "limit", "10000")
        made.inside(made.client, "tc", "qdisc", "add", "dev", "wlan", "root", *limit)
        done = sender.send(orders(file, made, pace=TopSpeed()), tmp_path / "log")
    assert [route["sent"] for route in done.sent["routes"]] == [100] * 4
    assert done.sent["waits"] > 0
    assert done.sent["routes"][0]["lateness_max_ns"] is None


@pytest.mark.parametrize("policy", ["send", "drop"])
def test_what_is_late(tmp_path: Path, policy: str) -> None:
    file = trace(tmp_path / "trace.pcap", 400)
    with wires(*NAMES) as made:
        late = Late(policy, 5 * MILLISECOND)  # type: ignore[arg-type]
        # Replay time begins 100 ms before anything can be sent.
        done = sender.send(
            orders(file, made, late=late), tmp_path / "log", lead_ns=-100 * MILLISECOND
        )
    rows = log.read(tmp_path / "log").table.to_pylist()
    routes = done.sent["routes"]
    if policy == "drop":
        dropped = [row for row in rows if row["outcome"] == log.DROPPED_AS_LATE]
        assert sum(route["dropped"] for route in routes) == len(dropped) >= 95
        assert all(row["sent_ns"] is None for row in dropped)
        assert [row["frame"] for row in dropped[:95]] == list(range(1, 96))
        assert max(route["lateness_max_ns"] for route in routes) <= 5 * MILLISECOND
    else:
        assert [route["sent"] for route in routes] == [100] * 4
        assert sum(route["late"] for route in routes) >= 95
        assert max(route["lateness_max_ns"] for route in routes) >= 100 * MILLISECOND
    # Being late shifts nothing: later deadlines are the same, and some of them are met.
    assert [row["due_ns"] for row in rows] == [n * MILLISECOND for n in range(400)]
    sent = [row["sent_ns"] - row["due_ns"] for row in rows[200:] if row["sent_ns"] is not None]
    assert min(sent) < 5 * MILLISECOND


def test_an_interface_that_goes_down_is_an_error_of_its_frames(tmp_path: Path) -> None:
    file = trace(tmp_path / "trace.pcap", 200)
    with wires(*NAMES) as made:

        def down(_: log.Base) -> None:
            made.inside(made.client, "ip", "link", "set", "lte", "down")

        done = sender.send(orders(file, made), tmp_path / "log", on_start=down)
    assert done.sent["routes"][0]["sent"] == 50
    assert done.sent["routes"][2]["errors"] == {"ENETDOWN": 50}
    outcomes = log.read(tmp_path / "log").table.to_pylist()
    assert {row["route"] for row in outcomes if row["outcome"] == log.ERROR} == {2}


def test_stopped_in_the_middle(tmp_path: Path) -> None:
    file = trace(tmp_path / "trace.pcap", 400, gap_ns=100 * MILLISECOND)
    seen = iter((False, False, False))
    with wires(*NAMES) as made:
        done = sender.send(
            orders(file, made), tmp_path / "log", stopped=lambda: next(seen, True), lead_ns=0
        )
    rows = log.read(tmp_path / "log").table.num_rows
    assert done.sent["stopped"]
    assert 0 < rows == sum(route["sent"] for route in done.sent["routes"]) < 40


def test_nothing_to_send_is_told_with_the_reasons(tmp_path: Path) -> None:
    file = trace(tmp_path / "trace.pcap", 40)
    with wires(*NAMES) as made:
        asked = orders(file, made, filter="tcp")
        with pytest.raises(ValueError, match=r"nothing is sent: by the filter: 40"):
            sender.send(asked, tmp_path / "log")
        asked = orders(file, made, pairs=(Pair("10.9.9.1", "10.9.9.2", "wlan"),))
        with pytest.raises(ValueError, match=r"addresses of no path: 40"):
            sender.send(asked, tmp_path / "log")
    assert not (tmp_path / "log").exists()


def test_an_interface_that_is_not_there(tmp_path: Path) -> None:
    file = trace(tmp_path / "trace.pcap", 4)
    with wires(*NAMES) as made:
        first, *others = made.outlets()
        gone = (replace(first, device="gone"), *others)
        with pytest.raises(OutletError, match=f"gone in the namespace {made.client}: No such"):
            sender.send(orders(file, made, outlets=gone), tmp_path / "log")
        nowhere = (replace(first, netns="nowhere"), *others)
        with pytest.raises(OutletError, match="wlan in the namespace nowhere: No such file"):
            sender.send(orders(file, made, outlets=nowhere), tmp_path / "log")


SENDING = """
import json, sys
from pathlib import Path
from pathscope.replay.packets import sender
from pathscope.replay.packets.orders import Orders, Outlet, Pair

facts = json.loads(sys.argv[1])
pairs = tuple(Pair(**pair) for pair in facts["pairs"])
outlets = tuple(Outlet(**outlet) for outlet in facts["outlets"])
asked = Orders(tuple(facts["trace"]), pairs, outlets)
said = lambda base: print("started", flush=True)
done = sender.send(asked, Path(sys.argv[2]), on_start=said, lead_ns=0)
print(json.dumps(done.sent), flush=True)
"""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_what_was_sent_is_in_the_log_whatever_ends_it(
    tmp_path: Path, number: signal.Signals
) -> None:
    file = trace(tmp_path / "trace.pcap", 10_000)
    with wires(*NAMES) as made:
        words = [sys.executable, "-c", SENDING, json.dumps(orders(file, made).to_dict())]
        with subprocess.Popen([*words, str(tmp_path / "log")], stdout=subprocess.PIPE) as process:
            assert process.stdout is not None
            assert process.stdout.readline() == b"started\n"
            time.sleep(1)
            process.send_signal(number)
            said = process.stdout.read()
        counters = json.loads(made.inside(made.client, "ip", "-s", "-j", "link", "show"))
    written = log.read(tmp_path / "log")
    frames = written.table.num_rows
    assert written.table["frame"].to_pylist() == list(range(1, frames + 1))
    moved = [
        link["stats64"][way]["packets"]
        for link in counters
        if link["ifname"] in NAMES
        for way in ("rx", "tx")
    ]
    if number == signal.SIGINT:
        done = json.loads(said)
        assert done["stopped"]
        assert written.cut is None
        assert frames == sum(route["sent"] for route in done["routes"]) == sum(moved)
    else:
        assert written.cut is not None
        # What the log lacks was sent in its last moments.
        assert 0 < frames <= sum(moved) < frames + 1000
