"""A replay while it happens: frames go out, impairments change at their instants, all is noted.

The same for the lab's hosts and for interfaces that a user names: what is done to a network to
impair it, and how its counters are read, comes from outside as a `Network`.
"""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING, Any, Protocol

from .lab import netem
from .packets.log import LogWriter

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    import pyarrow as pa

    from .lab.events import EventLog
    from .profiles.schedule import Step
    from .routes import Route

LOG, STOP = "sent.arrows", "stop"
"""Of the run's folder: the log of what was sent; and a file whose coming ends the replay early."""

LEAD_NS = 200_000_000
"""From the start of the sender to replay time 0: it reads its first frames in this time."""

SLICE_NS = 100_000_000
"""How long nothing is looked at: the end of the sender, the wish to stop."""

TAKE_S = 0.2
"""How long rows of the log may wait in the sender before they are written."""

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


class Sender(Protocol):
    """The native sender, loaded with its orders."""

    def start(self, base_monotonic_ns: int) -> None:
        """Begin: replay time 0 is at this instant of CLOCK_MONOTONIC."""

    def take(self, timeout: float) -> pa.RecordBatch | None:
        """Return rows of the log since the last call; None at the end."""

    def stop(self) -> None:
        """Send nothing more."""

    def finish(self) -> dict[str, Any]:
        """Return the counts."""


@dataclass(frozen=True, slots=True)
class Base:
    """The instant of replay time 0, by two clocks of the kernel."""

    monotonic_ns: int
    realtime_ns: int

    @classmethod
    def in_ns(cls, lead_ns: int) -> Base:
        """Return the instant that is so far ahead."""
        before_ns = time.monotonic_ns()
        realtime_ns = time.time_ns()
        # Read between two readings of the other clock: it belongs to the middle.
        monotonic_ns = (before_ns + time.monotonic_ns()) // 2
        return cls(monotonic_ns + lead_ns, realtime_ns + lead_ns)


class Performance:
    """One replay."""

    def __init__(
        self, folder: Path, network: Network, events: EventLog, steps: Sequence[Step]
    ) -> None:
        self.folder = folder
        self.network = network
        self.events = events
        self.steps = steps
        self.over = threading.Event()

    def run(self, sender: Sender, header: Mapping[str, Any]) -> dict[str, Any]:
        """Do all of it, and return the sender's counts.

        Parameters
        ----------
        sender
            Not started yet.
        header
            Of the log, but for the instant of replay time 0.
        """
        self.count("before", header)
        first = [step for step in self.steps if step.at_ns <= 0]
        self.impair(first)
        base = Base.in_ns(LEAD_NS)
        clocks = {"base_monotonic_ns": base.monotonic_ns, "base_realtime_ns": base.realtime_ns}
        with LogWriter(self.folder / LOG, {**header, **clocks}) as log:
            sender.start(base.monotonic_ns)
            writer = threading.Thread(target=self.write, args=(sender, log))
            writer.start()
            try:
                self.follow(self.steps[len(first) :], base, sender)
            finally:
                if not self.over.is_set():
                    sender.stop()
                writer.join()
        counts = sender.finish()
        self.drain()
        self.events.write({"event": "sent", **counts})
        self.count("after", header)
        return counts

    def write(self, sender: Sender, log: LogWriter) -> None:
        """Write the sender's log as it comes, until its end."""
        try:
            while (rows := sender.take(TAKE_S)) is not None:
                log.write(rows)
        finally:
            self.over.set()

    def follow(self, steps: Sequence[Step], base: Base, sender: Sender) -> None:
        """Make the later steps, each at its instant, until the sender has ended."""
        for at_ns, together in groupby(steps, key=lambda step: step.at_ns):
            if not self.wait_until(base.monotonic_ns + at_ns):
                break
            self.impair(list(together))
        while not self.over.wait(SLICE_NS / 1e9) and not self.stopped():
            pass
        if self.stopped():
            self.events.write({"event": "stopped"})
            sender.stop()
            self.over.wait()

    def wait_until(self, due_ns: int) -> bool:
        """Sleep until an instant of CLOCK_MONOTONIC; False when the replay ends before it."""
        while (left_ns := due_ns - time.monotonic_ns()) > 0:
            if self.over.is_set() or self.stopped():
                return False
            time.sleep(min(left_ns, SLICE_NS) / 1e9)
        return True

    def stopped(self) -> bool:
        """Whether the replay is to end early."""
        return (self.folder / STOP).exists()

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

    def count(self, when: str, header: Mapping[str, Any]) -> None:
        """Note the counters of interfaces and qdiscs."""
        found = self.network.counters()
        self.events.write(
            {"event": "counters", "when": when, "routes": header["routes"], **found}
        )
