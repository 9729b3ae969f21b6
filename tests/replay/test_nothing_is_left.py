"""A replay that is killed, or ended by hand: nothing of it is left, and what was sent is known."""

from __future__ import annotations

import json
import signal
import subprocess
import time
from typing import TYPE_CHECKING

import pytest
from leftovers import interfaces, moment, namespaces, nothing_left
from pathscope.replay.lab import folder, host
from pathscope.replay.packets import log
from running import CAPTURES, PROGRAM, ROOT

if TYPE_CHECKING:
    from pathlib import Path

NO_HOST = host.missing(("namespaces", "links", "wires"))

pytestmark = [
    pytest.mark.guest,
    pytest.mark.skipif(NO_HOST is not None, reason=f"no wires for us here: {NO_HOST}"),
]

TRACE = CAPTURES / "lab-failover" / "client.pcapng"


def started(place: Path, *more: str) -> subprocess.Popen[str]:
    words = ["replay", str(TRACE), "--from", "2.9", "--no-analysis", "--out", str(place), *more]
    return subprocess.Popen(
        [*PROGRAM, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=ROOT
    )


def killed(process: subprocess.Popen[str], place: Path, delay_s: float) -> None:
    """Kill a replay after a time, and look for what it could have left."""
    time.sleep(delay_s)
    process.kill()
    process.communicate()
    assert nothing_left(str(place.parent))
    assert (namespaces(), interfaces()) == (set(), set())
    assert folder.state(place) in ("absent", "interrupted")
    if (place / "sent.arrows").exists() and (place / "sent.arrows").stat().st_size:
        sent = log.read(place / "sent.arrows")
        assert sent.cut is not None
        assert sent.header["routes"]
    # The next one finds out, and takes the folder.
    folder.claim(place, force=False)
    assert {entry.name for entry in place.iterdir()} == {folder.LOGS, folder.FACTS}


@pytest.mark.parametrize("seed", range(20))
def test_a_replay_that_is_killed(seed: int, tmp_path: Path) -> None:
    place = tmp_path / "run"
    killed(started(place), place, moment(seed, 0.5, 6))


@pytest.mark.parametrize("seed", range(3))
def test_a_replay_in_the_guest_that_is_killed(seed: int, tmp_path: Path) -> None:
    profile = tmp_path / "profile.toml"
    profile.write_text('[paths."*"]\nboth = {delay_ms = 20}\n')
    place = tmp_path / "run"
    process = started(place, "--kernel", "guest", "--profile", str(profile))
    killed(process, place, moment(seed, 1, 12))


def test_a_replay_that_is_ended_by_hand(tmp_path: Path) -> None:
    place = tmp_path / "run"
    process = started(place, "--json", str(tmp_path / "report.json"))
    sent = place / "sent.arrows"
    while not (sent.exists() and sent.stat().st_size):
        assert process.poll() is None, process.communicate()
        time.sleep(0.05)
    time.sleep(2)
    process.send_signal(signal.SIGINT)
    said, errors = process.communicate(timeout=60)
    assert process.returncode == 130, errors
    assert "ended early" in errors
    assert "Fidelity" in said
    assert nothing_left(str(tmp_path))
    assert (namespaces(), interfaces()) == (set(), set())
    assert folder.state(place) == "failed"
    report = json.loads((tmp_path / "report.json").read_text())
    frames = sum(route["arrived"] for route in report["routes"])
    assert 0 < frames == log.read(sent).table.num_rows < 475
    assert (place / "client.pcapng").is_file()
