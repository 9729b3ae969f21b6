"""Paths and findings that only one side has."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Any

from .difference import Difference, Evidence, Seen, appeared_or_vanished

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from .difference import Kind
    from .pairing import Group
    from .runs import Run

    Fact = tuple[str, str, tuple[int, ...]]
    """Where, what, and the frames that show it."""

Node = dict[str, Any]


def fact_differences(group: Group) -> list[Difference]:
    """Return paths and findings that some runs of one side have and none of the other."""
    return [
        *_differences(group, "path", _paths),
        *_differences(group, "finding", _findings),
    ]


def place(number: int, count: int) -> str:
    """Name an association by its order; a number is needed only where there are several."""
    return "association" if count == 1 else f"association {number}"


def _paths(document: Node) -> Iterator[Fact]:
    for where, association in associations(document):
        for path in association["paths"]:
            yield where, f"path {path['label']}", ()


def _findings(document: Node) -> Iterator[Fact]:
    for where, association in associations(document):
        for finding in association["findings"]:
            yield where, finding["rule"], tuple(finding["frames"])
    for number, flow in enumerate(document["flows"]):
        for finding in flow["findings"]:
            yield f"flow {number}", finding["rule"], tuple(finding["frames"])


def associations(document: Node) -> list[tuple[str, Node]]:
    """Return the associations of a run in order, by what they are called."""
    found = document["associations"]
    return [(place(number, len(found)), one) for number, one in enumerate(found)]


def _differences(
    group: Group, kind: Kind, facts: Callable[[Node], Iterator[Fact]]
) -> Iterator[Difference]:
    sides = [_shown(runs, facts) for runs in (group.baseline, group.candidate)]
    for where, what in sorted(set(sides[0]) ^ set(sides[1])):
        seen = [
            _seen(what, shown.get((where, what), {}), len(runs))
            for shown, runs in zip(sides, (group.baseline, group.candidate), strict=True)
        ]
        yield appeared_or_vanished(group.name, kind, where, seen[0], seen[1])


def _shown(
    runs: Sequence[Run], facts: Callable[[Node], Iterator[Fact]]
) -> dict[tuple[str, str], dict[str, Evidence]]:
    """Return every fact with the runs that show it, and of each where it does so first."""
    found: dict[tuple[str, str], dict[str, Evidence]] = defaultdict(dict)
    for run in runs:
        for where, what, frames in facts(run.document):
            found[where, what].setdefault(run.name, Evidence(run.name, frames))
    return found


def _seen(what: str, shown: dict[str, Evidence], of: int) -> Seen:
    if not shown:
        return Seen(None, 0, of, None)
    return Seen(what, len(shown), of, next(iter(shown.values())))
