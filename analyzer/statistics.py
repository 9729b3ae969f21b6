"""Statistics of many runs, by SciPy: mean, deviation and interval of a sample; a line through points.

Intervals hold 95 % and are Student's: they take the runs for independent, and their values, or a
line's residuals, for normal.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy import stats

if TYPE_CHECKING:
    from collections.abc import Sequence

CONFIDENCE = 0.95


@dataclass(frozen=True, slots=True)
class Summary:
    """A sample: its size, mean, standard deviation (n - 1) and the mean's interval.

    The deviation and the interval are None for a single value.
    """

    n: int
    mean: float
    sd: float | None
    low: float | None
    high: float | None


@dataclass(frozen=True, slots=True)
class Estimate:
    """A number with its interval; None where two points leave none."""

    value: float
    low: float | None
    high: float | None


@dataclass(frozen=True, slots=True)
class Line:
    """A line by least squares: y = slope x + intercept, through `n` points.

    `r2` is the share of y's variance that the line explains (1 where y does not vary).
    """

    n: int
    slope: Estimate
    intercept: Estimate
    r2: float


def summarize(values: Sequence[float]) -> Summary:
    """Summarize a sample.

    Raises
    ------
    ValueError
        When it is empty.
    """
    n = len(values)
    if n == 0:
        raise ValueError("a sample has a value at least")
    mean = float(np.mean(values))
    if n == 1:
        return Summary(1, mean, None, None, None)
    sd = float(np.std(values, ddof=1))
    half = _quantile(n - 1) * sd / n**0.5
    return Summary(n, mean, sd, mean - half, mean + half)


def fit(points: Sequence[tuple[float, float]]) -> Line | None:
    """Fit a line to points (x, y); None where they have no two different x.

    With n points the intervals are Student's with n - 2 degrees of freedom.
    """
    xs, ys = [x for x, _ in points], [y for _, y in points]
    if len(set(xs)) < 2:
        return None
    found = stats.linregress(xs, ys)
    half = _quantile(len(points) - 2) if len(points) > 2 else None
    return Line(
        len(points),
        _estimate(found.slope, found.stderr, half),
        _estimate(found.intercept, found.intercept_stderr, half),
        1.0 if len(set(ys)) == 1 else float(found.rvalue) ** 2,
    )


def _estimate(value: float, error: float, quantile: float | None) -> Estimate:
    value = float(value)
    if quantile is None:
        return Estimate(value, None, None)
    return Estimate(value, value - quantile * float(error), value + quantile * float(error))


def _quantile(degrees: int) -> float:
    return float(stats.t.ppf((1 + CONFIDENCE) / 2, degrees))
