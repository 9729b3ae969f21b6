"""The manual is true: its commands run, its output is the program's, its names exist."""

from __future__ import annotations

import doctest
import json
import re
from pathlib import Path
from typing import Any

import pathscope
import pytest
from pathscope.analyzer.compare import runs
from pathscope.reports import units
from pathscope.reports.compare import cells
from running import FAILOVER, MIXED, ROOT, loaded

DOCS = sorted((ROOT / "docs").glob("*.md"))
MANUAL = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *DOCS]
SCHEMA: dict[str, Any] = json.loads((ROOT / "reports" / "result.schema.json").read_text())
MEASURED = {
    "instants": "instants",
    "handover-metrics": "handover_metrics",
    "path-metrics": "direction_metrics",
    "waiting": "waiting_metrics",
    "receivers": "receiver_metrics",
    "heartbeats": "heartbeats",
    "transit-metrics": "transit_metrics",
    "totals": "totals",
    "handoff-region": "region_metrics",
    "handoff": "handoff_metrics",
    "timeline-instants": "timeline_instants",
    "timeline-metrics": "timeline_metrics",
    "phase-instants": "phase_instants",
    "phase-metrics": "phase_metrics",
    "path-choice": "choice_metrics",
    "timers": "timers",
    "flow-metrics": "flow_metrics",
    "flow-direction-metrics": "flow_direction_metrics",
    "connection-totals": "connection_totals",
    "subflow-sender-metrics": "subflow_sender_metrics",
    "subflow-metrics": "subflow_metrics",
}
ANYTHING = "..."


def generator() -> Any:
    return loaded(ROOT / "docs" / "generate.py")


@pytest.mark.parametrize("path", DOCS, ids=lambda path: path.name)
def test_generated_parts_are_up_to_date(path: Path) -> None:
    text = path.read_text()
    assert generator().render(text) == text, "run `make docs`"


@pytest.mark.parametrize(
    ("name", "parts"),
    [
        ("ledger.md", {"tables"}),
        ("cli.md", {"commands"}),
        ("contract-compare.md", {"compare-fields"}),
        ("contract-fidelity.md", {"fidelity-fields"}),
        ("contract-live.md", {"live-fields"}),
        ("contract-qlog.md", {"qlog-fields"}),
        ("contract-story.md", {"story-fields"}),
        ("findings.md", {"findings"}),
        ("offset-index.md", {"index-tables"}),
        ("settings-ns2.md", {"ns-settings"}),
        ("settings-profile.md", {"profile-settings"}),
        ("settings-scenario.md", {"scenario-settings"}),
        ("settings-study.md", {"study-settings"}),
        ("result.md", {"fields"}),
        ("studies.md", {"quantities", "study-numbers"}),
        ("metrics.md", {"causes", *MEASURED}),
    ],
)
def test_nothing_generated_is_missing(name: str, parts: set[str]) -> None:
    text = (ROOT / "docs" / name).read_text()
    assert set(re.findall(r"<!-- generated: ([a-z-]+) -->", text)) == parts


def keys() -> dict[str, set[str]]:
    return {name: set(SCHEMA["$defs"][name]["properties"]) for name in MEASURED.values()}


def test_every_key_of_the_contract_is_defined() -> None:
    text = (ROOT / "docs" / "metrics.md").read_text()
    for part, name in MEASURED.items():
        body = text.split(f"<!-- generated: {part} -->")[1].split("<!-- end -->")[0]
        assert set(re.findall(r"^\| `([a-z0-9_]+)` \|", body, re.MULTILINE)) == keys()[name]


def test_every_key_that_the_manual_names_is_in_the_contract() -> None:
    known = {key for found in keys().values() for key in found} | {
        "asconf_add_s",
        "asconf_delete_s",
    }
    known |= {"measured_s", "predicted_s", "difference_s"}
    known |= {"asconf_set_primary_s", "delay_s", "elapsed_s", "shared_ratio", "rto_clamped_s"}
    text = (ROOT / "docs" / "metrics.md").read_text()
    named = set(re.findall(r"\bt_[a-z_]+\b|\b[a-z0-9_]+_(?:s|bps|bytes|chunks|ratio)\b", text))
    assert named <= known


def test_the_analysis_gives_every_key_that_is_defined() -> None:
    (association,) = pathscope.analyze(FAILOVER).associations
    given: dict[str, dict[str, Any]] = {
        "instants": association.handovers[0].instants,
        "handover_metrics": association.handovers[0].metrics,
        "direction_metrics": association.paths[0].directions["a"].metrics,
        "waiting_metrics": association.streams[0].waiting.metrics,
        "receiver_metrics": association.receivers["b"].metrics,
        "heartbeats": association.paths[0].directions["a"].heartbeats,
        "totals": association.totals["a"],
        "timers": association.timers["a"],
    }
    for name, found in given.items():
        assert set(found) == keys()[name], name


def test_two_captures_give_every_key_of_transit() -> None:
    run = ROOT / "fixtures" / "captures" / "lab-lossy"
    (both,) = pathscope.api.analyze_two(run / "client.pcapng", run / "server.pcapng")
    for direction in both.associations[0].paths[0].directions.values():
        assert set(direction.transit or ()) == keys()["transit_metrics"]


def test_the_analysis_gives_every_key_that_is_defined_of_flows() -> None:
    analysis = pathscope.analyze(MIXED)
    (connection,) = analysis.connections
    given: dict[str, list[dict[str, Any]]] = {
        "flow_metrics": [flow.metrics for flow in analysis.flows],
        "flow_direction_metrics": [
            direction.metrics for flow in analysis.flows for direction in flow.directions.values()
        ],
        "connection_totals": list(connection.totals.values()),
        "subflow_sender_metrics": [
            sent for subflow in connection.subflows for sent in subflow.senders.values()
        ],
        "subflow_metrics": [subflow.metrics for subflow in connection.subflows],
    }
    for name, several in given.items():
        assert all(set(found) == keys()[name] for found in several), name


@pytest.mark.parametrize(
    "module", [pathscope, units, cells, runs], ids=lambda module: module.__name__
)
def test_examples_in_docstrings(module: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    found = doctest.testmod(module)
    assert found.attempted > 0
    assert found.failed == 0


def anchors(path: Path) -> set[str]:
    """What links can name in a page, as GitHub and the site make it of headings."""
    headings = re.findall(r"^#+ (.+)$", path.read_text(), re.MULTILINE)
    words = (re.sub(r"[^\w\s-]", "", heading.lower()) for heading in headings)
    return {re.sub(r"\s", "-", one.strip()) for one in words}


@pytest.mark.parametrize("path", MANUAL, ids=lambda path: path.name)
def test_links_lead_somewhere(path: Path) -> None:
    for target, anchor in re.findall(r"\]\(([^)#\s]*)(?:#([^)\s]*))?\)", path.read_text()):
        if "://" in target:
            continue
        place = path.parent / target if target else path
        assert place.exists(), target
        assert not anchor or anchor in anchors(place), f"{target}#{anchor}"


@pytest.mark.parametrize("path", MANUAL, ids=lambda path: path.name)
def test_make_targets_exist(path: Path) -> None:
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    named = re.findall(r"(?:`|\$ )make ([a-z-]+)", path.read_text(), re.MULTILINE)
    assert set(named) <= targets
