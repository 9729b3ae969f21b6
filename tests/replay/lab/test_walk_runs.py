"""Studies A and N, a short run of each in the guest: what was done is what the analysis finds."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import pathscope
import pytest
from pathscope import ReadOptions
from pathscope.analyzer.model import AsconfExchange, Association
from pathscope.replay.lab import events, folder
from truth import WITHIN_NS, Truth, label, made, only

pytestmark = pytest.mark.guest

REQUESTS = {
    "add": "address-add",
    "set-primary": "set-peer-primary",
    "delete": "address-delete",
}
"""What the analyzer calls what the application was asked for."""


def name(association: Association, path: int) -> str:
    """Name of a path, without its addresses: of those that share it, data take one."""
    return label(association, path).partition(" ")[0]


def asked(truth: Truth, what: str) -> list[dict[str, Any]]:
    return [one for one in truth["requests"] if one["what"] == what]


def every_request_is_found(association: Association, truth: Truth) -> None:
    """Sent when it was asked for, or once the one before was answered (RFC 5061 section 5.1)."""
    wanted = [one for one in truth["requests"] if one["what"] in REQUESTS.values()]
    free_ns = 0
    for exchange, request in zip(association.asconf, wanted, strict=True):
        assert exchange.sender == "a"
        assert REQUESTS[exchange.request] == request["what"]
        assert exchange.outcome == "success"
        assert exchange.address == f"10.0.{request['path'].removeprefix('router')}.1"
        assert exchange.at.ns is not None
        assert exchange.ack.ns is not None
        assert request["from_ns"] - WITHIN_NS <= exchange.at.ns
        assert exchange.at.ns <= max(request["to_ns"], free_ns) + WITHIN_NS
        free_ns = exchange.ack.ns


def every_handoff_is_a_handover(association: Association, truth: Truth, sender: str) -> None:
    wanted = [one["path"] for one in asked(truth, "set-peer-primary")]
    found = [one for one in association.handovers if one.sender == sender]
    assert [one.cause for one in found] == ["set-primary"] * len(wanted)
    assert [name(association, one.to_path) for one in found] == wanted
    assert [name(association, one.from_path) for one in found] == ["router1", *wanted[:-1]]
    requests = _of(association.asconf, "set-primary")
    for handover, request in zip(found, requests, strict=True):
        assert handover.instants["t_decision"].ns == request.at.ns
        delay = handover.metrics["handover_delay_s"]
        assert delay.basis == "observed"
        assert delay.value is not None
        assert delay.value > 0


def _of(exchanges: Sequence[AsconfExchange], request: str) -> list[AsconfExchange]:
    return [one for one in exchanges if one.request == request]


def every_region_is_add_to_delete(association: Association, truth: Truth) -> None:
    adds, deletes = (_of(association.asconf, request) for request in ("add", "delete"))
    found = association.handoff_regions
    assert len(found) == len(asked(truth, "address-delete"))
    for region, added, deleted in zip(found, adds, deletes, strict=False):
        assert (region.start.ns, region.end.ns) == (added.ack.ns, deleted.ack.ns)
        assert region.metrics["goodput_inside_bps"].value is not None
    assert all(one.end.ns <= two.start.ns for one, two in pairwise(found))  # type: ignore[operator]


@pytest.fixture(scope="module")
def walked(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Truth]:
    """44 s at 80 km/h, four times as fast: the first router is lost at 17 s, the second at 40 s."""
    place = tmp_path_factory.mktemp("aydin") / "run"
    changes = ("walk.speed_kmh=80", "walk.duration_s=44", "walk.time_scale=4")
    return place, made("aydin", place, *changes)


def test_a_walk(walked: tuple[Path, Truth]) -> None:
    place, truth = walked
    association = only(place)
    assert len(asked(truth, "address-delete")) == 2
    every_request_is_found(association, truth)
    every_handoff_is_a_handover(association, truth, "b")
    every_region_is_add_to_delete(association, truth)
    # The study's chunks, and all of them arrived.
    new = association.totals["b"]["new_bytes"].value
    assert new == truth["received_bytes"]
    assert new == 1200 * (association.totals["b"]["new_chunks"].value or 0)
    # 2 Mb/s carry 1.92 of 1200-byte chunks; some of the time goes to setting up and slow start.
    goodput = association.totals["b"]["goodput_bps"].value
    assert goodput is not None
    assert 0.8e6 < goodput < 1.93e6


def test_the_servers_capture_tells_the_same(walked: tuple[Path, Truth]) -> None:
    place, truth = walked
    association = only(place, "server")
    every_handoff_is_a_handover(association, truth, "b")
    every_region_is_add_to_delete(association, truth)


def test_links_follow_the_range(walked: tuple[Path, Truth]) -> None:
    _, truth = walked
    seen = [(one["path"], one["what"]) for one in truth["links"]]
    assert seen == [
        ("router2", "down"),
        ("router3", "down"),
        ("router2", "up"),
        ("router1", "down"),
        ("router3", "up"),
        ("router2", "down"),
    ]


def test_a_crowd(tmp_path: Path) -> None:
    """10 s between two WLANs with three other hosts each: their data are not in the capture."""
    place = tmp_path / "run"
    truth = made("naith", place, "walk.time_scale=20", "background.hosts=3")
    association = only(place)
    every_request_is_found(association, truth)
    every_handoff_is_a_handover(association, truth, "a")
    every_region_is_add_to_delete(association, truth)
    goodput = association.totals["a"]["goodput_bps"].value
    assert goodput is not None
    # 64 KB a round trip of 60 ms at most.
    assert 1e6 < goodput < 65536 * 8 / 0.060
    flows = pathscope.analyze(place / "client.pcapng", options=ReadOptions(flows=True)).flows
    assert flows == ()
    # And yet they were there: 6 hosts send 700 kbit/s each for 10.5 s.
    log = events.read(place / folder.EVENTS)
    (heard,) = (e for e in log if e["event"] == "background-received" and e["host"] == "server")
    assert heard["received_bytes"] == pytest.approx(6 * 700_000 / 8 * 10.5, rel=0.1)
    watched = folder.facts(place)["pace"]
    assert 0 < watched["busy_ratio"] <= 1
    assert watched["too_slow"] == folder.too_slow(place)
