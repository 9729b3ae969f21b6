"""Holm's correction."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pathscope.analyzer.compare.holm import at_best, holm

P_VALUES = st.lists(st.floats(0.001, 1), min_size=1, max_size=12)


def test_four_p_values() -> None:
    """By hand: 4 x 0.005, 3 x 0.01, 2 x 0.03; 0.04 may not come below 0.06."""
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([]) == []
    assert holm([0.7, 0.8]) == [1, 1]


@given(P_VALUES)
def test_it_never_lowers_and_keeps_the_order(p_values: list[float]) -> None:
    found = holm(p_values)
    assert all(
        p <= one <= min(1, p * len(p_values) + 1e-12)
        for p, one in zip(p_values, found, strict=True)
    )
    assert sorted(range(len(p_values)), key=lambda i: (p_values[i], i)) == sorted(
        range(len(p_values)), key=lambda i: (found[i], p_values[i], i)
    )


@given(P_VALUES, st.floats(0.0001, 1))
def test_at_best_is_the_correction_with_one_p_value_at_its_least(
    p_values: list[float], least: float
) -> None:
    floors = [min(p, least) for p in p_values]
    for number, found in enumerate(at_best(p_values, floors)):
        tried = [*p_values]
        tried[number] = floors[number]
        assert found == pytest.approx(holm(tried)[number])
