"""Measure `pathscope analyze` against libpcap, capinfos and tshark on one large capture.

Every program runs as a whole process, start-up included, on a file in the page
cache. The runs are interleaved, so that a slow spell of the machine touches all
of them. Peak memory is the process's largest resident set.
"""

from __future__ import annotations

import argparse
import os
import platform
import resource
import statistics
import subprocess
import sys
import time
from dataclasses import dataclass, field
from importlib import metadata
from pathlib import Path

from pathscope.dissectors import _core

BENCH = Path(__file__).parent
ROOT = BENCH.parent
DATA = BENCH / "data"
BEGIN, END = "<!-- bench: begin -->", "<!-- bench: end -->"

# The promises: `analyze` against the loop, against tshark, and in memory.
MOST_OF_LIBPCAP = 3.0
LEAST_OF_TSHARK = 5.0
MOST_MEMORY_MB = 300


@dataclass
class Contender:
    """One program and what its runs took."""

    name: str
    command: list[str]
    seconds: list[float] = field(default_factory=list)
    peak_bytes: int = 0

    @property
    def median(self) -> float:
        """Median wall time in seconds."""
        return statistics.median(self.seconds)

    def run(self) -> None:
        """Run once, to the end; a failure ends the benchmark with what the program said."""
        with (DATA / "stderr.txt").open("w+b") as stderr:
            start = time.perf_counter()
            process = subprocess.Popen(self.command, stdout=subprocess.DEVNULL, stderr=stderr)
            # wait4 gives this child's own memory; getrusage would give the largest of all.
            _, status, usage = os.wait4(process.pid, 0)
            self.seconds.append(time.perf_counter() - start)
            process.returncode = os.waitstatus_to_exitcode(status)
            if process.returncode != 0:
                stderr.seek(0)
                said = stderr.read().decode(errors="replace")
                sys.exit(f"{' '.join(self.command)}: exit code {process.returncode}\n{said}")
        self.peak_bytes = max(self.peak_bytes, usage.ru_maxrss * 1024)


def first_line(*command: str) -> str:
    """Return the first line that a program prints."""
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return done.stdout.splitlines()[0].strip().rstrip(".")


def capture_of(packets: int) -> Path:
    """Return the generated capture, making it when it is missing or older than its generator."""
    path = DATA / f"sctp-{packets}.pcap"
    generator = ROOT / "dissectors/wire/examples/generate.rs"
    if not path.exists() or path.stat().st_mtime < generator.stat().st_mtime:
        print(f"generating {path.relative_to(ROOT)} ...", file=sys.stderr)
        partial = path.with_suffix(".partial")
        generate = ["cargo", "run", "--quiet", "--release", "--locked"]
        generate += ["--package", "pathscope-wire", "--example", "generate", "--"]
        generate += ["--packets", str(packets), "--output", str(partial)]
        subprocess.run(generate, cwd=ROOT, check=True)
        partial.rename(path)
    return path


def compile_loop() -> Path:
    """Compile the libpcap read loop."""
    program = DATA / "pcap_loop"
    source = BENCH / "pcap_loop.c"
    subprocess.run(["cc", "-O2", "-o", str(program), str(source), "-lpcap"], check=True)
    return program


def warm(path: Path) -> None:
    """Bring the file into the page cache, so that no run pays for the disk."""
    with path.open("rb", buffering=0) as file:
        buffer = bytearray(1 << 20)
        while file.readinto(buffer):
            pass


def machine() -> str:
    """Describe the machine in one line."""
    cpu = platform.processor() or platform.machine()
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            cpu = line.split(":", 1)[1].strip()
            break
    cores = len(os.sched_getaffinity(0))
    kernel, _, _ = platform.release().partition("-")  # its build's suffix says nothing
    return f"{cpu}, {cores} cores, {platform.system()} {kernel}"


def report(
    contenders: list[Contender], loop: Path, capture: Path, packets: int
) -> tuple[str, bool]:
    """Return the Markdown report, and whether every promise was kept."""
    libpcap, ours, _, tshark = contenders
    rows = [
        "| program | median s | min to max s | packets/s | x libpcap loop | peak memory MB |",
        "|---|---:|---:|---:|---:|---:|",
    ]
    rows += [
        f"| {c.name} | {c.median:.2f} | {min(c.seconds):.2f} to {max(c.seconds):.2f} "
        f"| {packets / c.median / 1e6:.2f} M | {c.median / libpcap.median:.2f} "
        f"| {memory(c)} |"
        for c in contenders
    ]
    against_loop = ours.median / libpcap.median
    against_tshark = tshark.median / ours.median
    peak = ours.peak_bytes / 1e6
    promises = [
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
    size = capture.stat().st_size
    subject = (
        f"{packets:,} SCTP packets, {size / 1e9:.2f} GB, in the page cache; "
        f"{len(ours.seconds)} interleaved runs of each program."
    )
    versions = (
        f"Versions: pathscope {metadata.version('pathscope')} ({_core.build_profile} build), "
        f"Python {platform.python_version()}, {first_line(str(loop))}, "
        f"{first_line('capinfos', '--version')}, {first_line('tshark', '--version')}."
    )
    verdicts = [
        f"- {text}: {'kept' if kept else 'MISSED'} ({value})" for text, kept, value in promises
    ]
    commands = [f"    {shown(c.command)} > /dev/null" for c in contenders]
    lines = [subject, "", *rows, "", *verdicts, "", f"Machine: {machine()}.", "", versions]
    lines += ["", "Commands:", "", *commands]
    return "\n".join(lines), all(kept for _, kept, _ in promises)


def memory(contender: Contender) -> str:
    """Return a program's peak memory in MB.

    A child starts as a copy of this script, so less than this script's own memory cannot be seen.
    """
    own = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    peak = max(contender.peak_bytes, own)
    return f"{'< ' if peak < own * 1.1 else ''}{peak / 1e6:.0f}"


def shown(command: list[str]) -> str:
    """Return a command as a person at the repository's root would type it."""
    return " ".join(part.removeprefix(f"{ROOT}/") for part in command)


def write(path: Path, text: str) -> None:
    """Put the report between the markers of a document, or start the document."""
    old = path.read_text() if path.exists() else f"# Performance\n\n{BEGIN}\n{END}\n"
    before, begin, rest = old.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        sys.exit(f"{path}: expected the markers {BEGIN} and {END}")
    path.parent.mkdir(exist_ok=True)
    path.write_text(f"{before}{BEGIN}\n{text}\n{END}{after}")


def main() -> int:
    """Run the benchmark; the exit code is 1 when a promise was missed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--packets", type=int, default=2_750_000, help="packets in the capture")
    parser.add_argument("--runs", type=int, default=5, help="runs of each program")
    parser.add_argument("--write", type=Path, metavar="FILE", help="update this document's table")
    options = parser.parse_args()
    if _core.build_profile != "release":
        sys.exit(f"pathscope was built as {_core.build_profile}: only a release build is measured")

    DATA.mkdir(exist_ok=True)
    capture = capture_of(options.packets)
    loop = compile_loop()
    file = str(capture)
    program = str(Path(sys.executable).parent / "pathscope")
    contenders = [
        Contender("libpcap loop", [str(loop), file]),
        Contender("pathscope analyze", [program, "analyze", file, "--json"]),
        Contender("capinfos -c", ["capinfos", "-c", file]),
        Contender("tshark -z sctp,stat", ["tshark", "-q", "-z", "sctp,stat", "-r", file]),
    ]
    warm(capture)
    for number in range(options.runs):
        print(f"run {number + 1} of {options.runs}", file=sys.stderr)
        for contender in contenders:
            contender.run()

    text, kept = report(contenders, loop, capture, options.packets)
    print(text)
    if options.write:
        write(options.write, text)
    return 0 if kept else 1


if __name__ == "__main__":
    sys.exit(main())
