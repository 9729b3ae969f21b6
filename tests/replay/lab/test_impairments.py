"""What is wrong with the impairments of a scenario: it has a line and a key, too."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from pathscope.replay.lab.scenario import ScenarioError, load, parse

PATH = {"client": "10.0.0.1", "server": "10.0.0.2"}


def scenario(actions: list[dict[str, Any]], **path: Any) -> Any:
    return parse({"duration_s": 60, "paths": {"wlan": PATH | path}, "actions": actions})


def impair(at_s: float, **impairment: Any) -> dict[str, Any]:
    return {"at_s": at_s, "do": "impair", "path": "wlan", "impairment": impairment}


NORMAL = {"delay_ms": 9, "jitter_ms": 3, "distribution": "normal"}


@pytest.mark.parametrize(
    ("actions", "path", "expected"),
    [
        ([], {"both": {"jitter_ms": 3}}, "paths.wlan.both.jitter_ms: 3 ms are more than delay_ms"),
        (
            [],
            {"both": {"delay_ms": 5, "jitter_ms": 3}, "to_client": {"delay_ms": 2}},
            "paths.wlan.both.jitter_ms: 3 ms are more than delay_ms, 2",
        ),
        ([], {"both": {"distribution": "own"}}, "paths.wlan.both.distribution: expected one of"),
        (
            [impair(1, jitter_ms=3)],
            {},
            "actions[1].impairment.jitter_ms: 3 ms are more than delay_ms, 0",
        ),
        (
            [impair(1, loss_burst_packets=3)],
            {},
            "actions[1].impairment.loss_burst_packets: it changes nothing without loss_percent",
        ),
        (
            [impair(1, distribution="uniform")],
            {"both": NORMAL},
            "actions[1].impairment.distribution: netem keeps the table it had before",
        ),
        (
            [impair(1, **NORMAL), {"at_s": 2, "do": "link-up", "path": "wlan"}],
            {"both": {"delay_ms": 9, "jitter_ms": 3}},
            "paths.wlan.both.jitter_ms: netem keeps the table it had before",
        ),
    ],
)
def test_mistakes(actions: list[dict[str, Any]], path: dict[str, Any], expected: str) -> None:
    with pytest.raises(ScenarioError) as told:
        scenario(actions, **path)
    assert str(told.value).startswith(expected)


def test_what_an_action_brings_may_be_described_by_the_path() -> None:
    made = scenario([impair(1, loss_percent=5)], both={"loss_burst_packets": 3})
    assert made.paths["wlan"]["to_server"]["loss_burst_packets"] == 3


def test_the_line_is_that_of_the_key(tmp_path: Path) -> None:
    file = tmp_path / "one.toml"
    file.write_text(
        'duration_s = 1\n[paths.wlan]\nclient = "10.0.0.1"\nserver = "10.0.0.2"\n'
        "both = {reorder_percent = 3}\n"
    )
    with pytest.raises(
        ScenarioError, match=r"one.toml:5: paths.wlan.both.reorder_percent: without"
    ):
        load(file)
