"""The public Python API: two sets of runs compared."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from .analyzer.compare.caveats import warned
from .analyzer.compare.comparison import Comparison, Unread, structure, timelines
from .analyzer.compare.pairing import Pairing, pair
from .sets import RunSet, read_set

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from .analyzer.compare.model import Row, Sample
    from .analyzer.compare.plan import Planned
    from .analyzer.compare.runs import Run
    from .analyzer.compare.tolerances import Tolerances

    Progress = Callable[[str], None]

SCHEMA = "pathscope.result/1"
NOTHING = Pairing((), ())

MOST_NAMED = 3
"""Broken results that are told of at a time."""

MISSING = (KeyError, TypeError, AttributeError)
"""What a stored result raises that has not all of what its contract says."""


def compare(
    baseline: str | RunSet,
    candidate: str | RunSet,
    *,
    store: Path | None = None,
    labels: Iterable[str] = (),
    tolerances: Path | str | None = None,
    metrics: Iterable[str] = (),
    seed: int = 0,
    progress: Progress | None = None,
) -> Comparison:
    """Compare two sets of runs: what the candidate's numbers and courses are beside the baseline's.

    Parameters
    ----------
    baseline, candidate
        A path, a glob, the name of a baseline, or several of these with commas between
        (docs/compare.md); or what `read_set` made of one.
    store
        Folder of baselines; None for the user's own.
    labels
        Names for paths of captures, as for `analyze`.
    tolerances
        A TOML file with how much a number may differ; None for those that come with pathscope.
    metrics
        Only these numbers, by their keys in the result contract; none for all.
    seed
        Of the random numbers that intervals and tests draw.
    progress
        Called with the name of each capture or run that is to be analyzed.

    Raises
    ------
    ValueError
        When a set cannot be found or has no runs, a metric is none, or the tolerances have a
        mistake; the message says which and where.
    OSError
        When the tolerances or a store cannot be read.
    """
    wanted, rules = _known(metrics), tuple(labels)
    limits = read_tolerances(tolerances)
    sides = [
        one if isinstance(one, RunSet) else read_set(one, store, rules, progress)
        for one in (baseline, candidate)
    ]
    unread = tuple(
        Unread(side, name, reason)
        for side, found in zip(("baseline", "candidate"), sides, strict=True)
        for name, reason in found.unread
    )
    # A set of which nothing could be read leaves nothing to pair, but still is to be told.
    try:
        pairing = pair(sides[0].runs, sides[1].runs) if all(s.runs for s in sides) else NOTHING
        return Comparison(
            baseline=sides[0].name,
            candidate=sides[1].name,
            pairing=pairing,
            rows=tuple(_rows(pairing, limits, wanted, seed)),
            differences=tuple(found for group in pairing.groups for found in structure(group)),
            timelines=tuple(found for group in pairing.groups for found in timelines(group)),
            warnings=tuple(warned(pairing)),
            unread=unread,
        )
    except MISSING:
        _name_the_broken(run for side in sides for run in side.runs)
        raise


def _name_the_broken(runs: Iterable[Run]) -> None:
    """Raise an error that names the runs whose results break the contract; nothing where none do.

    Only what went wrong asks for this: to check every result first would take longer than all else.
    """
    from .reports.contract_faults import fault

    faults = ((run.name, fault(run.document)) for run in runs)
    told = [f"{name}: no whole {SCHEMA}: {one}" for name, one in faults if one is not None]
    if told:
        raise ValueError("; ".join(told[:MOST_NAMED]))


def read_tolerances(source: Path | str | None) -> Tolerances:
    """Read how much a number may differ before it matters (docs/compare.md).

    Parameters
    ----------
    source
        A TOML file; None for what comes with pathscope.

    Raises
    ------
    ValueError
        When the file holds no tolerances; the message names file, line and key.
    OSError
        When the file cannot be read.
    """
    from .analyzer.compare.tolerances import Tolerances, parse_tolerances
    from .reports import names

    if source is None:
        return Tolerances()
    try:
        text = Path(source).read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise ValueError(f"{source}: not UTF-8") from error
    return parse_tolerances(text, str(source), names.metrics())


def _known(metrics: Iterable[str]) -> frozenset[str]:
    from .reports import names

    wanted = frozenset(metrics)
    if unknown := sorted(wanted - names.metrics()):
        raise ValueError(f"{unknown[0]}: no metric of the result contract (docs/metrics.md)")
    return wanted


def _rows(
    pairing: Pairing, tolerances: Tolerances, wanted: frozenset[str], seed: int
) -> Sequence[Row]:
    """Return the numbers of all groups: Holm's correction is over the whole table."""
    from .analyzer.compare import rows

    found: list[Row] = []
    for group in pairing.groups:
        ours, theirs = (_samples(side, wanted) for side in (group.baseline, group.candidate))
        found += rows.compare(group.name, ours, theirs, tolerances, seed=seed)
    return rows.corrected(found)


def _samples(runs: Sequence[Run], wanted: frozenset[str]) -> list[Sample]:
    from .analyzer.compare.samples import samples
    from .reports import names

    found = samples({run.name: run.document for run in runs}, names.units())
    return [one for one in found if not wanted or one.metric in wanted]


def plan(
    baseline: str | RunSet,
    change: str,
    *,
    metrics: Iterable[str],
    store: Path | None = None,
    labels: Iterable[str] = (),
    seed: int = 0,
) -> list[Planned]:
    """Say how many runs a side it takes to see a change of some numbers.

    Parameters
    ----------
    baseline, store, labels, seed
        As for `compare`.
    change
        Such as `5%` of a number's mean, or an amount in the number's unit.
    metrics
        The numbers, by their keys in the result contract, that will be compared.

    Raises
    ------
    ValueError, OSError
        As `compare`; also when the change is none, no run has any of the numbers, or something of
        the set cannot be read.
    """
    from .analyzer.compare.plan import parse_change, planned

    wanted, size = _known(metrics), parse_change(change)
    found = baseline if isinstance(baseline, RunSet) else read_set(baseline, store, tuple(labels))
    if found.unread:
        name, reason = found.unread[0]
        raise ValueError(f"{name}: {reason}")
    groups = pair(found.runs, found.runs).groups
    samples = [(g.name, one) for g in groups for one in _samples(g.baseline, wanted) if one.values]
    if not samples:
        raise ValueError(f"{found.name}: no run has any of {', '.join(sorted(wanted))}")
    return planned(samples, size, seed=seed)
