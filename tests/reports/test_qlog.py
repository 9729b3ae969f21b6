"""qlog: a form that its schema allows, events that the result and the capture bear out."""

from __future__ import annotations

import json
from datetime import datetime
from decimal import Decimal
from functools import cache
from pathlib import Path
from typing import Any

import lab
import pathscope
import pytest
from jsonschema import Draft202012Validator
from pathscope.reports.qlog import MIGRATION_STATES, document
from running import CAPTURES, FAILOVER, ROOT, inside

SCHEMA: dict[str, Any] = json.loads((ROOT / "reports" / "qlog.schema.json").read_text())
COMMITTED = sorted(path.relative_to(CAPTURES).as_posix() for path in CAPTURES.glob("*/*.pcap*"))

Node = dict[str, Any]


@cache
def written(name: str) -> Node:
    found: Node = json.loads(json.dumps(document([pathscope.analyze(CAPTURES / name)])))
    return found


def events(trace: Node, kind: str) -> list[Node]:
    return [event for event in trace["events"] if event["name"] == f"sctp:{kind}"]


def ns(trace: Node, time_ms: float) -> int:
    """Time of an event on the capture's clock."""
    epoch = trace["common_fields"]["reference_time"]["epoch"]
    whole, fraction = epoch.removesuffix("Z").split(".")
    start_s = int(datetime.fromisoformat(f"{whole}+00:00").timestamp())
    return start_s * 1_000_000_000 + int(fraction) + round(Decimal(time_ms) * 1_000_000)


@pytest.mark.parametrize("name", COMMITTED)
def test_the_schema_allows_it(name: str) -> None:
    Draft202012Validator.check_schema(SCHEMA)
    errors = [
        f"{error.json_path}: {error.message}"[:300]
        for error in Draft202012Validator(SCHEMA).iter_errors(written(name))
    ]
    assert errors == []
    for trace in written(name)["traces"]:
        times = [event["time"] for event in trace["events"]]
        assert times == sorted(times)


def test_there_is_a_trace_for_each_end_of_each_association() -> None:
    traces = written("lab-restart/client.pcapng")["traces"]
    assert [trace["title"] for trace in traces] == [
        f"capture 0 association {number}: end {end}" for number in (0, 1) for end in "ab"
    ]
    before, *_ = traces
    assert [e["data"]["trigger"] for e in events(before, "connection_closed")] == ["restarted"]
    assert [trace["vantage_point"]["flow"] for trace in traces] == ["client", "server"] * 2


def test_events_are_where_tshark_has_their_frames() -> None:
    """Every observed event, and what is inferred from a frame, is at that frame's time."""
    name = "failover-v6/client.pcapng"
    frames = {frame.number: frame.time_ns for frame in lab.frames(name)}
    checked = 0
    for trace in written(name)["traces"]:
        for event in trace["events"]:
            if "frame" in event["data"]:
                assert ns(trace, event["time"]) == frames[event["data"]["frame"]], event
                checked += 1
    assert checked > 40


def test_paths_are_the_lab_s() -> None:
    trace, _ = written("failover-v6/client.pcapng")["traces"]
    assigned = events(trace, "path_assigned")
    assert [
        (e["path"], e["data"]["path_local"]["ip"], e["data"]["path_remote"]["ip"]) for e in assigned
    ] == [("0", "2001:db8:1::1", "2001:db8:1::2"), ("1", "2001:db8:2::1", "2001:db8:2::2")]


def test_what_is_deemed_lost_is_what_tshark_sees_again() -> None:
    name = "lossy-v4/client.pcapng"
    trace, other = written(name)["traces"]
    lost = events(trace, "packet_lost")
    again = [(tsn, frame.number) for tsn, _, frame in lab.sent(name).again]
    assert sorted((e["data"]["tsn"], e["data"]["frame"]) for e in lost) == sorted(again)
    assert events(other, "packet_lost") == []


def test_handovers_go_through_their_states() -> None:
    trace, other = written("failover-v6/client.pcapng")["traces"]
    moves = events(trace, "migration_state_updated")
    away = [e["data"]["new"] for e in moves if e["data"]["handover"] == 0]
    assert away == [
        "link_failed", "migration_decided", "migration_started", "migration_complete", "recovered",
    ]  # fmt: skip
    back = [e["data"]["new"] for e in moves if e["data"]["handover"] == 1]
    assert back == ["link_returned", *away[1:]]
    (failed,) = (e for e in moves if e["data"]["new"] == "link_failed")
    assert failed["data"]["basis"] == "inferred"
    assert failed["data"]["time_low"] < failed["time"] < failed["data"]["time_high"]
    assert events(other, "migration_state_updated") == []


def test_time_outs_are_those_of_the_result() -> None:
    trace, _ = written("failover-v6/client.pcapng")["traces"]
    expiries = events(trace, "loss_timer_updated")
    (association,) = pathscope.analyze(FAILOVER).associations
    timeouts = association.handovers[0].timeouts
    assert [e["data"]["frame"] for e in expiries] == [one.at.frame for one in timeouts]
    assert [e["data"]["elapsed_ms"] for e in expiries] == pytest.approx(
        [1000 * (one.elapsed_s or 0) for one in timeouts]
    )


def test_an_excursion_is_a_migration_abandoned() -> None:
    found = pathscope.analyze(CAPTURES / "lab-potentially-failed" / "client.pcapng")
    (association,) = found.associations
    trace, _ = document([found])["traces"]
    states = [e["data"]["new"] for e in events(trace, "migration_state_updated")]
    assert states.count("migration_abandoned") == len(association.excursions)


def test_an_annotated_failure_is_annotated() -> None:
    events_file = FAILOVER.parent / "events.jsonl"
    found = inside("export", FAILOVER, "--to", "qlog", "--events", events_file)
    assert found.exit_code == 0
    trace = json.loads(found.stdout)["traces"][0]
    failed = events(trace, "migration_state_updated")[0]
    assert (failed["data"]["new"], failed["data"]["basis"]) == ("link_failed", "annotated")
    logged_ns = lab.logged_ns("failover-v6", event="link", note="down")
    assert ns(trace, failed["time"]) == logged_ns


def test_states_are_those_of_the_schema() -> None:
    known = SCHEMA["$defs"]["migration_state_updated"]["properties"]["data"]["properties"]["new"]
    assert set(MIGRATION_STATES.values()) | {"migration_abandoned"} == set(known["enum"])


def test_a_capture_that_is_cut_is_told(tmp_path: Path) -> None:
    cut = tmp_path / "cut.pcapng"
    cut.write_bytes(FAILOVER.read_bytes()[:-100])
    found = inside("export", cut, "--to", "qlog", "--strict")
    assert found.exit_code == 1
    assert found.stderr.startswith("warning: the capture is damaged, this goes up to there: ")
    assert json.loads(found.stdout)["traces"]
