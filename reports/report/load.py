"""What the command was given, read and analyzed: captures, runs, results, comparisons, replays."""

from __future__ import annotations

import logging
import tempfile
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ... import sets
from ...analyzer.json_text import parsed
from ...dissectors._core import CaptureError
from ...dissectors.index import folder_of
from ...dissectors.ledger import ReadOptions
from . import data as datas
from .data import Case, ReportData, reading

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from ...api import Analysis

Node = dict[str, Any]

LOG = logging.getLogger(__name__)

COMPARISON, FIDELITY = "pathscope.compare/1", "pathscope.fidelity/1"

LARGEST_DOCUMENT_BYTES = 256_000_000

LEAST_FRAME_BYTES = 64
"""In a capture: a record's header, and those of Ethernet, IP and a transport."""


@dataclass(frozen=True, slots=True)
class How:
    """How captures are analyzed, as for `api.analyze`, and read again."""

    events: Path | None = None
    labels: tuple[str, ...] = ()
    options: ReadOptions = field(default_factory=lambda: ReadOptions(flows=True))
    end: str = "both"
    indexes: Path | None = None
    """Folder for offset indexes of large captures that have none; None: such are not made."""


def load(
    named: Sequence[str], how: How, progress: Callable[[str], None] | None = None
) -> ReportData:
    """Read what was named.

    Parameters
    ----------
    named
        Captures, folders of runs, results, datasets, baselines, folders and globs of these;
        documents of `pathscope.compare/1` and `pathscope.fidelity/1`. Two captures that are of the
        two ends of one run are one case.
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
            unread += [failure for one in group for failure in sets.failures(one)]
        except (CaptureError, ValueError, OSError, RecursionError) as error:
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
        found = parsed(path.read_text(encoding="utf-8"))
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
            yield case_of(analysis, how.indexes)
        return
    (source,) = group
    if source.kind in ("results", "dataset", "baseline"):
        for run in sets.read(source, how.labels):
            yield Case("", run.name, run.document, scenario=run.scenario)
        return
    if source.kind == "run":
        found = case_of(analyze(source.path, end=how.end, **known), how.indexes)
        yield replace(found, name=str(source.path), scenario=_scenario(source.path))
    else:
        yield case_of_capture(source.path, how.indexes, **known)


def case_of_capture(capture: Path, indexes: Path | None, **known: Any) -> Case:
    """Analyze a capture; when it is large, the same pass makes its index in a folder of its own.

    Parameters
    ----------
    capture
        A capture file.
    indexes
        Folder for that index; None: none is made.
    known
        What `api.analyze` takes beside it; raises what that does.
    """
    from ...api import analyze

    if indexes is not None and _may_be_large(capture) and not folder_of(capture).exists():
        folder = _new_index(indexes)
        try:
            analysis = analyze(capture, index=folder, **known)
        except (CaptureError, ValueError, OSError) as error:
            # A compressed capture has none: without one, it either has another fault or is read.
            LOG.info("%s has no index: %s", capture, error)
        else:
            return replace(case_of(analysis), index=folder)
    return case_of(analyze(capture, **known), indexes)


def case_of(analysis: Analysis, indexes: Path | None = None) -> Case:
    """Return the case of an analysis; of a large capture with an index, in a folder of its own.

    Parameters
    ----------
    analysis
        Of one capture, or of the two of one run.
    indexes
        Folder for that index, which takes another pass; None: none is made.
    """
    from ..figures.links import told

    document = analysis.to_dict()
    files = tuple(Path(one["path"]) for one in analysis.ledger.capture["files"])
    links = told(analysis.ledger, document["associations"], analysis.events)
    case = Case("", analysis.ledger.path, document, analysis, files, links=links)
    # Asked of a copy: the answer is kept, and may be another one with an index.
    if indexes is None or len(files) != 1 or replace(case).is_quick:
        return case
    return _indexed(case, analysis, indexes)


def _indexed(case: Case, analysis: Analysis, indexes: Path) -> Case:
    """Give a large capture an index, so that a window is read without the rest."""
    from ...dissectors.indexing import build

    folder = _new_index(indexes)
    try:
        build(case.files[0], reading(analysis), folder=folder)
    except (CaptureError, ValueError, OSError) as error:
        # Drawn from the ledger, and its packets by a pass.
        LOG.info("%s has no index: %s", case.name, error)
        return case
    return replace(case, index=folder)


def _new_index(indexes: Path) -> Path:
    return Path(tempfile.mkdtemp(dir=indexes)) / "index"


def _may_be_large(capture: Path) -> bool:
    """Whether a file has room for more frames than are read without an index."""
    return capture.stat().st_size > datas.MOST_FRAMES_WITHOUT_INDEX * LEAST_FRAME_BYTES


def _scenario(run: Path) -> str | None:
    from ...replay.lab import folder

    found = folder.facts(run).get("scenario")
    return found if isinstance(found, str) else None
