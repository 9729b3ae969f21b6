"""What the command was given, read and analyzed: captures, runs, results, comparisons, replays."""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ... import sets
from ...dissectors._core import CaptureError
from ...dissectors.ledger import ReadOptions
from ...replay.lab import folder
from .data import Case, ReportData

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from ...api import Analysis
    from ..figures.part import LinkChange

Node = dict[str, Any]

COMPARISON, FIDELITY = "pathscope.compare/1", "pathscope.fidelity/1"

LARGEST_DOCUMENT_BYTES = 256_000_000


@dataclass(frozen=True, slots=True)
class How:
    """How captures are analyzed; as for `api.analyze`."""

    events: Path | None = None
    labels: tuple[str, ...] = ()
    options: ReadOptions = field(default_factory=lambda: ReadOptions(flows=True))
    end: str = "both"


def load(
    named: Sequence[str], how: How, progress: Callable[[str], None] | None = None
) -> ReportData:
    """Read what was named.

    Parameters
    ----------
    named
        Captures, folders of runs, results, baselines, folders and globs of these; documents of
        `pathscope.compare/1` and `pathscope.fidelity/1`. Two captures that are of the two ends of
        one run are one case.
    how
        How captures are analyzed.
    progress
        Called with the name of what is being analyzed.

    Raises
    ------
    SetError, BaselineError
        When there is nothing of a name.
    ValueError
        When a label or an event cannot be read.
    """
    cases: list[Case] = []
    comparison: Node | None = None
    replays: list[tuple[str, Node]] = []
    unread: list[tuple[str, str]] = []
    rest: list[str] = []
    for name in named:
        document = _document(Path(name))
        if document is not None and document.get("schema") == COMPARISON:
            comparison = document
        elif document is not None and document.get("schema") == FIDELITY:
            replays.append((name, document))
        else:
            rest.append(name)
    sources = dict.fromkeys(found for name in rest for found in sets.find(name))
    for group in _grouped(list(sources)):
        if progress is not None:
            progress(", ".join(str(one.path) for one in group))
        try:
            cases += _cases(group, how)
        except (CaptureError, ValueError, OSError) as error:
            unread.append((", ".join(str(one.path) for one in group), str(error)))
    return ReportData(numbered(cases), comparison, tuple(replays), tuple(unread))


def numbered(cases: Iterable[Case]) -> tuple[Case, ...]:
    """Give cases their keys, in order."""
    return tuple(replace(one, key=str(number)) for number, one in enumerate(cases, start=1))


def _document(path: Path) -> Node | None:
    """Return a document of JSON; None for what is none, which others know how to refuse."""
    if path.suffix != ".json" or not path.is_file():
        return None
    if path.stat().st_size > LARGEST_DOCUMENT_BYTES:
        return None
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except ValueError:
        return None
    return found if isinstance(found, dict) else None


def _grouped(sources: list[sets.Source]) -> Iterator[tuple[sets.Source, ...]]:
    """Yield what is analyzed together: two captures and nothing else may be of one run."""
    if len(sources) == 2 and all(one.kind == "capture" for one in sources):
        yield tuple(sources)
    else:
        yield from ((one,) for one in sources)


def _cases(group: tuple[sets.Source, ...], how: How) -> Iterator[Case]:
    from ...api import analyze, analyze_two

    known: dict[str, Any] = {"events": how.events, "labels": how.labels, "options": how.options}
    if len(group) == 2:
        first, second = (one.path for one in group)
        for analysis in analyze_two(first, second, **known):
            yield _analyzed(analysis, how.events)
        return
    (source,) = group
    if source.kind in ("results", "baseline"):
        for run in sets.read(source, how.labels):
            yield Case("", run.name, run.document, scenario=run.scenario)
        return
    analysis = analyze(source.path, end=how.end, **known)
    if source.kind == "run":
        case = _analyzed(analysis, how.events or source.path / folder.EVENTS)
        yield replace(case, name=str(source.path), scenario=_scenario(source.path))
    else:
        yield _analyzed(analysis, how.events)


def _analyzed(analysis: Analysis, events: Path | None) -> Case:
    document = analysis.to_dict()
    files = tuple(Path(one["path"]) for one in analysis.ledger.capture["files"])
    links = _links(analysis, document["associations"], events)
    return Case("", analysis.ledger.path, document, analysis, files, links=links)


def _links(
    analysis: Analysis, associations: list[Node], events: Path | None
) -> dict[int, tuple[LinkChange, ...]]:
    """Return what the user told of links: the document has only what bears on a handover."""
    from ...analyzer.events import parse_events
    from ..figures.links import told

    lines = [] if events is None else events.read_text(encoding="utf-8").splitlines()
    return told(analysis.ledger, associations, parse_events(lines, str(events)))


def _scenario(run: Path) -> str | None:
    found = folder.facts(run).get("scenario")
    return found if isinstance(found, str) else None
