"""Malformed files are read, or refused, within 5 s and 300 MB each; beyond that is told."""

import os
import subprocess
import sys
from pathlib import Path

from running import ROOT

ENVIRONMENT = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT / "tests"), *sys.path])}


def robustness(folder: Path) -> subprocess.CompletedProcess[str]:
    """Run it in a process that is no larger than its own imports."""
    return subprocess.run(
        [sys.executable, "-m", "robustness", str(folder)],
        capture_output=True,
        text=True,
        env=ENVIRONMENT,
        check=False,
    )


def test_malformed_fixtures_are_within_the_bounds() -> None:
    found = robustness(ROOT / "fixtures" / "malformed")
    assert found.returncode == 0, found.stdout + found.stderr
    assert ", 0 beyond 5 s, 300 MB or without a clear ending" in found.stdout


def test_a_folder_of_nothing_is_no_success(tmp_path: Path) -> None:
    assert robustness(tmp_path).returncode == 2
    (tmp_path / "notes.txt").write_text("no capture")
    found = robustness(tmp_path)
    assert found.returncode == 0
    assert "notes.txt: refused: at byte 0: expected a pcap, pcapng or snoop header" in found.stdout
