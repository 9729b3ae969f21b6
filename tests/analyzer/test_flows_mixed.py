"""Flows of the committed mixed capture, held against its README and against tshark.

Where tshark counts otherwise, docs/metrics.md says how and why; nothing of that is in here.
"""

from __future__ import annotations

import re
import subprocess
from collections import Counter
from functools import cache

import mixed
import oracle
import pathscope
import pytest
from pathscope.analyzer.context import ENDS
from pathscope.analyzer.flow_model import Flow
from pathscope.analyzer.model import End
from running import MIXED

START_S = 1_700_000_000
LABELS = ["10.0.1.0/24=WLAN", "10.0.2.0/24=cellular"]


@cache
def analysis() -> pathscope.Analysis:
    return pathscope.analyze(MIXED, labels=LABELS)


def by_port(port: int) -> Flow:
    (flow,) = [flow for flow in analysis().flows if flow.endpoints["a"].port == port]
    return flow


def values(flow: Flow, sender: End, *names: str) -> tuple[float | None, ...]:
    return tuple(flow.directions[sender].metrics[name].value for name in names)


def statistics(*options: str) -> str:
    command = ["tshark", "-n", "-q", "-r", str(MIXED), *options]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def test_the_capture_is_what_its_script_makes() -> None:
    assert MIXED.read_bytes() == mixed.capture()


def test_the_upload() -> None:
    flow = by_port(40_000)
    assert (flow.label, flow.how_it_ended, flow.ended_by) == ("WLAN", "fin", "b")
    assert values(flow, "a", "new_bytes", "acked_bytes", "payload_bytes") == (
        30_000,
        30_000,
        32_000,
    )
    causes = ("fast", "timeout", "probe", "unknown")
    assert values(flow, "a", *(f"retransmitted_{one}_packets" for one in causes)) == (1, 1, 0, 0)
    assert values(flow, "a", "mss_bytes", "window_scale") == (1460, 7)
    assert values(flow, "b", "duplicate_acks") == (7,)


def test_the_slow_reader() -> None:
    flow = by_port(40_001)
    assert values(flow, "a", "zero_windows", "zero_window_s") == (1, 0.4)
    assert values(flow, "b", "window_probes", "retransmitted_packets") == (1, 0)


def test_the_voice() -> None:
    flow = by_port(5004)
    assert values(flow, "a", "numbered_packets", "lost_packets", "loss_ratio") == (192, 8, 0.04)


def test_the_connection() -> None:
    (connection,) = analysis().connections
    wlan, cellular = connection.subflows
    assert [one.label for one in connection.subflows] == ["WLAN", "cellular"]
    assert [one.backup for one in connection.subflows] == [False, True]
    assert wlan.senders["a"]["mapped_bytes"].value == 50_000
    assert cellular.senders["a"]["mapped_bytes"].value == 28_500
    assert cellular.senders["a"]["reinjected_bytes"].value == 1_500
    assert cellular.metrics["joined_after_s"].value == pytest.approx(0.3)
    assert cellular.metrics["establishment_s"].value == pytest.approx(0.09)
    (switch,) = connection.timelines["a"].switches
    # The last data on WLAN went at 2.98 s, the first on cellular at 3.5 s.
    assert switch.at.low_ns == (START_S + 3) * 10**9
    assert switch.at.high_ns == START_S * 10**9 + 3_600_000_000
    assert by_port(41_000).reset_reason == "unacceptable performance"


UNITS = {"": 1, "bytes": 1, "kB": 1000, "MB": 1_000_000}
"""tshark's, which cuts off what is below one."""

CONVERSATION = re.compile(
    r"^(\S+):(\d+) +<-> +(\S+):(\d+) +(\d+) +(\d+) ?(bytes|kB|MB|) +(\d+) +(\d+) ?(bytes|kB|MB|) ",
    re.MULTILINE,
)


@pytest.mark.parametrize("protocol", ["tcp", "udp"])
def test_packets_and_bytes_of_conversations(protocol: str) -> None:
    ours = {}
    for flow in analysis().flows:
        if flow.protocol == protocol:
            a, b = ((one.address, str(one.port)) for one in flow.endpoints.values())
            ours[a, b], ours[b, a] = (values(flow, end, "packets", "wire_bytes") for end in ENDS)
    theirs = {}
    for found in CONVERSATION.findall(statistics("-z", f"conv,{protocol}")):
        left, right, to_left, to_right = found[0:2], found[2:4], found[4:7], found[7:10]
        theirs[right, left], theirs[left, right] = to_left, to_right
    assert ours.keys() == theirs.keys()
    for way, (packets, size, unit) in theirs.items():
        sent, wire_bytes = ours[way]
        assert (sent, (wire_bytes or 0) // UNITS[unit]) == (int(packets), int(size)), way


def test_retransmissions_and_round_trips() -> None:
    names = ("retransmission", "fast_retransmission", "initial_rtt", "duplicate_ack", "zero_window")
    fields = ("frame.number", *(f"tcp.analysis.{name}" for name in names))
    theirs: dict[str, set[int]] = {name: set() for name in names}
    round_trips: set[int] = set()
    for frame in oracle.fields(MIXED, fields):
        for name in names:
            if frame[f"tcp.analysis.{name}"]:
                theirs[name].add(int(frame["frame.number"][0]))
        round_trips.update(map(oracle.nanoseconds, frame["tcp.analysis.initial_rtt"]))
    rows = analysis().ledger.rows("tcp_retransmissions")
    assert {row["frame"] for row in rows} == theirs["retransmission"]
    fast = {row["frame"] for row in rows if row["cause"] == "fast"}
    assert fast == theirs["fast_retransmission"]
    assert {flow.metrics["handshake_rtt_ns"].value for flow in analysis().flows} - {
        None
    } == round_trips
    duplicates = [
        direction.metrics["duplicate_acks"].value or 0
        for flow in analysis().flows
        for direction in flow.directions.values()
    ]
    assert sum(duplicates) == len(theirs["duplicate_ack"])
    closed = [
        f.frames for flow in analysis().flows for f in flow.findings if f.rule == "zero-window"
    ]
    assert closed == [(min(theirs["zero_window"]),)]


def test_multipath_options() -> None:
    names = ("mptcp.stream", "tcp.srcport", "tcp.options.mptcp.datalvllen")
    mapped: Counter[tuple[str, str]] = Counter()
    for frame in oracle.fields(MIXED, names, "mptcp.stream"):
        (stream,) = frame["mptcp.stream"]
        (port,) = frame["tcp.srcport"]
        mapped[stream, port] += sum(map(int, frame["tcp.options.mptcp.datalvllen"]))
    (connection,) = analysis().connections
    ours = {}
    for subflow in connection.subflows:
        (flow,) = [flow for flow in analysis().flows if flow.number == subflow.flow]
        sent = subflow.senders["a"]
        ours[str(connection.number), str(flow.endpoints["a"].port)] = (
            sent["mapped_bytes"].value or 0
        ) + (sent["reinjected_bytes"].value or 0)
    assert ours == {key: size for key, size in mapped.items() if size}


def test_bytes_over_time() -> None:
    text = statistics("-z", "io,stat,0.1,tcp")
    rows = re.findall(r"\|\s*([\d.]+) <>\s*[\d.Dur]+\s*\|\s*(\d+) \|\s*(\d+) \|", text)
    theirs = {round(float(start) * 10): (int(n), int(size)) for start, n, size in rows if int(n)}
    ours: Counter[int] = Counter()
    packets: Counter[int] = Counter()
    tcp = {flow.number for flow in analysis().flows if flow.protocol == "tcp"}
    for row in analysis().ledger.rows("flow_intervals"):
        if row["flow"] in tcp and row["packets"]:
            place = (row["start_ns"] - START_S * 10**9) // 10**8
            ours[place] += row["wire_bytes"]
            packets[place] += row["packets"]
    assert {place: (packets[place], ours[place]) for place in ours} == theirs


def test_the_stream_of_voice() -> None:
    text = statistics("-d", "udp.port==5004,rtp", "-z", "rtp,streams")
    (found,) = re.findall(r"0x0000004D\s+\S+\s+(\d+)\s+(\d+) \(([\d.]+)%\)", text)
    metrics = by_port(5004).directions["a"].metrics
    names = ("numbered_packets", "lost_packets", "loss_ratio")
    sent, lost, ratio = (metrics[name].value or 0 for name in names)
    assert found == (str(sent), str(lost), f"{100 * ratio:.1f}")
