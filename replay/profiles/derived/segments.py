"""Few steps out of many cells: neighbours that do not differ are joined, the most alike first."""

from __future__ import annotations

from heapq import heapify, heappop, heappush
from itertools import pairwise
from math import log
from typing import TYPE_CHECKING, Protocol, Self, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


class Joinable(Protocol):
    """What is known of a stretch of time."""

    def joined(self, later: Self, /) -> Self:
        """Return what is known of it and the one right after it together."""


Cell = TypeVar("Cell", bound=Joinable)

CHANCE = 0.01
"""How often a capture in which nothing changes may still be given a step."""


def same(cells: int) -> float:
    """Return up to what difference neighbours are joined, a squared number of deviations.

    What is left in the end is the most unlike of all stretches, and these can begin and end at any
    of the cells: in cells^2 / 2 ways, each with the tail of a normal distribution.
    """
    return 2 * log(max(cells, 2) ** 2 / 2 / CHANCE)


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
    most = same(len(cells))
    while heap and heap[0][0] <= most:
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
