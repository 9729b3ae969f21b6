"""Nothing of a session outlives it: it is killed at random moments here, its keeper too at times.

`tc` shows afterwards what it showed before, and no interface, process or journal is left.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import time
from pathlib import Path

import pytest
from interfaces_wire import IN_THE_GUEST, gone, processes, shown, started, tc
from pathscope.replay.interfaces import journal
from pathscope.replay.interfaces.commands import InterfaceError
from pathscope.replay.interfaces.recovery import recover
from pathscope.replay.interfaces.session import open_session

SESSIONS = """
import sys
from pathlib import Path
from interfaces_wire import impair
from pathscope.replay.interfaces.session import open_session
while True:
    with open_session(
        [("wlan", "to_server", "v0")], egress=["v0"], ingress=["v0"], state_dir=Path(sys.argv[1])
    ) as session:
        print("open", flush=True)
        for _ in range(3):
            impair(session, "v0")
"""
"""One after the other, each short: most of the time something is made or undone."""

TRIALS = 5 if IN_THE_GUEST in os.environ else 20
LONGEST_S = 1.0
OUTLETS = [("wlan", "to_server", "v0")]


def kill_keepers(folder: Path) -> None:
    for number in processes(str(folder)):
        try:
            os.kill(number, signal.SIGKILL)
        except ProcessLookupError:
            continue  # it has done its work since


def some_queues() -> None:
    tc("qdisc add dev v0 root handle 10: htb default 20")
    tc("class add dev v0 parent 10: classid 10:20 htb rate 50mbit")
    tc("filter add dev v0 parent 10: protocol ip pref 5 u32 match ip dst 10.9.0.0/16 flowid 10:20")
    tc("qdisc add dev v1 clsact")


@pytest.mark.usefixtures("cable")
@pytest.mark.parametrize("seed", range(TRIALS))
def test_a_session_that_is_killed(seed: int, tmp_path: Path) -> None:
    some_queues()
    before = shown("v0"), shown("v1")
    chance = random.Random(seed)  # noqa: S311 (no secret)
    victim = started(SESSIONS, str(tmp_path))
    assert victim.stdout is not None
    assert victim.stdout.readline() == "open\n"
    time.sleep(chance.uniform(0, LONGEST_S))
    victim.kill()
    if seed % 2:
        # Before it has done its work, or in the middle of it.
        time.sleep(chance.choice((0, 0, chance.uniform(0, 0.1))))
        kill_keepers(tmp_path)
    victim.communicate()
    if seed % 4 < 2:
        # The next start does not wait for a keeper that is at work.
        recover(tmp_path)
    else:
        assert gone(str(tmp_path))
        recover(tmp_path)
    assert (shown("v0"), shown("v1")) == before
    assert list(tmp_path.iterdir()) == []
    assert gone(str(tmp_path))


SLOW_IP = """#!/bin/sh
case "$*" in
*"type ifb") touch {asked}; sleep 0.5 ;;
esac
exec {ip} "$@"
"""


@pytest.mark.usefixtures("cable")
def test_a_command_that_outlives_its_session_is_waited_for(tmp_path: Path) -> None:
    """Else it would make an interface that nobody knows of any more."""
    before = shown("v0")
    state, programs, asked = (tmp_path / name for name in ("state", "programs", "asked"))
    programs.mkdir()
    (programs / "ip").write_text(SLOW_IP.format(asked=asked, ip=shutil.which("ip")))
    (programs / "ip").chmod(0o755)
    victim = started(SESSIONS, str(state), first=programs)
    while not asked.exists():
        assert victim.poll() is None
        time.sleep(0.01)
    kill_keepers_only(state, victim.pid)
    victim.kill()
    victim.communicate()
    assert len(recover(state)) == 1
    assert gone(str(programs))
    assert shown("v0") == before
    assert list(state.iterdir()) == []


@pytest.mark.usefixtures("cable")
def test_the_keeper_restores_without_another_start(tmp_path: Path) -> None:
    before = shown("v0")
    victim = started(SESSIONS, str(tmp_path))
    assert victim.stdout is not None
    assert victim.stdout.readline() == "open\n"
    victim.kill()
    victim.communicate()
    assert gone(str(tmp_path))
    assert shown("v0") == before
    assert list(tmp_path.iterdir()) == []
    assert recover(tmp_path) == []


HOLD = SESSIONS.replace("for _ in range(3):\n            impair", "while True:\n            impair")


@pytest.mark.usefixtures("cable")
def test_the_next_session_restores_and_says_so(tmp_path: Path) -> None:
    before = shown("v0")
    victim = started(HOLD, str(tmp_path))
    assert victim.stdout is not None
    assert victim.stdout.readline() == "open\n"
    kill_keepers_only(tmp_path, victim.pid)
    victim.kill()
    victim.communicate()
    assert shown("v0") != before
    assert len(list(tmp_path.iterdir())) == 1
    with open_session(OUTLETS, state_dir=tmp_path) as session:
        assert session.notes == [f"v0: restored after process {victim.pid}, which is gone"]
        assert shown("v0") == before
    assert list(tmp_path.iterdir()) == []


def kill_keepers_only(folder: Path, session: int) -> None:
    keepers = [number for number in processes(str(folder)) if number != session]
    assert len(keepers) == 1
    for number in keepers:
        os.kill(number, signal.SIGKILL)


@pytest.mark.usefixtures("cable")
def test_what_a_living_session_does_is_not_undone(tmp_path: Path) -> None:
    with open_session(OUTLETS, egress=["v0"], state_dir=tmp_path):
        during = shown("v0")
        assert recover(tmp_path) == []
        assert shown("v0") == during


@pytest.mark.usefixtures("cable")
def test_a_filter_without_a_journal_is_told(tmp_path: Path) -> None:
    victim = started(HOLD, str(tmp_path / "a"))
    assert victim.stdout is not None
    assert victim.stdout.readline() == "open\n"
    kill_keepers_only(tmp_path / "a", victim.pid)
    victim.kill()
    victim.communicate()
    with (
        pytest.raises(InterfaceError, match="a replay that is gone left a filter to psifb"),
        open_session(OUTLETS, egress=["v0"], state_dir=tmp_path / "b"),
    ):
        pass
    assert len(recover(tmp_path / "a")) == 1


@pytest.mark.usefixtures("cable")
def test_journals_of_other_places(tmp_path: Path) -> None:
    boot, namespace = journal.here()
    here = journal.Journal("aa", boot, namespace, 1, ())
    elsewhere = journal.Journal("bb", boot, namespace + 1, 1, ())
    past = journal.Journal("cc", "another boot", namespace, 1, ())
    for one in (here, elsewhere, past):
        with journal.kept(journal.path(tmp_path, one), one):
            pass
    (tmp_path / "dd.json").write_text('{"format": "pathsc')  # cut off: nothing was changed yet
    said = recover(tmp_path)
    assert len(said) == 2
    assert said[1].endswith("bb.json: not undone, as it tells of another network namespace")
    assert [path.name for path in tmp_path.iterdir()] == ["bb.json"]


@pytest.mark.usefixtures("cable")
@pytest.mark.parametrize("document", [{}, {"format": journal.FORMAT, "mark": "aa"}, {"format": 1}])
def test_a_journal_that_is_none(document: dict[str, object], tmp_path: Path) -> None:
    (tmp_path / "aa.json").write_text(json.dumps(document))
    with pytest.raises(InterfaceError, match=r"aa.json: expected .*pathscope.interfaces/1"):
        recover(tmp_path)


def test_no_folder_is_nothing_to_undo(tmp_path: Path) -> None:
    assert recover(tmp_path / "none") == []
    assert not (tmp_path / "none").exists()
