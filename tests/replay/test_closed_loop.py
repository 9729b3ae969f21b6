"""A run of the lab, a profile out of its captures, and its packets again: the links are alike.

In the guest: a machine's kernel may lack netem.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from pathscope.replay.lab import folder
from pathscope.replay.lab.run import run
from pathscope.replay.lab.scenario import parse
from pathscope.replay.profiles.derived.distance import closed_loop
from running import outside
from twoends import crossed

pytestmark = pytest.mark.guest

SCENARIO = {
    "duration_s": 15,
    "paths": {
        "wlan": {
            "client": "10.0.1.1",
            "server": "10.0.1.2",
            "both": {"delay_ms": 20},
            "to_server": {
                "delay_ms": 100,
                "jitter_ms": 20,
                "distribution": "normal",
                "loss_percent": 5,
                "loss_burst_packets": 3,
            },
        }
    },
    "application": {"message_bytes": 300, "interval_ms": 10},
}
"""To the server so wide that a guest which waits a millisecond for its processor matters little."""

TRIES = 3


MOST_LATE_MS = 60
"""Of a process that only wanted to wake: a longer stop looks like another delay of the links."""


def kept_up(place: Path) -> bool:
    """Whether what is measured there is the links, and not the machine."""
    late_ms = folder.facts(place)["pace"]["late_max_ms"]
    return not folder.too_slow(place) and bool(late_ms <= MOST_LATE_MS)


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Path:
    for _ in range(TRIES):
        place = tmp_path_factory.mktemp("original") / "run"
        run(parse(SCENARIO), place, "guest")
        if kept_up(place):
            break
    return place


def test_packets_meet_the_links_that_they_had_met(original: Path, tmp_path: Path) -> None:
    for attempt in range(TRIES):
        again = tmp_path / str(attempt)
        words = ["--profile-from", original, "--out", again, "--kernel", "guest", "--no-analysis"]
        done = outside("replay", original, *words)
        assert done.returncode in (0, 1), done.stderr
        if kept_up(again):
            break
    rows = closed_loop(crossed(original), crossed(again))
    assert {(row.direction, row.what) for row in rows} == {
        (direction, what) for direction in ("to_server", "to_client") for what in ("delay", "loss")
    }
    for row in rows:
        if (row.direction, row.what) == ("to_client", "delay"):
            # A constant delay has no width that hides a guest's waits for its processor.
            assert row.original is not None
            assert row.replayed == pytest.approx(row.original, abs=0.5)
        else:
            assert row.within, row
    # Each end's own frames were sent: none that was lost on its way is missing.
    report = json.loads((again / "fidelity.json").read_text())
    assert {one["direction"]: one["sent"] for one in report["routes"]} == {
        one.direction: len(one.sent_ns) for one in crossed(original)
    }
