"""A process beside a session that restores the interfaces when the session is gone.

It reads a pipe whose other end the session holds, and which the kernel closes when that is gone,
killed or not. Started as `python -m pathscope.replay.interfaces.keeper JOURNAL`.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from ..lab.child import PYTHON
from . import journal, recovery
from .commands import InterfaceError

if TYPE_CHECKING:
    from collections.abc import Iterator

READY = b"ready\n"

END_S = 30
"""How long it may take to see that nothing is left to do."""

PAUSE_S = 0.05


@contextmanager
def beside(path: Path) -> Iterator[None]:
    """Let a keeper watch over this process until the block ends.

    What a journal that is still there then tells of, the keeper undoes.

    Raises
    ------
    InterfaceError
        When it cannot be started.
    """
    keeper = subprocess.Popen(
        [*PYTHON, "-m", __name__, str(path.resolve())],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        # What ends the session at the terminal must not end its keeper.
        start_new_session=True,
    )
    try:
        if not keeper.stdout or keeper.stdout.readline() != READY:
            raise InterfaceError("the keeper, which restores after a crash, did not start")
        yield
    finally:
        with suppress(subprocess.TimeoutExpired):
            keeper.communicate(timeout=END_S)
        keeper.kill()
        keeper.wait()


def main() -> None:
    """Wait for the end of the pipe; then do what is left to do."""
    path = Path(sys.argv[1])
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    os.write(1, READY)
    while os.read(0, 1):
        pass
    until = time.monotonic() + END_S
    while path.exists() and time.monotonic() < until:
        try:
            with journal.alone(path.parent):
                recovery.settle(path)
        except InterfaceError:
            # Its journal stays: the next start tries again, and says why it fails.
            return
        time.sleep(PAUSE_S)


if __name__ == "__main__":
    main()
