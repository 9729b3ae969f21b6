"""Flows, MPTCP connections and ICMP errors of captures whose numbers the test wrote."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pathscope
import pytest
from crafting import SECOND, START_NS, chunk, data, sctp
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pathscope.analyzer.flow_model import Flow
from pathscope.analyzer.measure import Measure
from pathscope.analyzer.model import End
from scapy.layers.inet import ICMP, IP, UDP
from scapy.layers.inet6 import ICMPv6PacketTooBig
from scapy.packet import Raw
from talking import (
    MS,
    Scene,
    Tcp,
    rtp,
    udp,
)

A, A2, B, ROUTER = "10.0.0.1", "10.1.0.1", "10.0.0.2", "10.0.0.254"
KEYS = (0x0102030405060708, 0x1112131415161718)


@pytest.fixture
def scene() -> Scene:
    return Scene()


def analyzed(scene: Scene, folder: Path, **how: object) -> pathscope.Analysis:
    return pathscope.analyze(scene.write(folder / "capture.pcap"), **how)  # type: ignore[arg-type]


def only(scene: Scene, folder: Path) -> Flow:
    (flow,) = analyzed(scene, folder).flows
    return flow


def values(measures: dict[str, Measure], *names: str) -> tuple[Any, ...]:
    return tuple(measures[name].value for name in names)


def connected(scene: Scene, a: str = A, port: int = 1000) -> Tcp:
    tcp = Tcp(scene, (a, port), (B, 80))
    tcp.handshake(0)
    return tcp


def test_rates_are_bytes_over_time(scene: Scene, tmp_path: Path) -> None:
    tcp = connected(scene)
    for n in range(10):
        tcp.send(100 + 100 * n, "a", "A", 460)
    tcp.send(2000, "b")
    flow = only(scene, tmp_path)
    sent = flow.directions["a"].metrics
    # 12 packets of 40 bytes of headers, ten of them with 460 bytes; the capture has no link layer.
    assert values(sent, "packets", "segments", "wire_bytes", "payload_bytes") == (
        12,
        11,
        5080,
        4600,
    )
    assert values(sent, "new_bytes", "acked_bytes", "unseen_bytes") == (4600, 4600, 0)
    assert values(sent, "active_s") == (1.0,)
    assert values(sent, "throughput_bps", "throughput_whole_bps") == (5080 * 8, 5080 * 8 / 2)
    assert values(sent, "goodput_bps") == (4600 * 8 / 2,)
    assert flow.label == f"{A}-{B}"
    assert (flow.endpoints["a"].port, flow.endpoints["b"].port) == (1000, 80)


def test_the_handshake_and_the_end(scene: Scene, tmp_path: Path) -> None:
    tcp = connected(scene)
    tcp.send(50, "b", "FA")
    tcp.send(60, "a", "FA")
    flow = only(scene, tmp_path)
    assert values(flow.metrics, "syn_rtt_ns", "handshake_rtt_ns") == (20 * MS, 20 * MS)
    assert (flow.established.ns, flow.established.frame) == (START_NS + 20 * MS, 3)
    assert (flow.how_it_ended, flow.ended_by, flow.seen_handshake) == ("fin", "b", True)
    assert (flow.closed.ns, flow.closed.frame) == (START_NS + 50 * MS, 4)
    assert flow.findings == ()


def test_retransmissions_and_their_share(scene: Scene, tmp_path: Path) -> None:
    tcp = connected(scene)
    for n in range(5):
        tcp.send(30 + n, "a", "A", 100)
    for n in range(4):
        tcp.send(50 + n, "b", ack=101)
    tcp.send(54, "a", "A", 100, seq=101)
    tcp.send(74, "b")
    sent = only(scene, tmp_path).directions["a"].metrics
    assert values(sent, "segments", "retransmitted_packets", "retransmitted_fast_packets") == (
        7,
        1,
        1,
    )
    assert values(sent, "retransmission_ratio") == (pytest.approx(1 / 7),)
    assert values(sent, "retransmitted_bytes_ratio") == (pytest.approx(1 / 6),)
    assert values(sent, "rtt_min_ns", "rtt_samples") == (20 * MS, 1)


def test_what_udp_has_not_is_absent(scene: Scene, tmp_path: Path) -> None:
    for n in range(10):
        udp(scene, 10 * n, (A, 7), (B, 9), bytes(100))
    flow = only(scene, tmp_path)
    sent, back = flow.directions["a"].metrics, flow.directions["b"].metrics
    assert sent["goodput_bps"].reason == "UDP does not acknowledge"
    assert sent["retransmitted_packets"].value is None
    assert sent["loss_ratio"].reason == "no RTP or D-ITG was recognised"
    assert values(sent, "throughput_bps") == (pytest.approx(1280 * 8 / 0.09),)
    assert values(sent, "gap_mean_ns", "gap_sd_ns") == (10 * MS, 0)
    assert values(back, "packets", "wire_bytes") == (0, 0)
    silent = {m.reason for name, m in back.items() if name not in ("packets", "wire_bytes")}
    assert silent == {"no packet of this end in the capture"}
    assert flow.established.reason == "UDP has no such thing"


def test_rtp_loss_and_jitter(scene: Scene, tmp_path: Path) -> None:
    for n in range(100):
        if n % 20 != 10:
            udp(scene, 20 * n, (A, 5004), (B, 5004), rtp(n))
    direction = only(scene, tmp_path).directions["a"]
    assert direction.numbering is not None
    assert (direction.numbering.protocol, direction.numbering.stream) == ("rtp", 77)
    names = ("numbered_packets", "lost_packets", "loss_ratio", "jitter_ns", "clock_hz")
    assert values(direction.metrics, *names) == (95, 5, 0.05, 0, 8000)


def test_labels_are_those_of_paths(scene: Scene, tmp_path: Path) -> None:
    connected(scene)
    analysis = analyzed(scene, tmp_path, labels=["10.0.0.1/32=wlan"])
    assert [flow.label for flow in analysis.flows] == ["wlan"]


def rules(flow: Flow) -> list[tuple[str, tuple[int, ...]]]:
    return [(finding.rule, finding.frames) for finding in flow.findings]


def test_syn_without_answer(scene: Scene, tmp_path: Path) -> None:
    tcp = Tcp(scene, (A, 1000), (B, 80))
    tcp.send(0, "a", "S", seq=0)
    tcp.send(1000, "a", "S", seq=0)
    flow = only(scene, tmp_path)
    assert rules(flow) == [("setup-unanswered", (1,))]
    assert "2 times" in flow.findings[0].text


def test_syn_refused(scene: Scene, tmp_path: Path) -> None:
    tcp = Tcp(scene, (A, 1000), (B, 80))
    tcp.send(0, "a", "S")
    tcp.send(10, "b", "RA")
    assert rules(only(scene, tmp_path)) == [("setup-refused", (1, 2))]


@pytest.mark.parametrize("sender", ["a", "b"])
def test_reset_of_a_connection(scene: Scene, tmp_path: Path, sender: End) -> None:
    connected(scene).send(100, sender, "R")
    flow = only(scene, tmp_path)
    assert rules(flow) == [("reset", (4,))]
    assert flow.findings[0].text == f"{sender} reset the connection"


def test_zero_window(scene: Scene, tmp_path: Path) -> None:
    tcp = connected(scene)
    tcp.send(30, "a", "A", 100)
    tcp.send(50, "b", window=0)
    tcp.send(250, "b")
    flow = only(scene, tmp_path)
    assert rules(flow) == [("zero-window", (5,))]
    assert values(flow.directions["b"].metrics, "zero_windows", "zero_window_s") == (1, 0.2)


def test_needless_retransmissions(scene: Scene, tmp_path: Path) -> None:
    tcp = connected(scene)
    tcp.send(30, "a", "A", 100)
    tcp.send(400, "a", "A", 100, seq=1)
    tcp.send(410, "b")
    first, last = tcp.initial["a"] + 1, tcp.initial["a"] + 101
    tcp.send(420, "b", options=(("SAck", (first, last)),))
    flow = only(scene, tmp_path)
    assert rules(flow) == [("spurious-retransmissions", (5,))]
    assert values(flow.directions["a"].metrics, "retransmitted_spurious_packets") == (1,)


def test_copies_and_cuts(scene: Scene, tmp_path: Path) -> None:
    tcp = connected(scene)
    tcp.send(30, "a", "A", 100)
    whole = scene.records[-1]
    scene.records.append(type(whole)(whole.time_ns + MS // 2, whole.data))
    tcp.send(40, "a", "A", 100)
    cut = scene.records.pop()
    scene.records.append(type(cut)(cut.time_ns, cut.data[:60], wire_length=len(cut.data)))
    flow = only(scene, tmp_path)
    assert [rule for rule, _ in rules(flow)] == ["duplicated-frames", "truncated-packets"]
    assert (flow.duplicate_frames, flow.truncated_packets) == (1, 1)
    assert values(flow.directions["a"].metrics, "payload_bytes") == (200,)


def test_icmp_errors_name_whose_packet_they_quote(scene: Scene, tmp_path: Path) -> None:
    asked = udp(scene, 0, (A, 5353), (B, 53), bytes(30))
    scene.packet(5, ROUTER, A, ICMP(type=3, code=1) / asked[:28])
    heard = scene.packet(10, A, B, data(1))
    scene.packet(15, ROUTER, A, ICMP(type=3, code=4, nexthopmtu=1400) / heard[:28])
    other = sctp(chunk(0, 3, bytes(20)), source_port=1001, tag=5)
    tunnelled = UDP(sport=9899, dport=9899) / Raw(bytes(other))
    wrapped = scene.packet(20, A, B, tunnelled)
    scene.packet(25, ROUTER, A, ICMP(type=11, code=0) / wrapped[:36])
    scene.packet(26, ROUTER, A, ICMP(type=11, code=0) / wrapped[:28])
    scene.packet(30, ROUTER, A, ICMP(type=3, code=3) / bytes(IP(src=A, dst=B) / UDP())[:28])
    analysis = analyzed(scene, tmp_path)
    found = [
        (error.name, error.at.frame, error.mtu_bytes, error.quoted.flow, error.quoted.association)
        for error in analysis.icmp
        if error.quoted is not None
    ]
    assert found == [
        ("host unreachable", 2, None, 0, None),
        ("fragmentation needed and DF set", 4, 1400, None, 0),
        ("time to live exceeded in transit", 6, None, None, 1),
        ("time to live exceeded in transit", 7, None, None, None),
        ("port unreachable", 8, None, None, None),
    ]
    senders = [error.quoted.sender for error in analysis.icmp if error.quoted is not None]
    assert senders == ["a", "a", "a", None, None]
    assert {error.source for error in analysis.icmp} == {ROUTER}
    (flow,) = analysis.flows
    assert rules(flow) == [("icmp-error", (2,))]


def test_icmp6_says_the_mtu(scene: Scene, tmp_path: Path) -> None:
    one, other = "2001:db8::1", "2001:db8::2"
    sent = udp(scene, 0, (one, 7), (other, 9), bytes(1400))
    scene.packet(5, "2001:db8::fe", one, ICMPv6PacketTooBig(mtu=1280) / sent[:100])
    (error,) = analyzed(scene, tmp_path).icmp
    assert (error.version, error.icmp_type, error.mtu_bytes) == (6, 2, 1280)
    assert error.quoted is not None
    assert (error.quoted.flow, error.quoted.source_port) == (0, 7)


Segment = tuple[End, int, int, bool, int]
SEGMENTS = st.lists(
    st.tuples(
        st.sampled_from(["a", "b"]),
        st.integers(0, 1500),  # payload
        st.integers(0, 3000),  # how far back it begins
        st.booleans(),  # lost before the capture
        st.integers(0, 400),  # ms since the segment before
    ),
    max_size=40,
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60)
@given(segments=SEGMENTS)
def test_sums_hold_whatever_is_sent(tmp_path: Path, segments: list[Segment]) -> None:
    scene = Scene()
    tcp = connected(scene)
    time_ms = 20
    for sender, size, back, lost, gap_ms in segments:
        time_ms += gap_ms
        seq = max(tcp.next[sender] - back, 1)
        tcp.send(time_ms, sender, "A", size, seq=seq, lost=lost)
    flow = only(scene, tmp_path)
    for end, direction in flow.directions.items():
        sent = {name: measure.value or 0 for name, measure in direction.metrics.items()}
        own = [one for one in segments if one[0] == end and not one[3]]
        assert sent["payload_bytes"] == sum(size for _, size, _, _, _ in own)
        assert sent["segments"] == sum(size > 0 for _, size, _, _, _ in own) + 1
        # Probes and keep-alives are neither; they have at most one byte.
        apart = sent["payload_bytes"] - sent["new_bytes"] - sent["retransmitted_bytes"]
        assert 0 <= apart <= sent["keep_alives"] + sent["window_probes"]
        assert sent["acked_bytes"] <= tcp.next[end]
        for name in ("retransmission_ratio", "retransmitted_bytes_ratio"):
            assert 0 <= sent[name] <= 1
    assert flow.end.ns is not None
    assert flow.end.ns <= START_NS + time_ms * MS < START_NS + 20 * SECOND
