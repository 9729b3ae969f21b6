"""A folder that is watched: runs that are complete appear in the report."""

from __future__ import annotations

from dataclasses import replace
from threading import Event, Thread
from typing import TYPE_CHECKING

from ... import sets
from .load import load, numbered

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from .data import Shelf
    from .load import How

EVERY_S = 2.0


class Watch:
    """Looks for new runs, results and captures in a folder, until it is stopped.

    A file counts once its size and time have stayed as they are for one look: a capture that is
    being written is not read.
    """

    def __init__(
        self, folder: Path, shelf: Shelf, how: How, progress: Callable[[str], None] | None = None
    ) -> None:
        self._folder, self._shelf, self._how, self._progress = folder, shelf, how, progress
        self._known = set(_sources(folder))
        self._waiting: dict[sets.Source, tuple[int, int]] = {}
        self._stop = Event()
        # No work is lost when the process ends in the middle of a look.
        self._thread = Thread(target=self._run, daemon=True, name="watch")

    def start(self) -> None:
        """Begin to look."""
        self._thread.start()

    def stop(self) -> None:
        """Look no more."""
        self._stop.set()
        self._thread.join()

    def look(self) -> None:
        """Look once, and put what is new and whole on the shelf."""
        for source in _sources(self._folder):
            if source in self._known:
                continue
            try:
                now = _stamp(source)
            except OSError:
                continue  # gone again
            if self._waiting.get(source) != now:
                self._waiting[source] = now
                continue
            self._known.add(source)
            del self._waiting[source]
            self._add(source)

    def _run(self) -> None:
        while not self._stop.wait(EVERY_S):
            self.look()

    def _add(self, source: sets.Source) -> None:
        found = load([str(source.path)], self._how, self._progress)
        data = self._shelf.data
        self._shelf.replace(
            replace(
                data,
                cases=numbered((*data.cases, *found.cases)),
                unread=(*data.unread, *found.unread),
            )
        )


def _sources(folder: Path) -> list[sets.Source]:
    try:
        found = sets.find(str(folder))
    except (ValueError, OSError):
        return []  # nothing in it yet
    return [one for one in found if one.kind != "run" or _is_complete(one.path)]


def _is_complete(run: Path) -> bool:
    from ...replay.lab.folder import state

    return state(run) == "complete"


def _stamp(source: sets.Source) -> tuple[int, int]:
    told = source.path.stat()
    return told.st_size, told.st_mtime_ns
