"""A replay while it happens: frames go out, impairments change at their instants, all is noted.

The same for the lab's hosts and for interfaces that a user names: what is done to a network to
impair it, and how its counters are read, comes from outside as a `Network`.
"""

from __future__ import annotations

import json
import threading
import time
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from itertools import groupby
from typing import TYPE_CHECKING, Any, Protocol

from .lab import netem
from .lab.ends import StageError
from .lab.pace import Watch
from .packets.sender import send

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from .lab.events import EventLog
    from .packets.log import Base
    from .packets.orders import Orders
    from .packets.sender import Sent
    from .profiles.schedule import Step
    from .routes import Route

LOG, STOP = "sent.arrows", "stop"
"""Of the run's folder: the log of what was sent; and a file whose coming ends the replay early."""

SLICE_NS = 100_000_000
"""How long nothing is looked at: the end of the sender, the wish to stop."""

DRAIN_S = 60
"""How long frames may stay in the qdiscs after the last one was sent."""

DRAIN_STEP_S = 0.05


class Network(Protocol):
    """Where the frames go."""

    def impair(self, changes: Sequence[tuple[Route, tuple[str, ...]]]) -> None:
        """Give routes netem's full set of arguments; returns when the kernel has done it."""

    def counters(self) -> dict[str, Any]:
        """Return `interfaces` and `qdiscs` as `ip` and `tc` tell of them, by namespace."""

    def held_packets(self) -> int:
        """Return how many packets the impairments hold back at this moment."""


class Performance:
    """One replay."""

    def __init__(
        self, folder: Path, network: Network, events: EventLog, steps: Sequence[Step]
    ) -> None:
        self.folder = folder
        self.network = network
        self.events = events
        self.steps = steps
        self.failed = threading.Event()
        self.sent = threading.Event()

    def run(self, orders: Orders, command: Sequence[str], seed: int | None) -> Sent:
        """Do all of it, and return what came of the sending.

        Raises
        ------
        ValueError, OutletError, CaptureError, FilterError
            As `packets.sender.send`.
        StageError
            When sending ended before it should.
        """
        self.count("before", orders)
        first = [step for step in self.steps if step.at_ns <= 0]
        self.impair(first)
        started: Future[Base] = Future()
        watch = Watch()

        def sending() -> Sent:
            try:
                return send(
                    orders,
                    self.folder / LOG,
                    command=command,
                    seed=seed,
                    on_start=started.set_result,
                    stopped=self.stopped,
                )
            finally:
                self.sent.set()

        with ThreadPoolExecutor(max_workers=1) as thread:
            whole = thread.submit(sending)
            try:
                # One of them comes: it starts, or says why not.
                either: list[Future[Any]] = [started, whole]
                wait(either, return_when=FIRST_COMPLETED)
                if started.done():
                    self.follow(self.steps[len(first) :], started.result())
            except BaseException:
                self.failed.set()
                raise
            sent = whole.result()
        (self.folder / "logs" / "pace.json").write_text(json.dumps(watch.end()) + "\n")
        self.drain()
        self.events.write({"event": "sent", "plan": sent.plan, "sent": sent.sent})
        self.count("after", orders)
        if sent.sent["failure"]:
            raise StageError(f"the sender ended early: {sent.sent['failure']}")
        return sent

    def follow(self, steps: Sequence[Step], base: Base) -> None:
        """Make the later steps, each at its instant, until the sender has ended."""
        for at_ns, together in groupby(steps, key=lambda step: step.at_ns):
            if not self.wait_until(base.monotonic_ns + at_ns):
                return
            self.impair(list(together))

    def wait_until(self, due_ns: int) -> bool:
        """Sleep until an instant of CLOCK_MONOTONIC; False when the sender ends before it."""
        while (left_ns := due_ns - time.monotonic_ns()) > 0:
            if self.sent.wait(min(left_ns, SLICE_NS) / 1e9):
                return False
        return True

    def stopped(self) -> bool:
        """Whether the sender is to end early."""
        return self.failed.is_set() or (self.folder / STOP).exists()

    def impair(self, steps: Sequence[Step]) -> None:
        """Make steps of the same instant, and note when it began and when it was done."""
        if not steps:
            return
        given = [(step, netem.arguments(step.impairment)) for step in steps]
        before_ns = time.time_ns()
        self.network.impair([((step.path, step.direction), words) for step, words in given])
        after_ns = time.time_ns()
        for step, words in given:
            self.events.write(
                {
                    "event": "impair",
                    "link": step.path,
                    "direction": step.direction,
                    "impairment": step.impairment,
                    "netem": " ".join(words),
                    "at_ns": step.at_ns,
                    "t_before_ns": before_ns,
                    "t_ns": after_ns,
                }
            )

    def drain(self) -> None:
        """Wait until what is delayed has gone on: the recordings are to have it."""
        if not self.steps:
            return
        until = time.monotonic() + DRAIN_S
        while held := self.network.held_packets():
            if time.monotonic() > until:
                self.events.write({"event": "undrained", "packets": held})
                return
            time.sleep(DRAIN_STEP_S)

    def count(self, when: str, orders: Orders) -> None:
        """Note the counters of interfaces and qdiscs."""
        names = ("path", "direction", "device", "netns")
        routes = [{name: getattr(outlet, name) for name in names} for outlet in orders.outlets]
        found = self.network.counters()
        self.events.write({"event": "counters", "when": when, "routes": routes, **found})
