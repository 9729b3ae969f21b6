"""The log of a run: JSON lines in the order of their writing, each with its time and host."""

from __future__ import annotations

import json
import threading
import time
from typing import IO, TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path


class EventLog:
    """The file, which several threads write."""

    def __init__(self, path: Path) -> None:
        self._file = path.open("a", encoding="utf-8")
        self._lock = threading.Lock()

    def write(self, event: dict[str, Any]) -> None:
        """Append an event; one without a time gets that of now."""
        if "t_ns" not in event:
            now_ns = time.time_ns()
            event = {"t": now_ns / 1e9, "t_ns": now_ns, **event}
        with self._lock:
            self._file.write(json.dumps(event) + "\n")
            self._file.flush()

    def follow(self, stream: IO[str] | None, host: str) -> Heard:
        """Append what a process says, until it says no more."""
        return Heard(self, stream, host)

    def close(self) -> None:
        """Close the file."""
        self._file.close()


class Heard:
    """What a process has said so far."""

    def __init__(self, log: EventLog, stream: IO[str] | None, host: str) -> None:
        self._events: set[str] = set()
        self._news = threading.Condition()
        self._ended = False
        self._thread = threading.Thread(target=self._listen, args=(log, stream, host))
        self._thread.start()

    def _listen(self, log: EventLog, stream: IO[str] | None, host: str) -> None:
        for line in stream or ():
            event = json.loads(line)
            log.write(event | {"host": host})
            with self._news:
                self._events.add(event["event"])
                self._news.notify_all()
        with self._news:
            self._ended = True
            self._news.notify_all()

    def wait_for(self, event: str, timeout_s: float) -> bool:
        """Whether the process says this within a time."""
        with self._news:
            self._news.wait_for(lambda: event in self._events or self._ended, timeout_s)
            return event in self._events

    def join(self) -> None:
        """Wait until the process says no more."""
        self._thread.join()
