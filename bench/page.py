"""The page that holds what was measured: docs/performance.md, a part a benchmark."""

from __future__ import annotations

import os
import platform
import sys
from dataclasses import dataclass
from pathlib import Path

Promise = tuple[str, bool, str]
"""What was promised, whether it was kept, and what was measured."""


def table(head: list[str], rows: list[list[str]]) -> list[str]:
    """Return a Markdown table whose first column is text."""
    rule = "|---|" + "---:|" * (len(head) - 1)
    first, *rest = (f"| {' | '.join(cells)} |" for cells in (head, *rows))
    return [first, rule, *rest]


def _verdicts(promises: list[Promise]) -> list[str]:
    """Return a line for every promise."""
    return [f"- {text}: {'kept' if kept else 'MISSED'} ({value})" for text, kept, value in promises]


def _machine() -> str:
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


@dataclass(frozen=True, slots=True)
class Part:
    """What a benchmark says: tables, what was promised, whose versions, by which commands.

    `name` is that of its markers in the page, `why` says why the page's tests do not run its
    commands.
    """

    name: str
    heading: str
    lines: list[str]
    promises: list[Promise]
    versions: str = ""
    commands: tuple[str, ...] = ()
    why: str = ""

    def text(self) -> str:
        """Return it as Markdown."""
        found = [*self.lines, "", *_verdicts(self.promises), "", f"Machine: {_machine()}."]
        if self.versions:
            found += ["", f"Versions: {self.versions}."]
        if self.commands:
            found += ["", "Commands:", "", f"<!-- not run: {self.why} -->", "```console"]
            found += [*(f"$ {one}" for one in self.commands), "```"]
        return "\n".join(found)

    def publish(self, page: Path | None) -> int:
        """Print it, put it into a page if one is given; return 1 when a promise was missed."""
        text = self.text()
        print(text)
        if page is not None:
            _write(page, self.name, self.heading, text)
        return 0 if all(kept for _, kept, _ in self.promises) else 1


def _write(path: Path, name: str, heading: str, text: str) -> None:
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
