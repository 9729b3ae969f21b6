"""Many captures into a dataset: what is there already stays, what is not is analyzed."""

from __future__ import annotations

import hashlib
import os
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..dissectors import _core
from . import dataset, forking, store
from .captures import KEY_LETTERS, Failure, look_at, named
from .dataset import LEDGER, TABLES, DatasetError
from .part import Outcome, Part
from .settings import Settings

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from os import PathLike

    from ..dissectors.ledger import ReadOptions
    from .captures import Found, Item
    from .engine import Done, Engine, Lost

Node = dict[str, Any]

PART_CAPTURES = 32
"""Of one part at most: some tenths of a second of work, lost when its worker is."""

PART_BYTES = 32_000_000
"""Of the captures of one part, where they are several: what is in memory of them at a time."""


@dataclass(frozen=True, slots=True)
class Progress:
    """How far it has come, in captures; `total` counts all of them."""

    total: int
    done: int
    skipped: int
    failed: int


@dataclass(frozen=True, slots=True)
class Summary:
    """What became of the captures of a dataset.

    Attributes
    ----------
    folder
        The dataset.
    done
        Captures that were analyzed.
    skipped
        Captures whose results were there.
    removed
        Captures whose results were taken away: of other settings or content, or no longer named;
        or of the same part as one of these, and analyzed anew.
    same
        Further names of captures: name, and the name that counts.
    failures
        Captures without a result.
    damaged
        How many were damaged, and have results up to there.
    """

    folder: Path
    done: int
    skipped: int
    removed: int
    same: tuple[tuple[str, str], ...]
    failures: tuple[Failure, ...]
    damaged: int


def analyze_many(
    captures: str | PathLike[str] | Iterable[str | PathLike[str]],
    folder: str | PathLike[str],
    *,
    jobs: int = 1,
    scheduler: str | None = None,
    ledger: bool = False,
    force: bool = False,
    events: Path | str | None = None,
    labels: Iterable[str] = (),
    options: ReadOptions | None = None,
    end: str = "both",
    thresholds: Path | str | None = None,
    progress: Callable[[Progress], None] | None = None,
) -> Summary:
    """Analyze many captures into a dataset (docs/many.md), or go on with one.

    With `jobs` above 1, a script that calls this needs `if __name__ == "__main__":` around what it
    does: its workers import it.

    Parameters
    ----------
    captures
        Captures, folders of them, runs of the lab, globs, or addresses for fsspec.
    folder
        The dataset: made when it is missing; captures whose results it has are skipped.
    jobs
        Local processes that work at a time; 1 for this one.
    scheduler
        Address of a running Dask cluster, such as `tcp://host:8786`, that works instead. Its
        workers see captures and dataset under the same names as this process.
    ledger
        Whether the dataset has the ledger's tables, too.
    force
        Let results go of captures that are no longer named.
    events, labels, options, end
        As for `analyze`.
    thresholds
        As for `Analysis.judged`.
    progress
        Called when it begins and after every part.

    Raises
    ------
    ValueError
        When there is no capture of a name, a setting cannot be read, the folder is something else
        or in use, results would have to go without `force`, or there are no fitting workers.
    OSError
        When the dataset cannot be written.
    """
    place = Path(folder).resolve()
    # There is work for sure: local workers start while captures are looked for.
    is_early = jobs > 1 and scheduler is None and not dataset.is_dataset(place)
    if is_early:
        forking.prepare()
    texts = [captures] if isinstance(captures, str | os.PathLike) else captures
    names = named(map(str, texts))
    settings = Settings.of(options, labels, events, end, thresholds, ledger=ledger)
    store.prepare(place)
    with store.locked(place), ExitStack() as stack:
        engine = _engine(stack, jobs, scheduler, place) if is_early else None
        found = look_at(names, settings.digest())
        plan = _plan(place, found, settings, force=force)
        if engine is None and plan.parts:
            engine = _engine(stack, jobs, scheduler, place)
        outcomes = engine(plan.parts) if engine is not None else iter(())
        if not plan.is_continued:
            _write_empty(place, settings)  # workers are busy meanwhile
        summary = _work(place, found, plan, outcomes, engine, progress)
        if plan.parts or plan.removed:
            store.sweep_partial(place)
            store.flush()
        store.write_head(place, _head(settings, found, summary.failures, finished=True))
    return replace(summary, folder=Path(folder))


def _engine(stack: ExitStack, jobs: int, scheduler: str | None, folder: Path) -> Engine:
    from . import engine

    if jobs == 1 and scheduler is None:
        return engine.in_this_process
    return stack.enter_context(engine.on_dask(jobs, scheduler, folder))


@dataclass(frozen=True, slots=True)
class _Plan:
    """What is to be done: captures that stay, and are damaged, and go; parts that are missing.

    `is_continued`: the dataset was whole, with these settings.
    """

    kept: int
    damaged: int
    removed: int
    parts: tuple[Part, ...]
    is_continued: bool


def _plan(folder: Path, found: Found, settings: Settings, *, force: bool) -> _Plan:
    """Bring the dataset to where only what is missing has to be done."""
    if dataset.is_dataset(folder):
        store.settle(folder)
        known = dataset.read(folder)
        parts, is_whole = known.parts, bool(known.head["finished"])
        is_continued = is_whole and known.head["settings_sha256"] == settings.digest()
    else:
        parts, is_whole, is_continued = (), True, False
    kept = _fitting(folder, parts, found.items, settings, is_flushed=is_whole)
    gone = [part for part in parts if part not in kept]
    named = {item.name for item in found.items} | {name for name, _ in found.same}
    named |= {failure.name for failure in found.failures}
    lost = [one["run"] for part in gone for one in part["captures"] if one["run"] not in named]
    if lost and not force:
        raise DatasetError(
            f"{folder} has results of {_count(len(lost))} not named now, such as {lost[0]}:"
            " choose another folder, or --force lets them go"
        )
    store.remove(folder, (part["part"] for part in gone))
    store.write_head(folder, _head(settings, found, found.failures, finished=False))
    store.sweep(folder, kept)
    done = [one for part in kept for one in part["captures"]]
    keys = {one["key"] for one in done}
    missing = [item for item in found.items if item.key not in keys]
    return _Plan(
        kept=len(done),
        damaged=sum(one["damage"] is not None for one in done),
        removed=sum(len(part["captures"]) for part in gone),
        parts=tuple(_part(items, settings, folder) for items in _batches(missing)),
        is_continued=is_continued,
    )


def _fitting(
    folder: Path,
    parts: Sequence[Node],
    items: Sequence[Item],
    settings: Settings,
    *,
    is_flushed: bool,
) -> list[Node]:
    """Return the parts of whose captures each is named, unchanged, and whole."""
    wanted = {item.key for item in items}
    content = {item.name: item.key for item in items}
    digest = settings.digest()
    return [
        part
        for part in parts
        if part["settings_sha256"] == digest
        and all(
            one["key"] in wanted and content.get(one["run"], one["key"]) == one["key"]
            for one in part["captures"]
        )
        and store.is_whole(folder, part, is_flushed=is_flushed)
    ]


def _write_empty(folder: Path, settings: Settings) -> None:
    """Give the dataset all of its tables."""
    from .tables import schemas

    store.write_empty(folder, TABLES, schemas(TABLES))
    store.write_empty(folder, LEDGER, schemas(LEDGER) if settings.ledger else {})


def _batches(items: Sequence[Item]) -> Iterator[list[Item]]:
    batch: list[Item] = []
    size = 0
    for item in items:
        if batch and (len(batch) == PART_CAPTURES or size + item.size_bytes > PART_BYTES):
            yield batch
            batch, size = [], 0
        batch.append(item)
        size += item.size_bytes
    if batch:
        yield batch


def _part(items: Sequence[Item], settings: Settings, folder: Path) -> Part:
    text = " ".join(item.key for item in items)
    name = hashlib.sha256(text.encode()).hexdigest()[:KEY_LETTERS]
    return Part(name, tuple(items), settings, str(folder))


def _work(
    folder: Path,
    found: Found,
    plan: _Plan,
    outcomes: Iterable[Done],
    engine: Engine | None,
    progress: Callable[[Progress], None] | None,
) -> Summary:
    """Have all parts done and published; what kills its workers is found by doing it alone."""
    total = len(found.items) + len(found.failures)
    summary = Summary(folder, 0, plan.kept, plan.removed, found.same, found.failures, plan.damaged)

    def told(new: Summary) -> Summary:
        if progress is not None:
            progress(Progress(total, new.done, new.skipped, len(new.failures)))
        return new

    told(summary)
    suspects: list[Part] = []
    for part, outcome in outcomes:
        if isinstance(outcome, Outcome):
            summary = told(_published(folder, part, outcome, summary))
        else:
            suspects += [_part([item], part.settings, folder) for item in part.items]
    for part in suspects:
        # One at a time: where a worker dies now, it is this capture's doing.
        for _, outcome in engine([part]) if engine is not None else ():
            known = outcome if isinstance(outcome, Outcome) else _killer(part, outcome)
            summary = told(_published(folder, part, known, summary))
    ordered = sorted(summary.failures, key=lambda failure: failure.name)
    return replace(summary, failures=tuple(ordered))


def _killer(part: Part, lost: Lost) -> Outcome:
    reason = f"{lost.workers} workers in a row ended while they analyzed it"
    return Outcome(has_results=False, failures=(Failure(part.items[0].name, reason),))


def _published(folder: Path, part: Part, outcome: Outcome, summary: Summary) -> Summary:
    if outcome.has_results:
        store.publish(folder, part.name)
    return replace(
        summary,
        done=summary.done + len(part.items) - len(outcome.failures),
        failures=summary.failures + outcome.failures,
        damaged=summary.damaged + outcome.damaged,
    )


def _head(settings: Settings, found: Found, failures: Sequence[Failure], *, finished: bool) -> Node:
    return {
        "schema": dataset.SCHEMA,
        "tool": {"version": _core.__version__, "build_profile": _core.build_profile},
        "settings": settings.to_dict(),
        "settings_sha256": settings.digest(),
        "finished": finished,
        "same": [{"run": name, "of": first} for name, first in found.same],
        "failures": [{"run": one.name, "reason": one.reason} for one in failures],
    }


def _count(captures: int) -> str:
    return "1 capture" if captures == 1 else f"{captures} captures"
