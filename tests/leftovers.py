"""What a run could leave on the machine: processes, network namespaces, interfaces."""

from __future__ import annotations

import os
import random
import re
import time
from pathlib import Path

from pathscope.replay.lab.plan import HOSTS

OURS = re.compile(r"(client|server|bridge)[0-9]+|wlan|cellular")


def processes(marker: str) -> list[str]:
    """Command lines of living processes that contain a text."""
    found = []
    for entry in Path("/proc").iterdir():
        if not entry.name.isdecimal():
            continue
        try:
            words = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
        except OSError:
            continue  # it has ended since
        if marker in words and int(entry.name) != os.getpid():
            found.append(words)
    return found


def nothing_left(marker: str, within_s: float = 5) -> bool:
    until = time.monotonic() + within_s
    while processes(marker):
        if time.monotonic() > until:
            return False
        time.sleep(0.02)
    return True


def namespaces() -> set[str]:
    """Those of this machine with a name that the lab gives: other tests have others beside."""
    return {path.name for path in Path("/run/netns").glob("*") if path.name in HOSTS}


def interfaces() -> set[str]:
    """Those of this machine with a name that the lab gives."""
    found = (path.name for path in Path("/sys/class/net").iterdir())
    return {name for name in found if OURS.fullmatch(name)}


def moment(seed: int, least_s: float, most_s: float) -> float:
    return random.Random(seed).uniform(least_s, most_s)  # noqa: S311 (no secret)
