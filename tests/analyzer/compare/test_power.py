"""How many runs it takes, against what is known of the test."""

from __future__ import annotations

import numpy as np
import pytest
from pathscope.analyzer.compare.power import MOST_RUNS, needed_runs
from scipy import stats

NORMAL = tuple(stats.norm.ppf((np.arange(200) + 0.5) / 200))


def test_it_is_what_the_literature_says_of_normal_numbers() -> None:
    """One standard deviation takes Student's test 17 runs a side at 80 % and 5 % (Cohen 1988, table
    2.4.1), and the rank test, of efficiency 3 / pi, about 18; half of one 64, about 67."""
    whole, half = needed_runs(NORMAL, 1.0), needed_runs(NORMAL, -0.5)
    assert whole.runs is not None
    assert half.runs is not None
    assert 16 <= whole.runs <= 19
    assert 61 <= half.runs <= 72
    assert whole.power >= 0.8


def test_it_does_not_depend_on_units_and_is_the_same_again() -> None:
    thousandth = needed_runs([value / 1000 for value in NORMAL], 0.001)
    assert thousandth.runs == needed_runs(NORMAL, 1.0).runs
    assert needed_runs(NORMAL, 1.0) == needed_runs(NORMAL, 1.0)


def test_without_spread_it_takes_what_the_test_needs_at_least() -> None:
    """4 against 4: p = 2 / 70; a twentieth of 5 % takes 2 / 924."""
    assert needed_runs([5.0, 5.0], 0.1).runs == 4
    assert needed_runs([5.0, 5.0], 0.1, tests=20).runs == 6


def test_more_tests_take_more_runs() -> None:
    one, many = needed_runs(NORMAL, 1.5).runs, needed_runs(NORMAL, 1.5, tests=100).runs
    assert one is not None
    assert many is not None
    assert one < many


def test_a_change_that_is_too_small_is_said_to_be() -> None:
    found = needed_runs(NORMAL, 0.05)
    assert found.runs is None
    assert found.power < 0.8
    assert MOST_RUNS == 200


def test_refusals() -> None:
    with pytest.raises(ValueError, match="it takes two"):
        needed_runs([1.0], 1)
    with pytest.raises(ValueError, match="no change"):
        needed_runs([1.0, 2.0], 0)
    with pytest.raises(ValueError, match="at least 1"):
        needed_runs([1.0, 2.0], 1, tests=0)
