"""Measure `pathscope analyze` of many small captures: by one process, by two, by a Dask cluster.

Every run makes its dataset anew, as a whole process, start-up included; the cluster is there
already, as a cluster is. That all datasets are the same, byte for byte, is looked at, too.
"""

from __future__ import annotations

import argparse
import filecmp
import shlex
import shutil
import subprocess
import sys
import tempfile
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING

from captures import warm
from contender import Contender
from page import Part, Promise, table
from run import PROGRAM, shown
from small import folder_of

if TYPE_CHECKING:
    from collections.abc import Iterator


CAPTURES = 1000
WORKERS = 2

# What is promised.
LEAST_SPEEDUP = 1.7
MOST_OF_JOBS = 1.3

PORT = 18786
ADDRESS = f"tcp://127.0.0.1:{PORT}"

AWAIT = """
from distributed import Client
with Client({address!r}) as client:
    client.wait_for_workers({workers})
"""


@contextmanager
def cluster(folder: Path) -> Iterator[None]:
    """Start a scheduler and workers as processes of their own, and wait until they are ready."""
    dask = str(PROGRAM.with_name("dask"))
    at = ["--host", "127.0.0.1", "--port", str(PORT), "--no-dashboard"]
    worker = [dask, "worker", ADDRESS, "--nthreads", "1", "--no-dashboard"]
    worker += ["--preload", "pathscope.many.worker"]
    commands = [[dask, "scheduler", *at], *([worker] * WORKERS)]
    log = (folder / "cluster.log").open("w")
    started = [
        subprocess.Popen(command, stdout=log, stderr=log, cwd=folder) for command in commands
    ]
    try:
        script = AWAIT.format(address=ADDRESS, workers=WORKERS)
        subprocess.run([PROGRAM.with_name("python"), "-c", script], check=True)
        yield
    finally:
        for process in reversed(started):
            process.terminate()
            process.wait()
        log.close()


def rounds(contenders: dict[Path, Contender], runs: int) -> None:
    """Run all in turn, each to a folder that is not there; the cluster only beside its own run."""
    for number in range(runs):
        print(f"run {number + 1} of {runs}", file=sys.stderr)
        for folder, contender in contenders.items():
            shutil.rmtree(folder, ignore_errors=True)
            with cluster(folder.parent) if ADDRESS in contender.command else nullcontext():
                contender.run()


def differences(one: Path, other: Path) -> int:
    """Return how many files of two datasets are not the same."""
    files = {
        path.relative_to(folder)
        for folder in (one, other)
        for path in folder.rglob("*")
        if path.is_file()
    }
    _, different, missing = filecmp.cmpfiles(one, other, [str(file) for file in files], False)
    return len(different) + len(missing)


def halves(captures: Path, out: Path) -> list[str]:
    """Return what two processes do that know nothing of each other: what this machine can give."""
    even, odd = (
        [str(PROGRAM), "analyze", f"{captures}/????[{digits}]-*", "--out", str(out / digits)]
        for digits in ("02468", "13579")
    )
    return ["bash", "-c", f"mkdir {out}; {shlex.join(even)} & {shlex.join(odd)} && wait $!"]


def typed(command: list[str]) -> str:
    """Return a command as a person would type it, who has no scratch folder."""
    place = command.index("--out") + 1
    return shown([*command[:place], f"out/{Path(command[place]).name}", *command[place + 1 :]])


def promises(contenders: list[Contender], differing: int) -> list[Promise]:
    """Return every promise, whether it was kept, and what was measured."""
    one, two, far = (contender.median for contender in contenders)
    return [
        (
            f"--jobs 2 at least {LEAST_SPEEDUP:g} x as fast",
            one / two >= LEAST_SPEEDUP,
            f"{one / two:.2f} x",
        ),
        (
            f"the cluster at most {MOST_OF_JOBS:g} x the time",
            far / two <= MOST_OF_JOBS,
            f"{far / two:.2f} x",
        ),
        ("the same bytes by all", not differing, f"{differing} files differ"),
    ]


def about(contenders: list[Contender], bytes_: int) -> list[str]:
    """Return the table and what it is of."""
    one, *_ = contenders
    head = ["program", "median s", "min to max s", "captures/s", "peak memory MB", "x --jobs 1"]
    rows = [
        [*c.cells()[:3], f"{c.packets / c.median:.0f}", c.memory(), f"{c.median / one.median:.2f}"]
        for c in contenders
    ]
    subject = (
        f"{one.packets:,} captures, {bytes_ / 1e6:.0f} MB, in the page cache; "
        f"{len(one.seconds)} interleaved runs of each. The cluster: a scheduler and {WORKERS}"
        " workers that have started and imported all. Two processes that know nothing of each"
        " other, each with every second capture, show what two processors of this machine give."
        " Memory is that of the command."
    )
    return [subject, "", *table(head, rows)]


def main() -> int:
    """Run the benchmark; the exit code is 1 when a promise was missed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--captures", type=int, default=CAPTURES, help="how many")
    parser.add_argument("--runs", type=int, default=5, help="runs of each program")
    parser.add_argument("--write", type=Path, metavar="FILE", help="update this document's table")
    options = parser.parse_args()
    captures = folder_of(options.captures)
    files = list(captures.iterdir())
    for path in files:
        warm(path)
    with tempfile.TemporaryDirectory() as place:
        outs = [Path(place) / name for name in ("one", "two", "cluster")]
        ways = (["--jobs", "1"], ["--jobs", str(WORKERS)], ["--scheduler", ADDRESS])
        contenders = {
            out: Contender(
                f"analyze {way[0]} {way[1]}" if way[0] == "--jobs" else "analyze --scheduler",
                [str(PROGRAM), "analyze", str(captures), "--out", str(out), *way],
                options.captures,
            )
            for out, way in zip(outs, ways, strict=True)
        }
        apart = outs[0].with_name("halves")
        contenders[apart] = Contender(
            "two of --jobs 1, a half each", halves(captures, apart), options.captures
        )
        rounds(contenders, options.runs)
        one, two, far, split = contenders.values()
        again = Contender("the same again: all skipped", two.command, options.captures)
        for _ in range(options.runs):
            again.run()
        differing = sum(differences(outs[0], other) for other in outs[1:])
    contended = [one, two, split, far, again]
    return Part(
        "bench many",
        "Many captures",
        about(contended, sum(path.stat().st_size for path in files)),
        promises([one, two, far], differing),
        commands=tuple(typed(each.command) for each in (one, two, far, again)),
        why="make bench-many makes the captures and measures these",
    ).publish(options.write)


if __name__ == "__main__":
    sys.exit(main())
