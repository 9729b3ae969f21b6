"""Measure how well `pathscope replay` keeps time, and how fast it can send, beside tcpreplay.

Two tables: a trace of 10,000 packets/s at its own times, of which the receiving ends' kernel says
when each frame arrived; and a longer one at top speed, by the counters of the interfaces. All run
in turn over the same links: pairs of interfaces between two namespaces. Takes root.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from importlib import metadata
from pathlib import Path

import sending
from page import Part, Promise, only_release, table
from pathscope.replay import _native
from sending import Arrivals, Counters, Paced, Top
from wires import Wires, wires

PPS = 10_000
SECONDS = 30
TOP_PACKETS = 1_000_000

# What is promised: of gaps between frames against those of the trace, on an idle machine.
MOST_P50_US = 5
MOST_P99_US = 150
MOST_DRIFT_US = 100

SPINS_US = (100, 20)
"""How long before a deadline the sender looks at the clock; the first is what it does unasked."""

ONE_INTERFACE = "pathscope, one interface"
"""What tcpreplay does, and so what it is compared with: more interfaces are more work, and more
receivers that the machine wakes."""

SETTLE_S = 1.5
"""tcpdump's kernel hands frames over at least once a second."""


def paced(made: Wires, seconds: int, rounds: int) -> list[Paced]:
    """Replay the trace at its own times, by all in turn."""
    path = sending.trace(PPS * seconds, PPS)
    asked = sending.orders(path, made, one_link=False)
    ours = {
        f"pathscope, {spin_us} us spun": replace(asked, spin_ns=spin_us * 1000)
        for spin_us in SPINS_US
    }
    ours[ONE_INTERFACE] = sending.orders(path, made, one_link=True)
    runs: dict[str, Callable[[], None]] = {
        name: partial(sending.send, orders) for name, orders in ours.items()
    }
    runs["tcpreplay"] = lambda: sending.tcpreplay(made, path, "--preload-pcap")
    found = {name: Paced(name) for name in runs}
    for number in range(rounds):
        for name, run in runs.items():
            print(f"round {number + 1} of {rounds}: {name}", file=sys.stderr)
            with Arrivals(made) as arrivals:
                before_s = sending.processor_s()
                run()
                processor = (sending.processor_s() - before_s) / seconds
                time.sleep(SETTLE_S)
            times_ns = arrivals.times_ns()
            if len(times_ns) != PPS * seconds:
                sys.exit(f"{name}: {PPS * seconds} frames were sent, {len(times_ns)} arrived")
            found[name].add(times_ns, 1_000_000_000 // PPS, processor)
    return list(found.values())


def at_top_speed(made: Wires, packets: int, rounds: int) -> list[Top]:
    """Replay a longer trace as fast as it goes, by all in turn."""
    path = sending.trace(packets, PPS)
    one = sending.top(sending.orders(path, made, one_link=True))
    two = sending.top(sending.orders(path, made, one_link=False))
    runs: dict[str, Callable[[], None]] = {
        ONE_INTERFACE: lambda: sending.send(one),
        "pathscope, two paths, both directions": lambda: sending.send(two),
        "tcpreplay -t": lambda: sending.tcpreplay(made, path, "--topspeed"),
        "tcpreplay -t --preload-pcap": lambda: sending.tcpreplay(
            made, path, "--topspeed", "--preload-pcap"
        ),
    }
    found = {name: Top(name) for name in runs}
    for number in range(rounds):
        for name, run in runs.items():
            print(f"round {number + 1} of {rounds}: {name}", file=sys.stderr)
            with Counters(made.client) as counters:
                run()
            found[name].pps.append(counters.pps(packets))
    return list(found.values())


def promises(times: list[Paced], speeds: list[Top]) -> list[Promise]:
    """Return every promise, whether it was kept, and what was measured."""
    ours, same, peer = times[0], times[-2], times[-1]
    p50, p99 = statistics.median(ours.p50_us), statistics.median(ours.p99_us)
    drift = statistics.median(map(abs, ours.drift_us))
    alike, peers = (
        (statistics.median(each.p50_us), statistics.median(each.p99_us)) for each in (same, peer)
    )
    speed = statistics.median(speeds[0].pps) / statistics.median(speeds[2].pps)
    return [
        (f"gap error p50 below {MOST_P50_US} us", p50 < MOST_P50_US, f"{p50:.2f} us"),
        (f"gap error p99 below {MOST_P99_US} us", p99 < MOST_P99_US, f"{p99:.1f} us"),
        (f"drift below {MOST_DRIFT_US} us", drift < MOST_DRIFT_US, f"{drift:.1f} us"),
        (
            "gap errors below tcpreplay's, over one interface each",
            alike[0] < peers[0] and alike[1] < peers[1],
            (
                f"p50 {alike[0]:.2f} against {peers[0]:.2f} us, "
                f"p99 {alike[1]:.1f} against {peers[1]:.1f} us"
            ),
        ),
        ("top speed at least that of tcpreplay -t", speed >= 1, f"{speed:.2f} x"),
    ]


def about_times(times: list[Paced], seconds: int) -> list[str]:
    """Return the part about keeping time."""
    head = ["replayer", "gap error p50 us", "p99 us", "drift us", "min to max us", "processors"]
    rows = [
        [
            one.name,
            f"{statistics.median(one.p50_us):.2f}",
            f"{statistics.median(one.p99_us):.1f}",
            f"{statistics.median(one.drift_us):+.1f}",
            f"{min(one.drift_us):+.0f} to {max(one.drift_us):+.0f}",
            f"{statistics.median(one.processor):.2f}",
        ]
        for one in times
    ]
    subject = (
        f"A trace of SCTP over two paths, {PPS:,} packets/s for {seconds} s, at its own times; "
        f"medians of {len(times[0].p50_us)} rounds in turn. A gap error is the difference between "
        "two frames' distance on arrival, by the receiving kernel, and their distance in the "
        "trace; drift is the same of the first frame and the last. pathscope sends both directions "
        "of both paths over their own interfaces where nothing else is said, tcpreplay everything "
        "over one. Processors: time that they took, of the replay's; recording is not in it."
    )
    return [subject, "", *table(head, rows)]


def about_speeds(speeds: list[Top], packets: int) -> list[str]:
    """Return the part about top speed."""
    peer = statistics.median(speeds[2].pps)
    head = ["replayer", "packets/s", "min to max", "x tcpreplay -t"]
    rows = [
        [
            one.name,
            f"{statistics.median(one.pps) / 1e6:.3f} M",
            f"{min(one.pps) / 1e6:.3f} to {max(one.pps) / 1e6:.3f}",
            f"{statistics.median(one.pps) / peer:.2f}",
        ]
        for one in speeds
    ]
    subject = f"{packets:,} packets of such a trace at top speed, by the interfaces' counters:"
    return [subject, "", *table(head, rows)]


def versions() -> str:
    """Name everything that ran."""
    said = subprocess.run(["tcpreplay", "--version"], capture_output=True, text=True, check=True)
    peer = (said.stdout or said.stderr).splitlines()[0].replace(" version:", "").split(" (")[0]
    return f"pathscope {metadata.version('pathscope')} ({_native.build_profile} build), {peer}"


def main() -> int:
    """Run the benchmark; the exit code is 1 when a promise was missed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=int, default=SECONDS, help="length of the paced trace")
    parser.add_argument("--top-packets", type=int, default=TOP_PACKETS, help="at top speed")
    parser.add_argument("--rounds", type=int, default=3, help="runs of each replayer")
    parser.add_argument("--write", type=Path, metavar="FILE", help="update this document's tables")
    options = parser.parse_args()
    only_release(_native.build_profile)
    with wires(*sending.NAMES, mtu=sending.MTU) as made:
        speeds = at_top_speed(made, options.top_packets, options.rounds)
        times = paced(made, options.seconds, options.rounds)
    lines = [*about_times(times, options.seconds), "", *about_speeds(speeds, options.top_packets)]
    part = Part("bench replay", "Replay", lines, promises(times, speeds), versions())
    return part.publish(options.write)


if __name__ == "__main__":
    sys.exit(main())
