"""Traces of the real ns-2: what the scenario's script makes happen, against what is analyzed.

Counts are checked against the trace's own lines, read here in another way.
"""

from __future__ import annotations

import json
import subprocess
from collections import Counter, defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import jsonschema
import pathscope
import pytest
from pathscope.analyzer.measure import Measure
from pathscope.replay.lab import run as lab
from pathscope.replay.lab.scenario import parse
from running import ROOT

LINKS = [
    {"from": "wlan", "to": "server-1", "rate_kbit": 2000, "delay_ms": 10},
    {"from": "cellular", "to": "server-2", "rate_kbit": 384, "delay_ms": 90, "queue_packets": 20},
]
FLOW = {
    "name": "file",
    "protocol": "sctp",
    "application": "ftp",
    "from": "phone",
    "to": "server",
    "primary": "server-1",
}
TWO_PATHS: dict[str, Any] = {
    "engine": "ns2",
    "duration_s": 30,
    "nodes": ["phone", "wlan", "cellular", "server", "server-1", "server-2"],
    "multihomed": {"phone": ["wlan", "cellular"], "server": ["server-1", "server-2"]},
    "links": LINKS,
    "flows": [FLOW],
}
ONE_LINK = {"from": "phone", "to": "server", "rate_kbit": 2000, "delay_ms": 10}
ONE_PATH: dict[str, Any] = {
    "engine": "ns2",
    "duration_s": 20,
    "nodes": ["phone", "server"],
    "links": [ONE_LINK],
    "flows": [{key: value for key, value in FLOW.items() if key != "primary"}],
}
FAILING = {"from": "wlan", "to": "server-1"}
RTO = {"rto_min_ms": 1000, "rto_max_ms": 1000}

SCENARIOS: dict[str, dict[str, Any]] = {
    "single-homed": ONE_PATH,
    # One after the other until what is sent again is lost, too: only T3-rtx can tell.
    "time-out": ONE_PATH | {"links": [ONE_LINK | {"lost_packets": [*range(200, 260)]}]},
    "multihomed": TWO_PATHS,
    # A few messages, and then nothing: ns-2's SCTP takes no more of this application.
    "heartbeat": TWO_PATHS
    | {
        "sctp": {"hb_interval_ms": 1000},
        "flows": [FLOW | {"application": "cbr", "packet_bytes": 500, "rate_kbit": 40, "stop_s": 5}],
    },
    "failover": TWO_PATHS
    | {
        "sctp": RTO
        | {"path_max_retrans": 2, "hb_interval_ms": 2000, "change_primary_errors": 1000},
        "actions": [
            {"at_s": 8, "do": "link-down", **FAILING},
            {"at_s": 20, "do": "link-up", **FAILING},
        ],
    },
    "set-primary": TWO_PATHS
    | {"actions": [{"at_s": 10, "do": "set-primary", "flow": "file", "to": "server-2"}]},
    "concurrent": TWO_PATHS | {"sctp": {"concurrent": True}},
    "lossy": TWO_PATHS
    | {"seed": 7, "links": [LINKS[0] | {"loss_percent": 3}, LINKS[1] | {"loss_percent": 1}]},
}


@dataclass
class Counts:
    """What the lines of a trace say, by source and destination node."""

    lines: int = 0
    chunks: Counter[tuple[int, int]] = field(default_factory=Counter)
    sent: defaultdict[tuple[int, int], set[int]] = field(default_factory=lambda: defaultdict(set))
    arrived: defaultdict[tuple[int, int], set[int]] = field(
        default_factory=lambda: defaultdict(set)
    )
    heartbeats: Counter[tuple[int, int]] = field(default_factory=Counter)
    dropped: Counter[tuple[int, int]] = field(default_factory=Counter)
    tsns: defaultdict[int, set[int]] = field(default_factory=lambda: defaultdict(set))
    sack_bytes: dict[int, int] = field(default_factory=dict)


def counts(trace: Path) -> Counts:
    found = Counts()
    for number, line in enumerate(trace.read_text().splitlines(), start=1):
        event, _, start, end, kind, size, flags, _, source, sink, *_ = words = line.split()
        found.lines += 1
        assert kind == "sctp"
        ends = (int(source.partition(".")[0]), int(sink.partition(".")[0]))
        if event == "d":
            found.dropped[int(start), int(end)] += 1
        # A packet has a line for each of its chunks.
        packet = int(words[12])
        if event == "r" and int(end) == ends[1] and flags.endswith("D"):
            found.arrived[ends].add(packet)
        if flags.endswith("S"):
            found.sack_bytes[number] = int(size)
        if event == "+" and int(start) == ends[0]:
            found.chunks[ends] += flags.endswith("D")
            found.heartbeats[ends] += flags.endswith("H")
            if flags.endswith("D"):
                found.sent[ends].add(packet)
                found.tsns[ends[0] > ends[1]].add(int(words[11]))
    return found


@dataclass(frozen=True)
class Made:
    folder: Path
    analysis: pathscope.Analysis
    counts: Counts

    @property
    def association(self) -> Any:
        (found,) = self.analysis.associations
        return found

    def path(self, label: str) -> Any:
        return next(path for path in self.association.paths if path.label == label)


def value(measures: dict[str, Measure], name: str) -> float:
    found = measures[name].value
    assert found is not None
    return found


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Made]:
    place = tmp_path_factory.mktemp("traces")

    @cache
    def make(name: str) -> Made:
        folder = place / name
        lab.run(parse(SCENARIOS[name], name), folder, "ns2")
        return Made(folder, pathscope.analyze(folder), counts(folder / "trace.tr"))

    return make


@pytest.mark.parametrize("name", SCENARIOS)
def test_every_line_is_read_and_every_packet_counted(
    made: Callable[[str], Made], name: str
) -> None:
    run = made(name)
    facts = run.analysis.ledger.capture
    assert not run.analysis.ledger.rows("problems")
    assert facts["frames"] == {
        "read": run.counts.lines,
        "dissected": run.counts.lines,
        "partial": 0,
        "skipped": {},
    }
    simulation = run.analysis.result.simulation
    assert simulation is not None
    for route in simulation.routes:
        ends = (int(route.source[1:]), int(route.destination[1:]))
        sent = value(route.data, "sent_packets") + value(route.data, "outside_packets")
        assert sent == len(run.counts.sent[ends])
        assert value(route.data, "arrived_packets") == len(run.counts.arrived[ends])
    dropped = {
        (int(link.from_node[1:]), int(link.to_node[1:])): link.metrics["dropped_packets"].value
        for link in simulation.links
    }
    assert {ends: count for ends, count in dropped.items() if count} == dict(run.counts.dropped)


@pytest.mark.parametrize("name", SCENARIOS)
def test_data_retransmissions_and_heartbeats(made: Callable[[str], Made], name: str) -> None:
    run = made(name)
    association = run.association
    assert association.seen_handshake
    assert association.captured_at == "a"
    sent = again = heartbeats = 0
    for path in association.paths:
        a, b = (int(address[1:]) for address in (path.a_address, path.b_address))
        one = path.directions["a"].metrics
        assert one["data_chunks"].value == run.counts.chunks[a, b]
        sent += one["data_chunks"].value
        again += one["retransmitted_chunks"].value
        # Of end b those are seen that arrive at end a.
        heartbeats += path.directions["a"].heartbeats["sent"].value
    assert again == sent - len(run.counts.tsns[False])
    of_a = sum(count for (a, b), count in run.counts.heartbeats.items() if a < b)
    assert heartbeats == of_a


@pytest.mark.parametrize("name", SCENARIOS)
def test_sacks_have_the_gap_blocks_and_duplicates_that_their_size_says(
    made: Callable[[str], Made], name: str
) -> None:
    """The trace has neither, but the packet's size: 48 bytes and four for each."""
    run = made(name)
    checked = 0
    for batch in pathscope.dissect(run.folder / "trace.tr"):
        for row in batch.to_pylist():
            if row["chunk_name"] == "SACK":
                told = [*(row["gaps"] or "").split(","), *(row["duplicates"] or "").split(",")]
                size = 48 + 4 * sum(map(bool, told))
                assert run.counts.sack_bytes[row["frame"]] == size
                checked += 1
    assert checked > 50 or name == "heartbeat"


def test_nothing_happens_on_a_single_path(made: Callable[[str], Made]) -> None:
    association = made("single-homed").association
    assert (len(association.paths), association.handovers) == (1, ())
    assert association.totals["a"]["retransmitted_chunks"].value == 0
    assert association.findings == ()


def test_time_outs_wait_for_the_rto_and_double(made: Callable[[str], Made]) -> None:
    run = made("time-out")
    rows = run.analysis.ledger.rows("timeouts")
    assert rows
    # ns-2's defaults: RTO.Min 1 s, and no round trip comes near that.
    waits_s = [row["elapsed_ns"] / 1e9 for row in rows if row["consecutive"] == 1]
    assert all(wait_s == pytest.approx(1, abs=0.001) for wait_s in waits_s)
    doubled = [row["elapsed_ns"] / 1e9 for row in rows if row["consecutive"] == 2]
    assert all(wait_s == pytest.approx(2, abs=0.001) for wait_s in doubled)


def test_both_paths_of_a_multihomed_association_are_known(made: Callable[[str], Made]) -> None:
    association = made("multihomed").association
    assert [path.label for path in association.paths] == ["wlan-server-1", "cellular-server-2"]
    assert association.endpoints["a"].addresses == ("n1", "n2")
    assert association.endpoints["b"].addresses == ("n4", "n5")
    # The same without the run's folder, from the packets alone.
    alone = pathscope.analyze(made("multihomed").folder / "trace.tr").associations
    assert [one.endpoints["a"].addresses for one in alone] == [("n1", "n2")]
    assert association.handovers == ()


def test_heartbeats_of_an_idle_association_are_answered(made: Callable[[str], Made]) -> None:
    run = made("heartbeat")
    for label in ("wlan-server-1", "cellular-server-2"):
        found = run.path(label).directions["a"].heartbeats
        # At every RTO + HB.Interval (1 +- 0.5), at most RTO.Max 60 s: some within 25 s.
        assert found["sent"].value >= 5
        assert found["unanswered"].value <= 1  # of the last one the answer is on its way
    rtt_ns = run.path("cellular-server-2").directions["a"].heartbeats["rtt_min_ns"].value
    bits = 2 * 56 * 8  # there and back
    assert rtt_ns == pytest.approx(180e6 + bits / 384e3 * 1e9, abs=2000)


def test_a_failover_and_the_return(made: Callable[[str], Made]) -> None:
    failed, returned = made("failover").association.handovers
    assert (failed.cause, returned.cause) == ("timeout", "path-returned")
    assert failed.instants["t_fail"].ns == 8_000_000_000
    assert failed.instants["t_fail"].basis == "annotated"
    # Three time-outs of one second, for Path.Max.Retrans 2; ns-2 starts the second when a SACK
    # for the other path's retransmissions arrives.
    assert failed.metrics["link_failure_recovery_s"].value == pytest.approx(3.2, abs=0.2)
    assert failed.instants["t_first_timeout"].ns == pytest.approx(9e9, abs=5e6)
    # Its first packet on the idle second path: 1500 bytes at 384 kbit/s, and 90 ms.
    arrival, sending = failed.instants["t_first_arrival"], failed.instants["t_first_new"]
    assert arrival.ns - sending.ns == pytest.approx(90e6 + 1500 * 8 / 384e3 * 1e9, abs=1000)
    assert arrival.basis == "observed"
    # A second expiry seems to come after 0.6 s, as ns-2 keeps the timer for what it has yet to send
    # again: it is no evidence.
    timers = made("failover").association.timers["a"]
    assert timers["rto_s"].measure.value == pytest.approx(1, abs=0.001)
    assert returned.instants["t_return_link"].ns == 20_000_000_000
    # The next HEARTBEAT comes within RTO + 1.5 HB.Interval, and is answered in a round trip.
    assert 0 < returned.metrics["link_recognition_s"].value < 1 + 3 + 0.1


def test_a_primary_path_set_by_the_application(made: Callable[[str], Made]) -> None:
    (handover,) = made("set-primary").association.handovers
    assert handover.cause == "user-change"
    at_ns = handover.instants["t_first_new"].ns
    assert at_ns is not None
    assert 10_000_000_000 < at_ns < 10_100_000_000


def test_concurrent_transfer_is_no_row_of_handovers(made: Callable[[str], Made]) -> None:
    association = made("concurrent").association
    assert association.handovers == ()
    assert "concurrent-paths" in {finding.rule for finding in association.findings}


def test_losses_by_place(made: Callable[[str], Made]) -> None:
    simulation = made("lossy").analysis.result.simulation
    assert simulation is not None
    for route in simulation.routes:
        if value(route.data, "sent_packets") > 100:
            on_links = sum(loss.packets for loss in route.losses)
            assert 0 < on_links == value(route.packets, "lost_packets")
            assert {(loss.from_node, loss.to_node) for loss in route.losses} == {
                (route.source, route.destination)
            }


WIRELESS = """
Trace set show_sctphdr_ 1
set ns [new Simulator]
$ns use-newtrace
set trace [open wireless.tr w]
$ns trace-all $trace
set topo [new Topography]
$topo load_flatgrid 500 500
create-god 3
$ns node-config -adhocRouting DSDV -llType LL -macType Mac/802_11 \\
    -ifqType Queue/DropTail/PriQueue -ifqLen 50 -antType Antenna/OmniAntenna \\
    -propType Propagation/TwoRayGround -phyType Phy/WirelessPhy \\
    -channel [new Channel/WirelessChannel] -topoInstance $topo \\
    -agentTrace ON -routerTrace ON -macTrace ON -movementTrace ON
for {set i 0} {$i < 3} {incr i} {
    set n($i) [$ns node]
    $n($i) set X_ [expr 10 + 200 * $i]
    $n($i) set Y_ 100
    $n($i) set Z_ 0
}
proc flow {from to agent sink application at} {
    global ns n
    set a [new $agent]
    set b [new $sink]
    $ns attach-agent $n($from) $a
    $ns attach-agent $n($to) $b
    $ns connect $a $b
    set source [new $application]
    $source attach-agent $a
    $ns at $at "$source start"
}
flow 0 1 Agent/TCP Agent/TCPSink Application/FTP 30
flow 1 2 Agent/SCTP Agent/SCTP Application/FTP 32
$ns at 36 "$ns flush-trace; close $trace; exit 0"
$ns run
"""


def test_the_new_wireless_format(tmp_path: Path) -> None:
    (tmp_path / "wireless.tcl").write_text(WIRELESS)
    subprocess.run(["ns", "wireless.tcl"], cwd=tmp_path, check=True, capture_output=True)
    trace = tmp_path / "wireless.tr"
    sent: Counter[str] = Counter()
    arrived: Counter[str] = Counter()
    for line in trace.read_text().splitlines():
        words = line.split()
        if "-Nl" in words and words[words.index("-Nl") + 1] == "AGT":
            kind = words[words.index("-It") + 1]
            sent[kind] += words[0] == "s"
            arrived[kind] += words[0] == "r"
    analysis = pathscope.analyze(trace)
    assert not analysis.ledger.rows("problems")
    simulation = analysis.result.simulation
    assert simulation is not None
    for kind in ("tcp", "ack", "sctp"):
        routes = [route for route in simulation.routes if route.packet_type == kind]
        of_all = sum(
            value(route.packets, "sent_packets") + value(route.packets, "outside_packets")
            for route in routes
        )
        assert of_all == sent[kind]
        assert sum(value(route.packets, "arrived_packets") for route in routes) == arrived[kind]
    (association,) = analysis.associations
    assert association.seen_handshake
    (flow,) = analysis.flows
    assert flow.protocol == "tcp"
    assert flow.seen_handshake


@pytest.mark.parametrize("name", ["single-homed", "failover", "lossy"])
def test_the_result_is_what_its_schema_says(made: Callable[[str], Made], name: str) -> None:
    schema = json.loads((ROOT / "reports" / "result.schema.json").read_text())
    jsonschema.Draft202012Validator(schema).validate(
        json.loads(json.dumps(made(name).analysis.to_dict()))
    )
