"""Intervals and chances against what is known in closed form, and against each other."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pathscope.replay.fidelity import intervals
from scipy import stats

COUNTS = st.integers(1, 5000).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))


@given(COUNTS, st.floats(0, 1))
def test_the_interval_of_a_share_and_its_chance_agree(
    counts: tuple[int, int], asked: float
) -> None:
    k, n = counts
    found = intervals.share(k, n, asked)
    known = stats.binomtest(k, n).proportion_ci(0.95, "exact")
    assert (found.low, found.high) == pytest.approx((known.low, known.high), abs=1e-9)
    if abs(found.p - 0.05) > 1e-9:
        assert (found.p < 0.05) == (not found.low <= asked <= found.high)


def test_a_tolerance_is_what_a_share_may_be_off() -> None:
    assert intervals.share(60, 1000, 0.05, 0.02).p > 0.5
    assert intervals.share(100, 1000, 0.05, 0.02).p == pytest.approx(
        intervals.share(100, 1000, 0.07).p
    )
    assert intervals.share(0, 1000, 0.01, 0.02).p == 1


def test_bursts_tell_less() -> None:
    alone = intervals.share(500, 10_000, 0.05)
    burst = intervals.share_in_bursts(500, 10_000, 0.05, 5)
    assert burst.high - burst.low > 2 * (alone.high - alone.low)
    # A mean burst of 1 / (1 - loss) is what independent losses have.
    assert intervals.burst_spread(0.05, 1 / 0.95) == pytest.approx(1)


@pytest.mark.parametrize(("loss", "burst"), [(0.05, 4.0), (0.2, 2.0), (0.5, 10.0)])
def test_the_spread_of_bursts_is_that_of_the_chain(loss: float, burst: float) -> None:
    rng = np.random.default_rng(3)
    runs, n = 2000, 1000
    leave = 1 / burst
    enter = leave * loss / (1 - loss)
    bad = rng.random(runs) < loss
    lost = np.zeros(runs)
    for _ in range(n):
        lost += bad
        drawn = rng.random(runs)
        bad = np.where(bad, drawn >= leave, drawn < enter)
    known = n * loss * (1 - loss) * intervals.burst_spread(loss, burst)
    assert lost.var() == pytest.approx(known, rel=0.1)


def test_the_mean_burst_is_the_losses_by_the_bursts() -> None:
    found = intervals.mean_burst(250, 1000, 4.0)
    assert found.value == 4
    assert found.low < 4 < found.high
    assert found.p == 1
    assert intervals.mean_burst(250, 1000, 5.0).p < 1e-3
    never = intervals.mean_burst(0, 100, 4.0)
    assert never.value == never.high == math.inf
    assert never.p < 1e-9


@given(st.integers(30, 2000), st.integers(0, 2**32 - 1))
def test_a_median_lies_in_its_interval(n: int, seed: int) -> None:
    sample = np.sort(np.random.default_rng(seed).normal(size=n))
    found = intervals.median(sample, 0.0)
    assert found.low <= found.value <= found.high
    assert intervals.median(sample, found.value).p > 0.9
    assert intervals.median(sample, found.value + 10).p < 1e-6
    assert intervals.median(sample, found.value + 10, 11).p > 0.9


def test_the_interval_of_a_median_misses_one_time_in_twenty() -> None:
    rng = np.random.default_rng(4)
    found = [intervals.median(np.sort(rng.exponential(size=100)), 0.0) for _ in range(2000)]
    missed = sum(not one.low <= math.log(2) <= one.high for one in found)
    assert missed / 2000 < 0.05


def test_the_distance_is_kolmogorovs() -> None:
    rng = np.random.default_rng(5)
    sample, model = np.sort(rng.normal(size=500)), np.sort(rng.normal(0.2, 1, 4096))
    found = intervals.distance(sample, model, 0.05)
    assert found.value == pytest.approx(stats.ks_2samp(sample, model).statistic)
    assert found.low < found.value < found.high
    assert intervals.distance(model, model, 0.0).value == 0


def test_a_mean_is_students() -> None:
    values = np.random.default_rng(6).normal(3, 1, 40)
    found, known = intervals.mean(values, 3.4), stats.ttest_1samp(values, 3.4)
    assert found.p == pytest.approx(known.pvalue)
    assert (found.low, found.high) == pytest.approx(tuple(known.confidence_interval(0.95)))
    assert intervals.mean(np.full(5, 3.0), 3.0).p == 1
    assert intervals.mean(np.full(5, 3.0), 2.0).p == 0
