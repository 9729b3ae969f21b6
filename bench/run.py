"""Measure `pathscope analyze` against libpcap's read loop and against other readers of captures.

Four tables: one large capture read by everything that is fast enough; its length, fourfold and
sixteenfold; a short capture for the readers that are not; and a trace of ns-2. Every program runs
as a whole process, start-up included, on a file in the page cache.
"""

from __future__ import annotations

import argparse
import platform
import subprocess
import sys
from importlib import metadata
from pathlib import Path

import simulated
from captures import DATA, ROOT, capture_of, warm
from contender import Contender, interleave
from page import Part, Promise, only_release, table
from pathscope.dissectors import _core

BENCH = Path(__file__).parent
PROGRAM = Path(sys.executable).parent / "pathscope"

PACKETS = 2_750_000
FEW_PACKETS = 20_000
"""For readers that would need minutes or hours for the large capture."""

# What is promised of `analyze`: against the loop, against tshark, and in memory.
MOST_OF_LIBPCAP = 1.5
LEAST_OF_TSHARK = 5.0
MOST_MEMORY_MB = 300

FIELDS = ("frame.number", "sctp.verification_tag", "sctp.data_tsn", "sctp.sack_cumulative_tsn_ack")


def first_line(*command: str) -> str:
    """Return the first line that a program prints."""
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return done.stdout.splitlines()[0].strip().rstrip(".")


def compile_loop() -> Path:
    """Compile the libpcap read loop."""
    program = DATA / "pcap_loop"
    source = BENCH / "pcap_loop.c"
    subprocess.run(["cc", "-O2", "-o", str(program), str(source), "-lpcap"], check=True)
    return program


def versions(loop: Path) -> str:
    """Name everything that ran."""
    packages = [f"{name} {metadata.version(name)}" for name in ("dpkt", "pyshark", "scapy")]
    return ", ".join(
        [
            f"pathscope {metadata.version('pathscope')} ({_core.build_profile} build)",
            f"Python {platform.python_version()}",
            first_line(str(loop)),
            first_line("capinfos", "--version"),
            first_line("tshark", "--version"),
            first_line("sh", "-c", "tcptrace -v 2>&1 | grep -i version"),
            *packages,
        ]
    )


def analyze(capture: Path, packets: int, name: str = "pathscope analyze") -> Contender:
    """Return the program that all this is about."""
    return Contender(name, [str(PROGRAM), "analyze", str(capture), "--json"], packets)


def whole(loop: Path, capture: Path, two: Path, packets: int) -> list[Contender]:
    """Return the readers of the large capture: the loop, analyze, tshark, and others."""
    return [
        Contender("libpcap loop", [str(loop), str(capture)], packets),
        analyze(capture, packets),
        Contender("tshark -z sctp,stat", tshark("-q", "-z", "sctp,stat", "-r", capture), packets),
        Contender("capinfos -c", ["capinfos", "-c", str(capture)], packets),
        Contender("libpcap loop, two interfaces", [str(loop), str(two)], packets),
        analyze(two, packets, "pathscope analyze, two interfaces"),
    ]


def few(capture: Path, packets: int) -> list[Contender]:
    """Return the readers of the short capture."""
    fields = [part for field in FIELDS for part in ("-e", field)]
    return [
        analyze(capture, packets),
        Contender("tshark -T fields", tshark("-T", "fields", *fields, "-r", capture), packets),
        Contender("tcptrace", ["tcptrace", "-n", str(capture)], packets),
        *(script(name, capture, packets) for name in ("dpkt", "scapy", "pyshark")),
    ]


def script(name: str, capture: Path, packets: int) -> Contender:
    """Return a loop in Python over another library's packets."""
    path = BENCH / "peers" / f"{name}_loop.py"
    return Contender(name, [sys.executable, str(path), str(capture)], packets)


def tshark(*arguments: str | Path) -> list[str]:
    """Return a command that runs tshark."""
    return ["tshark", *map(str, arguments)]


def promises(large: list[Contender]) -> list[Promise]:
    """Return every promise, whether it was kept, and what was measured."""
    libpcap, ours, wireshark, *_ = large
    against_loop = ours.median / libpcap.median
    against_tshark = wireshark.median / ours.median
    peak = max(c.peak_bytes for c in large if "pathscope" in c.name) / 1e6
    return [
        (
            f"at most {MOST_OF_LIBPCAP:g} x the libpcap loop",
            against_loop <= MOST_OF_LIBPCAP,
            f"{against_loop:.2f} x",
        ),
        (
            f"at least {LEAST_OF_TSHARK:g} x as fast as tshark",
            against_tshark >= LEAST_OF_TSHARK,
            f"{against_tshark:.1f} x",
        ),
        (f"peak memory below {MOST_MEMORY_MB} MB", peak < MOST_MEMORY_MB, f"{peak:.0f} MB"),
    ]


def about_large(large: list[Contender], capture: Path) -> list[str]:
    """Return the part about the large capture."""
    loops = {False: large[0].median, True: large[4].median}
    rows = [[*c.cells(), f"{c.median / loops['two interfaces' in c.name]:.2f}"] for c in large]
    head = ["program", "median s", "min to max s", "packets/s", "peak memory MB", "x libpcap loop"]
    size = capture.stat().st_size
    subject = (
        f"{large[0].packets:,} SCTP packets, {size / 1e9:.2f} GB, in the page cache; "
        f"{len(large[0].seconds)} interleaved runs of each program. Two interfaces: the same "
        "packets as pcapng with an interface for each path, which are put in order of time."
    )
    return [
        subject,
        "",
        *table(head, rows),
    ]


def about_length(lengths: list[Contender]) -> list[str]:
    """Return the part about captures of different length."""
    head = ["program", "median s", "min to max s", "packets/s", "peak memory MB", "ns/packet"]
    rows = [[*c.cells(), f"{c.median / c.packets * 1e9:.0f}"] for c in lengths]
    return [
        "Linear in the length of the capture, and flat in memory:",
        "",
        *table(head, rows),
    ]


def about_few(readers: list[Contender]) -> list[str]:
    """Return the part about slower readers."""
    head = ["program", "median s", "min to max s", "packets/s", "peak memory MB", "x analyze"]
    rows = [[*c.cells(), f"{c.median / readers[0].median:.1f}"] for c in readers]
    subject = (
        f"The first {readers[0].packets:,} of the packets, for readers that are slower; start-up "
        "is most of what analyze takes here. tcptrace counts packets and knows no SCTP; dpkt and "
        "Scapy dissect chunks and track nothing."
    )
    return [
        subject,
        "",
        *table(head, rows),
    ]


def about_trace(readers: list[Contender], path: Path) -> list[str]:
    """Return the part about the simulator's trace."""
    head = ["program", "median s", "min to max s", "lines/s", "peak memory MB", "x analyze"]
    rows = [[*c.cells(), f"{c.median / readers[0].median:.1f}"] for c in readers]
    subject = (
        f"A trace of ns-2, of study W's second run: {readers[0].packets:,} lines,"
        f" {path.stat().st_size / 1e6:.0f} MB. The study's table has three quantities of five pairs"
        " of nodes; analyze gives them of all ten, with all else that it gives."
    )
    return [subject, "", *table(head, rows)]


def shown(command: list[str]) -> str:
    """Return a command as a person at the repository's root would type it."""
    return " ".join(part.removeprefix(f"{ROOT}/") for part in command)


def main() -> int:
    """Run the benchmark; the exit code is 1 when a promise was missed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--packets", type=int, default=PACKETS, help="packets in the capture")
    parser.add_argument("--runs", type=int, default=5, help="runs of each program")
    parser.add_argument("--write", type=Path, metavar="FILE", help="update this document's tables")
    options = parser.parse_args()
    only_release(_core.build_profile)

    packets = options.packets
    capture = capture_of(packets)
    loop = compile_loop()
    two = capture_of(packets, ".pcapng")
    for path in (capture, two):
        warm(path)
    large = whole(loop, capture, two, packets)
    interleave(large, options.runs)
    readers = few(capture_of(min(FEW_PACKETS, packets)), min(FEW_PACKETS, packets))
    interleave(readers, min(3, options.runs))
    lengths = []
    for times, length in ((1, packets // 4), (4, packets), (16, packets * 4)):
        longer = capture_of(length)
        warm(longer)
        lengths.append(analyze(longer, length, f"pathscope analyze, {times} x"))
    interleave(lengths, min(3, options.runs))
    trace = simulated.trace(PROGRAM)
    warm(trace)
    scripts = simulated.readers(PROGRAM, trace)
    interleave(scripts, min(3, options.runs))

    contenders = [*large, *readers, *lengths, *scripts]
    lines = [*about_large(large, capture), "", *about_length(lengths), "", *about_few(readers)]
    lines += ["", *about_trace(scripts, trace)]
    return Part(
        "bench",
        "Performance",
        lines,
        [*promises(large), simulated.promise(scripts)],
        versions(loop),
        tuple(f"{shown(one.command)} > /dev/null" for one in contenders),
        "the captures are too large to keep; make bench makes and measures them",
    ).publish(options.write)


if __name__ == "__main__":
    sys.exit(main())
