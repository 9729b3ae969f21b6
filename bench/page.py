"""The page that holds what was measured: docs/performance.md, a part a benchmark."""

from __future__ import annotations

import os
import platform
import sys
from pathlib import Path

Promise = tuple[str, bool, str]
"""What was promised, whether it was kept, and what was measured."""


def table(head: list[str], rows: list[list[str]]) -> list[str]:
    """Return a Markdown table whose first column is text."""
    rule = "|---|" + "---:|" * (len(head) - 1)
    first, *rest = (f"| {' | '.join(cells)} |" for cells in (head, *rows))
    return [first, rule, *rest]


def verdicts(promises: list[Promise]) -> list[str]:
    """Return a line for every promise."""
    return [f"- {text}: {'kept' if kept else 'MISSED'} ({value})" for text, kept, value in promises]


def machine() -> str:
    """Describe the machine in one line."""
    cpu = platform.processor() or platform.machine()
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            cpu = line.split(":", 1)[1].strip()
            break
    cores = len(os.sched_getaffinity(0))
    kernel, _, _ = platform.release().partition("-")  # its build's suffix says nothing
    return f"{cpu}, {cores} cores, {platform.system()} {kernel}"


def only_release(profile: str) -> None:
    """End the program when the extension is no release build."""
    if profile != "release":
        sys.exit(f"pathscope was built as {profile}: only a release build is measured")


def write(path: Path, name: str, heading: str, text: str) -> None:
    """Put a benchmark's part between its markers, or at the end of a page without them."""
    begin, end = f"<!-- {name}: begin -->", f"<!-- {name}: end -->"
    old = path.read_text()
    if begin not in old:
        old = f"{old.rstrip()}\n\n## {heading}\n\n{begin}\n{end}\n"
    before, _, rest = old.partition(begin)
    _, found, after = rest.partition(end)
    if not found:
        sys.exit(f"{path}: expected the marker {end} after {begin}")
    path.write_text(f"{before}{begin}\n{text}\n{end}{after}")
