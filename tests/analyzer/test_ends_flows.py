"""TCP and UDP at two ends: packets by Scapy, with delays and losses that the test chooses."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pytest
from crafting import LINK, START_NS, Record, pcap
from pathscope import api
from pathscope.analyzer.ends import pairing
from pathscope.analyzer.measure import Measure
from pathscope.analyzer.model import CaptureResult, End
from scapy.layers.inet import IP, TCP, UDP
from scapy.packet import Packet, Raw

MS = 1_000_000
HERE, THERE, OUTSIDE = "10.0.0.1", "10.0.0.2", "192.0.2.9"
OUT_NS, BACK_NS = 12 * MS, 9 * MS
CLOCK_NS = 5_000 * MS


@dataclass
class Scene:
    """What both ends see; the other one's clock is 5 s ahead, and a NAT may rewrite the first."""

    nat: bool = False
    first: list[Record] = field(default_factory=list)
    second: list[Record] = field(default_factory=list)

    def packet(
        self, at_ms: float, layer: Packet, *, back: bool = False, lost: bool = False
    ) -> None:
        at_ns = START_NS + round(at_ms * MS)
        source, target = (THERE, HERE) if back else (HERE, THERE)
        here = bytes(LINK / IP(src=source, dst=target) / layer.copy())
        other = layer.copy()
        if self.nat:
            source, target = (THERE, OUTSIDE) if back else (OUTSIDE, THERE)
            if back:
                other.dport = 40_000
            else:
                other.sport = 40_000
        there = bytes(LINK / IP(src=source, dst=target) / other)
        if back:
            self.second.append(Record(at_ns + CLOCK_NS, there))
            if not lost:
                self.first.append(Record(at_ns + BACK_NS, here))
        else:
            self.first.append(Record(at_ns, here))
            if not lost:
                self.second.append(Record(at_ns + OUT_NS + CLOCK_NS, there))

    def result(self, folder: Path) -> CaptureResult:
        files = []
        for name, records in (("first", self.first), ("second", self.second)):
            files.append(folder / f"{name}.pcap")
            files[-1].write_bytes(pcap(sorted(records, key=lambda one: one.time_ns)))
        (only,) = api.analyze_two(*files)
        return only.result


def number(found: dict[str, Measure] | None, name: str) -> float | None:
    assert found is not None
    return found[name].value


@pytest.mark.parametrize("nat", [False, True])
def test_a_tcp_flow(nat: bool, tmp_path: Path) -> None:
    scene = Scene(nat)
    scene.packet(0, TCP(sport=1234, dport=80, flags="S", seq=100))
    scene.packet(20, TCP(sport=80, dport=1234, flags="SA", seq=900, ack=101), back=True)
    for index in range(30):
        at_ms = 40 + 25 * index
        segment = TCP(sport=1234, dport=80, flags="A", seq=101 + 10 * index, ack=901)
        scene.packet(at_ms, segment / Raw(b"0123456789"), lost=index in (5, 6, 20))
        ack = TCP(sport=80, dport=1234, flags="A", seq=901, ack=111 + 10 * index)
        scene.packet(at_ms + 13, ack, back=True, lost=index == 8)
    found = scene.result(tmp_path)
    (flow,) = found.flows
    out, back = (flow.directions[end].transit for end in ("a", "b"))
    assert (number(out, "sent_packets"), number(out, "lost_packets")) == (31, 3)
    assert (number(out, "loss_bursts"), number(out, "loss_burst_mean_packets")) == (2, 1.5)
    assert (number(back, "sent_packets"), number(back, "lost_packets")) == (31, 1)
    assert (number(out, "jitter_w_ns"), number(back, "jitter_w_ns")) == (0, 0)
    # The middle between 12 ms out and 9 ms back is 1.5 ms off, as the bounds of 10.5 ms allow.
    for one, true_ns in ((out, OUT_NS), (back, BACK_NS)):
        assert one is not None
        delay = one["one_way_delay_p50_ns"]
        assert delay.value == pytest.approx(10.5 * MS, abs=1)
        assert delay.low is not None
        assert delay.high is not None
        assert delay.low <= true_ns <= delay.high
    assert found.other_end is not None
    (same,) = found.other_end.counterparts
    assert (same.is_flow, same.translated) == (True, nat)
    assert same.addresses[0] == ((OUTSIDE if nat else HERE),)
    assert same.ports == ((40_000 if nat else 1234), 80)


def test_udp_flows_of_one_direction_go_by_those_of_both(tmp_path: Path) -> None:
    scene = Scene()
    for index in range(20):
        at_ms = 10 * index
        scene.packet(at_ms, UDP(sport=5, dport=6) / Raw(f"ping {index}".encode()))
        scene.packet(at_ms + 1, UDP(sport=6, dport=5) / Raw(f"pong {index}".encode()), back=True)
        stream = UDP(sport=7, dport=8) / Raw(f"only back {index}".encode())
        scene.packet(at_ms + 2, stream, back=True, lost=index == 3)
    found = scene.result(tmp_path)
    talk, stream_flow = found.flows
    assert number(talk.directions["a"].transit, "lost_packets") == 0
    sender: End = "a" if stream_flow.endpoints["a"].address == THERE else "b"
    assert number(stream_flow.directions[sender].transit, "lost_packets") == 1
    assert number(stream_flow.directions[sender].transit, "sent_packets") == 20


def test_reordering_on_the_way(tmp_path: Path) -> None:
    scene = Scene()
    for index in range(20):
        scene.packet(10 * index, UDP(sport=5, dport=6) / Raw(f"ping {index}".encode()))
        scene.packet(
            10 * index + 1, UDP(sport=6, dport=5) / Raw(f"pong {index}".encode()), back=True
        )
    late = scene.second[4]
    assert b"ping 2" in late.data
    scene.second[4] = Record(late.time_ns + 25 * MS, late.data)
    (flow,) = scene.result(tmp_path).flows
    out = flow.directions["a"].transit
    assert (number(out, "reordered_packets"), number(out, "reordered_ratio")) == (1, 1 / 20)
    assert number(out, "lost_packets") == 0


SAME = [
    # Sent, arrived, least delay: which sending each arrival belongs to.
    ([0, 100], [10], 5, [(0, 0)]),
    ([0, 100], [110], 5, [(1, 0)]),
    ([0, 100], [104], 5, [(0, 0)]),
    ([0, 100, 200], [10, 210], 5, [(0, 0), (2, 1)]),
    ([0], [10, 12], 5, [(0, 0)]),
    ([0, 100], [10, 12, 110], 5, [(0, 0), (1, 2)]),
    ([100], [50], 5, []),
]


@pytest.mark.parametrize(("sent", "arrived", "least", "expected"), SAME)
def test_identical_packets_are_told_apart_by_time(
    sent: list[int], arrived: list[int], least: int, expected: list[tuple[int, int]]
) -> None:
    found = pairing.assign(np.array(sent), np.array(arrived), least)
    assert found == expected
