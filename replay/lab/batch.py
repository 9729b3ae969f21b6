"""A `tc -batch` that stays: starting a tc takes longer than what it does at an exact instant."""

from __future__ import annotations

import subprocess
from contextlib import contextmanager, suppress
from typing import IO, TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

END = "end-of-answer"
"""No object of tc: what it says of that marks the end of an answer, whatever devices there are."""

FAILED = "Command failed "


class Batch:
    """A running `tc -batch`; `error` is what it raises."""

    def __init__(self, stdin: IO[str], stdout: IO[str], error: type[RuntimeError]) -> None:
        self._stdin, self._stdout, self._error = stdin, stdout, error

    def do(self, *lines: str) -> str:
        """Do commands, and return what tc answered; the kernel has done them then.

        Raises
        ------
        RuntimeError
            When one of them failed.
        """
        try:
            self._stdin.writelines(f"{line}\n" for line in (*lines, END))
            self._stdin.flush()
        except BrokenPipeError as error:
            raise self._error("tc has ended") from error
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
            raise self._error(f"tc has ended: {' '.join(answer)}")
        if refused:
            raise self._error(" ".join(refused))
        return "\n".join(answer)


@contextmanager
def running(
    options: Sequence[str], environment: Mapping[str, str], error: type[RuntimeError]
) -> Iterator[Batch]:
    """Keep a tc with these options for as long as the block lasts."""
    with subprocess.Popen(
        # Line by line, or its answers would wait in a buffer. -force: an error must not end it.
        ["stdbuf", "-oL", "tc", *options, "-force", "-batch", "-"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env=environment,
        # Ctrl-C at the terminal is for whoever keeps it, who may be restoring.
        process_group=0,
    ) as process:
        if process.stdin is None or process.stdout is None:
            raise error("tc was started without pipes")
        try:
            yield Batch(process.stdin, process.stdout, error)
        finally:
            # What it was still to be told, nobody hears when it has ended.
            with suppress(BrokenPipeError):
                process.stdin.close()
