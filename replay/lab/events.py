"""The log of a run: JSON lines in the order of their writing, each with its time and host.

`t` is in seconds since 1970 with nine decimals, for docs/events.md; `t_ns` the same in nanoseconds.
"""

from __future__ import annotations

import json
import threading
import time
from typing import IO, TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path


def seconds(time_ns: int) -> str:
    """Return a time in seconds with every digit; a float would lose some hundred nanoseconds."""
    return f"{time_ns // 1_000_000_000}.{time_ns % 1_000_000_000:09d}"


def line(event: dict[str, Any]) -> str:
    """Return an event as a line of the log; one without `t_ns` gets the time of now."""
    facts = {name: value for name, value in event.items() if name not in ("t", "t_ns")}
    time_ns = event.get("t_ns", time.time_ns())
    rest = json.dumps({"t_ns": time_ns, **facts}, ensure_ascii=False)
    return f'{{"t": {seconds(time_ns)}, {rest[1:]}\n'


def read(path: Path) -> list[dict[str, Any]]:
    """Return the events of a log."""
    return [json.loads(text) for text in path.read_text(encoding="utf-8").splitlines()]


class EventLog:
    """The file, which several threads write."""

    def __init__(self, path: Path) -> None:
        self._file = path.open("a", encoding="utf-8")
        self._lock = threading.Lock()

    def write(self, event: dict[str, Any]) -> None:
        """Append an event."""
        with self._lock:
            self._file.write(line(event))
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
        self._said: dict[str, int] = {}
        self._news = threading.Condition()
        self._ended = False
        self._thread = threading.Thread(target=self._listen, args=(log, stream, host))
        self._thread.start()

    def _listen(self, log: EventLog, stream: IO[str] | None, host: str) -> None:
        for text in stream or ():
            event = json.loads(text)
            log.write(event | {"host": host})
            with self._news:
                name = event["event"]
                self._said[name] = self._said.get(name, 0) + 1
                self._news.notify_all()
        with self._news:
            self._ended = True
            self._news.notify_all()

    def wait_for(self, event: str, timeout_s: float, times: int = 1) -> bool:
        """Whether the process says this, so many times in all, within a time."""

        def said() -> bool:
            return self._said.get(event, 0) >= times

        with self._news:
            self._news.wait_for(lambda: said() or self._ended, timeout_s)
            return said()

    def join(self) -> None:
        """Wait until the process says no more."""
        self._thread.join()
