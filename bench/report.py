"""Measure how soon the report of a large run is ready, how quick a zoom is, and what it takes.

The run is the bench's capture of more than two million packets. Each round is a process of its
own (`zooms.py`), its file in the page cache.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
from importlib import metadata
from pathlib import Path
from typing import Any

from captures import capture_of, warm
from page import Part, Promise, only_release, table
from pathscope.dissectors import _core
from run import PACKETS

# What is promised, of a run of two million packets.
MOST_READY_S = 5.0
MOST_ZOOM_S = 0.5
MOST_MEMORY_MB = 500

PARTS = {
    "analysis_s": "analysis, document and offset index",
    "ready_s": "from the command to ready",
    "first_page_s": "the association page for the first time",
}

Round = dict[str, Any]


def measured(capture: Path, zooms: int) -> Round:
    """Run one round."""
    command = [sys.executable, str(Path(__file__).with_name("zooms.py")), str(capture), str(zooms)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)}: exit code {done.returncode}\n{done.stderr}")
    found: Round = json.loads(done.stdout)
    if not found["is_quick"]:
        sys.exit(f"{capture}: was not indexed, so that zooms would not read its packets")
    return found


def promises(rounds: list[Round]) -> list[Promise]:
    """Return every promise, whether it was kept, and what was measured."""
    ready = statistics.median(one["ready_s"] for one in rounds)
    zoom = statistics.median(s for one in rounds for s in one["page_s"])
    rows = statistics.median(s for one in rounds for s in one["rows_s"])
    peak = max(one["peak_bytes"] for one in rounds) / 1e6
    return [
        (
            f"ready below {MOST_READY_S:.0f} s, analysis included",
            ready < MOST_READY_S,
            f"{ready:.2f} s",
        ),
        (
            f"a zoom answered below {MOST_ZOOM_S * 1e3:.0f} ms at the median",
            max(zoom, rows) < MOST_ZOOM_S,
            f"{zoom * 1e3:.0f} ms; packets {rows * 1e3:.0f} ms",
        ),
        (f"memory below {MOST_MEMORY_MB} MB", peak < MOST_MEMORY_MB, f"{peak:.0f} MB"),
    ]


def about(rounds: list[Round], capture: Path) -> list[str]:
    """Return the report."""
    one = rounds[0]
    zooms = len(one["page_s"])
    subject = (
        f"{one['packets']:,} packets, {capture.stat().st_size / 1e9:.2f} GB, in the page cache; "
        f"{len(rounds)} processes, {zooms} zooms in each: windows of every length from 10 ms to "
        "half of the capture, anywhere in it, the same in every process. A zoom is the answers to "
        f"all {one['figures']} figures of the association page, one after the other, through "
        "Flask's test client; packets are the first rows of the packets page in the same window. "
        "Memory is the peak of the whole process, analysis included."
    )
    rows = []
    for key, name in PARTS.items():
        times = [each[key] for each in rounds]
        rows.append([name, f"{statistics.median(times):.2f} s", _span(times, "s")])
    for key, name in (("page_s", "a zoom, all figures"), ("rows_s", "a zoom, packets")):
        times = [s for each in rounds for s in each[key]]
        rows.append([name, f"{statistics.median(times) * 1e3:.0f} ms", _span(times, "ms")])
    size = f"{one['index_bytes'] / 1e6:.0f} MB"
    rows.append(["the index, in a temporary folder", size, ""])
    return [subject, "", *table(["what", "median", "min to max"], rows)]


def _span(times: list[float], unit: str) -> str:
    scale, digits = (1e3, 0) if unit == "ms" else (1.0, 2)
    return f"{min(times) * scale:.{digits}f} to {max(times) * scale:.{digits}f} {unit}"


def versions() -> str:
    """Name everything that ran."""
    names = ("dash", "plotly", "pyarrow", "tsdownsample")
    packages = ", ".join(f"{name} {metadata.version(name)}" for name in names)
    return f"pathscope {_core.__version__} ({_core.build_profile} build), {packages}"


def main() -> int:
    """Run the benchmark; the exit code is 1 when a promise was missed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--packets", type=int, default=PACKETS, help="packets in the capture")
    parser.add_argument("--rounds", type=int, default=3, help="processes")
    parser.add_argument("--zooms", type=int, default=40, help="zooms in each")
    parser.add_argument("--write", type=Path, metavar="FILE", help="update this document's tables")
    options = parser.parse_args()
    only_release(_core.build_profile)
    capture = capture_of(options.packets)
    warm(capture)
    rounds = [measured(capture, options.zooms) for _ in range(options.rounds)]
    lines = about(rounds, capture)
    part = Part("bench report", "Report", lines, promises(rounds), versions())
    return part.publish(options.write)


if __name__ == "__main__":
    sys.exit(main())
