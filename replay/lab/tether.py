"""Commands that do not outlive the lab, however it ends: not even when it is killed.

Beside the command runs a keeper, which reads a pipe whose other end the lab holds. The kernel
closes that end when the lab is gone, and the keeper kills the command and all of its process group.
A death signal (prctl(2)) would reach the command alone: a user-mode kernel leaves helpers behind.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

KEEPER = """
exec 3<&0
"$@" </dev/null 3<&- &
child=$!
{ read -r _ <&3; kill -s KILL -- "-$child" "$child"; kill -s KILL 0; } >/dev/null 2>&1 &
keeper=$!
wait "$child"
status=$?
kill -s KILL -- "-$child" "$keeper" 2>/dev/null
exit "$status"
"""
"""The command may make a group of its own, as a user-mode kernel does; then its number is that of
the command."""

END_S = 10
"""How long the keeper may take to end what it keeps."""


def run(command: Sequence[str], log: Path, timeout_s: float) -> int:
    """Run a command to its end, both outputs into a file, and return its exit code.

    Whether it ends, takes too long or this process dies: nothing of its process group is left.

    Raises
    ------
    subprocess.TimeoutExpired
        When it does not end in time.
    """
    reader, writer = os.pipe()
    try:
        with log.open("wb") as output:
            process = subprocess.Popen(
                ["sh", "-c", KEEPER, "lab-keeper", *command],
                stdin=reader,
                stdout=output,
                stderr=subprocess.STDOUT,
                process_group=0,
            )
    except OSError:
        os.close(writer)
        raise
    finally:
        os.close(reader)
    try:
        return process.wait(timeout_s)
    finally:
        os.close(writer)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(END_S)
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
