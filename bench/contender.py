"""A program that is measured: whole processes, start-up included."""

from __future__ import annotations

import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field


def as_installed() -> dict[str, str]:
    """Return the environment in which modules are compiled once, as an installer does it."""
    return {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}


@dataclass
class Contender:
    """One program and what its runs took."""

    name: str
    command: list[str]
    packets: int
    seconds: list[float] = field(default_factory=list)
    peak_bytes: int = 0

    @property
    def median(self) -> float:
        """Median wall time in seconds."""
        return statistics.median(self.seconds)

    def run(self) -> None:
        """Run once, to the end; a failure ends the benchmark with what the program said."""
        with tempfile.TemporaryFile() as stderr:
            start = time.perf_counter()
            process = subprocess.Popen(
                self.command, stdout=subprocess.DEVNULL, stderr=stderr, env=as_installed()
            )
            # wait4 gives this child's own memory; getrusage would give the largest of all.
            _, status, usage = os.wait4(process.pid, 0)
            self.seconds.append(time.perf_counter() - start)
            process.returncode = os.waitstatus_to_exitcode(status)
            if process.returncode != 0:
                stderr.seek(0)
                said = stderr.read().decode(errors="replace")
                sys.exit(f"{' '.join(self.command)}: exit code {process.returncode}\n{said}")
        self.peak_bytes = max(self.peak_bytes, usage.ru_maxrss * 1024)

    def memory(self) -> str:
        """Return the peak memory in MB.

        A child starts as a copy of this script, so less than its own memory cannot be seen.
        """
        own = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
        peak = max(self.peak_bytes, own)
        return f"{'< ' if peak < own * 1.1 else ''}{peak / 1e6:.0f}"

    def cells(self) -> list[str]:
        """Return name, median, range, speed and memory as cells of a table."""
        rate = self.packets / self.median
        speed = f"{rate / 1e6:.2f} M" if rate >= 1e5 else f"{rate / 1e3:.1f} k"
        span = f"{min(self.seconds):.2f} to {max(self.seconds):.2f}"
        return [self.name, f"{self.median:.2f}", span, speed, self.memory()]


def interleave(contenders: list[Contender], runs: int) -> None:
    """Run all in turn, so that a slow spell of the machine touches all of them."""
    for number in range(runs):
        print(f"run {number + 1} of {runs}", file=sys.stderr)
        for contender in contenders:
            contender.run()
