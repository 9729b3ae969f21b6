"""Measure `pathscope` on one very large capture: 20 GB, beside an eighth of it.

What `analyze` takes of time and memory; what the offset index takes; and a window of a second out
of the middle through it, which is held against the same window by a pass. Every program runs as a
whole process. The large capture is nearly as large as the machine's memory: it is read from disk.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
from pathlib import Path

from captures import capture_of
from contender import Contender, interleave
from page import Part, Promise, only_release, table
from pathscope.dissectors import _core
from pathscope.dissectors import ledger as ledgers
from pathscope.dissectors.index import folder_of
from run import PACKETS, PROGRAM

TIMES = 8
"""So many packets of the bench's own capture make 20 GB."""

# What is promised: of eight times the packets, against one time.
MOST_TIME = 1.25
MOST_MEMORY_MB = 300
MOST_WINDOW_S = 1.5

WINDOW_S = 1.0


def analyze(capture: Path, packets: int, name: str) -> Contender:
    """Return analyze, with the result contract to nowhere."""
    return Contender(name, [str(PROGRAM), "analyze", str(capture), "--json"], packets)


def window(capture: Path, packets: int, bounds: list[str], out: Path, *more: str) -> Contender:
    """Return dissect, for a window of every chunk."""
    command = [str(PROGRAM), "dissect", str(capture), "--window", *bounds, *more]
    command += ["--format", "csv", "--force", "--output", str(out)]
    return Contender(" ".join(["dissect --window", *more]), command, packets)


def middle(capture: Path) -> list[str]:
    """Return a second out of the middle of a capture, in seconds since frame 1."""
    facts = ledgers.read(capture).capture
    begin_s = (facts["end_ns"] - facts["first_frame_ns"]) / 2e9
    return [f"{begin_s:.3f}", f"{begin_s + WINDOW_S:.3f}"]


def windows(capture: Path, packets: int, runs: int) -> tuple[list[Contender], int]:
    """Measure a window by a pass, with the making of the index, and by the index.

    Returns them, and the bytes of the index; what the first and the last wrote has to be the same.
    """
    bounds, index = middle(capture), folder_of(capture)
    shutil.rmtree(index, ignore_errors=True)
    with tempfile.TemporaryDirectory(prefix="pathscope-bench-") as place:
        by_pass, by_index = Path(place, "pass.csv"), Path(place, "index.csv")
        found = [
            window(capture, packets, bounds, by_pass),
            window(capture, packets, bounds, by_index, "--index"),
            window(capture, packets, bounds, by_index),
        ]
        for one, times in zip(found, (1, 1, runs), strict=True):
            for _ in range(times):
                one.run()
        size = sum(one.stat().st_size for one in index.iterdir())
        shutil.rmtree(index)
        if by_pass.read_bytes() != by_index.read_bytes():
            sys.exit(f"{capture}: by the index, a window has other rows than by a pass")
    found[0].name += ", by a pass"
    found[1].name += ", which makes the index"
    found[2].name += ", by the index"
    return found, size


def promises(lengths: list[Contender], by_index: Contender) -> list[Promise]:
    """Return every promise, whether it was kept, and what was measured."""
    short, long = (one.median / one.packets for one in lengths)
    peak = max(one.peak_bytes for one in lengths) / 1e6
    return [
        (
            f"at most {MOST_TIME:g} x the time for a packet",
            long / short <= MOST_TIME,
            f"{long / short:.2f} x",
        ),
        (f"peak memory below {MOST_MEMORY_MB} MB", peak < MOST_MEMORY_MB, f"{peak:.0f} MB"),
        (
            f"a window below {MOST_WINDOW_S:g} s",
            by_index.median < MOST_WINDOW_S,
            f"{by_index.median:.2f} s",
        ),
    ]


def main() -> int:
    """Run the benchmark; the exit code is 1 when a promise was missed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--packets", type=int, default=PACKETS, help="packets in the short one")
    parser.add_argument("--runs", type=int, default=3, help="runs of each program")
    parser.add_argument("--write", type=Path, metavar="FILE", help="update this document's tables")
    options = parser.parse_args()
    only_release(_core.build_profile)
    many = options.packets * TIMES
    short, long = capture_of(options.packets), capture_of(many)
    lengths = [
        analyze(short, options.packets, "analyze, 1 x"),
        analyze(long, many, f"analyze, {TIMES} x"),
    ]
    interleave(lengths, options.runs)
    found, index_bytes = windows(long, many, options.runs)
    size = long.stat().st_size / 1e9
    head = ["program", "median s", "min to max s", "packets/s", "peak memory MB", "ns/packet"]
    rows = [[*one.cells(), f"{one.median / one.packets * 1e9:.0f}"] for one in lengths]
    subject = (
        f"{many:,} packets, {size:.1f} GB, read from disk, beside an {TIMES}th of them;"
        f" {options.runs} runs of each. The window is a second out of the middle, every chunk of it"
        f" as CSV; the index takes {index_bytes / 1e6:.0f} MB."
    )
    lines = [subject, "", *table(head, rows), ""]
    lines += table(head[:5], [one.cells() for one in found])
    part = Part("bench large", "One very large capture", lines, promises(lengths, found[-1]))
    return part.publish(options.write)


if __name__ == "__main__":
    sys.exit(main())
