"""Nothing of the lab outlives it, however it ends: it is killed at random moments here.

What is looked for is what it would leave: processes, network namespaces, interfaces. Everything in
a run's own namespaces or in its guest is gone when the processes are.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from leftovers import interfaces, moment, namespaces, nothing_left, processes
from pathscope.replay.lab import folder, host, tether
from pathscope.replay.lab.run import run
from pathscope.replay.lab.scenario import parse

pytestmark = pytest.mark.guest

SCENARIO = {"duration_s": 5, "paths": {"wlan": {"client": "10.0.1.1", "server": "10.0.1.2"}}}

GUEST = """
import sys
from pathlib import Path
from pathscope.replay.lab.run import run
from pathscope.replay.lab.scenario import parse
run(parse({scenario}), Path({place!r}), "guest")
"""

STAND_IN = """
import sys
from pathlib import Path
from pathscope.replay.lab import host, tether
tether.run(host.isolated(sys.executable, "-c", {inside!r}), Path({log!r}), 60)
"""
"""What the host runner does, with a stage that needs neither SCTP nor netem."""

INSIDE = """
import subprocess, sys, time
from pathlib import Path
from pathscope.replay.lab.plan import HOSTS
from pathscope.replay.lab.stage import Stage
from pathscope.replay.lab.scenario import parse
stage = Stage(parse({scenario}), Path({place!r}))
stage.plan.sysctls = dict()
stage.build()
for host in HOSTS:
    command = ["ip", "netns", "exec", host, "sh", "-c", "exec setsid sleep {marker}"]
    subprocess.Popen(command)
print(*Path("/run/netns").iterdir(), flush=True)
time.sleep(60)
"""


def started(code: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen([sys.executable, "-c", code], stderr=subprocess.DEVNULL)


def killed_after(process: subprocess.Popen[bytes], delay_s: float) -> None:
    time.sleep(delay_s)
    process.kill()
    process.wait()


@pytest.mark.parametrize("seed", range(4))
def test_a_guest_run_that_is_killed(seed: int, tmp_path: Path) -> None:
    before = namespaces(), interfaces()
    place = tmp_path / "run"
    code = GUEST.format(scenario=SCENARIO, place=str(place))
    killed_after(started(code), moment(seed, 0.3, 5))
    assert nothing_left(str(tmp_path))
    assert (namespaces(), interfaces()) == before
    assert folder.state(place) in ("absent", "interrupted")
    # The next run finds out, and takes the folder.
    folder.claim(place, force=False)
    assert {entry.name for entry in place.iterdir()} == {folder.LOGS, folder.FACTS}


def test_a_guest_run_that_is_interrupted(tmp_path: Path) -> None:
    place = tmp_path / "run"
    process = started(GUEST.format(scenario=SCENARIO, place=str(place)))
    while not (place / "logs" / "console.log").exists():
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    process.wait()
    assert nothing_left(str(tmp_path))
    assert folder.state(place) == "interrupted"


NO_HOST = host.lacks("links")


@pytest.mark.skipif(NO_HOST is not None, reason=f"no namespaces for us here: {NO_HOST}")
@pytest.mark.parametrize("seed", range(6))
def test_a_host_run_that_is_killed(seed: int, tmp_path: Path) -> None:
    before = namespaces(), interfaces()
    (tmp_path / "logs").mkdir()
    marker = f"86{os.getpid()}{seed}"
    inside = INSIDE.format(scenario=SCENARIO, place=str(tmp_path), marker=marker)
    log = tmp_path / "said.log"
    process = started(STAND_IN.format(inside=inside, log=str(log)))
    delay_s = moment(seed, 0.1, 0.8)
    if seed == 0:  # certainly when all of it is there
        while "server" not in (log.read_text() if log.exists() else ""):
            assert process.poll() is None, log.read_text()
            time.sleep(0.05)
        assert processes(f"sleep {marker}")
        delay_s = 0.1
    killed_after(process, delay_s)
    assert nothing_left(str(tmp_path))
    assert nothing_left(marker)
    assert (namespaces(), interfaces()) == before


def test_a_command_that_ends_by_itself(tmp_path: Path) -> None:
    marker = f"87{os.getpid()}"
    log = tmp_path / "log"
    words = f"sleep {marker} & echo said; echo wrong >&2; exit 3"
    assert tether.run(["sh", "-c", words], log, 10) == 3
    assert log.read_text() == "said\nwrong\n"
    assert nothing_left(f"sleep {marker}")


def test_a_command_that_takes_too_long(tmp_path: Path) -> None:
    marker = f"88{os.getpid()}"
    with pytest.raises(subprocess.TimeoutExpired):
        tether.run(["setsid", "sleep", marker], tmp_path / "log", 0.2)
    assert nothing_left(f"sleep {marker}")


def test_a_run_that_fails_says_why_and_leaves_its_logs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from pathscope.replay.lab.run import LabError

    monkeypatch.setattr(host, "isolated", lambda *_: ["sh", "-c", "echo no links today; exit 1"])
    place = tmp_path / "run"
    with pytest.raises(LabError, match="no links today"):
        run(parse(SCENARIO), place, "host")
    assert folder.state(place) == "failed"
    assert "no links today" in folder.facts(place)["reason"]
