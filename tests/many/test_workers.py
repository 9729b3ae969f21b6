"""Several processes make the same dataset as one, whatever becomes of them."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import psutil
import pytest
from manycaptures import files, fill, rows, runs
from pathscope import analyze_many
from pathscope.many import engine, part
from pathscope.many.query import asked, tables
from pathscope.many.settings import SkewError
from running import CAPTURES, PROGRAM, ROOT, inside, outside

LONGEST_S = 120
"""Of a command here: a tenth of it is enough on a machine with nothing else to do."""

DASK = Path(sys.executable).parent / "dask"


@pytest.fixture(scope="module")
def captures(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of captures of several parts."""
    folder = tmp_path_factory.mktemp("captures")
    fill(folder, 60)
    for path in sorted(CAPTURES.glob("lab-*/*.pcapng")):
        (folder / f"{path.parent.name}-{path.name}").symlink_to(path)
    return folder


@pytest.fixture(scope="module")
def expected(captures: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The dataset that one process makes of them."""
    folder = tmp_path_factory.mktemp("expected") / "out"
    analyze_many(captures, folder)
    return folder


@contextmanager
def started(*arguments: object) -> Iterator[subprocess.Popen[str]]:
    """Run a command, and end it where the test does not."""
    command = [*PROGRAM, *map(str, arguments)]
    process = subprocess.Popen(command, cwd=ROOT, stderr=subprocess.PIPE, text=True)
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def wait_for(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + LONGEST_S
    while not condition():
        assert time.monotonic() < deadline, "it did not come to that"
        time.sleep(0.002)


def workers(coordinator: int) -> list[psutil.Process]:
    """Return the processes that analyze: they hold a Dask worker's port."""
    found = []
    for process in psutil.Process(coordinator).children(recursive=True):
        try:
            if process.net_connections(kind="tcp"):
                found.append(process)
        except psutil.NoSuchProcess:
            continue  # it has just ended
    return found


def half_written(out: Path) -> list[Path]:
    """Return the places of parts of which some captures have been written."""
    return [path.parent for path in out.glob(".partial/*/results,*.json")]


def kill_one_at_work(out: Path) -> None:
    """Kill the worker that is in the middle of a part."""
    wait_for(lambda: bool(half_written(out)))
    place = half_written(out)[0]
    os.kill(int(place.name.split("-")[1]), signal.SIGKILL)
    assert place.exists(), "it was too quick: nothing was interrupted"


def test_two_processes_make_what_one_does(captures: Path, expected: Path, tmp_path: Path) -> None:
    found = inside("analyze", captures, "--out", tmp_path / "out", "--jobs", 2)
    assert found.exit_code == 0, found.stderr
    assert files(tmp_path / "out") == files(expected)


def test_a_killed_worker_changes_nothing(captures: Path, expected: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    with started("analyze", captures, "--out", out, "--jobs", 2) as process:
        kill_one_at_work(out)
        _, told = process.communicate(timeout=LONGEST_S)
    assert process.returncode == 0, told
    assert files(out) == files(expected)


def test_a_killed_coordinator(captures: Path, expected: Path, tmp_path: Path) -> None:
    """Killed again and again, wherever it is, it comes to the same end, and leaves nobody."""
    out = tmp_path / "out"
    for moment_s in (0.1, 0.9, 1.7, 2.6):
        with started("analyze", captures, "--out", out, "--jobs", 2) as process:
            wait_for(lambda: out.is_dir() or process.poll() is not None)
            time.sleep(moment_s)
            helpers = [] if process.poll() is not None else workers(process.pid)
            process.send_signal(signal.SIGKILL)
        psutil.wait_procs(helpers, timeout=20)
        assert not [one for one in helpers if one.is_running() and one.status() != "zombie"]
    found = inside("analyze", captures, "--out", out, "--jobs", 2)
    assert found.exit_code == 0, found.stderr
    assert rows(out) == rows(expected)
    assert runs(out) == runs(expected)


def test_control_c_ends_it_soon(captures: Path, expected: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    command = [*PROGRAM, "analyze", str(captures), "--out", str(out), "--jobs", "2"]
    # In a group of its own, all of which a terminal would tell.
    process = subprocess.Popen(
        command, cwd=ROOT, stderr=subprocess.PIPE, text=True, start_new_session=True
    )
    wait_for(lambda: bool(half_written(out)))
    helpers = workers(process.pid)
    os.killpg(process.pid, signal.SIGINT)
    _, told = process.communicate(timeout=20)
    assert process.returncode != 0
    assert "Traceback" not in told
    _, alive = psutil.wait_procs(helpers, timeout=20)
    assert not [one for one in alive if one.status() != "zombie"]
    assert inside("analyze", captures, "--out", out).exit_code == 0
    assert rows(out) == rows(expected)


@contextmanager
def cluster(folder: Path, *, count: int = 2) -> Iterator[str]:
    """Run a Dask scheduler and workers, each a process of its own; gives the address."""
    place = folder / "scheduler.json"
    at = ["--scheduler-file", str(place), "--no-dashboard"]
    commands = [[str(DASK), "scheduler", "--host", "127.0.0.1", "--port", "0", *at]]
    commands += [[str(DASK), "worker", *at, "--nthreads", "1", "--host", "127.0.0.1"]] * count
    with (folder / "log").open("w") as log:
        processes = [subprocess.Popen(one, stdout=log, stderr=log, cwd=folder) for one in commands]
        try:
            wait_for(place.is_file)
            wait_for(lambda: bool(place.read_text()))
            yield json.loads(place.read_text())["address"]
        finally:
            for process in reversed(processes):
                process.terminate()
            for process in processes:
                process.wait()


def test_a_cluster_works_in_another_folder(tmp_path: Path) -> None:
    """Names are those that the command was given; a worker finds what they mean."""
    captures = os.path.relpath(CAPTURES / "lab-asconf", ROOT)
    with cluster(tmp_path, count=1) as address:
        place = ("analyze", captures, "--out", tmp_path / "out", "--scheduler", address)
        found = outside(*place)
    assert found.returncode == 0, found.stderr
    assert outside("analyze", captures, "--out", tmp_path / "one").returncode == 0
    assert files(tmp_path / "out") == files(tmp_path / "one")
    with asked(tables(tmp_path / "out"), "SELECT run FROM captures ORDER BY 1") as answer:
        found_names = [row["run"] for batch in answer.batches for row in batch.to_pylist()]
    assert found_names == [f"{captures}/client.pcapng", f"{captures}/server.pcapng"]


def test_a_cluster_loses_a_worker(captures: Path, expected: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    with cluster(tmp_path) as address:
        with started("analyze", captures, "--out", out, "--scheduler", address) as process:
            kill_one_at_work(out)
            _, told = process.communicate(timeout=LONGEST_S)
        assert process.returncode == 0, told
        assert files(out) == files(expected)


def test_a_cluster_that_is_not_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine, "WAIT_S", 1)
    fill(tmp_path / "captures", 1)
    place = ("analyze", tmp_path / "captures", "--out", tmp_path / "out", "--scheduler")
    found = inside(*place, "tcp://127.0.0.1:9")
    assert (found.exit_code, "no Dask scheduler answers" in found.stderr) == (2, True)
    with cluster(tmp_path, count=0) as address:
        found = inside(*place, address)
    assert (found.exit_code, "no worker came within 1 s" in found.stderr) == (2, True)


def test_another_pathscope_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fill(tmp_path / "captures", 1)
    seen: list[part.Part] = []

    def keep(one: part.Part) -> part.Outcome:
        seen.append(one)
        return part.Outcome(has_results=False, failures=())

    monkeypatch.setattr(engine, "analyze_part", keep)
    analyze_many(tmp_path / "captures", tmp_path / "out")
    other = replace(seen[0], settings=replace(seen[0].settings, made_with="another"))
    with pytest.raises(SkewError, match="install the same version everywhere"):
        part.analyze_part(other)
