"""Journals: written before anything is done, and whose session lives."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from interfaces_wire import ENVIRONMENT
from pathscope.replay.interfaces import journal
from pathscope.replay.interfaces.commands import InterfaceError
from pathscope.replay.interfaces.diversion import Diversion
from pathscope.replay.interfaces.journal import Device, Journal

WAYS = (Diversion("egress", "psifb0", 65535), Diversion("ingress", "psifb1", 7))
WRITTEN = Journal("ab", "boot", 5, 6, (Device("v0", 3, True, WAYS, {"qdiscs": "qdisc pfifo"}),))


def test_what_is_written_is_read(tmp_path: Path) -> None:
    path = journal.path(tmp_path, WRITTEN)
    with journal.kept(path, WRITTEN), journal.of_dead_session(path) as living:
        assert living is None
    with journal.of_dead_session(path) as dead:
        assert dead == WRITTEN
    journal.remove(path)
    journal.remove(path)
    with journal.of_dead_session(path) as undone:
        assert undone is None


def test_a_folder_that_cannot_be(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with (
        pytest.raises(InterfaceError, match="file/below: no place for a journal: Not a directory"),
        journal.alone(tmp_path / "file" / "below"),
    ):
        pass


@pytest.mark.usefixtures("namespace")
def test_a_namespace_has_a_number_that_no_other_has() -> None:

    ask = "from pathscope.replay.interfaces import journal; print(journal.here()[1])"
    words = [sys.executable, "-c", ask]
    same, other = (
        int(subprocess.run([*way, *words], env=ENVIRONMENT, capture_output=True, check=True).stdout)
        for way in ([], ["unshare", "--net"])
    )
    assert same == journal.here()[1] != other


@pytest.mark.parametrize(
    ("root", "state", "expected"),
    [
        (True, "/x", "/run/pathscope/interfaces"),
        (False, "/x", "/x/pathscope/interfaces"),
        (False, "", "/users/me/.local/state/pathscope/interfaces"),
    ],
)
def test_where_they_are(
    root: bool, state: str, expected: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("os.geteuid", lambda: 0 if root else 1000)
    monkeypatch.setenv("XDG_STATE_HOME", state)
    monkeypatch.setenv("HOME", "/users/me")
    assert str(journal.default_folder()) == expected
