"""The handovers of a sender, one after the other: its course, matched in order with the other's.

The most common course of either side stands for it. They are told apart only where one of them is
in no run of the other side: else the same things happen on both, some here more often than there.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from .difference import Difference, Evidence, Seen
from .facts import associations

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from .difference import What
    from .pairing import Group
    from .runs import Run

Node = dict[str, Any]

LONGEST = 200
"""Handovers of a course that are matched in order: matching takes time by the square."""


@dataclass(frozen=True, slots=True)
class Move:
    """What makes two handovers the same."""

    from_path: str
    to_path: str
    cause: str

    def __str__(self) -> str:
        return f"{self.from_path} -> {self.to_path}, {self.cause}"


Course = tuple[Move, ...]


@dataclass(frozen=True, slots=True)
class Common:
    """The most common course of a side: how many runs took it, and the first of them."""

    course: Course
    runs: int
    of: int
    first: Run
    handovers: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Match:
    """Two handovers matched in order, as places in either course; None: the other has none."""

    baseline: int | None
    candidate: int | None


def course_differences(group: Group) -> list[Difference]:
    """Return handovers that appeared, vanished, or have another cause or other paths."""
    return list(_differences(group))


def _differences(group: Group) -> Iterator[Difference]:
    baseline, candidate = (_courses(runs) for runs in (group.baseline, group.candidate))
    for place in dict.fromkeys((*baseline, *candidate)):
        one = common(baseline.get(place, {}), group.baseline)
        other = common(candidate.get(place, {}), group.candidate)
        ours, theirs = (
            _taken(baseline, place, group.baseline),
            _taken(candidate, place, group.candidate),
        )
        if one.course == other.course or (one.course in theirs and other.course in ours):
            continue
        clear = not ours & theirs and one.runs == one.of and other.runs == other.of
        for match in matched(one.course, other.course):
            what = _what(match, one.course, other.course)
            if what is not None:
                number = match.candidate if match.baseline is None else match.baseline
                name = f"handover {(number or 0) + 1} of {place[1]}, {place[0]}"
                yield Difference(
                    group.name,
                    "handover",
                    what,
                    name,
                    _seen(one, match.baseline),
                    _seen(other, match.candidate),
                    clear,
                )


Place = tuple[str, str]
"""The association and its end whose new DATA moved."""

Taken = dict[Course, list[tuple["Run", tuple[Node, ...]]]]


def _courses(runs: Sequence[Run]) -> dict[Place, Taken]:
    found: dict[Place, Taken] = defaultdict(lambda: defaultdict(list))
    for run in runs:
        for place, handovers in courses_of(run).items():
            course, nodes = zip(*handovers, strict=True)
            found[place][course].append((run, nodes))
    return found


def courses_of(run: Run) -> dict[Place, list[tuple[Move, Node]]]:
    """Return the course of every sender that had a handover."""
    found: dict[Place, list[tuple[Move, Node]]] = defaultdict(list)
    for where, association in associations(run.document):
        labels = {path["id"]: path["label"] for path in association["paths"]}
        for handover in association["handovers"]:
            move = Move(
                labels[handover["from_path"]], labels[handover["to_path"]], handover["cause"]
            )
            found[where, handover["sender"]].append((move, handover))
    return found


def common(taken: Taken, runs: Sequence[Run]) -> Common:
    """Return the most common course; the first seen of those that are as common.

    A run without any handover there took the empty one.
    """
    moved = {run.name for shown in taken.values() for run, _ in shown}
    still = [run for run in runs if run.name not in moved]
    best = max(taken.items(), key=lambda item: len(item[1]), default=None)
    if best is None or len(still) > len(best[1]):
        return Common((), len(still), len(runs), still[0], ())
    course, shown = best
    return Common(course, len(shown), len(runs), *shown[0])


def _taken(courses: dict[Place, Taken], place: Place, runs: Sequence[Run]) -> set[Course]:
    taken = courses.get(place, {})
    moved = sum(len(shown) for shown in taken.values())
    return {*taken, *([()] if moved < len(runs) else [])}


def matched(one: Course, other: Course) -> list[Match]:
    """Match handovers in order, so that as few as can be are different or alone.

    A handover with another cause counts as half a difference, one with another path as one, one
    alone as three quarters: rather one that changed than one that went and one that came.
    """
    one, other = one[:LONGEST], other[:LONGEST]

    costs = [[0.0] * (len(other) + 1) for _ in range(len(one) + 1)]
    for i in range(len(one), -1, -1):
        for j in range(len(other), -1, -1):
            ways = [cost + costs[x][y] for cost, x, y in _steps(one, other, i, j)]
            costs[i][j] = min(ways, default=0.0)
    found = []
    i = j = 0
    while i < len(one) or j < len(other):
        _, x, y = min(_steps(one, other, i, j), key=lambda s: s[0] + costs[s[1]][s[2]])
        found.append(Match(i if x > i else None, j if y > j else None))
        i, j = x, y
    return found


def _steps(one: Course, other: Course, i: int, j: int) -> Iterator[tuple[float, int, int]]:
    if i < len(one) and j < len(other):
        yield _cost(one[i], other[j]), i + 1, j + 1
    if i < len(one):
        yield 0.75, i + 1, j
    if j < len(other):
        yield 0.75, i, j + 1


def _cost(one: Move, other: Move) -> float:
    if (one.from_path, one.to_path) != (other.from_path, other.to_path):
        return 1.0
    return 0.0 if one.cause == other.cause else 0.5


def _what(match: Match, one: Course, other: Course) -> What | None:
    if match.baseline is None:
        return "appeared"
    if match.candidate is None:
        return "vanished"
    before, after = one[match.baseline], other[match.candidate]
    if (before.from_path, before.to_path) != (after.from_path, after.to_path):
        return "changed path"
    return None if before.cause == after.cause else "changed cause"


def _seen(side: Common, number: int | None) -> Seen:
    if number is None:
        return Seen(None, side.runs, side.of, Evidence(side.first.name, ()))
    handover = side.handovers[number]
    first = handover["instants"]["t_first_new"].get("frame")
    frames = (*handover["cause_frames"], *([] if first is None else [first]))
    evidence = Evidence(side.first.name, tuple(dict.fromkeys(frames)))
    return Seen(str(side.course[number]), side.runs, side.of, evidence)
