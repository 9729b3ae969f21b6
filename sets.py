"""Sets of runs for `pathscope compare`: found, and read or analyzed.

A set is named by a path, a glob, the name of a baseline, or several of these with commas between.
What a folder is shows by what is in it: a run of the lab, the results of `analyze --out`, a
dataset of many, a baseline; else it is searched for these and for captures.
"""

from __future__ import annotations

import glob
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from . import baselines
from .analyzer.compare.runs import OF_ONE_CAPTURE, Run, circumstances, settings, split
from .analyzer.json_text import parsed
from .analyzer.labels import LabelRule
from .dissectors._core import CaptureError
from .many import dataset
from .replay.lab import folder as lab

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

CAPTURES = (".pcap", ".pcapng", ".cap", ".dmp", ".snoop", ".tr")
PACKED = (".gz", ".zst", ".xz", ".lz4")
RESULT, MANIFEST = "result.json", "manifest.json"
BY_NAME = "baseline:"
"""Before a name that is also the name of a file."""

Node = dict[str, Any]
Kind = Literal["run", "results", "dataset", "baseline", "capture"]


class SetError(ValueError):
    """A set that cannot be found; the message says what was looked for."""


@dataclass(frozen=True, slots=True)
class Source:
    """One thing that has runs in it."""

    kind: Kind
    path: Path


@dataclass(frozen=True, slots=True)
class RunSet:
    """What a set's name stands for: its runs, and what could not be read, each with the reason."""

    name: str
    runs: tuple[Run, ...]
    unread: tuple[tuple[str, str], ...]


def read_set(
    text: str,
    store: Path | None = None,
    labels: Sequence[str] = (),
    progress: Callable[[str], None] | None = None,
) -> RunSet:
    """Find a set, read its results and analyze its captures.

    Parameters
    ----------
    text
        A path, a glob, the name of a baseline, or several of these with commas between.
    store
        Folder of baselines; None for the user's own.
    labels
        Names for paths of captures, as for `analyze`; runs of the lab know theirs.
    progress
        Called with the name of each capture or run that is to be analyzed.

    Raises
    ------
    SetError
        When there is nothing of that name, or a name means two things, or no runs are in it.
    ValueError
        When a label cannot be read.
    """
    for label in labels:
        LabelRule.parse(label)  # a mistake is no capture's fault
    sources = find_sources(text, store or baselines.default_store())
    runs: list[Run] = []
    unread: list[tuple[str, str]] = []
    for source in dict.fromkeys(sources):
        if progress is not None and source.kind in ("run", "capture"):
            progress(str(source.path))
        try:
            runs += _read(source, labels)
            unread += failures(source)
        except (CaptureError, ValueError, OSError, RecursionError) as error:
            unread.append((str(source.path), str(error)))
    if not runs and not unread:
        raise SetError(f"{text}: no runs in it")
    return RunSet(text, tuple(_named_apart(runs)), tuple(unread))


def find(text: str, store: Path | None = None) -> list[Source]:
    """Return what a set's name stands for, in order; `store` as for `read_set`.

    Raises
    ------
    SetError, BaselineError
        As `read_set`.
    """
    return find_sources(text, store or baselines.default_store())


def read(source: Source, labels: Sequence[str] = ()) -> list[Run]:
    """Read the runs of one thing that has runs in it.

    Raises
    ------
    CaptureError, ValueError, OSError
        When it cannot be read.
    """
    return _read(source, labels)


def find_sources(text: str, store: Path) -> list[Source]:
    """Return what a set's name stands for, in order.

    Raises
    ------
    SetError, BaselineError
        As `read_set`.
    """
    # A path may have commas itself.
    parts = [text] if _is_there(text, store) else text.split(",")
    found = []
    for part in parts:
        one = _part(part, store)
        if not one:
            raise SetError(f"{part}: no run, results, baseline or capture in there")
        found += one
    return found


def captures_at(text: str) -> list[Source]:
    """Return the captures and runs that a file, a folder or a glob stands for, in order.

    Raises
    ------
    SetError
        When there is nothing of that name, or no capture in it.
    """
    path = Path(text)
    if text and path.exists():
        found = list(_sources(path)) if path.is_dir() else [Source("capture", path)]
    elif _globbed(text):
        found = [one for path in _globbed(text) for one in _sources(path, only_known=True)]
    else:
        raise SetError(f"{text!r}: no such file or folder")
    found = [one for one in found if one.kind in ("capture", "run")]
    if not found:
        raise SetError(f"{text}: no capture in there")
    return found


def _is_there(text: str, store: Path) -> bool:
    return Path(text).exists() or bool(_globbed(text)) or _named(text, store) is not None


def _named(text: str, store: Path) -> Path | None:
    name = text.removeprefix(BY_NAME)
    if not baselines.is_name(name) or not baselines.is_baseline(store / name):
        return None
    return store / name


def _globbed(text: str) -> list[Path]:
    # A name with brackets in it that exists is that name.
    return [] if not glob.has_magic(text) else sorted(map(Path, glob.glob(text, recursive=True)))  # noqa: PTH207


def _part(text: str, store: Path) -> list[Source]:
    named = _named(text, store)
    if text and Path(text).exists():
        if named is not None and named != Path(text):
            raise SetError(f"{text}: both a file and a baseline; write ./{text} or {BY_NAME}{text}")
        return list(_sources(Path(text)))
    if named is not None:
        return [Source("baseline", named)]
    paths = _globbed(text)
    if not paths:
        known = ", ".join(one.name for one in baselines.listed(store)) or "none"
        raise SetError(f"{text!r}: no such file, folder or baseline; baselines: {known}")
    return [source for path in paths for source in _sources(path, only_known=True)]


def _sources(path: Path, *, only_known: bool = False) -> Iterator[Source]:
    """Find sources; a file that the user named is one whatever it is called."""
    if path.is_dir():
        yield from _in_folder(path)
    elif path.suffix == ".json":
        if not only_known or path.name == RESULT:
            yield Source("results", path)
    elif not only_known or is_capture(path):
        yield Source("capture", path)


def _in_folder(folder: Path) -> Iterator[Source]:
    """Find what is in a folder, in the order of the names; folders may be thousands deep."""
    waiting = [folder]
    while waiting:
        path = waiting.pop()
        if path.is_dir():
            if (found := _of_folder(path)) is not None:
                yield found
            else:
                waiting += sorted(_entries(path), reverse=True)
        # A pipe would be waited for, and a device has no end; a link to nothing is told when read.
        elif is_capture(path) and (path.is_file() or not path.exists()):
            yield Source("capture", path)


def _of_folder(path: Path) -> Source | None:
    if lab.is_run(path):
        return Source("run", path)
    if baselines.is_baseline(path):
        return Source("baseline", path)
    if dataset.is_dataset(path):
        return Source("dataset", path)
    return Source("results", path / RESULT) if (path / MANIFEST).is_file() else None


def failures(source: Source) -> list[tuple[str, str]]:
    """List the captures that a dataset was to have, and has no result of: names and reasons.

    Raises
    ------
    ValueError, OSError
        When it cannot be read.
    """
    if source.kind != "dataset":
        return []
    return [(one["run"], one["reason"]) for one in dataset.read_head(source.path)["failures"]]


def _entries(path: Path) -> Iterator[Path]:
    for entry in path.iterdir():
        # A link to a folder may lead back here.
        if not entry.name.startswith(".") and not (entry.is_dir() and entry.is_symlink()):
            yield entry


def is_capture(path: Path) -> bool:
    """Whether a file is called as captures are."""
    plain = path.with_suffix("") if path.suffix in PACKED else path
    return plain.suffix in CAPTURES


def _read(source: Source, labels: Sequence[str]) -> list[Run]:
    if source.kind == "run":
        return [_of_the_lab(source.path, labels)]
    if source.kind == "baseline":
        return list(_of_a_baseline(baselines.opened(source.path)))
    if source.kind == "dataset":
        return list(_of_a_dataset(source.path))
    if source.kind == "results":
        text = source.path.read_text(encoding="utf-8")
        try:
            document = parsed(text)
        except ValueError as error:
            raise ValueError(f"{source.path}: no JSON: {error}") from error
        return list(_of_a_result(source.path, document))
    return [Run(str(source.path), _analyzed(source.path, labels))]


def _analyzed(path: Path, labels: Sequence[str]) -> Node:
    from .api import analyze

    return analyze(path, labels=labels).to_dict()


def _of_the_lab(path: Path, labels: Sequence[str]) -> Run:
    known = of_a_run(path)
    return Run(str(path), _analyzed(path, labels), **known)


def of_a_run(path: Path) -> Node:
    """Return `scenario`, `settings` and `circumstances` of a run of the lab, as `Run` has them.

    Raises
    ------
    ValueError
        When its folder does not tell.
    OSError
        When it cannot be read.
    """
    facts = lab.facts(path)
    scenario = parsed((path / lab.SCENARIO).read_text(encoding="utf-8"))
    if not isinstance(scenario, dict) or not isinstance(facts.get("scenario"), str):
        raise ValueError(f"{path}: expected the scenario of a run in {lab.SCENARIO}")
    return {
        "scenario": facts["scenario"],
        "settings": settings(scenario),
        "circumstances": circumstances(facts),
    }


def _of_a_baseline(baseline: baselines.Baseline) -> Iterator[Run]:
    for one in baseline.runs:
        document = _checked(baselines.stored_result(baseline, one), baseline.folder / one["file"])
        yield Run(one["name"], document, one["scenario"], one["settings"], one["circumstances"])


def _of_a_dataset(folder: Path) -> Iterator[Run]:
    for one, document in dataset.opened(folder).results():
        known = one["lab"] or {}
        yield Run(one["run"], _checked(document, folder / one["result"]["file"]), **known)


def _of_a_result(path: Path, document: Any) -> Iterator[Run]:
    parts = split(_checked(document, path))
    name = str(path.parent) if path.name == RESULT else str(path)
    for part in parts:
        capture = part["captures"][0]["path"]
        yield Run(name if len(parts) == 1 else f"{name}: {capture}", part)


def _checked(document: Any, path: Path) -> Node:
    from .reports.contract import SCHEMA

    if not isinstance(document, dict) or document.get("schema") != SCHEMA:
        raise ValueError(f"{path}: expected a document of {SCHEMA}")
    for key in ("captures", *OF_ONE_CAPTURE, "warnings"):
        if not isinstance(document.get(key), list):
            raise ValueError(f"{path}: a result without {key}: made by another pathscope?")
    if not document["captures"]:
        raise ValueError(f"{path}: a result of no capture")
    if not all(isinstance(one, dict) and "path" in one for one in document["captures"]) or not all(
        isinstance(one, dict) and "capture" in one
        for key in (*OF_ONE_CAPTURE, "warnings")
        for one in document[key]
    ):
        raise ValueError(f"{path}: a result whose parts are of no capture")
    return document


def _named_apart(runs: Iterable[Run]) -> Iterator[Run]:
    """Number runs that have the same name: a baseline may have been made of two sets."""
    seen: dict[str, int] = {}
    for run in runs:
        count = seen[run.name] = seen.get(run.name, 0) + 1
        yield run if count == 1 else replace(run, name=f"{run.name} ({count})")
