"""A `tc` of this namespace that stays: starting one takes longer than what it does."""

from __future__ import annotations

import subprocess
from contextlib import contextmanager, suppress
from typing import IO, TYPE_CHECKING

from . import commands
from .commands import InterfaceError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

END = "end-of-answer"
"""No object of tc: what it says of that marks the end of an answer, whatever devices there are."""

FAILED = "Command failed "


class Batch:
    """A running `tc -batch`."""

    def __init__(self, stdin: IO[str], stdout: IO[str]) -> None:
        self._stdin, self._stdout = stdin, stdout

    def do(self, *lines: str) -> str:
        """Do commands, and return what tc answered; the kernel has done them then.

        Raises
        ------
        InterfaceError
            When one of them failed.
        """
        try:
            self._stdin.writelines(f"{line}\n" for line in (*lines, END))
            self._stdin.flush()
        except BrokenPipeError as error:
            raise InterfaceError("tc has ended") from error
        answer: list[str] = []
        refused: list[str] = []
        for line in self._stdout:
            if f'"{END}"' in line:
                self._stdout.readline()  # that this one failed, too
                break
            if line.startswith(FAILED):
                refused, answer = [*refused, *answer], []
            else:
                answer.append(line.strip())
        else:
            raise InterfaceError(f"tc has ended: {' '.join(answer)}")
        if refused:
            raise InterfaceError(" ".join(refused))
        return "\n".join(answer)


@contextmanager
def running(tables: Path | None = None) -> Iterator[Batch]:
    """Keep a tc for as long as the block lasts; `tables` is a folder of netem's distributions."""
    environment = commands.environment()
    if tables is not None:
        environment["TC_LIB_DIR"] = str(tables)
    with subprocess.Popen(
        # Line by line, or its answers would wait in a buffer. -force: an error must not end it.
        ["stdbuf", "-oL", "tc", "-force", "-batch", "-"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env=environment,
        # Ctrl-C at the terminal is for the session.
        process_group=0,
    ) as process:
        if process.stdin is None or process.stdout is None:
            raise InterfaceError("tc was started without pipes")
        try:
            yield Batch(process.stdin, process.stdout)
        finally:
            # What it was still to be told, nobody hears when it has ended.
            with suppress(BrokenPipeError):
                process.stdin.close()
