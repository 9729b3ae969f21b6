"""The rank test against SciPy's own tests and a published example."""

from __future__ import annotations

import numpy as np
import pytest
from pathscope.analyzer.compare.ranks import (
    EXACT,
    NORMAL,
    PERMUTED,
    least_p,
    p_of_u,
    rank_tests,
)
from scipy import stats

SIZES = [(1, 1), (3, 5), (7, 4), (10, 10), (25, 25)]


@pytest.mark.parametrize(("runs", "others"), SIZES)
def test_without_ties_it_is_the_exact_test_of_mann_and_whitney(runs: int, others: int) -> None:
    drawn = np.random.default_rng(1)
    baseline, candidate = drawn.normal(size=(20, runs)), drawn.normal(0.7, size=(20, others))
    expected = stats.mannwhitneyu(baseline, candidate, axis=1, method="exact")
    found = rank_tests(baseline, candidate)
    assert {one.test for one in found} == {EXACT}
    assert [one.p for one in found] == pytest.approx(np.atleast_1d(expected.pvalue))


@pytest.mark.parametrize(("runs", "others"), [(2, 3), (3, 5), (7, 4)])
def test_with_ties_it_counts_every_permutation(runs: int, others: int) -> None:
    drawn = np.random.default_rng(2)
    baseline = drawn.integers(0, 4, size=(10, runs)).astype(float)
    candidate = drawn.integers(0, 5, size=(10, others)).astype(float)
    for row, found in enumerate(rank_tests(baseline, candidate)):
        ranks = stats.rankdata(np.concatenate((baseline[row], candidate[row])))
        expected = stats.permutation_test(
            (ranks[:runs], ranks[runs:]),
            lambda one, _: float(np.sum(one)),
            vectorized=False,
            n_resamples=10_000,
        )
        assert found.p == pytest.approx(expected.pvalue)
        assert found.test == (EXACT if len(set(ranks)) == len(ranks) else PERMUTED)


def test_many_runs_take_the_normal_approximation() -> None:
    drawn = np.random.default_rng(3)
    baseline, candidate = drawn.normal(size=(5, 40)), np.round(drawn.normal(0.3, size=(5, 30)), 1)
    expected = stats.mannwhitneyu(baseline, candidate, axis=1, method="asymptotic")
    found = rank_tests(baseline, candidate)
    assert [one.p for one in found] == pytest.approx(np.atleast_1d(expected.pvalue))
    assert {one.test for one in found} == {NORMAL}


def test_a_published_example() -> None:
    """Hollander and Wolfe 1973, page 69: permeability at term and at 12 to 26 weeks, P = 0.1272."""
    term = [0.80, 0.83, 1.89, 1.04, 1.45, 1.38, 1.91, 1.64, 0.73, 1.46]
    earlier = [1.15, 0.88, 0.90, 0.74, 1.21]
    (found,) = rank_tests(np.array([earlier]), np.array([term]))
    assert found.p / 2 == pytest.approx(0.1272, abs=5e-5)
    assert found.shift == pytest.approx(2 * 35 / 50 - 1)


def test_the_least_p_is_that_of_sides_that_are_all_apart() -> None:
    for runs, others in SIZES:
        apart = rank_tests(
            np.arange(runs, dtype=np.float64)[None, :],
            np.arange(100, 100 + others, dtype=np.float64)[None, :],
        )
        assert apart[0].p == pytest.approx(least_p(runs, others))
        assert apart[0].shift == 1


@pytest.mark.parametrize("runs", [1, 4, 10])
def test_the_p_of_every_u_is_that_of_samples_with_it(runs: int) -> None:
    drawn = np.random.default_rng(4)
    baseline, candidate = drawn.normal(size=(30, runs)), drawn.normal(0.5, size=(30, runs))
    expected = stats.mannwhitneyu(candidate, baseline, axis=1, method="exact")
    u = expected.statistic.astype(int)
    assert p_of_u(runs)[u] == pytest.approx(expected.pvalue)
    assert len(p_of_u(runs)) == runs * runs + 1


def test_the_p_of_every_u_of_many_runs_is_the_approximation() -> None:
    drawn = np.random.default_rng(5)
    baseline, candidate = drawn.normal(size=(9, 60)), drawn.normal(0.3, size=(9, 60))
    expected = stats.mannwhitneyu(candidate, baseline, axis=1, method="asymptotic")
    assert p_of_u(60)[expected.statistic.astype(int)] == pytest.approx(expected.pvalue)
