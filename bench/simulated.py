"""A trace of ns-2 against the awk scripts that studies take their numbers from."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

from captures import DATA, ROOT
from contender import Contender

PEERS = Path(__file__).parent / "peers"
SCENARIO = "waleed-tcp"

LEAST_OF_AWK = 5.0
"""What is promised: against the scripts of the study, a run for each cell of its table."""


def trace(program: Path) -> Path:
    """Return the trace of study W's second run, made by ns-2 when it is missing."""
    folder = DATA / SCENARIO
    path = folder / "trace.tr"
    if not path.exists():
        print(f"simulating {SCENARIO} ...", file=sys.stderr)
        command = [str(program), "lab", "run", SCENARIO, "--out", str(folder), "--force"]
        subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.DEVNULL)
    return path


def readers(program: Path, path: Path) -> list[Contender]:
    """Return analyze, and awk with a script for every quantity, and with one for all."""
    with path.open("rb") as file:
        lines = sum(1 for _ in file)
    analyze = [str(program), "analyze", str(path), "--json"]
    found = [Contender("pathscope analyze", analyze, lines)]
    for awk in filter(shutil.which, ("mawk", "gawk")):
        study = ["sh", str(PEERS / "study.sh"), awk, str(path)]
        found.append(Contender(f"{awk}, the study's 15 cells one by one", study, lines))
        at_once = [awk, "-v", "pkt=1000", "-f", str(PEERS / "all_pairs.awk"), str(path)]
        found.append(Contender(f"{awk}, all pairs in one script", at_once, lines))
    return found


def promise(found: list[Contender]) -> tuple[str, bool, str]:
    """Return the promise, whether it was kept, and what was measured."""
    ratio = min(one.median for one in found if "one by one" in one.name) / found[0].median
    text = f"at least {LEAST_OF_AWK:g} x as fast as the study's awk scripts"
    return text, ratio >= LEAST_OF_AWK, f"{ratio:.1f} x"
