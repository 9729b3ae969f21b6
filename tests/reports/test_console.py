"""The console report at any width, and with names that mean mischief."""

from __future__ import annotations

import io
import re
from pathlib import Path

import pathscope
import pytest
from pathscope.reports.console import INSTANT_WORDS, METRIC_WORDS, report
from pathscope.reports.flows import MOST_ROWS
from rich.console import Console
from running import ASCONF, CAPTURES, FAILOVER, MIXED
from scapy.layers.inet import ICMP
from talking import Scene, udp


def rendered(analysis: pathscope.Analysis, width: int) -> str:
    stream = io.StringIO()
    Console(file=stream, width=width, markup=False, highlight=False).print(report(analysis.result))
    return stream.getvalue()


@pytest.mark.parametrize("width", [80, 100, 120, 140, 250])
@pytest.mark.parametrize("capture", [FAILOVER, ASCONF], ids=["failover", "asconf"])
def test_no_number_is_lost_in_a_narrow_terminal(capture: object, width: int) -> None:
    analysis = pathscope.analyze(str(capture))
    text = rendered(analysis, width)
    assert all(len(line) <= width for line in text.splitlines())
    (association,) = analysis.associations
    for path in association.paths:
        assert path.a_address in text
        assert path.b_address in text
        assert text.count(path.label) >= 1
        for direction in path.directions.values():
            packets = direction.metrics["packets"].value
            assert re.search(rf"\b{packets}\b", text)


@pytest.mark.parametrize("width", [80, 100, 140, 250])
def test_no_number_of_a_flow_is_lost_in_a_narrow_terminal(width: int) -> None:
    analysis = pathscope.analyze(MIXED)
    text = rendered(analysis, width)
    assert all(len(line) <= width for line in text.splitlines())
    for flow in analysis.flows:
        assert re.search(rf"\b{flow.number} {flow.protocol}\b", text)
        for end, socket in flow.endpoints.items():
            assert f"{socket.address}:{socket.port}" in text
            packets = flow.directions[end].metrics["packets"].value
            assert re.search(rf"\b{packets}\b", text)
    (connection,) = analysis.connections
    for subflow in connection.subflows:
        for sent in subflow.senders.values():
            assert str(sent["mapped_bytes"].value) in text


def test_long_lists_of_flows_are_cut_with_a_count(tmp_path: Path) -> None:
    scene = Scene()
    for port in range(MOST_ROWS + 5):
        asked = udp(scene, port, ("10.0.0.1", 6000 + port), ("10.0.0.2", 9), bytes(10 + port))
        host = f"10.1.0.{port}"
        scene.packet(port + 0.5, host, "10.0.0.1", ICMP(type=3, code=1) / asked[:28])
    text = rendered(pathscope.analyze(scene.write(tmp_path / "many.pcap")), 140)
    lines = [line.strip() for line in text.splitlines()]
    for rest in ("dissect CAPTURE --table flows", "dissect CAPTURE --table icmp", "analyze --json"):
        assert lines.count(f"5 more: pathscope {rest}") == 1
    assert "10.0.0.1:6005 " in text
    assert "10.0.0.1:6004 " not in text


def test_a_capture_of_sctp_alone_has_no_word_of_flows() -> None:
    text = rendered(pathscope.analyze(FAILOVER), 140)
    _, _, after_the_name = text.partition("\n")
    assert not re.search(r"flow|MPTCP|ICMP", after_the_name)


def test_every_word_is_of_a_number_that_exists() -> None:
    (association,) = pathscope.analyze(FAILOVER).associations
    for handover in association.handovers:
        assert set(INSTANT_WORDS) <= set(handover.instants)
        assert set(METRIC_WORDS) <= set(handover.metrics)


def test_each_present_instant_has_a_line_with_its_frame() -> None:
    analysis = pathscope.analyze(FAILOVER)
    text = rendered(analysis, 140)
    for handover in analysis.associations[0].handovers:
        for name, words in INSTANT_WORDS.items():
            instant = handover.instants[name]
            if instant.frame is not None:
                assert re.search(rf"{words} +{instant.frame} +observed", text), name


def test_brackets_in_a_name_are_no_markup() -> None:
    name = "[/red][bold]x[link=http://example.org]"
    text = rendered(pathscope.analyze(FAILOVER, labels=[f"2001:db8:1::/64={name}"]), 250)
    assert name in text


def test_a_faster_path_at_hand_is_told() -> None:
    """The kernel went to satellite (240 ms) where cellular (80 ms) was free."""
    told = rendered(pathscope.analyze(CAPTURES / "lab-three-paths" / "client.pcapng"), 250)
    assert "a faster path was at hand (round trip 160." in told
    told = rendered(pathscope.analyze(FAILOVER), 250)
    assert "faster path" not in told


def test_what_time_outs_took_is_beside_what_was_predicted() -> None:
    told = rendered(pathscope.analyze(CAPTURES / "lab-failover" / "client.pcapng"), 250)
    assert "as predicted by chen-2010, rfc-9260" in told


@pytest.mark.parametrize("width", [80, 100, 140])
def test_verdicts_in_a_narrow_terminal(tmp_path: Path, width: int) -> None:
    limits = tmp_path / "limits.toml"
    limits.write_text('[[limits]]\nmetric = "rtt_p95_ns"\nmax = 20e6\nin = "paths"\n')
    told = rendered(pathscope.analyze(ASCONF).judged(limits), width)
    assert all(len(line) <= width for line in told.splitlines())
    verdicts = told.split("Verdicts")[1]
    assert "41.060 ms" in verdicts  # of v2; the 10 ms of v1 keep the limit
    assert "max 20.000 ms" in verdicts
