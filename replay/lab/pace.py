"""Whether the machine kept up with a run: else its numbers are the machine's, not the network's.

Three signs: packets that found no room on their way to a recording; the share of the kernel's time
in which its processor was busy; and how late a process woke that only wanted to sleep, which also
shows time that a guest did not get from its host.
"""

from __future__ import annotations

import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

STEP_S = 0.05
"""Between two wakings."""

MOST_BUSY = 0.9
"""Of the processor's time: beyond it, packets wait for the processor and not for the link."""

MOST_LATE_MS = 30
"""Of 95 wakings in 100. A guest's clock ticks every 10 ms, and a process waits its turn."""

STAT = Path("/proc/stat")

IDLE = (3, 4)
"""Of the numbers of the line `cpu` of proc(5): idle, and waiting for I/O."""


def reasons(pace: Mapping[str, Any], dropped: Mapping[str, int]) -> list[str]:
    """Return why a run cannot be trusted; nothing where the machine kept up.

    Parameters
    ----------
    pace
        As `Watch.end` returns it.
    dropped
        Packets that the kernel did not hand to a recording, by recording.
    """
    found = [f"{name}: {lost} packets not recorded" for name, lost in dropped.items() if lost]
    busy = pace["busy_ratio"]
    if busy is not None and busy > MOST_BUSY:
        found.append(f"processor busy {busy:.0%} of the time")
    if pace["late_p95_ms"] > MOST_LATE_MS:
        found.append(f"5 % of wakings more than {pace['late_p95_ms']:.0f} ms late")
    return found


def busy_ratio(before: Sequence[int], after: Sequence[int]) -> float | None:
    """Return the share of busy time between two readings of the line `cpu`; None: no tick."""
    spent = [new - old for old, new in zip(before, after, strict=True)]
    total = sum(spent)
    return None if total <= 0 else 1 - sum(spent[place] for place in IDLE) / total


def _ticks() -> list[int]:
    # Time of guests is counted as the user's already: the first eight are all.
    return [int(number) for number in STAT.read_text().splitlines()[0].split()[1:9]]


class Watch:
    """Watches from its making to its end."""

    def __init__(self) -> None:
        self._over = threading.Event()
        self._late_s: list[float] = []
        self._before = _ticks()
        self._thread = threading.Thread(target=self._wake_often, daemon=True)
        self._thread.start()

    def _wake_often(self) -> None:
        due = time.monotonic() + STEP_S
        while not self._over.wait(max(0, due - time.monotonic())):
            now = time.monotonic()
            self._late_s.append(now - due)
            due = max(due, now) + STEP_S

    def end(self) -> dict[str, Any]:
        """Return `busy_ratio` (None: the kernel does not say), `late_p95_ms` and `late_max_ms`."""
        self._over.set()
        self._thread.join()
        late = sorted(self._late_s) or [0.0]
        p95 = late[min(len(late) - 1, int(0.95 * len(late)))]
        busy = busy_ratio(self._before, _ticks())
        return {
            "busy_ratio": None if busy is None else round(busy, 3),
            "late_p95_ms": round(p95 * 1000, 1),
            "late_max_ms": round(late[-1] * 1000, 1),
        }
