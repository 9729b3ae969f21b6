"""Captures of ns-3: what it counted itself (FlowMonitor) is what is found in them."""

from __future__ import annotations

import json
from functools import cache
from typing import Any

import pathscope
import pytest
from pathscope.analyzer.flow_model import Flow, FlowDirection
from running import CAPTURES

PLACE = CAPTURES / "ns3"
TCP_BYTES, UDP_PACKETS, UDP_BYTES = 60_000, 50, 200

PPP_HEADER, ETHERNET = 2, 14 + 4
"""What links add to a packet; ns-3 records Ethernet with its frame check sequence."""

Counted = dict[str, Any]


@cache
def flows(name: str) -> tuple[Flow, ...]:
    found = pathscope.analyze(PLACE / f"{name}.pcap")
    assert found.ledger.capture["damage"] is None
    assert found.ledger.capture["frames"]["partial"] == 0
    return found.flows


def counted(name: str) -> list[Counted]:
    runs = json.loads((PLACE / "flow-monitor.json").read_text())
    (found,) = (run["flows"] for run in runs if run["name"] == name)
    return list(found)


def direction(capture: str, flow: Counted) -> FlowDirection:
    """Return the direction of a flow that FlowMonitor calls a flow."""
    source = (flow["source"], flow["source_port"])
    for found in flows(capture):
        for end, socket in found.endpoints.items():
            other = found.endpoints["b" if end == "a" else "a"]
            ends = (socket.address, socket.port, other.address, other.port)
            if found.protocol == flow["protocol"] and ends == (
                *source,
                flow["destination"],
                flow["destination_port"],
            ):
                return found.directions[end]
    raise AssertionError(flow)


def numbers(one: FlowDirection) -> dict[str, float | int | None]:
    return {name: measure.value for name, measure in one.metrics.items()}


def held_against_the_counters(
    capture: str, flow: Counted, what: str, link_bytes: int
) -> dict[str, float | int | None]:
    found = numbers(direction(capture, flow))
    packets, wire_bytes = found["packets"], found["wire_bytes"]
    assert packets == flow[f"{what}_packets"]
    assert wire_bytes is not None
    assert wire_bytes - link_bytes * (packets or 0) == flow[f"{what}_bytes"]
    return found


@pytest.mark.parametrize("number", range(3))
def test_point_to_point(number: int) -> None:
    """Seen on both sides of the losses; packets back are lost on neither."""
    flow = counted("ppp")[number]
    held_against_the_counters("ppp-sender", flow, "sent", PPP_HEADER)
    held_against_the_counters("ppp-receiver", flow, "received", PPP_HEADER)
    lost = flow["sent_packets"] - flow["received_packets"]
    assert lost == flow["lost_packets"]


def test_what_tcp_sent_again() -> None:
    """All that arrived arrived once: every retransmission was for a segment that was lost."""
    flow = counted("ppp")[0]
    sent, arrived = (numbers(direction(f"ppp-{end}", flow)) for end in ("sender", "receiver"))
    assert sent["new_bytes"] == arrived["payload_bytes"] == TCP_BYTES
    assert sent["payload_bytes"] == TCP_BYTES + (sent["retransmitted_bytes"] or 0)
    assert sent["retransmitted_spurious_packets"] == 0
    # Beside these, an ACK was lost.
    assert sent["retransmitted_packets"] == flow["lost_packets"] - 1 == 10
    assert sent["retransmitted_fast_packets"] == 8
    assert sent["retransmitted_timeout_packets"] == 2


def test_ethernet() -> None:
    for flow in counted("csma"):
        found = held_against_the_counters("csma", flow, "sent", ETHERNET)
        if flow["protocol"] == "tcp":
            assert found["retransmitted_packets"] == 0
    assert numbers(direction("csma", counted("csma")[0]))["new_bytes"] == TCP_BYTES


def test_wifi() -> None:
    (flow,) = counted("wifi")
    found = numbers(direction("wifi", flow))
    assert found["packets"] == flow["sent_packets"] == UDP_PACKETS
    assert found["payload_bytes"] == UDP_PACKETS * UDP_BYTES
    # From the IP header on: 28 bytes a datagram.
    assert flow["sent_bytes"] == UDP_PACKETS * (UDP_BYTES + 28)


def test_the_link_types_are_those_of_the_simulator() -> None:
    kinds = {"ppp-sender": 9, "ppp-receiver": 9, "csma": 1, "wifi": 127}
    for name, link_type in kinds.items():
        facts = pathscope.read(PLACE / f"{name}.pcap").capture
        assert [one["link_type"] for one in facts["interfaces"]] == [link_type]
