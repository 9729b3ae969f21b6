"""Programs that the lab starts are nobody else's."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from pathscope.replay.interfaces import keeper
from pathscope.replay.lab import child, host

HOSTILE = """
from pathlib import Path
Path(__file__).with_name("ran").touch()
raise SystemExit(1)
"""


@pytest.fixture
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that somebody else filled is the current one."""
    for name in ("socket.py", "json.py", "pathscope.py"):
        (tmp_path / name).write_text(HOSTILE)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_python_takes_nothing_from_the_current_folder(elsewhere: Path) -> None:
    code = "import socket, json, pathscope"
    assert subprocess.run([*child.PYTHON, "-c", code], check=False).returncode == 0
    assert not (elsewhere / "ran").exists()


def test_neither_does_a_probe(elsewhere: Path) -> None:
    host.lacks("sctp")
    assert not (elsewhere / "ran").exists()


def test_nor_the_keeper(elsewhere: Path) -> None:
    with keeper.beside(elsewhere / "none.json"):
        pass
    assert not (elsewhere / "ran").exists()


def test_every_python_that_is_started_is_this_one() -> None:
    sources = Path(child.__file__).parents[1].rglob("*.py")
    found = {path.name for path in sources if "sys.executable" in path.read_text()}
    assert found == {Path(child.__file__).name}


def test_programs_are_not_looked_for_in_the_current_folder() -> None:
    for given in ("", ":", ".", "bin:./x", "::/usr/bin:"):
        folders = child.search_path(given).split(os.pathsep)
        assert all(folder.startswith("/") for folder in folders)
