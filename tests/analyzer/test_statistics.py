"""Statistics against numbers that others published."""

from __future__ import annotations

import pytest
from pathscope.analyzer.statistics import Estimate, fit, summarize

# NIST, Statistical Reference Datasets, linear regression, "Norris": (y, x), with certified values.
NORRIS = [
    (0.1, 0.2), (338.8, 337.4), (118.1, 118.2), (888.0, 884.6), (9.2, 10.1), (228.1, 226.5),
    (668.5, 666.3), (998.5, 996.3), (449.1, 448.6), (778.9, 777.0), (559.2, 558.2), (0.3, 0.4),
    (0.1, 0.6), (778.1, 775.5), (668.8, 666.9), (339.3, 338.0), (448.9, 447.5), (10.8, 11.6),
    (557.7, 556.0), (228.3, 228.1), (998.0, 995.8), (888.8, 887.6), (119.6, 120.2), (0.3, 0.3),
    (0.6, 0.3), (557.6, 556.8), (339.3, 339.1), (888.0, 887.2), (998.5, 999.0), (778.9, 779.0),
    (10.2, 11.1), (117.6, 118.3), (228.9, 229.2), (668.4, 669.1), (449.2, 448.9), (0.2, 0.5),
]  # fmt: skip
SLOPE, SLOPE_ERROR = 1.00211681802045, 0.429796848199937e-03
INTERCEPT, INTERCEPT_ERROR = -0.262323073774029, 0.232818234301152
R2 = 0.999993745883712
T_34 = 2.032244509
"""Student's t, two-sided 95 %, 34 degrees of freedom."""


def about(estimate: Estimate, value: float, error: float) -> None:
    assert estimate.value == pytest.approx(value, rel=1e-9)
    assert estimate.low == pytest.approx(value - T_34 * error, rel=1e-7)
    assert estimate.high == pytest.approx(value + T_34 * error, rel=1e-7)


def test_a_line_has_the_certified_slope_and_intercept() -> None:
    line = fit([(x, y) for y, x in NORRIS])
    assert line is not None
    assert line.n == 36
    about(line.slope, SLOPE, SLOPE_ERROR)
    about(line.intercept, INTERCEPT, INTERCEPT_ERROR)
    assert line.r2 == pytest.approx(R2, rel=1e-12)


@pytest.mark.parametrize(
    # t for 95 %, two-sided, as printed in any table of Student's t.
    ("values", "mean", "sd", "t"),
    [
        ([1, 2, 3, 4, 5], 3, 2.5**0.5, 2.776),
        ([2, 4], 3, 2**0.5, 12.706),
        (list(range(10)), 4.5, (82.5 / 9) ** 0.5, 2.262),
        (list(range(31)), 15, (2480 / 30) ** 0.5, 2.042),
    ],
)
def test_a_sample_has_its_mean_deviation_and_interval(
    values: list[float], mean: float, sd: float, t: float
) -> None:
    found = summarize(values)
    assert (found.n, found.mean) == (len(values), mean)
    assert found.sd == pytest.approx(sd)
    half = t * sd / len(values) ** 0.5
    assert found.low == pytest.approx(mean - half, abs=half * 3e-4)
    assert found.high == pytest.approx(mean + half, abs=half * 3e-4)


def test_one_value_has_no_interval() -> None:
    found = summarize([7.5])
    assert (found.n, found.mean, found.sd, found.low, found.high) == (1, 7.5, None, None, None)


def test_nothing_is_no_sample() -> None:
    with pytest.raises(ValueError, match="a value at least"):
        summarize([])


def test_two_points_make_a_line_without_intervals() -> None:
    line = fit([(1, 3), (2, 5)])
    assert line is not None
    assert line.slope == Estimate(pytest.approx(2), None, None)
    assert line.intercept == Estimate(pytest.approx(1), None, None)


@pytest.mark.parametrize("points", [[], [(1, 2)], [(1, 2), (1, 3), (1, 4)]])
def test_no_line_without_two_different_x(points: list[tuple[float, float]]) -> None:
    assert fit(points) is None


def test_a_line_that_does_not_rise() -> None:
    line = fit([(1, 2), (2, 2), (3, 2)])
    assert line is not None
    assert (line.slope.value, line.intercept.value, line.r2) == (0, 2, 1)
