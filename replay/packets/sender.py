"""Runs the native sender: sockets, base, log, and what came of it."""

from __future__ import annotations

import signal
import threading
import time
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from .. import _native
from . import sockets
from .log import Base, LogWriter, digests, header

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from .orders import Orders

PATIENCE_S = 0.1
"""Between two looks at whether to stop."""

CLOCK_TRIES = 10
"""Of reading both clocks: what comes in between is seldom there every time."""

LEAD_NS = 200_000_000
"""From the moment when all is ready to the base: time for what else begins with it."""


@dataclass(frozen=True, slots=True)
class Sent:
    """What came of a replay.

    Attributes
    ----------
    base
        When replay time was 0.
    plan
        What was read: `frames` (read, planned, filtered, outside_window, not_sent by reason),
        `routes` (frames, bytes, first_due_ns, last_due_ns, largest_frame), `rewriting`, `warnings`,
        `loops`, `disordered`, `first_frame_ns`, `duration_ns`, `damage`.
    sent
        What was done: `routes` (sent, bytes, enobufs, dropped, errors by name, late,
        lateness_max_ns), `waits`, `starved`, `stopped`, `failure`.
    """

    base: Base
    plan: dict[str, Any]
    sent: dict[str, Any]


def plan(orders: Orders) -> dict[str, Any]:
    """Return what would be sent, as `Sent.plan`: the same reading and pacing, and no sending.

    Raises
    ------
    ValueError, CaptureError, FilterError
        As `send`; that nothing would be sent is no error here.
    """
    return _native.plan(orders.to_json())


def send(
    orders: Orders,
    log: Path,
    *,
    command: Sequence[str] = (),
    seed: int | None = None,
    lead_ns: int = LEAD_NS,
    on_start: Callable[[Base], None] | None = None,
    stopped: Callable[[], bool] | None = None,
) -> Sent:
    """Send a trace and write the log of it.

    An interrupt from the keyboard ends the sending; what was sent until then is logged and returned
    all the same, with `sent["stopped"]` set.

    Parameters
    ----------
    orders
        What to send, where and when.
    log
        The file to write.
    command, seed
        For the log's header.
    lead_ns
        From the moment when all is ready to the base.
    on_start
        Told the base as soon as it is known, before it.
    stopped
        Asked now and then whether to end.

    Raises
    ------
    ValueError
        When the orders make no sense, or nothing of the trace is to be sent; the message says why.
    OutletError
        When an interface cannot be sent on.
    CaptureError, FilterError
        When the trace cannot be read, or libpcap does not take the filter.
    """
    with sockets.opened(orders.outlets) as numbers:
        sender = _native.Sender(orders.to_json(), numbers)
        # A pass over the trace: nothing that takes long may come between the base and the start.
        inputs = digests(orders.trace)
        base = _base(lead_ns)
        with LogWriter(log, header(orders, base, inputs, command=command, seed=seed)) as writer:
            if on_start is not None:
                on_start(base)
            try:
                with _interrupted_by(sender.stop):
                    sender.start(base.monotonic_ns)
                    _drain(sender, writer, stopped)
            finally:
                # The sockets may not be closed before the thread that sends has ended.
                sender.stop()
                result = sender.finish()
    return Sent(base, result["plan"], result["sent"])


def _base(lead_ns: int) -> Base:
    """The instant so far ahead, by both clocks: the best try of several."""
    tries = []
    for _ in range(CLOCK_TRIES):
        before_ns, realtime_ns, after_ns = time.monotonic_ns(), time.time_ns(), time.monotonic_ns()
        tries.append((after_ns - before_ns, (before_ns + after_ns) // 2, realtime_ns))
    _, monotonic_ns, realtime_ns = min(tries)
    return Base(monotonic_ns + lead_ns, realtime_ns + lead_ns)


def _drain(sender: _native.Sender, writer: LogWriter, stopped: Callable[[], bool] | None) -> None:
    while (rows := sender.take(PATIENCE_S)) is not None:
        writer.write(rows)
        if stopped is not None and stopped():
            sender.stop()


@contextmanager
def _interrupted_by(stop: Callable[[], None]) -> Iterator[None]:
    """Have an interrupt from the keyboard end the sending, and lose no row that is on its way."""
    if threading.current_thread() is not threading.main_thread():
        yield  # such an interrupt goes to the main thread
        return
    before = signal.signal(signal.SIGINT, lambda *_: stop())
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before or signal.SIG_DFL)
