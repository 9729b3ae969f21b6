"""Baselines: results of runs kept under a name, so that their captures need not be.

    STORE/NAME/baseline.json   what is kept, written last: name, runs, their scenario and settings
    STORE/NAME/runs/N.json.gz  the result of a run (pathscope.result/1)

A folder without `baseline.json` is no baseline, whatever else is in it.
"""

from __future__ import annotations

import gzip
import json
import os
import re
import shutil
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .analyzer.compare.runs import Run
from .analyzer.json_text import parsed

if TYPE_CHECKING:
    from collections.abc import Sequence

SCHEMA = "pathscope.baseline/1"
FACTS, RUNS = "baseline.json", "runs"

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+-]{0,99}")
"""What a baseline may be called: never a path, nor hidden, nor an option."""

FILE = re.compile(r"runs/[0-9]{1,9}\.json\.gz")

LARGEST_RESULT = 1 << 30
"""Bytes of one result: a small file must not unpack into all of the memory."""

Node = dict[str, Any]


class BaselineError(ValueError):
    """A baseline that is not there, is damaged, or may not be called that."""


@dataclass(frozen=True, slots=True)
class Baseline:
    """What is kept under a name; `runs` are as `baseline.json` lists them."""

    name: str
    folder: Path
    runs: tuple[Node, ...]


def default_store() -> Path:
    """Return the user's own folder of baselines (XDG Base Directory Specification)."""
    given = os.environ.get("XDG_DATA_HOME", "")
    # The specification wants relative paths there ignored.
    data = Path(given) if given.startswith("/") else Path.home() / ".local" / "share"
    return data / "pathscope" / "baselines"


def is_name(text: str) -> bool:
    """Whether a baseline may be called this."""
    return NAME.fullmatch(text) is not None


def is_baseline(folder: Path) -> bool:
    """Whether this is the folder of a baseline."""
    return (folder / FACTS).is_file()


def place(store: Path, name: str) -> Path:
    """Return the folder of a baseline of this name, whether or not it is there.

    Raises
    ------
    BaselineError
        When nothing may be called that.
    """
    if not is_name(name):
        raise BaselineError(
            f"{name!r}: expected a name of at most 100 letters, digits and any of . _ + -, and a"
            " letter or digit first"
        )
    return store / name


def check_free(store: Path, name: str, *, force: bool) -> Path:
    """Return the folder that a baseline of this name would have.

    Raises
    ------
    BaselineError, FileExistsError
        As `save`.
    """
    folder = place(store, name)
    if folder.exists() and not is_baseline(folder):
        raise BaselineError(f"{folder}: something that is no baseline is there")
    if folder.exists() and not force:
        raise FileExistsError(f"baseline {name} exists; --force replaces it")
    return folder


def save(store: Path, name: str, runs: Sequence[Run], *, force: bool = False) -> Path:
    """Keep the results of runs under a name: all of them, or nothing is changed.

    Returns
    -------
    Path
        The baseline's folder.

    Raises
    ------
    BaselineError
        When there are no runs, nothing may be called that, or something else has the name.
    FileExistsError
        When there is one of that name and `force` is not given.
    OSError
        When it cannot be written.
    """
    if not runs:
        raise BaselineError("a baseline has a run at least")
    folder = check_free(store, name, force=force)
    store.mkdir(parents=True, exist_ok=True)
    # A name that no baseline may have: what an interruption leaves behind is never taken for one.
    work = Path(tempfile.mkdtemp(prefix=".new-", dir=store))
    try:
        fresh = work / "fresh"
        _write(fresh, name, runs)
        if folder.exists():
            folder.rename(work / "old")
        fresh.rename(folder)
    finally:
        shutil.rmtree(work)
    return folder


def _write(folder: Path, name: str, runs: Sequence[Run]) -> None:
    (folder / RUNS).mkdir(parents=True)
    listed = []
    for number, run in enumerate(runs, 1):
        file = f"{RUNS}/{number}.json.gz"
        text = json.dumps(run.document, ensure_ascii=False, separators=(",", ":")).encode()
        # Without a time in it the same results give the same bytes.
        (folder / file).write_bytes(gzip.compress(text, mtime=0))
        listed.append(
            {
                "name": run.name,
                "file": file,
                "scenario": run.scenario,
                "settings": dict(run.settings),
                "circumstances": dict(run.circumstances),
            }
        )
    facts = {"schema": SCHEMA, "name": name, "runs": listed}
    listing = json.dumps(facts, indent=1, ensure_ascii=False)
    (folder / FACTS).write_text(listing + "\n", encoding="utf-8")


def listed(store: Path) -> list[Baseline]:
    """Return the baselines of a store by name; none where there is no store.

    Raises
    ------
    BaselineError
        When one is damaged.
    """
    if not store.is_dir():
        return []
    folders = [folder for folder in sorted(store.iterdir()) if is_name(folder.name)]
    return [opened(folder) for folder in folders if is_baseline(folder)]


def find(store: Path, name: str) -> Baseline:
    """Return the baseline of a name.

    Raises
    ------
    BaselineError
        When there is none, or it is damaged.
    """
    folder = place(store, name)
    if not is_baseline(folder):
        known = ", ".join(one.name for one in listed(store)) or "none"
        raise BaselineError(f"no baseline {name} in {store}; there: {known}")
    return opened(folder)


def opened(folder: Path) -> Baseline:
    """Return the baseline that a folder is of.

    Raises
    ------
    BaselineError
        When it is damaged.
    """
    try:
        facts = parsed((folder / FACTS).read_text(encoding="utf-8"))
        if facts["schema"] != SCHEMA:
            raise BaselineError(f"{folder / FACTS}: expected a document of {SCHEMA}")
        runs = tuple(facts["runs"])
        files = [one["file"] for one in runs if _is_listed_run(one)]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise BaselineError(f"{folder}: not a whole baseline: {error}") from error
    if len(files) != len(runs) or not all(FILE.fullmatch(file) for file in files):
        raise BaselineError(f"{folder / FACTS}: the list of runs is damaged")
    return Baseline(folder.name, folder, runs)


def _is_listed_run(one: Node) -> bool:
    return (
        isinstance(one["name"], str)
        and isinstance(one["file"], str)
        and isinstance(one["scenario"], str | None)
        and isinstance(one["settings"], dict)
        and isinstance(one["circumstances"], dict)
    )


def stored_result(baseline: Baseline, run: Node) -> Any:
    """Return the result of a run of a baseline, as it was read: unchecked.

    Raises
    ------
    BaselineError
        When it cannot be read.
    """
    path = baseline.folder / run["file"]
    try:
        with gzip.open(path) as stream:
            text = stream.read(LARGEST_RESULT + 1)
        if len(text) > LARGEST_RESULT:
            raise BaselineError(f"{path}: more than {LARGEST_RESULT} bytes")
        return parsed(text)
    except (OSError, EOFError, ValueError) as error:
        raise BaselineError(f"{path}: no result: {error}") from error


def remove(store: Path, name: str) -> None:
    """Remove a baseline.

    Raises
    ------
    BaselineError
        When there is none.
    OSError
        When it cannot be removed.
    """
    folder = find(store, name).folder
    # First what makes it one: half of a baseline must not be taken for a whole.
    (folder / FACTS).unlink()
    shutil.rmtree(folder)
