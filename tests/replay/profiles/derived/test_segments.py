from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st
from pathscope.replay.profiles.derived.segments import same, segments


@dataclass(frozen=True)
class Piece:
    total: float
    count: int

    @property
    def mean(self) -> float:
        return self.total / self.count

    def joined(self, later: Piece) -> Piece:
        return Piece(self.total + later.total, self.count + later.count)


def apart(one: Piece, other: Piece) -> float:
    return (one.mean - other.mean) ** 2


def test_a_step_is_all_that_is_left_of_two_levels() -> None:
    cells = [Piece(10, 1)] * 40 + [Piece(50, 1)] * 20
    assert segments(cells, apart) == [Piece(400, 40), Piece(1000, 20)]


def test_of_nothing_and_of_one_nothing_is_joined() -> None:
    assert segments([], apart) == []
    assert segments([Piece(1, 1)], apart) == [Piece(1, 1)]


@given(st.lists(st.floats(0, 100), max_size=60))
def test_nothing_is_lost_and_neighbours_differ(values: list[float]) -> None:
    found = segments([Piece(value, 1) for value in values], apart)
    assert sum(one.count for one in found) == len(values)
    assert abs(sum(one.total for one in found) - sum(values)) < 1e-6
    least = same(len(values))
    assert all(apart(one, other) > least for one, other in pairwise(found))
