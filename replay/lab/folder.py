"""The folder of a run: what is in it, and in which state it is.

    run.json        what the run was: scenario, kernel, versions, captures, its state
    scenario.json   the scenario as run, every default filled in; of a packet replay replay.json
    events.jsonl    what happened, and when (docs/events.md)
    client.pcapng   what the client's interfaces saw; server.pcapng likewise
    logs/           what the programs said

A run that is being made holds a lock on `run.json`, which the kernel drops when its process ends,
however that ends: a folder whose run is not complete and that nobody locks was interrupted.
"""

from __future__ import annotations

import fcntl
import json
import shutil
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Literal

from ...analyzer.json_text import parsed

if TYPE_CHECKING:
    from collections.abc import Iterator

SCHEMA = "pathscope.run/1"
FACTS, SCENARIO, EVENTS, LOGS = "run.json", "scenario.json", "events.jsonl", "logs"
REPLAY = "replay.json"
NODES, TRACE = "nodes.json", "trace"
CAPTURES = {"client": "client.pcapng", "server": "server.pcapng"}

State = Literal["absent", "foreign", "running", "interrupted", "failed", "complete"]
"""Foreign: a folder with something in it that is no run."""


class FolderError(ValueError):
    """A folder that is not what is needed; the message names it and says why."""


def is_run(path: Path) -> bool:
    """Whether this is the folder of a run."""
    return (path / FACTS).is_file()


def facts(path: Path) -> dict[str, Any]:
    """Return what `run.json` says.

    Raises
    ------
    FolderError
        When it cannot be read.
    """
    try:
        found = parsed((path / FACTS).read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise FolderError(f"{path}: expected the folder of a run with {FACTS}: {error}") from error
    if not isinstance(found, dict) or found.get("schema") != SCHEMA:
        raise FolderError(f"{path / FACTS}: expected a document of {SCHEMA}")
    return found


def state(path: Path) -> State:
    """Say in which state the run is that a folder is of."""
    if not path.exists() or (path.is_dir() and not any(path.iterdir())):
        return "absent"
    if not is_run(path):
        return "foreign"
    with (path / FACTS).open(encoding="utf-8") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return "running"
        try:
            found = parsed(file.read())
        except ValueError:
            found = None
    told = found.get("state") if isinstance(found, dict) else None
    return told if told in ("failed", "complete") else "interrupted"


def capture(path: Path, end: str) -> Path:
    """Return the capture of an end, or the trace of a simulator, which knows both.

    Raises
    ------
    FolderError
        When the run is not complete or has no capture of that end.
    """
    found = facts(path)
    if found.get("state") != "complete":
        raise FolderError(f"{path}: this run is {state(path)}, not complete")
    captures = found.get("captures")
    if not isinstance(captures, dict):
        raise FolderError(f"{path / FACTS}: expected the names of captures")
    kind = TRACE if TRACE in captures else end
    if kind not in captures:
        ends = ", ".join(captures)
        raise FolderError(f"{path}: no capture of {end} in this run, only of {ends}")
    name = str(captures[kind])
    if Path(name).name != name or name in ("", ".."):
        # Somebody else's run is not to have any other file read for it.
        raise FolderError(f"{path / FACTS}: expected a capture in this folder, found {name!r}")
    return path / name


def chosen(path: Path, end: str) -> list[Path]:
    """Return the capture of an end, or with `both` those of all ends that have one.

    Raises
    ------
    FolderError
        As `capture`.
    """
    if end != "both":
        return [capture(path, end)]
    told = facts(path).get("captures", ())
    there = [one for one in CAPTURES if one in told] or list(CAPTURES)
    return [capture(path, one) for one in (there[:1] if TRACE in told else there)]


def labels(path: Path) -> list[str]:
    """Return a rule for the name of each of the run's paths, as `10.0.1.1=wlan`, for both ends.

    For each node of a simulation: `n3=wlan`.
    """
    if (path / NODES).is_file():
        return [f"n{number}={name}" for name, number in _nodes(path).items()]
    if (path / REPLAY).is_file():
        with _of_a_run(path / REPLAY):
            return [str(rule) for rule in _object(path / REPLAY).get("labels", [])]
    with _of_a_run(path / SCENARIO):
        return [
            f"{known[end]}={name}"
            for name, known in _object(path / SCENARIO).get("paths", {}).items()
            for end in CAPTURES
            if end in known
        ]


def hosts(path: Path) -> tuple[tuple[int, ...], ...]:
    """Return the numbers of the nodes that are interfaces of one host, of a simulation."""
    if not (path / NODES).is_file():
        return ()
    numbers = _nodes(path)
    with _of_a_run(path / SCENARIO):
        multihomed = _object(path / SCENARIO).get("multihomed", {}).values()
        return tuple(tuple(numbers[name] for name in interfaces) for interfaces in multihomed)


def _nodes(path: Path) -> dict[str, int]:
    return _object(path / NODES)


@contextmanager
def _of_a_run(file: Path) -> Iterator[None]:
    """Say of a file that is not what a run writes that it is not."""
    try:
        yield
    except (AttributeError, KeyError, TypeError) as error:
        raise FolderError(f"{file}: expected what a run has written") from error


def _object(file: Path) -> dict[str, Any]:
    """Return what a file of the run's folder holds."""
    try:
        found = parsed(file.read_text(encoding="utf-8"))
    except ValueError as error:
        raise FolderError(f"{file}: no JSON: {error}") from error
    if not isinstance(found, dict):
        raise FolderError(f"{file}: expected an object")
    return found


def too_slow(path: Path) -> list[str]:
    """Return why the machine did not keep up with a run; nothing where it did, or nobody watched.

    Raises
    ------
    FolderError
        When what the folder says of its run cannot be read.
    """
    return list(facts(path).get("pace", {}).get("too_slow", [])) if is_run(path) else []


def claim(path: Path, *, force: bool) -> None:
    """Make the folder, empty; what an interrupted or failed run left is removed.

    Raises
    ------
    FolderError
        When another run is being made there, or something is there that must not be overwritten.
    """
    found = state(path)
    if found == "running":
        raise FolderError(f"{path}: a run is being made there")
    if found == "foreign":
        raise FolderError(f"{path}: expected no folder, an empty one or that of a run")
    if found == "complete" and not force:
        raise FolderError(f"{path}: a complete run is there; --force replaces it")
    if (path / FACTS).is_symlink():
        # Whoever made the folder is not to choose what else is written over.
        raise FolderError(f"{path / FACTS}: a link, which a run does not write through")
    path.mkdir(parents=True, exist_ok=True)
    # First of all: what is interrupted from here on is the folder of an interrupted run.
    (path / FACTS).write_text(json.dumps({"schema": SCHEMA, "state": "running"}), encoding="utf-8")
    for entry in path.iterdir():
        if entry.is_dir() and not entry.is_symlink():
            shutil.rmtree(entry)
        elif entry.name != FACTS:
            entry.unlink()
    (path / LOGS).mkdir()


@contextmanager
def running(path: Path, told: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Hold the lock of a run that is being made; what the block adds to the facts is written.

    The state becomes `complete`, or `failed` with a reason when the block raises.
    """
    told = {"schema": SCHEMA, "state": "running", **told}
    with (path / FACTS).open("w", encoding="utf-8") as file:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        _write(file, told)
        try:
            yield told
        except Exception as error:
            told |= {"state": "failed", "reason": str(error)}
            raise
        else:
            told["state"] = "complete"
        finally:
            _write(file, told)


def _write(file: IO[str], told: dict[str, Any]) -> None:
    file.seek(0)
    file.truncate()
    json.dump(told, file, indent=1, ensure_ascii=False)
    file.write("\n")
    file.flush()
