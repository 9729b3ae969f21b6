"""Signals that end a process, while something is to be undone first.

Python raises KeyboardInterrupt for SIGINT; others end it on the spot. Handlers are the main
thread's: elsewhere these do nothing, and the keeper restores.
"""

from __future__ import annotations

import os
import signal
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import FrameType

ENDING = (signal.SIGTERM, signal.SIGHUP)


@contextmanager
def unwinding() -> Iterator[None]:
    """Let the signals that end a process end it by SystemExit; its code is 128 and the number."""

    def leave(number: int, _: FrameType | None) -> None:
        raise SystemExit(128 + number)

    # One that is ignored (nohup) or handled stays so.
    taken = [one for one in ENDING if signal.getsignal(one) is signal.SIG_DFL]
    with _handled(taken, leave):
        yield


@contextmanager
def held_back() -> Iterator[None]:
    """Let none of these signals interrupt the block; those that came are sent again after it."""
    came: list[int] = []
    taken = [one for one in (signal.SIGINT, *ENDING) if callable(signal.getsignal(one))]
    with _handled(taken, lambda number, _: came.append(number)):
        yield
    for number in came[:1]:
        os.kill(os.getpid(), number)


@contextmanager
def _handled(numbers: list[signal.Signals], handler: signal._HANDLER) -> Iterator[None]:
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {number: signal.signal(number, handler) for number in numbers}
    try:
        yield
    finally:
        for number, was in before.items():
            signal.signal(number, was)
