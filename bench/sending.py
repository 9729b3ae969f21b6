"""The replayers that are measured: pathscope and tcpreplay, and what arrived of what they sent."""

from __future__ import annotations

import resource
import struct
import subprocess
import sys
import threading
import time
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Self

import numpy as np
import pyarrow as pa
from captures import DATA, capture_of
from pathscope import api
from pathscope.analyzer.labels import LabelRule
from pathscope.replay import _native
from pathscope.replay.packets import routes, sender
from pathscope.replay.packets.orders import Orders, TopSpeed
from pathscope.replay.packets.sockets import enter

if TYPE_CHECKING:
    import numpy.typing as npt
    from wires import Wires

START_S = 1_700_000_000
NAMES = ("wlan", "lte")
MTU = 9000

RULES = tuple(
    LabelRule.parse(f"{network}={NAMES[path]}")
    for path in range(2)
    for association in range(4)
    for network in (f"10.{association}.{path}.0/24", f"2001:db8:{association:x}:{path}::/64")
)
"""What the generated associations' paths are called."""

SAMPLE_S = 0.005
"""Between two looks at the counters: a hundred microseconds of work twice in a hundredth."""


def trace(packets: int, pps: int) -> Path:
    """Return a generated two-path trace whose packets are evenly spaced, making it when missing."""
    source = capture_of(packets)
    path = DATA / f"sctp-{packets}-{pps}pps.pcap"
    if path.exists() and path.stat().st_mtime >= source.stat().st_mtime:
        return path
    partial = path.with_name(f"{path.name}.partial")
    with source.open("rb") as old, partial.open("wb") as new:
        new.write(old.read(24))
        number = 0
        while header := old.read(16):
            captured, length = struct.unpack("<8xII", header)
            # Whole microseconds, which is what the file counts in.
            seconds, us = divmod(number * 1_000_000 // pps, 1_000_000)
            new.write(struct.pack("<IIII", START_S + seconds, us, captured, length))
            new.write(old.read(captured))
            number += 1
    partial.rename(path)
    return path


def orders(path: Path, made: Wires, *, one_link: bool) -> Orders:
    """Return orders for a trace: over all links, or all that is in it over the first."""
    paths = routes.find(api.read(path), RULES)
    outlets = made.outlets(MTU)
    if one_link:
        first = outlets[0]
        outlets = tuple(
            replace(outlet, device=first.device, netns=first.netns) for outlet in outlets
        )
    return Orders((str(path),), routes.pairs(paths), outlets)


@dataclass
class Paced:
    """What the receiving ends' kernel said of one replayer at the trace's own times."""

    name: str
    p50_us: list[float] = field(default_factory=list)
    p99_us: list[float] = field(default_factory=list)
    drift_us: list[float] = field(default_factory=list)
    processor: list[float] = field(default_factory=list)

    def add(self, arrived_ns: npt.NDArray[np.int64], gap_ns: int, processor: float) -> None:
        """Add a run: when frames arrived, and how much of a processor it took."""
        gaps = np.abs(np.diff(np.sort(arrived_ns)) - gap_ns)
        self.p50_us.append(float(np.percentile(gaps, 50)) / 1e3)
        self.p99_us.append(float(np.percentile(gaps, 99)) / 1e3)
        took_ns = int(arrived_ns.max() - arrived_ns.min())
        self.drift_us.append((took_ns - gap_ns * (len(arrived_ns) - 1)) / 1e3)
        self.processor.append(processor)


@dataclass
class Top:
    """Frames a second of one replayer at top speed, by the counters of the interfaces."""

    name: str
    pps: list[float] = field(default_factory=list)


def send(asked: Orders) -> None:
    """Replay with pathscope, in this process."""
    done = sender.send(asked, DATA / "sent.arrows")
    left = [route for route in done.sent["routes"] if route["enobufs"] or route["errors"]]
    if left or done.sent["failure"]:
        sys.exit(f"pathscope did not send everything: {done.sent}")


def tcpreplay(made: Wires, path: Path, *options: str) -> None:
    """Replay with tcpreplay, over the first link: it knows no paths."""
    command = ["ip", "netns", "exec", made.client, "tcpreplay", "--quiet", *options]
    command += [f"--intf1={made.names[0]}", str(path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)}: exit code {done.returncode}\n{done.stderr}")


def processor_s() -> float:
    """Processor time of this process and of those it has waited for."""
    usages = map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(usage.ru_utime + usage.ru_stime for usage in usages)


class Arrivals:
    """Records what arrives at both ends, with the kernel's times."""

    def __init__(self, made: Wires) -> None:
        self._made = made
        self._stack = ExitStack()

    def __enter__(self) -> Self:
        for netns in (self._made.client, self._made.server):
            # In the first bytes is all that the clock needs.
            recorded = self._made.recorded(netns, DATA, immediate=False, snap_bytes=64)
            self._stack.enter_context(recorded)
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def times_ns(self) -> npt.NDArray[np.int64]:
        """When frames arrived, at whichever interface."""
        found = []
        for netns in (self._made.client, self._made.server):
            for name in self._made.names:
                path = self._made.recording(netns, name, DATA)
                found += [pa.record_batch(batch) for batch in _native.fingerprints(path)]
                path.unlink()
        times = [batch["time_ns"].to_numpy() for batch in found]
        return np.concatenate(times) if times else np.empty(0, np.int64)


class Counters:
    """Looks at a namespace's counters now and then: packets sent and received by its interfaces."""

    def __init__(self, netns: str) -> None:
        self._netns = netns
        self._samples: list[tuple[int, int]] = []
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._watch)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        time.sleep(0.1)
        self._ended.set()
        self._thread.join()

    def _watch(self) -> None:
        enter(self._netns)
        while not self._ended.wait(SAMPLE_S):
            text = Path("/proc/thread-self/net/dev").read_text()
            rows = [line.split() for line in text.replace(":", " ").splitlines()[2:]]
            count = sum(int(row[2]) + int(row[10]) for row in rows)
            self._samples.append((time.monotonic_ns(), count))

    def pps(self, frames: int) -> float:
        """Frames a second while there were any."""
        first, last = self._samples[0][1], self._samples[-1][1]
        if last - first != frames:
            sys.exit(f"{frames} frames were to be sent, but the interfaces counted {last - first}")
        begun_ns = max(at_ns for at_ns, count in self._samples if count == first)
        ended_ns = min(at_ns for at_ns, count in self._samples if count == last)
        return frames / (ended_ns - begun_ns) * 1e9


def top(asked: Orders) -> Orders:
    """Return the orders at top speed."""
    return replace(asked, pace=TopSpeed())
