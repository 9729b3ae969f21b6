"""The public Python API: a trace's messages sent again by a real stack, beside the trace."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from .analyzer.compare.runs import Run
from .comparisons import compare
from .sets import RunSet

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from pathlib import Path

    from .analyzer.compare.comparison import Comparison
    from .dissectors.ledger import ReadOptions, Source
    from .replay.lab.run import Kernel
    from .replay.lab.scenario import Scenario
    from .replay.live.run import Made
    from .replay.live.talk import Talk

Node = dict[str, Any]

ORIGINAL, LIVE = "original", "live"


@dataclass(frozen=True, slots=True)
class LiveRun:
    """A trace sent again, and compared.

    Attributes
    ----------
    folder
        Of the run (docs/lab.md); of several, the one that theirs are in.
    scenario
        What was run.
    made
        How it came about: what of the trace, with which settings by which basis, and warnings.
    comparison
        The trace as baseline, the runs as candidate (docs/compare.md).
    """

    folder: Path
    scenario: Scenario
    made: Made
    comparison: Comparison


def run(
    trace: Source,
    out: Path,
    *,
    profile: Mapping[str, Any] | None = None,
    sctp: Iterable[str] = (),
    kernel: Kernel = "auto",
    association: int | None = None,
    flow: int | None = None,
    labels: Sequence[str] = (),
    options: ReadOptions | None = None,
    originals: Iterable[Source] = (),
    repetitions: int = 1,
    seed: int = 1,
    force: bool = False,
    progress: Callable[[str], None] | None = None,
) -> LiveRun:
    """Send a trace's messages again over real sockets in the lab, and compare what came of it.

    Parameters
    ----------
    trace, profile, sctp, association, flow, labels, options, seed
        As `replay.live.run.plan` has them.
    out, kernel, repetitions, force, progress
        As `replay.live.run.run` has them.
    originals
        Further captures of the original kind of run: a verdict needs several on either side.

    Raises
    ------
    ValueError
        When something given cannot be used: LiveError, ProfileError, ScenarioError, FolderError.
    CaptureError
        When a capture cannot be read.
    LabError
        When a run fails.
    """
    from .replay.live import run as live

    planned = live.plan(
        trace,
        profile=profile,
        sctp=sctp,
        association=association,
        flow=flow,
        labels=labels,
        options=options,
        seed=seed,
    )
    made = live.run(
        planned, out, kernel=kernel, repetitions=repetitions, force=force, progress=progress
    )
    found = beside((trace, *originals), made, labels, options, seed)
    return LiveRun(made.folder, planned.scenario, made, found)


def beside(
    sources: Sequence[Source],
    made: Made,
    labels: Sequence[str] = (),
    options: ReadOptions | None = None,
    seed: int = 1,
) -> Comparison:
    """Compare a trace, and others of its kind, with the runs that send it again.

    Parameters
    ----------
    sources
        The trace, and the others.
    made
        The runs.
    labels
        Names for paths, which do not replace those of the runs.
    options
        How the sources are read.
    seed
        Of the random numbers that intervals and tests draw.
    """
    talk = made.planned.talk
    rules = (*talk.paths.labels(), *labels)
    ours = []
    for number, one in enumerate(sources):
        document = _analyzed(one, rules, "both", options)
        ours.append(Run(str(one), _only(document, talk, None if number else talk.number)))
    theirs = [
        Run(str(one), _only(_analyzed(one, (), talk.seen_at, None), talk, None))
        for one in made.runs
    ]
    return compare(RunSet(ORIGINAL, tuple(ours), ()), RunSet(LIVE, tuple(theirs), ()), seed=seed)


def _analyzed(source: Source, rules: Sequence[str], end: str, options: ReadOptions | None) -> Node:
    from .api import analyze

    with_flows = None if options is None else replace(options, flows=True)
    return analyze(source, labels=rules, end=end, options=with_flows).to_dict()


def _only(document: Node, talk: Talk, number: int | None) -> Node:
    """Return a result with nothing but what was sent again, as the first of its kind.

    `number` is its own in this result; None for the one that carried most.
    """
    kind = "associations" if talk.protocol == "sctp" else "flows"
    there = [one for one in document[kind] if one.get("protocol", talk.protocol) == talk.protocol]
    chosen = [one for one in there if one["id"] == number] if number is not None else []
    if not chosen and there:
        chosen = [max(there, key=_new_bytes)]
    empty: Node = {key: [] for key in ("associations", "flows", "connections", "icmp_errors")}
    return document | empty | {kind: [one | {"id": 0} for one in chosen]}


def _new_bytes(one: Node) -> float:
    sides = one["totals"].values() if "totals" in one else (one["a_to_b"], one["b_to_a"])
    return float(sum(_value(side, "new_bytes") for side in sides))


def _value(side: Node, name: str) -> float:
    metrics = side.get("metrics", side)
    return float(metrics.get(name, {}).get("value") or 0)
