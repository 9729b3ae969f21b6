"""Samples out of result documents: every number once, at the same place in every run."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import pathscope
import pytest
from pathscope import api
from pathscope.analyzer.compare.model import Sample
from pathscope.analyzer.compare.samples import NOT_THERE, SECTIONS, samples
from pathscope.reports import names

FIXTURES = Path(__file__).parents[3] / "fixtures"
CAPTURES = FIXTURES / "captures"
SOME = (
    "lab-asconf/client.pcapng",
    "lab-restart/client.pcapng",
    "lab-return/client.pcapng",
    "flows-mixed/flows.pcap",
    "../malformed/ns2-lines.tr",
)


@cache
def text_of(capture: str) -> str:
    return json.dumps(pathscope.analyze(CAPTURES / capture).to_dict())


def document(capture: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(text_of(capture))
    return found


WITHOUT_UNITS = ("forecasts", "outages")
"""Parts of other numbers, with names of theirs: no numbers of the contract by themselves."""


def collected(documents: dict[str, dict[str, Any]]) -> dict[tuple[str, str], Sample]:
    found = samples(documents, names.units())
    by_place = {(one.metric, one.place): one for one in found}
    assert len(by_place) == len(found)
    return by_place


def numbers(node: Any, known: set[str]) -> list[tuple[str, float | None]]:
    """Collect all numbers of these names, wherever they are."""
    if isinstance(node, list):
        return [one for item in node for one in numbers(item, known)]
    if not isinstance(node, dict):
        return []
    found = []
    for key, child in node.items():
        if key in WITHOUT_UNITS:
            continue
        if isinstance(child, dict) and "value" in child:
            found += [(key, child["value"])] if key in known else []
        else:
            found += numbers(child, known)
    return found


@pytest.mark.parametrize("capture", SOME)
def test_every_number_with_a_unit_is_collected_once(capture: str) -> None:
    holds_every_number(document(capture))


def test_of_two_captures_what_went_from_end_to_end_is_collected_too() -> None:
    both = [CAPTURES / "lab-lossy" / name for name in ("client.pcapng", "server.pcapng")]
    whole = api.analyze_two(both[0], both[1])[0].to_dict()
    holds_every_number(whole)
    assert ("one_way_delay_mean_ns", "path wlan, transit, a") in collected({"run": whole})


def holds_every_number(whole: dict[str, Any]) -> None:
    expected = numbers([whole[section] for section in SECTIONS], {key for _, key in names.units()})
    found = collected({"run": whole}).values()
    assert sorted((one.metric, one.values) for one in found) == sorted(
        (key, () if value is None else (float(value),)) for key, value in expected
    )


def test_places_say_where_a_number_stands() -> None:
    found = collected({"run": document("lab-asconf/client.pcapng")})
    for metric, place in (
        ("throughput_bps", "association, a"),
        ("throughput_bps", "path cellular, a"),
        ("rtt_mean_ns", "path cellular, heartbeats, b"),
        ("handover_delay_s", "handover 1 of a, set-primary"),
        ("delay_s", "ASCONF set-primary 1 of a"),
        ("add_to_set_s", "timeline, handover 1 of a, set-primary"),
        ("sacks", "receiver, b"),
        ("rto_min_s", "timers, a"),
    ):
        assert (metric, place) in found
    assert found["sacks", "receiver, b"].unit == "chunks"
    assert ("goodput_bps", "connection 0, subflow 2, a") in collected(
        {"run": document("flows-mixed/flows.pcap")}
    )


def test_handovers_are_matched_by_sender_and_cause() -> None:
    whole, less = document("lab-return/client.pcapng"), document("lab-return/client.pcapng")
    first, second = whole["associations"][0]["handovers"]
    less["associations"][0]["handovers"] = [second]
    found = collected({"whole": whole, "less": less})
    returned = found["handover_delay_s", f"handover 1 of a, {second['cause']}"]
    assert returned.runs == ("whole", "less")
    assert returned.values[0] == returned.values[1]
    gone = found["handover_delay_s", f"handover 1 of a, {first['cause']}"]
    assert gone.runs == ("whole",)
    assert gone.absent == (("less", NOT_THERE),)


def test_an_absent_number_keeps_its_reason() -> None:
    found = collected({"run": document("lab-asconf/client.pcapng")})["rto_s", "timers, a"]
    assert found.values == ()
    assert found.absent == (("run", "no expiry of T3-rtx whose start is in the capture"),)


def test_further_associations_and_captures_are_told_apart() -> None:
    whole = document("lab-asconf/client.pcapng")
    (one,) = whole["associations"]
    whole["associations"] = [one, {**one, "id": 1}, {**one, "capture": 1}]
    places = {place for _, place in collected({"run": whole})}
    assert {"association, a", "association 1, a", "capture 1, a"} <= places
    assert "association 1, path cellular, a" in places
    assert "capture 1, path cellular, a" in places
