"""Impairments as netem's arguments."""

from __future__ import annotations

from typing import Any

import pytest
from pathscope.replay.lab import netem
from pathscope.replay.lab.scenario import parse

NONE = "rate 0bit slot 0ms 0ms"
"""No rate and no slots, which the kernel would keep else."""


def arguments(**impairment: Any) -> str:
    path = {"client": "10.0.0.1", "server": "10.0.0.2", "both": impairment}
    scenario = parse({"duration_s": 1, "paths": {"wlan": path}})
    return " ".join(netem.arguments(scenario.paths["wlan"]["to_server"]))


@pytest.mark.parametrize(
    ("impairment", "expected"),
    [
        ({}, "limit 1000 reorder 0% corrupt 0% " + NONE),
        (
            {"delay_ms": 90, "jitter_ms": 10, "rate_kbit": 384},
            "limit 1000 delay 90ms 10ms reorder 0% corrupt 0% rate 384000bit slot 0ms 0ms",
        ),
        (
            {"delay_ms": 4, "jitter_ms": 1, "distribution": "normal"},
            "limit 1000 delay 4ms 1ms distribution normal reorder 0% corrupt 0% " + NONE,
        ),
        ({"loss_percent": 3}, "limit 1000 loss 3% reorder 0% corrupt 0% " + NONE),
        (
            {"loss_percent": 100, "loss_burst_packets": 4},
            "limit 1000 loss 100% reorder 0% corrupt 0% " + NONE,
        ),
        (
            {"rate_kbit": 384, "queue_packets": 20},
            "limit 20 reorder 0% corrupt 0% rate 384000bit slot 0ms 0ms",
        ),
        (
            {"reorder_percent": 2, "reorder_gap": 5, "delay_ms": 5, "duplicate_percent": 1},
            "limit 1000 delay 5ms duplicate 1% reorder 2% gap 5 corrupt 0% " + NONE,
        ),
        (
            {"delay_ms": 0.0001, "jitter_ms": 0.0001, "corrupt_percent": 0.5, "keep_order": True},
            "limit 1000 delay 0.0001ms 0.0001ms reorder 0% corrupt 0.5% rate 1tbit slot 0ms 0ms",
        ),
        (
            {"slot_min_ms": 2, "slot_max_ms": 3, "slot_packets": 4},
            "limit 1000 reorder 0% corrupt 0% rate 0bit slot 2ms 3ms packets 4",
        ),
        ({"slot_min_ms": 2}, "limit 1000 reorder 0% corrupt 0% rate 0bit slot 2ms 2ms"),
    ],
)
def test_arguments(impairment: dict[str, Any], expected: str) -> None:
    assert arguments(**impairment) == expected


def test_bursts_have_their_mean_length_and_their_share() -> None:
    words = arguments(loss_percent=2, loss_burst_packets=5).split()
    at = words.index("gemodel")
    enter, leave = (float(word.rstrip("%")) / 100 for word in words[at + 1 : at + 3])
    assert 1 / leave == pytest.approx(5)
    assert enter / (enter + leave) == pytest.approx(0.02)


@pytest.mark.parametrize(
    ("impairment", "packets_per_s", "expected"),
    [
        ({"delay_ms": 200, "rate_kbit": 1_000_000}, None, 1.5 * 0.2 * 1e9 / 8 / 1514),
        ({"delay_ms": 200}, None, 1.5 * 0.2 * 1e9 / 8 / 1514),
        ({"delay_ms": 200}, 50_000, 1.5 * 0.2 * 50_000),
        ({"delay_ms": 100, "jitter_ms": 100}, 50_000, 1.5 * 0.2 * 50_000),
        ({"delay_ms": 100, "jitter_ms": 25, "distribution": "normal"}, 50_000, 15_000),
        ({"delay_ms": 100, "slot_min_ms": 50, "slot_max_ms": 100}, 50_000, 15_000),
        ({"delay_ms": 10}, 50_000, 1000),
    ],
)
def test_the_queue_holds_what_is_on_its_way(
    impairment: dict[str, Any], packets_per_s: float | None, expected: float
) -> None:
    scenario = {"client": "10.0.0.1", "server": "10.0.0.2", "both": impairment}
    whole = parse({"duration_s": 1, "paths": {"wlan": scenario}}).paths["wlan"]["to_server"]
    words = netem.arguments(whole, packets_per_s)
    assert int(words[1]) == pytest.approx(expected, abs=1)
