"""BCa intervals against SciPy's, from the same resamples; how often they hold what is true."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from pathscope.analyzer.compare import bootstrap
from pathscope.analyzer.compare.bootstrap import Bounds, differences, ratios
from scipy import stats

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy.typing as npt

    Numbers = npt.NDArray[np.float64]

# Efron and Tibshirani 1993, table 2.1: survival of 7 treated mice and of 9 others, in days.
TREATED = (94, 197, 16, 38, 99, 141, 23)
CONTROL = (52, 104, 146, 10, 51, 30, 40, 27, 46)


def difference(one: Any, other: Any, axis: int) -> Any:
    return other.mean(axis=axis) - one.mean(axis=axis)


def ratio(one: Any, other: Any, axis: int) -> Any:
    return other.mean(axis=axis) / one.mean(axis=axis)


def by_scipy(statistic: Any, resampled: Numbers, one: Numbers, other: Numbers) -> Any:
    known: Any = SimpleNamespace(bootstrap_distribution=resampled)
    return stats.bootstrap(
        (one, other),
        statistic,
        n_resamples=0,
        bootstrap_result=known,
        method="BCa",
        vectorized=True,
    ).confidence_interval


@pytest.mark.parametrize(("bound", "statistic"), [(differences, difference), (ratios, ratio)])
@pytest.mark.parametrize("sizes", [(10, 10), (3, 12)])
def test_the_interval_is_scipys(
    bound: Callable[[Numbers, Numbers, int], Bounds],
    statistic: Callable[..., Any],
    sizes: tuple[int, int],
) -> None:
    drawn = np.random.default_rng(1)
    baseline = drawn.uniform(5, 9, size=(4, sizes[0]))
    candidate = drawn.exponential(5, size=(4, sizes[1]))
    found = bound(baseline, candidate, 7)
    one, other = bootstrap._means(baseline, 7, 0), bootstrap._means(candidate, 7, 1)
    for row in range(4):
        resampled = other[row] - one[row] if statistic is difference else other[row] / one[row]
        expected = by_scipy(statistic, resampled, baseline[row], candidate[row])
        assert found.low[row] == pytest.approx(expected.low)
        assert found.high[row] == pytest.approx(expected.high)


def test_resamples_of_its_own_agree_with_scipys() -> None:
    one, other = np.array(CONTROL, float), np.array(TREATED, float)
    found = differences(one[None, :], other[None, :], 0)
    expected = stats.bootstrap(
        (one, other), difference, n_resamples=20_000, vectorized=True, rng=1
    ).confidence_interval
    assert other.mean() - one.mean() == pytest.approx(30.63, abs=0.01)
    assert found.low[0] == pytest.approx(expected.low, abs=4)
    assert found.high[0] == pytest.approx(expected.high, abs=4)


def test_intervals_of_ten_runs_hold_the_truth_nearly_as_often_as_they_say() -> None:
    """As is known of the bootstrap, somewhat less than 95 % for few runs; never far from it."""
    drawn = np.random.default_rng(2)
    baseline, candidate = drawn.normal(10, size=(1500, 10)), drawn.normal(12, size=(1500, 10))
    found = differences(baseline, candidate, 0)
    assert 0.90 < float(((found.low <= 2) & (found.high >= 2)).mean()) < 0.96
    found = ratios(baseline, candidate, 0)
    assert 0.90 < float(((found.low <= 1.2) & (found.high >= 1.2)).mean()) < 0.96


def test_what_does_not_vary_is_not_bounded() -> None:
    same = np.full((1, 5), 0.1)
    for found in (differences(same, 3 * same, 0), ratios(same, 3 * same, 0)):
        assert np.isnan(found.low[0])
        assert np.isnan(found.high[0])
    single = differences(np.array([[1.0]]), np.array([[2.0, 3.0, 4.0]]), 0)
    assert np.isnan(single.low[0])


def test_the_same_seed_gives_the_same_interval_in_any_table() -> None:
    drawn = np.random.default_rng(3)
    baseline, candidate = drawn.normal(size=(3, 8)), drawn.normal(size=(3, 9))
    whole, alone = (
        differences(baseline, candidate, 4),
        differences(baseline[1:2], candidate[1:2], 4),
    )
    assert alone.low[0] == pytest.approx(whole.low[1], rel=1e-12)
    other = differences(baseline, candidate, 5)
    assert other.low[1] != whole.low[1]
