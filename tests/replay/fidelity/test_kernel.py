"""Impairments that meet each other, in a kernel with netem: it does what the model of it says.

What of a frame that is to be lost and to come twice? Are corrupted frames those that are missing?
Is the share that is sent ahead with a gap as small as that? One replay answers; nothing here
depends on how fast the machine is.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from replaying import Flow, network, orders, replay, write_flows

if TYPE_CHECKING:
    from pathscope.replay.fidelity.model import Fidelity, RouteCounts, Row

pytestmark = pytest.mark.guest

DURATION_S = 20

PER_S = 250

RATE_KBIT = 400

PATHS: dict[str, dict[str, Any]] = {
    "copies": {"delay_ms": 10, "duplicate_percent": 5, "loss_percent": 10},
    "corrupt": {"delay_ms": 10, "corrupt_percent": 3, "loss_percent": 2},
    "bursts": {
        "delay_ms": 10,
        "loss_percent": 10,
        "loss_burst_packets": 4,
        "duplicate_percent": 10,
    },
    "ahead": {"delay_ms": 30, "reorder_percent": 5},
    "gap": {"delay_ms": 30, "reorder_percent": 50, "reorder_gap": 5},
    "full": {"delay_ms": 5, "rate_kbit": RATE_KBIT, "queue_packets": 40, "loss_percent": 3},
}


@pytest.fixture(scope="module")
def fidelity(tmp_path_factory: pytest.TempPathFactory) -> Fidelity:
    place = tmp_path_factory.mktemp("mixtures")
    # On the path with a rate a fifth more than it takes.
    flows = [
        Flow(number, PER_S, RATE_KBIT * 1200 // 8 // PER_S if name == "full" else 200)
        for number, name in enumerate(PATHS, 1)
    ]
    trace = write_flows(place / "flows.pcap", flows, DURATION_S)
    labels = {network(number): name for number, name in enumerate(PATHS, 1)}
    profile = {"paths": {name: {"to_server": given} for name, given in PATHS.items()}}
    return replay(orders(trace, labels), place / "run", profile).fidelity


def counts(fidelity: Fidelity, path: str) -> RouteCounts:
    (found,) = [one for one in fidelity.routes if (one.path, one.direction) == (path, "to_server")]
    return found


def row(fidelity: Fidelity, path: str, quantity: str) -> Row:
    number = counts(fidelity, path).route
    (found,) = [
        one for one in fidelity.rows if (one.route, one.quantity, one.step) == (number, quantity, 0)
    ]
    return found


@pytest.mark.parametrize(
    ("path", "quantity"),
    [
        ("copies", "loss_percent"),
        ("copies", "duplicate_percent"),
        ("corrupt", "loss_percent"),
        ("corrupt", "corrupt_percent"),
        ("bursts", "loss_percent"),
        ("bursts", "loss_burst_packets"),
        ("bursts", "duplicate_percent"),
        ("ahead", "reorder_percent"),
        ("gap", "reorder_percent"),
        ("full", "loss_percent"),
    ],
)
def test_what_was_asked_for_is_what_came(fidelity: Fidelity, path: str, quantity: str) -> None:
    found = row(fidelity, path, quantity)
    assert found.verdict == "pass", found


def test_every_frame_is_where_the_counters_say(fidelity: Fidelity) -> None:
    assert [one for one in fidelity.balances if one.verdict != "pass"] == []
    for path in PATHS:
        assert counts(fidelity, path).others == 0


def test_a_full_queue_is_told_from_loss_by_chance(fidelity: Fidelity) -> None:
    full = counts(fidelity, "full")
    assert full.overflow > full.lost / 2
    assert counts(fidelity, "copies").overflow == 0
