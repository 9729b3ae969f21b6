"""What netem does to frames, in numpy, and logs of replays: measurements with a known truth."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from heapq import heappop, heappush
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from pathscope.replay.fidelity.delays import UNIFORM, tables_of_tc
from pathscope.replay.fidelity.model import AppliedStep, Received
from pathscope.replay.fidelity.syndrome import of_single_bits

BASE_NS = 1_800_000_000_000_000_000
LATENCY_NS = 40_000
DEFAULTS: dict[str, Any] = {
    "delay_ms": 0, "jitter_ms": 0, "distribution": "uniform", "loss_percent": 0,
    "duplicate_percent": 0, "reorder_percent": 0, "corrupt_percent": 0,
}  # fmt: skip
TABLES = {"uniform": UNIFORM} | {name: np.array(values) for name, values in tables_of_tc().items()}


@dataclass
class Replayed:
    """A log as its reader returns it."""

    header: dict[str, Any]
    table: pa.Table


@dataclass
class Sent:
    """Frames of one route."""

    due_ns: npt.NDArray[np.int64]
    sent_ns: npt.NDArray[np.int64]
    bytes: npt.NDArray[np.int64]
    fingerprint: npt.NDArray[np.uint64]
    outcome: npt.NDArray[np.uint8]


def sent(rng: np.random.Generator, n: int, per_s: float = 10_000, size: int | None = None) -> Sent:
    """Frames at an even pace, each a few microseconds late."""
    due_ns = (np.arange(n) * (1e9 / per_s)).astype(np.int64)
    late_ns = rng.exponential(3000, n).astype(np.int64)
    length = rng.integers(60, 1515, n) if size is None else np.full(n, size)
    mark = rng.integers(0, 2**64, n, dtype=np.uint64, endpoint=False)
    sent_ns = np.maximum.accumulate(due_ns + late_ns)
    return Sent(due_ns, sent_ns, length, mark, np.zeros(n, np.uint8))


def log(*routes: Sent, names: Sequence[tuple[str, str]] = (("wlan", "to_server"),)) -> Replayed:
    """The log of some routes' frames, in the order of sending."""
    order = np.argsort(np.concatenate([one.sent_ns for one in routes]), kind="stable")
    numbers = np.repeat(np.arange(len(routes)), [one.due_ns.size for one in routes])

    def column(name: str) -> Any:
        return np.concatenate([getattr(one, name) for one in routes])[order]

    outcome = column("outcome")
    table = pa.table({
        "frame": pa.array(np.arange(order.size), pa.uint64()),
        "loop": pa.array(np.zeros(order.size), pa.uint32()),
        "route": pa.array(numbers[order], pa.uint16()),
        "due_ns": pa.array(column("due_ns"), pa.int64()),
        "sent_ns": pa.array(column("sent_ns"), pa.int64(), mask=outcome != 0),
        "bytes": pa.array(column("bytes"), pa.uint32()),
        "fingerprint": pa.array(column("fingerprint"), pa.uint64()),
        "outcome": pa.array(outcome, pa.uint8()),
    })  # fmt: skip
    header = {
        "format": "pathscope.replay-log/1",
        "base_realtime_ns": BASE_NS,
        "routes": [{"path": path, "direction": direction} for path, direction in names],
    }
    return Replayed(header, table)


def step(
    at_ns: int = 0, *, route: tuple[str, str] = ("wlan", "to_server"), **impairment: Any
) -> AppliedStep:
    """A step that took 0.4 ms to set."""
    before_ns, after_ns = (at_ns + 100_000, at_ns + 500_000) if at_ns else (-600_000, -200_000)
    return AppliedStep(at_ns, before_ns, after_ns, *route, DEFAULTS | impairment)


@dataclass
class Netem:
    """Netem with a state that outlives a step, as the kernel has it."""

    rng: np.random.Generator
    steps: Sequence[AppliedStep]
    limit: int = 1000
    last_ns: int = 0
    bad: bool = False
    queue: list[int] = field(default_factory=list)
    out: list[tuple[int, int, int]] = field(default_factory=list)
    dropped: int = 0

    def run(self, frames: Sent) -> Received:
        """Send frames through it, one by one in the order of their sending."""
        starts = [one.after_ns - 200_000 for one in self.steps]
        which = np.searchsorted(starts, frames.sent_ns, "right") - 1
        handed = np.flatnonzero(frames.outcome == 0)
        self.out = []
        for number in handed.tolist():
            asked = self.steps[max(int(which[number]), 0)].impairment
            self._enqueue(int(frames.sent_ns[number]), number, int(frames.bytes[number]), asked)
        time_ns, index = (np.array([one[n] for one in self.out], np.int64) for n in (0, 1))
        flipped = np.array([one[2] for one in self.out], np.uint64)
        order = np.argsort(time_ns, kind="stable")
        late_ns = self.rng.exponential(8000, time_ns.size).astype(np.int64)
        time_ns = np.maximum.accumulate((time_ns + LATENCY_NS + late_ns)[order])
        prints = (frames.fingerprint[index] ^ flipped)[order]
        return Received(BASE_NS + time_ns, frames.bytes[index][order], prints)

    def _chance(self, asked: Mapping[str, Any], name: str) -> bool:
        return bool(self.rng.random() * 100 < asked[f"{name}_percent"])

    def _is_lost(self, asked: Mapping[str, Any]) -> bool:
        burst, percent = asked.get("loss_burst_packets"), asked["loss_percent"]
        if burst is None or percent >= 100:
            return self._chance(asked, "loss")
        leave = 1 / burst
        enter = leave * percent / (100 - percent)
        was_bad = self.bad
        self.bad = self.rng.random() >= leave if was_bad else self.rng.random() < enter
        return was_bad

    def _enqueue(
        self, now: int, number: int, size: int, asked: Mapping[str, Any], again: bool = True
    ) -> None:
        count = 1 + (again and self._chance(asked, "duplicate"))
        count -= self._is_lost(asked)
        if not count:
            self.dropped += 1
            return
        if count > 1:
            self._enqueue(now, number, size, asked, again=False)
        flipped = 0
        if self._chance(asked, "corrupt"):
            flipped = int(self.rng.choice(of_single_bits(size)))
        while self.queue and self.queue[0] <= now:
            heappop(self.queue)
        if len(self.queue) >= self.limit:
            self.dropped += 1
            return
        if asked["reorder_percent"] and self._chance(asked, "reorder"):
            leaves = now
        else:
            leaves = now + round(1e6 * max(0.0, self._drawn_ms(asked)))
            if "rate_kbit" in asked or asked.get("keep_order"):
                time_ns = round(size * 8e6 / asked["rate_kbit"]) if "rate_kbit" in asked else 12
                self.last_ns = leaves = max(leaves, self.last_ns) + time_ns
        heappush(self.queue, leaves)
        self.out.append((leaves, number, flipped))

    def _drawn_ms(self, asked: Mapping[str, Any]) -> float:
        if not asked["jitter_ms"]:
            return float(asked["delay_ms"])
        table = TABLES[asked["distribution"]]
        drawn = table[int(self.rng.random() * table.size)]
        return float(asked["delay_ms"] + asked["jitter_ms"] * drawn)
