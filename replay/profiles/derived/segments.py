"""Few steps out of many cells: neighbours that do not differ are joined, the most alike first."""

from __future__ import annotations

from heapq import heapify, heappop, heappush
from itertools import pairwise
from typing import TYPE_CHECKING, Protocol, Self, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


class Joinable(Protocol):
    """What is known of a stretch of time."""

    def joined(self, later: Self, /) -> Self:
        """Return what is known of it and the one right after it together."""


Cell = TypeVar("Cell", bound=Joinable)

SAME = 16.0
"""Neighbours differ where chance alone would make them do so by less: four deviations, squared.

High, because a long capture has many neighbours, and a step that is none is worse for whoever
edits the profile than one that is missed.
"""


def segments(cells: Sequence[Cell], difference: Callable[[Cell, Cell], float]) -> list[Cell]:
    """Join neighbours until all differ.

    Parameters
    ----------
    cells
        In order of time.
    difference
        Of two neighbours: how unlikely chance makes it, as a squared number of deviations.
    """
    found, whole = list(cells), [True] * len(cells)
    before = list(range(-1, len(cells) - 1))
    after = list(range(1, len(cells) + 1))
    # An entry is of the two cells as they were: a join gives both another age.
    age = [0] * len(cells)
    heap = [
        (difference(one, other), at, at + 1, 0, 0)
        for at, (one, other) in enumerate(pairwise(cells))
    ]
    heapify(heap)
    while heap and heap[0][0] <= SAME:
        _, left, right, left_age, right_age = heappop(heap)
        if not (whole[left] and whole[right]) or (age[left], age[right]) != (left_age, right_age):
            continue
        found[left], whole[right] = found[left].joined(found[right]), False
        age[left] += 1
        after[left] = after[right]
        if after[left] < len(cells):
            before[after[left]] = left
        for at, to in ((before[left], left), (left, after[left])):
            if at >= 0 and to < len(cells):
                heappush(heap, (difference(found[at], found[to]), at, to, age[at], age[to]))
    return [one for one, kept in zip(found, whole, strict=True) if kept]
