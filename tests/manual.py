"""The manual as it is executed: its blocks, the folder that they run in, and how each is run.

A fenced block of a page runs unless a comment before it says otherwise:

    <!-- run by make docs-commands: REASON -->    too long, or too much to ask of every machine
    <!-- not run: REASON -->                      nothing that a test can run
    <!-- file: NAME -->                           it is written to NAME, for the blocks after it
"""

from __future__ import annotations

import doctest
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import duckdb
import pathscope
from running import FAILOVER, PROGRAM, ROOT

PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]

MARK = re.compile(r"<!-- (?P<kind>run by make docs-commands|not run|file): (?P<text>.+) -->")
LATER, NEVER, FILE = "run by make docs-commands", "not run", "file"
QUIET = frozenset({"text"})
"""Languages of blocks that show something: no command may stand in one."""

ANYTHING = "..."
PATIENCE_S = 900


@dataclass(frozen=True)
class Block:
    """A fenced block of a page."""

    page: Path
    line: int
    language: str
    text: str
    kind: str = ""
    reason: str = ""

    def __str__(self) -> str:
        """Return where it is."""
        return f"{self.page.relative_to(ROOT)}:{self.line} ({self.language})"


def blocks(page: Path) -> Iterator[Block]:
    """Yield the fenced blocks of a page, but those that show things, in order."""
    before = opening = ""
    text: list[str] = []
    for number, line in enumerate(page.read_text().splitlines(), 1):
        if opening:
            if line == "```":
                mark = MARK.fullmatch(before)
                kind, reason = (mark["kind"], mark["text"]) if mark else ("", "")
                language = opening.removeprefix("```")
                if language not in QUIET:
                    start = number - len(text)
                    yield Block(page, start, language, "\n".join(text) + "\n", kind, reason)
                opening, before, text = "", "", []
            else:
                text.append(line)
        elif line.startswith("```"):
            opening = line
        elif line:
            before = line


@dataclass
class Example:
    """A command of the manual with the output shown for it, if any."""

    command: str
    output: list[str] = field(default_factory=list)


def examples(block: Block) -> Iterator[Example]:
    """Yield the commands of a block of a terminal."""
    example: Example | None = None
    for line in block.text.splitlines():
        if line.startswith("$ "):
            if example is not None:
                yield example
            example = Example(line[2:])
        elif example is None:
            raise ValueError(f"{block}: it begins with no command: {line}")
        elif example.command.endswith("\\") and not example.output:
            example.command += "\n" + line.removeprefix("> ")
        else:
            example.output.append(line)
    if example is not None:
        yield example


def matches(shown: list[str], real: list[str]) -> bool:
    """Compare line by line; a line `...` stands for any number of lines."""
    if not shown:
        return not real
    if shown[0].strip() == ANYTHING:
        return any(matches(shown[1:], real[skip:]) for skip in range(len(real) + 1))
    return bool(real) and shown[0].rstrip() == real[0].rstrip() and matches(shown[1:], real[1:])


@cache
def _analyzed() -> TemporaryDirectory[str]:
    """Analyze some captures once, for commands that ask what came of them."""
    kept = TemporaryDirectory(prefix="pathscope-manual-")
    pathscope.analyze_many(FAILOVER.parent, Path(kept.name, "dataset"))
    return kept


def furnish(place: Path) -> None:
    """Make a folder like the repository, with the files at hand that the manual speaks of."""
    (place / "dataset").symlink_to(Path(_analyzed().name, "dataset"))
    (place / "fixtures").symlink_to(ROOT / "fixtures")
    for name in ("client.pcapng", "server.pcapng", "events.jsonl"):
        shutil.copy(FAILOVER.parent / name, place)
    (place / "home" / ".local/share/bash-completion/completions").mkdir(parents=True)
    kept = place / "home" / ".local/share/pathscope/baselines/before"
    shutil.copytree(ROOT / "fixtures" / "compare" / "rto-500", kept)
    program = place / "bin" / "pathscope"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\nexec {PROGRAM[0]} -c "{PROGRAM[2]}" "$@"\n')
    program.chmod(0o755)


def run(command: str, place: Path, codes: frozenset[int] = frozenset({0})) -> list[str]:
    """Run a command as on a terminal: output and errors together; it must succeed."""
    path = f"{place / 'bin'}:{Path(sys.executable).parent}:{os.environ['PATH']}"
    found = subprocess.run(
        ["bash", "-o", "pipefail", "-c", command],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        cwd=place,
        env={**os.environ, "PATH": path, "HOME": str(place / "home"), "XDG_DATA_HOME": ""},
        timeout=PATIENCE_S,
        check=False,
    )
    assert found.returncode in codes, f"{command}\nexit code {found.returncode}\n{found.stdout}"
    return found.stdout.splitlines()


def expected(command: str) -> frozenset[int]:
    """The exit codes that a command's comment names: `# exit code 3`; 0 without one."""
    named = re.search(r"# exit code (\d+)(?: or (\d+))?$", command)
    return frozenset(int(code) for code in named.groups() if code) if named else frozenset({0})


def made_by(target: str) -> str:
    """The pathscope commands that a make target runs."""
    steps = subprocess.run(
        ["make", "--dry-run", "--always-make", target],
        capture_output=True, text=True, cwd=ROOT, check=True,
    ).stdout.replace("\\\n", " ").splitlines()  # fmt: skip
    commands = [step.removeprefix(".venv/bin/") for step in steps]
    return "\n".join(step for step in commands if step.startswith("pathscope "))


class Runner:
    """Runs the blocks of one page, one after the other, in one folder."""

    def __init__(self, place: Path) -> None:
        furnish(place)
        self.place = place
        self.names: dict[str, Any] = {}

    def page(self, page: Path, left: set[str]) -> None:
        """Run the blocks of a page, but those of some kinds."""
        for block in blocks(page):
            if block.kind not in left:
                self.run(block)

    def run(self, block: Block) -> None:
        """Run a block; an exception says what is wrong with it."""
        if block.kind == FILE:
            (self.place / block.reason).write_text(block.text)
            return
        runners = {
            "console": self._console,
            "python": self._python,
            "pycon": self._session,
            "sql": self._query,
        }
        assert block.language in runners, f"{block}: nothing runs it, and nothing says why"
        runners[block.language](block)

    def _console(self, block: Block) -> None:
        for example in examples(block):
            command = example.command
            if command.startswith("make "):
                command = made_by(command.split()[1])
                assert command, f"{block}: {example.command} runs no pathscope"
            real = run(command, self.place, expected(example.command))
            if example.output:
                assert matches(example.output, real), "\n".join([str(block), command, *real])

    def _python(self, block: Block) -> None:
        exec(compile(block.text, str(block), "exec"), self.names)  # noqa: S102

    def _session(self, block: Block) -> None:
        test = doctest.DocTestParser().get_doctest(
            block.text, self.names, str(block), str(block.page), block.line
        )
        said: list[str] = []
        doctest.DocTestRunner().run(test, out=said.append, clear_globs=False)
        assert not said, "".join(said)

    @staticmethod
    def _query(block: Block) -> None:
        assert duckdb.execute(block.text).fetchall(), f"{block}: no rows"
