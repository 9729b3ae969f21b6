"""The process that local workers are forked from, which has imported what they need.

It starts as soon as it is known that there will be workers: what it imports takes a second, and so
does what this process has to import. Nothing heavy is imported here.
"""

from __future__ import annotations

import multiprocessing
from importlib.util import find_spec
from multiprocessing import forkserver

WORKER = f"{__package__}.worker"
"""By its name: this process does not need what it imports."""

PRELOADED = (f"{__package__}.uninterrupted", "distributed", WORKER)
"""What every local worker needs."""


def prepare() -> None:
    """Start that process, where it does not run yet and workers can be had."""
    if find_spec("distributed") is not None:
        multiprocessing.set_forkserver_preload(list(PRELOADED))
        forkserver.ensure_running()
