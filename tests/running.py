"""The command line, run as a user runs it, or in this process where that tells the same."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from click.testing import CliRunner, Result
from pathscope.cli import main

ROOT = Path(__file__).parents[1]
CAPTURES = ROOT / "fixtures" / "captures"
RUNS = ("failover-v6", "asconf-handover-v4", "lossy-v4")
MIXED = CAPTURES / "flows-mixed" / "flows.pcap"
FAILOVER, ASCONF, LOSSY = (CAPTURES / run / "client.pcapng" for run in RUNS)

# As the installed script does; `python -m pathscope` would go by another name in its help.
PROGRAM = [sys.executable, "-c", "from pathscope.cli import main; main(prog_name='pathscope')"]


def loaded(script: Path) -> Any:
    """Import a script that stands in no package."""
    spec = importlib.util.spec_from_file_location(script.stem, script)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def inside(*arguments: object) -> Result:
    """Run a command in this process; an exception that it lets through is a failure here."""
    found = CliRunner().invoke(main, [str(one) for one in arguments], prog_name="pathscope")
    if found.exception is not None and not isinstance(found.exception, SystemExit):
        raise found.exception
    return found


def outside(
    *arguments: object,
    environment: Mapping[str, str] | None = None,
    stdout: int | None = subprocess.PIPE,
    folder: Path = ROOT,
) -> subprocess.CompletedProcess[str]:
    """Run a command in a process of its own."""
    return subprocess.run(
        [*PROGRAM, *(str(one) for one in arguments)],
        stdout=stdout,
        stderr=subprocess.PIPE,
        text=True,
        cwd=folder,
        env={**os.environ, **(environment or {})},
        timeout=120,
        check=False,
    )
