"""A `tc` that stays: starting one takes longer than what it does, and instants are to be exact."""

from __future__ import annotations

import os
import subprocess
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import IO, TYPE_CHECKING

from . import tables

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence


class TcError(RuntimeError):
    """What tc said instead of doing it."""


class Tc:
    """A running `tc -batch` in a namespace."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process

    def netem(self, verb: str, devices: Sequence[tuple[str, Sequence[str]]]) -> None:
        """Add or replace the root netem of devices; returns when the kernel has done it.

        A `replace` keeps what is on its way, and needs the full set: it is a change to the kernel.

        Raises
        ------
        TcError
            When tc refuses one of them.
        """
        self._do(
            f"qdisc {verb} dev {device} root netem {' '.join(arguments)}"
            for device, arguments in devices
        )

    def remove(self, devices: Sequence[str]) -> None:
        """Remove the root qdisc of devices; returns when the kernel has done it.

        Raises
        ------
        TcError
            When tc refuses one of them.
        """
        self._do(f"qdisc del dev {device} root" for device in devices)

    def _do(self, commands: Iterable[str]) -> None:
        stdin, stdout = self._pipes()
        stdin.writelines(f"{command}\n" for command in commands)
        # Answered in order: when this one is, the others are done.
        stdin.write("qdisc show dev lo\n")
        stdin.flush()
        refused: list[str] = []
        while not (line := stdout.readline()).startswith("qdisc "):
            if not line:
                raise TcError(f"tc ended with {self._process.wait()}: {''.join(refused)}")
            refused.append(line)
        if refused:
            raise TcError("".join(refused).strip())

    def _pipes(self) -> tuple[IO[str], IO[str]]:
        stdin, stdout = self._process.stdin, self._process.stdout
        if stdin is None or stdout is None:
            raise TcError("it was started without pipes")
        return stdin, stdout


@contextmanager
def running(
    namespace: str, distributions: Mapping[str, Sequence[float]] | None = None
) -> Iterator[Tc]:
    """Keep a tc in a namespace for as long as the block lasts.

    Parameters
    ----------
    namespace
        A name that `ip netns` knows; its `lo` has to be up, as one that is down has no qdisc to
        show, which is how answers end.
    distributions
        Tables of own for delays, by name (`Profile.distributions`).
    """
    with ExitStack() as stack:
        environment = dict(os.environ)
        if distributions:
            folder = stack.enter_context(TemporaryDirectory(prefix="tc-"))
            tables.write(Path(folder), distributions)
            environment[tables.FOLDER] = folder
        process = subprocess.Popen(
            # Line by line, or its answers would wait in a buffer. -force: an error must not end it.
            ["stdbuf", "-oL", "tc", "-netns", namespace, "-force", "-batch", "-"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            env=environment,
        )
        try:
            yield Tc(process)
        finally:
            if process.stdin is not None:
                # What it was still to be told, nobody hears when it has ended.
                with suppress(BrokenPipeError):
                    process.stdin.close()
            process.wait()
