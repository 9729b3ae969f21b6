"""A part of a dataset, analyzed by one worker and written by it: all of it, or nothing of it."""

from __future__ import annotations

import json
import re
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..dissectors import _core
from . import store
from .captures import Failure, files_of
from .dataset import PART_SCHEMA, RECORD, RESULTS

if TYPE_CHECKING:
    from ..api import Analysis
    from .captures import Item
    from .settings import Settings
    from .tables import Gathered

Node = dict[str, Any]

PIPE = re.compile(r"/dev/fd/[0-9]+")
"""What a capture behind an address is called while it is read."""


@dataclass(frozen=True, slots=True)
class Part:
    """Captures that are analyzed together.

    Attributes
    ----------
    name
        Digest of its captures' keys.
    items
        The captures.
    settings
        How they are analyzed.
    folder
        Of the dataset, absolute: every worker sees it there.
    """

    name: str
    items: tuple[Item, ...]
    settings: Settings
    folder: str


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of a part: `has_results` when it has been committed."""

    has_results: bool
    failures: tuple[Failure, ...]
    damaged: int = 0


class ChangedError(ValueError):
    """A capture that was not the same before and after it was read."""


def analyze_part(part: Part) -> Outcome:
    """Analyze the captures of a part and commit their results.

    What a worker that was lost has committed is not done again. Only this outcome goes back to
    who asked: the results are on the disk.

    Raises
    ------
    SkewError
        When this process runs another pathscope than the one that asked.
    OSError
        When the dataset cannot be written to.
    """
    part.settings.check_same_code()
    folder = Path(part.folder)
    record = store.done(folder, part.name)
    if record is None:
        record = _work(part, folder)
    failures = tuple(Failure(one["run"], one["reason"]) for one in record["failures"])
    damaged = sum(one["damage"] is not None for one in record["captures"])
    return Outcome(bool(record["captures"]), failures, damaged)


def _work(part: Part, folder: Path) -> Node:
    from .tables import Gathered, parquet

    place = store.stage(folder, part.name)
    gathered = Gathered()
    captures: list[Node] = []
    failures: list[Node] = []
    for item in part.items:
        try:
            known, document = _analyzed(item, part.settings, gathered)
        except Exception as error:  # noqa: BLE001  no capture may stop the others
            failures.append({"run": item.name, "reason": _reason(error, item)})
            continue
        file = f"{RESULTS}/{item.key}.json"
        text = json.dumps(document, ensure_ascii=False, separators=(",", ":")).encode()
        captures.append({**known, "result": store.write(place, file, text)})
    tables = []
    for kind, name, table in gathered.tables():
        file = f"{kind}/{name}/{part.name}.parquet"
        written = store.write(place, file, parquet(table))
        tables.append({"kind": kind, "name": name, "rows": table.num_rows, **written})
    record = {
        "schema": PART_SCHEMA,
        "part": part.name,
        "tool": {"version": _core.__version__, "build_profile": _core.build_profile},
        "settings_sha256": part.settings.digest(),
        "captures": captures,
        "failures": failures,
        "tables": tables,
    }
    if captures:
        store.write(place, RECORD, store.as_json(record))
        store.commit(folder, part.name, place)
    else:
        store.discard(place)
    return record


def _analyzed(item: Item, settings: Settings, gathered: Gathered) -> tuple[Node, Node]:
    """Analyze a capture; returns what is known of it, and its result."""
    analysis, document = _read(item, settings)
    if files_of(item.place, item.kind) != item.files:
        raise ChangedError("it changed while it was read: analyze it again")
    from ..reports.units import file_name

    run = file_name(item.name)
    gathered.add(item.key, run, document, analysis.ledgers if settings.ledger else ())
    damages = (ledger.capture["damage"] for ledger in analysis.ledgers)
    known = {
        "key": item.key,
        "run": run,
        "kind": item.kind,
        "files": list(item.files),
        "lab": _lab(item),
        "damage": next((one for one in damages if one is not None), None),
        "associations": len(analysis.associations),
        "flows": len(analysis.flows),
    }
    return known, document


def _read(item: Item, settings: Settings) -> tuple[Analysis, Node]:
    from ..api import analyze
    from ..reports.units import file_name

    with ExitStack() as stack:
        source = item.place
        if item.kind == "remote":
            from .remote import streamed

            source = stack.enter_context(streamed(item.place))
        analysis = analyze(
            source,
            events=settings.events,
            labels=settings.labels,
            options=settings.options,
            end=settings.end,
        )
    if settings.thresholds is not None:
        analysis = analysis.judged(settings.thresholds)
    document = analysis.to_dict()
    for capture in document["captures"]:
        for one in (capture, *capture["files"]):
            one["path"] = one["path"].replace(file_name(source), file_name(item.name), 1)
    return analysis, document


def _lab(item: Item) -> Node | None:
    if item.kind != "run":
        return None
    from ..sets import of_a_run

    return of_a_run(Path(item.place))


def _reason(error: Exception, item: Item) -> str:
    """Say why, and call the capture by its name; a fault of the program's own by its kind, too."""
    if isinstance(error, OSError) and error.strerror:
        return error.strerror
    known = isinstance(error, _core.CaptureError | _core.FilterError | ValueError | OSError)
    text = str(error) if known else f"{type(error).__name__}: {error}"
    return PIPE.sub(lambda _: item.name, text.replace(item.place, item.name))
