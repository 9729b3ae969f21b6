"""The processes that a run talks to: applications and background traffic at its ends."""

from __future__ import annotations

import contextlib
import json
import subprocess
from typing import IO, TYPE_CHECKING, Any

from .child import PYTHON

if TYPE_CHECKING:
    from pathlib import Path

    from .events import EventLog

END_S = 10
"""How long a process may take to end, once it is asked to."""


class StageError(RuntimeError):
    """A run that could not be made; the message says which step failed and what it said."""


class End:
    """A process in a host's namespace, whose words go into the event log."""

    def __init__(self, host: str, module: str, orders: object, log: Path, events: EventLog) -> None:
        self.host = host
        self.events = events
        self.log = log
        command = ["ip", "netns", "exec", host, *PYTHON, "-m", module, json.dumps(orders)]
        with log.open("w") as errors:
            self.process = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors, text=True
            )
        self.heard = events.follow(self.process.stdout, host)

    def wait_for(self, event: str, timeout_s: float, times: int = 1) -> None:
        """Wait until the process has said something so many times."""
        if not self.heard.wait_for(event, timeout_s, times):
            said = self.log.read_text(errors="replace").strip()
            raise StageError(f"{self.host}: no {event!r} within {timeout_s:g} s {said}".strip())

    def ask(self, what: dict[str, Any]) -> None:
        """Hand a request over, as a line; a process that has ended is past asking."""
        try:
            self._stdin.write(json.dumps(what) + "\n")
            self._stdin.flush()
        except BrokenPipeError:
            self.events.write({"event": "unheard", "host": self.host, "what": what["do"]})

    def ends_within(self, timeout_s: float) -> bool:
        """Wait until the process ends by itself, and say whether it did."""
        try:
            self.process.wait(timeout_s)
        except subprocess.TimeoutExpired:
            return False
        return True

    def stop(self) -> None:
        """End the process."""
        if self.process.poll() is None:
            self.ask({"do": "stop"})
        with contextlib.suppress(BrokenPipeError):  # it has ended by itself
            self._stdin.close()
        if not self.ends_within(END_S):
            self.process.kill()
            self.process.wait()
        self.heard.join()

    @property
    def _stdin(self) -> IO[str]:
        if self.process.stdin is None:
            raise StageError(f"{self.host}: it was started without a pipe")
        return self.process.stdin
