"""Every result is one that the contract's schema allows, and consistent where a schema is mute."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pathscope
import pytest
from crafting import LINK, RAW, START_NS, V4, Pcapng, Record, chunk, ethernet_records, pcap, sctp
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from pathscope import api
from pathscope.reports.contract import result
from running import CAPTURES, FAILOVER, MIXED, ROOT, RUNS, inside

SCHEMA: dict[str, Any] = json.loads((ROOT / "reports" / "result.schema.json").read_text())
DEFINITIONS: dict[str, Any] = SCHEMA["$defs"]
COMMITTED = sorted(CAPTURES.glob("*/*.pcapng"))


@cache
def validator() -> Draft202012Validator:
    Draft202012Validator.check_schema(SCHEMA)
    return Draft202012Validator(SCHEMA)


def valid(document: Any) -> None:
    """Hold a document against the schema, as a reader of the JSON text has it."""
    text = json.dumps(document, allow_nan=False)
    errors = [
        f"{error.json_path}: {error.message}"[:300]
        for error in validator().iter_errors(json.loads(text))
    ]
    assert errors == []
    for association in document["associations"]:
        consistent(association)
    for flow in document["flows"]:
        consistent_flow(flow, document)
    for connection in document["connections"]:
        consistent_connection(connection, document)


def numbers(node: Any) -> Iterator[dict[str, Any]]:
    """Every number and instant of a document."""
    if isinstance(node, dict):
        if "value" in node or "ns" in node:
            yield node
        for child in node.values():
            yield from numbers(child)
    elif isinstance(node, list):
        for child in node:
            yield from numbers(child)


def bounds_hold(node: dict[str, Any]) -> None:
    for number in numbers(node):
        for value, low, high in (("value", "low", "high"), ("ns", "low_ns", "high_ns")):
            if low in number:
                assert number[low] <= number[value] <= number[high], number


def consistent_flow(flow: dict[str, Any], document: dict[str, Any]) -> None:
    bounds_hold(flow)
    assert "flows" in document["captures"][flow["capture"]]
    for way in ("a_to_b", "b_to_a"):
        found = {name: one["value"] for name, one in flow[way]["metrics"].items()}
        if flow["protocol"] == "tcp" and found["packets"]:
            causes = ("fast", "timeout", "probe", "unknown")
            parts = [found[f"retransmitted_{cause}_packets"] for cause in causes]
            assert sum(parts) == found["retransmitted_packets"] <= found["segments"]
            assert found["segments"] <= found["packets"]


def consistent_connection(connection: dict[str, Any], document: dict[str, Any]) -> None:
    bounds_hold(connection)
    here = [flow for flow in document["flows"] if flow["capture"] == connection["capture"]]
    own = {flow["id"] for flow in here if flow["connection"] == connection["id"]}
    assert {subflow["flow"] for subflow in connection["subflows"]} == own
    for end, way in (("a", "a_to_b"), ("b", "b_to_a")):
        for name in ("packets", "wire_bytes", "payload_bytes", "mapped_bytes", "reinjected_bytes"):
            parts = [subflow[way][name]["value"] for subflow in connection["subflows"]]
            assert sum(parts) == connection["totals"][end][name]["value"], (end, name)
        for switch in connection["timelines"][end]["switches"]:
            assert {switch["from_flow"], switch["to_flow"]} <= own


def consistent(association: dict[str, Any]) -> None:
    """Check what a schema cannot say."""
    bounds_hold(association)
    paths = association["paths"]
    assert [path["id"] for path in paths] == list(range(len(paths)))
    assert len({path["label"] for path in paths}) == len(paths)
    for move in [*association["handovers"], *association["excursions"]]:
        assert move["from_path"] != move["to_path"]
        assert max(move["from_path"], move["to_path"]) < len(paths)
    for end, way in (("a", "a_to_b"), ("b", "b_to_a")):
        for name in ("packets", "data_chunks", "new_bytes", "acked_bytes"):
            parts = [path[way].get(name, {"value": 0})["value"] for path in paths]
            assert sum(parts) == association["totals"][end][name]["value"], (end, name)
    for stream in association["streams"]:
        outcomes = ("complete", "abandoned", "partial", "open")
        assert stream["messages"] == sum(stream[outcome] for outcome in outcomes)
        for name in ("messages", "user_bytes"):
            assert stream[name] == sum(one[name] for one in stream["protocols"])
    for end in ("a", "b"):
        own = [stream for stream in association["streams"] if stream["sender"] == end]
        totals = association["totals"][end]
        assert sum(stream["chunks"] for stream in own) == totals["new_chunks"]["value"]
        assert sum(stream["user_bytes"] for stream in own) == totals["new_bytes"]["value"]


@pytest.mark.parametrize("run", sorted(path.name for path in CAPTURES.glob("lab-*")))
def test_two_ends_of_a_run(run: str) -> None:
    folder = CAPTURES / run
    for ends in (("client", "server"), ("server", "client")):
        both = api.analyze_two(*(folder / f"{end}.pcapng" for end in ends))
        document = result([one.result for one in both])
        valid(document)
        first, other = document["captures"]
        assert other["other_end"]["of"] == 0
        assert "other_end" not in first


def test_captures_beside_those_of_two_ends() -> None:
    """An analysis of two captures takes two places among the captures."""
    folder = CAPTURES / "lab-restart"
    both = api.analyze_two(folder / "client.pcapng", folder / "server.pcapng")
    alone = pathscope.analyze(FAILOVER)
    document = result([both[0].result, alone.result])
    valid(document)
    assert [one["capture"] for one in document["associations"]] == [0, 0, 2]


def test_schema_is_one() -> None:
    validator()


@pytest.mark.parametrize("capture", COMMITTED, ids=lambda path: f"{path.parent.name}-{path.stem}")
@pytest.mark.parametrize("annotated", [False, True], ids=["plain", "annotated"])
def test_lab_runs(capture: Path, annotated: bool) -> None:
    events = capture.parent / "events.jsonl" if annotated else None
    document = pathscope.analyze(capture, events=events).to_dict()
    valid(document)
    assert len(document["associations"]) == (2 if capture.parent.name == "lab-restart" else 1)


def test_flows_connections_and_icmp_errors() -> None:
    document = pathscope.analyze(MIXED).to_dict()
    valid(document)
    assert [len(document[name]) for name in ("flows", "connections", "icmp_errors")] == [8, 1, 1]
    assert document["warnings"] == []


def test_without_flows_there_are_none() -> None:
    document = json.loads(inside("analyze", MIXED, "--json", "--no-flows").stdout)
    valid(document)
    assert document["flows"] == document["connections"] == document["icmp_errors"] == []
    assert "flows" not in document["captures"][0]


def test_several_captures() -> None:
    analyses = [pathscope.analyze(CAPTURES / run / "client.pcapng") for run in RUNS]
    document = result([analysis.result for analysis in analyses])
    valid(document)
    assert [one["capture"] for one in document["associations"]] == [0, 1, 2]
    assert [Path(one["path"]).parent.name for one in document["captures"]] == list(RUNS)


def test_the_command_prints_what_the_library_returns() -> None:
    events = FAILOVER.parent / "events.jsonl"
    printed = inside(
        "analyze", FAILOVER, "--json", "--events", events, "--label", "2001:db8:1::/64=WLAN"
    )
    analysis = pathscope.analyze(FAILOVER, events=events, labels=["2001:db8:1::/64=WLAN"])
    assert json.loads(printed.stdout) == json.loads(json.dumps(analysis.to_dict()))


NOTHING: list[Record] = []
CRAFTED = {
    "empty-pcap": pcap(NOTHING),
    "empty-pcapng": Pcapng().section().bytes(),
    "not-sctp": pcap([Record(START_NS, bytes(LINK) + b"\0" * 40)]),
    "unknown-link": pcap([Record(START_NS, b"\0" * 40)], link_type=147),
    "data-alone": pcap(ethernet_records(3)),
    "one-packet": pcap(ethernet_records(1)),
    "cut": pcap(ethernet_records(3))[:-5],
    "init-alone": pcap(
        [Record(START_NS, bytes(V4 / sctp(chunk(1, 0, bytes(16)), tag=0)))], link_type=RAW
    ),
    "aborted": pcap(
        [Record(START_NS, bytes(V4 / sctp(chunk(6, 0, b"\0\x0c\0\x08bye!"))))], link_type=RAW
    ),
    "chunk-of-length-0": pcap(
        [Record(START_NS, bytes(V4 / sctp(chunk(11), b"\0\3\0\0")))], link_type=RAW
    ),
    "truncated": pcap([Record(START_NS, bytes(V4 / sctp(chunk(11)))[:25], wire_length=36)],
                      link_type=RAW),
    "clock-back": pcap(
        [Record(START_NS - n * 3_600_000_000_000, one.data)
         for n, one in enumerate(ethernet_records(4))]
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CRAFTED)
def test_odd_captures(tmp_path: Path, name: str) -> None:
    path = tmp_path / "capture"
    path.write_bytes(CRAFTED[name])
    document = pathscope.analyze(path).to_dict()
    valid(document)
    assert document["warnings"] or document["associations"]


def test_filtered_and_compressed(tmp_path: Path) -> None:
    import gzip

    path = tmp_path / "capture.gz"
    path.write_bytes(gzip.compress(FAILOVER.read_bytes()))
    options = pathscope.ReadOptions(filter="host 2001:db8:1::1")
    document = pathscope.analyze(path, options=options).to_dict()
    valid(document)
    assert document["captures"][0]["compression"] == "gzip"
    assert document["captures"][0]["frames"]["skipped"]["excluded by the filter"] > 0


SEEDS = [path.read_bytes()[:49_152] for path in [*COMMITTED, MIXED]]


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=40)
@given(
    seed=st.sampled_from(range(len(SEEDS))),
    changes=st.lists(st.tuples(st.integers(0, 49_151), st.binary(min_size=1, max_size=3))),
)
@example(seed=0, changes=[])
def test_damaged_captures(tmp_path: Path, seed: int, changes: list[tuple[int, bytes]]) -> None:
    content = bytearray(SEEDS[seed])
    for place, value in changes:
        content[place : place + len(value)] = value
    path = tmp_path / "capture"
    path.write_bytes(content)
    try:
        analysis = pathscope.analyze(path)
    except pathscope.CaptureError:
        return
    valid(analysis.to_dict())


def test_absent_numbers_say_why() -> None:
    document = pathscope.analyze(FAILOVER).to_dict()
    absent = [one for one in numbers(document) if one.get("value", one.get("ns")) is None]
    assert absent
    assert all(set(one) in ({"value", "reason"}, {"ns", "reason"}) for one in absent)


def test_strict() -> None:
    """A key more, a key less, a number without basis, a word that is not one: all refused."""
    document = pathscope.analyze(FAILOVER).to_dict()
    handover = document["associations"][0]["handovers"][0]
    changes: list[Callable[[], object]] = [
        lambda: handover["metrics"].update(speed_kmh={"value": 5, "basis": "observed"}),
        lambda: handover["instants"].pop("t_fail"),
        lambda: handover["metrics"].update(handover_delay_s={"value": 1.0}),
        lambda: handover.update(cause="bad-luck"),
        lambda: handover["metrics"].update(handover_delay_s={"value": 0.0, "reason": "none"}),
    ]
    for change in changes:
        before = json.loads(json.dumps(handover))
        change()
        assert not validator().is_valid(document)
        handover.clear()
        handover.update(before)
    assert validator().is_valid(document)


def test_no_nan_is_written() -> None:
    assert not any(
        isinstance(one.get("value"), float) and not math.isfinite(one["value"])
        for one in numbers(pathscope.analyze(FAILOVER).to_dict())
    )


FLOW_RULES = ROOT / "analyzer" / "flow_findings.py"


@pytest.mark.parametrize("name", ["finding", "flow_finding"])
def test_every_rule_is_a_word_of_the_contract(name: str) -> None:
    others = {path for path in (ROOT / "analyzer").glob("*.py") if path != FLOW_RULES}
    paths = {"finding": others, "flow_finding": {FLOW_RULES}}[name]
    source = "".join(path.read_text() for path in paths)
    rules = re.findall(r'Finding\(\s*"([a-z0-9-]+)"', source)
    words = {one["const"] for one in DEFINITIONS[name]["properties"]["rule"]["oneOf"]}
    assert set(rules) == words


def test_every_number_has_definition_unit_and_source() -> None:
    for name in (
        "totals", "direction_metrics", "heartbeats", "handover_metrics", "instants",
        "region_metrics", "handoff_metrics", "timeline_instants", "timeline_metrics",
        "phase_instants", "phase_metrics", "choice_metrics", "timers", "flow_metrics",
        "flow_direction_metrics",
        "connection_totals", "subflow_sender_metrics", "subflow_metrics", "transit_metrics",
    ):  # fmt: skip
        for key, field in DEFINITIONS[name]["properties"].items():
            assert {"description", "x-unit", "x-source", "$ref"} == set(field), key
            suffix = {"ns": "_ns", "s": "_s", "bit/s": "_bps"}.get(field["x-unit"], "")
            assert key.endswith(suffix) or name.endswith("instants"), key
