"""Impairments as netem's arguments."""

from __future__ import annotations

from typing import Any

import pytest
from pathscope.replay.lab import netem
from pathscope.replay.lab.scenario import parse


def arguments(**impairment: Any) -> str:
    path = {"client": "10.0.0.1", "server": "10.0.0.2", "both": impairment}
    scenario = parse({"duration_s": 1, "paths": {"wlan": path}})
    return " ".join(netem.arguments(scenario.paths["wlan"]["to_server"]))


@pytest.mark.parametrize(
    ("impairment", "expected"),
    [
        ({}, "limit 1000"),
        (
            {"delay_ms": 90, "jitter_ms": 10, "rate_kbit": 384},
            "limit 1000 delay 90ms 10ms rate 384000bit",
        ),
        (
            {"delay_ms": 4, "jitter_ms": 1, "distribution": "normal"},
            "limit 1000 delay 4ms 1ms distribution normal",
        ),
        ({"loss_percent": 3}, "limit 1000 loss 3%"),
        ({"loss_percent": 100, "loss_burst_packets": 4}, "limit 1000 loss 100%"),
        ({"rate_kbit": 384, "queue_packets": 20}, "limit 20 rate 384000bit"),
        ({"reorder_percent": 2, "delay_ms": 5}, "limit 1000 delay 5ms reorder 2%"),
    ],
)
def test_arguments(impairment: dict[str, Any], expected: str) -> None:
    assert arguments(**impairment) == expected


def test_bursts_have_their_mean_length_and_their_share() -> None:
    words = arguments(loss_percent=2, loss_burst_packets=5).split()
    enter, leave = (float(word.rstrip("%")) / 100 for word in words[-2:])
    assert 1 / leave == pytest.approx(5)
    assert enter / (enter + leave) == pytest.approx(0.02)


def test_a_fast_long_path_has_room_for_what_is_on_its_way() -> None:
    packets = int(arguments(delay_ms=200, rate_kbit=1_000_000).split()[1])
    assert packets >= 0.2 * 1e9 / 8 / 1514
