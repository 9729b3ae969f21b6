"""MPTCP connections whose subflows, data and switches the test wrote."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pathscope
import pytest
from crafting import START_NS
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pathscope.analyzer import flow_rows
from pathscope.analyzer.flow_model import Connection
from pathscope.analyzer.measure import Measure
from pathscope.analyzer.model import End
from scapy.layers.inet import ICMP
from talking import MS, Scene, Tcp, capable, first_data_sequence, join, mapping, udp

A, A2, B = "10.0.0.1", "10.1.0.1", "10.0.0.2"
KEYS = (0x0102030405060708, 0x1112131415161718)


@pytest.fixture
def scene() -> Scene:
    return Scene()


def analyzed(
    scene: Scene, folder: Path, options: pathscope.ReadOptions | None = None
) -> pathscope.Analysis:
    return pathscope.analyze(scene.write(folder / "capture.pcap"), options=options)


def values(measures: dict[str, Measure], *names: str) -> tuple[Any, ...]:
    return tuple(measures[name].value for name in names)


def multipath(scene: Scene, *, turned: bool = False) -> tuple[Tcp, Tcp]:
    """Open a connection at 0 ms and join it at 200 ms; `turned`: b joins."""
    first = Tcp(scene, (A, 1000), (B, 80))
    first.handshake(0, 20, (capable(),), (capable(KEYS[1]),), (capable(*KEYS),))
    ends = ((B, 2000), (A2, 80)) if turned else ((A2, 1001), (B, 80))
    second = Tcp(scene, *ends)
    options = join(KEYS[0] if turned else KEYS[1], 2)
    second.handshake(200, 90, *((option,) for option in options))
    return first, second


def send_mapped(tcp: Tcp, time_ms: float, sender: End, number: int, size: int = 100) -> None:
    """Send the data of one end of the connection from `number` on, counted from 0."""
    data = first_data_sequence(KEYS[0]) + number
    dss = mapping(data, max(tcp.next[sender], 1), size)
    tcp.send(time_ms, sender, "A", size, options=(dss,))


@pytest.mark.parametrize("turned", [False, True])
def test_a_subflow_has_the_numbers_of_a_path(scene: Scene, tmp_path: Path, turned: bool) -> None:
    """By the connection's ends: those of the flow, whose goodput is by the connection's time."""
    first, second = multipath(scene, turned=turned)
    for n in range(4):
        send_mapped(first, 1000 + 40 * n, "a", 100 * n)
        first.send(1020 + 40 * n, "b")
    sender: End = "b" if turned else "a"
    peer: End = "a" if turned else "b"
    send_mapped(second, 1500, sender, 400)
    second.send(1590, peer)
    send_mapped(second, 2000, sender, 500)
    second.send(2300, sender, "A", 100, seq=101)  # the same bytes again
    second.send(2390, peer)
    (connection,) = analyzed(scene, tmp_path).connections
    names = ("acked_bytes", "rtt_mean_ns", "retransmission_ratio")
    one, two = (subflow.senders["a"] for subflow in connection.subflows)
    # Four of five segments had payload, the other was SYN; of the join three, and one went again.
    assert values(one, *names) == (400, 20 * MS, 0)
    assert values(two, *names) == (200, 90 * MS, pytest.approx(1 / 4))
    assert one["goodput_bps"].value == pytest.approx(400 * 8 / 2.39)
    assert two["goodput_bps"].value == pytest.approx(200 * 8 / 2.39)


@pytest.mark.parametrize("turned", [False, True])
def test_subflows_of_a_connection(scene: Scene, tmp_path: Path, turned: bool) -> None:
    first, second = multipath(scene, turned=turned)
    for n in range(6):
        send_mapped(first, 1000 + n, "a", 100 * n)
    for n in range(5, 8):
        send_mapped(second, 1100 + n, "b" if turned else "a", 100 * n)
    analysis = analyzed(scene, tmp_path)
    (connection,) = analysis.connections
    assert [subflow.kind for subflow in connection.subflows] == ["capable", "join"]
    assert [subflow.end_a for subflow in connection.subflows] == ["a", "b" if turned else "a"]
    names = ("payload_bytes", "mapped_bytes", "reinjected_bytes", "share_ratio")
    assert [values(one.senders["a"], *names) for one in connection.subflows] == [
        (600, 600, 0, 0.75),
        (300, 200, 100, 0.25),
    ]
    assert values(connection.totals["a"], "mapped_bytes", "reinjection_ratio") == (
        800, pytest.approx(1 / 9),
    )  # fmt: skip
    assert connection.totals["b"]["reinjection_ratio"].reason == "no data mapped"
    joined = connection.subflows[1].metrics
    assert values(joined, "joined_after_s", "establishment_s") == (0.2, 0.09)
    assert connection.subflows[0].metrics["joined_after_s"].reason == "it opened the connection"
    assert connection.timelines["b"].first_flow is None
    (switch,) = connection.timelines["a"].switches
    assert (switch.from_flow, switch.to_flow) == (0, 1)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=25)
@given(
    moves=st.lists(st.integers(400, 1500), min_size=1, max_size=4),
    step_ms=st.integers(10, 30),
    bin_ms=st.sampled_from([10, 100, 250]),
)
def test_every_switch_is_within_its_bounds(
    tmp_path: Path, moves: list[int], step_ms: int, bin_ms: int
) -> None:
    """Data goes on one subflow, then for so many milliseconds on the other, and so on."""
    scene = Scene()
    subflows = multipath(scene)
    time_ms, number, true_ns = 1000, 0, []
    for index, stay_ms in enumerate([500, *moves]):
        if index:
            true_ns.append(START_NS + time_ms * MS)
        for _ in range(0, stay_ms, step_ms):
            send_mapped(subflows[index % 2], time_ms, "a", 100 * number)
            time_ms, number = time_ms + step_ms, number + 1
    options = pathscope.ReadOptions(flows=True, bin_ns=bin_ms * MS)
    (connection,) = analyzed(scene, tmp_path, options=options).connections
    switches = connection.timelines["a"].switches
    assert len(switches) == len(true_ns)
    for switch, ns in zip(switches, true_ns, strict=True):
        low_ns, high_ns = switch.at.low_ns, switch.at.high_ns
        assert low_ns is not None
        assert high_ns is not None
        assert low_ns <= ns <= high_ns
        assert high_ns - low_ns <= 2 * bin_ms * MS + step_ms * MS


def test_back_and_forth_all_the_time(scene: Scene, tmp_path: Path) -> None:
    subflows = multipath(scene)
    for n in range(60):
        send_mapped(subflows[n % 2], 1000 + 100 * n, "a", 100 * n)
    timeline = one_connection(scene, tmp_path).timelines["a"]
    assert (timeline.concurrent, timeline.switches) == (True, ())
    assert timeline.shared_ratio.value == 0


def test_on_both_at_once(scene: Scene, tmp_path: Path) -> None:
    subflows = multipath(scene)
    for n in range(60):
        send_mapped(subflows[n % 2], 1000 + 10 * n, "a", 100 * n)
    timeline = one_connection(scene, tmp_path).timelines["a"]
    assert timeline.shared_ratio.value == 1
    # Neither carries more than half.
    assert (timeline.first_flow, timeline.switches) == (None, ())


def one_connection(scene: Scene, folder: Path) -> Connection:
    (connection,) = analyzed(scene, folder).connections
    return connection


def test_a_join_whose_connection_began_before_the_capture(scene: Scene, tmp_path: Path) -> None:
    second = Tcp(scene, (A2, 1001), (B, 80))
    second.handshake(0, 90, *((option,) for option in join(KEYS[1], 2)))
    (subflow,) = one_connection(scene, tmp_path).subflows
    reason = "the subflow that opened the connection is not in the capture"
    assert subflow.metrics["joined_after_s"].reason == reason


def test_the_largest_flows_and_whole_connections_are_described(
    scene: Scene, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(flow_rows, "MOST_FLOWS", 4)
    monkeypatch.setattr(flow_rows, "MOST_ICMP", 1)
    for port in range(10):
        asked = udp(scene, port, (A, 6000 + port), (B, 9), bytes(10 * port))
        scene.packet(port + 0.5, B, A, ICMP(type=3, code=3) / asked[:28])
    multipath(scene)  # flows 10 and 11 or so: little, but larger than the small ones
    analysis = analyzed(scene, tmp_path)
    (connection,) = analysis.connections
    subflows = {subflow.flow for subflow in connection.subflows}
    described = {flow.number for flow in analysis.flows}
    assert len(described) == 4
    assert subflows < described
    ports = {flow.endpoints["a"].port for flow in analysis.flows if flow.protocol == "udp"}
    assert ports == {6008, 6009}
    assert [flow.number for flow in analysis.flows] == sorted(described)
    assert len(analysis.icmp) == 1
    assert [text.partition(":")[0] for text in analysis.warnings] == [
        "4 of 12 flows are described, those with the most bytes",
        "the first 1 of 10 ICMP errors are described",
    ]


def test_what_the_tables_have_no_room_for_is_a_warning(scene: Scene, tmp_path: Path) -> None:
    for port in range(30):
        udp(scene, port, (A, 6000 + port), (B, 9), bytes(10))
    options = pathscope.ReadOptions(flows=True, flow_capacity=10)
    analysis = analyzed(scene, tmp_path, options=options)
    assert [text.partition(",")[0] for text in analysis.warnings] == [
        "20 flows were forgotten before the capture ended"
    ]
