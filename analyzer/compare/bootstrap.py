"""95 % intervals of a difference and a ratio of means: the bootstrap, BCa (Efron 1987).

Bias-corrected and accelerated intervals ask for no distribution; the acceleration is estimated by
leaving out one run at a time, of both sides. It is what `scipy.stats.bootstrap` gives, for all rows
of a table at once: rows with as many runs share their resamples, a mean of resampled runs is a sum
with weights, and so the means of all rows are one product of matrices. Resamples depend on the
seed and the number of runs alone: a row's interval does not depend on the table around it.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import ndtr, ndtri

if TYPE_CHECKING:
    import numpy.typing as npt

    Numbers = npt.NDArray[np.float64]

CONFIDENCE = 0.95
RESAMPLES = 2000


@dataclass(frozen=True, slots=True)
class Bounds:
    """Of every row the interval's ends; NaN where no run differs from others of its side."""

    low: Numbers
    high: Numbers


def differences(baseline: Numbers, candidate: Numbers, seed: int) -> Bounds:
    """Bound mean(candidate) - mean(baseline) of samples of shape (rows, runs of the side)."""
    resampled = _means(candidate, seed, 1) - _means(baseline, seed, 0)
    means, others = baseline.mean(axis=1), candidate.mean(axis=1)
    return _bca(
        _vary(baseline) | _vary(candidate),
        others - means,
        resampled,
        others[:, None] - _without_each(baseline),
        _without_each(candidate) - means[:, None],
    )


def ratios(baseline: Numbers, candidate: Numbers, seed: int) -> Bounds:
    """Bound mean(candidate) / mean(baseline); the baseline's values are all of one sign."""
    resampled = _means(candidate, seed, 1) / _means(baseline, seed, 0)
    means, others = baseline.mean(axis=1), candidate.mean(axis=1)
    return _bca(
        _vary(baseline) | _vary(candidate),
        others / means,
        resampled,
        others[:, None] / _without_each(baseline),
        _without_each(candidate) / means[:, None],
    )


def _means(values: Numbers, seed: int, side: int) -> Numbers:
    """Return the means of every resample, of shape (rows, RESAMPLES)."""
    runs = values.shape[1]
    # Divided at the end: sums of whole numbers are exact, so that equal means are equal.
    means: Numbers = values @ _draws(runs, seed, side) / runs
    return means


@lru_cache(maxsize=16)
def _draws(runs: int, seed: int, side: int) -> Numbers:
    """Draw how often each run is in each resample."""
    generator = np.random.default_rng((seed, side, runs))
    drawn = generator.multinomial(runs, np.full(runs, 1 / runs), size=RESAMPLES)
    return np.ascontiguousarray(drawn.T, dtype=np.float64)


def _vary(values: Numbers) -> npt.NDArray[np.bool_]:
    vary: npt.NDArray[np.bool_] = np.ptp(values, axis=1) > 0
    return vary


def _without_each(values: Numbers) -> Numbers:
    """Return the means that are left without each run: the jackknife."""
    runs = values.shape[1]
    if runs == 1:
        return np.full_like(values, np.nan)
    without: Numbers = (values.sum(axis=1, keepdims=True) - values) / (runs - 1)
    return without


def _bca(
    vary: npt.NDArray[np.bool_], found: Numbers, resampled: Numbers, *left_out: Numbers
) -> Bounds:
    """Return the quantiles to which bias and acceleration move those of 2.5 and 97.5 %."""
    below = (resampled < found[:, None]).mean(axis=1)
    not_above = (resampled <= found[:, None]).mean(axis=1)
    bias = ndtri((below + not_above) / 2)
    with np.errstate(invalid="ignore", divide="ignore"):
        acceleration = _acceleration(left_out)
        ends = []
        for tail in ((1 - CONFIDENCE) / 2, (1 + CONFIDENCE) / 2):
            moved = bias + ndtri(tail)
            ends.append(ndtr(bias + moved / (1 - acceleration * moved)))
    ordered = np.sort(resampled, axis=1)
    low, high = (np.where(vary, _quantiles(ordered, end), np.nan) for end in ends)
    return Bounds(low, high)


def _acceleration(left_out: tuple[Numbers, ...]) -> Numbers:
    cubes, squares = 0.0, 0.0
    for values in left_out:
        runs = values.shape[1]
        influence = (runs - 1) * (values.mean(axis=1, keepdims=True) - values)
        cubes = cubes + (influence**3).sum(axis=1) / runs**3
        squares = squares + (influence**2).sum(axis=1) / runs**2
    acceleration: Numbers = cubes / (6 * squares**1.5)
    return acceleration


def _quantiles(ordered: Numbers, shares: Numbers) -> Numbers:
    """Return one quantile a row, in between two resamples by its share; NaN for NaN."""
    known = np.isfinite(shares)
    position = np.where(known, shares, 0) * (ordered.shape[1] - 1)
    left = np.floor(position).astype(np.int64)
    right = np.minimum(left + 1, ordered.shape[1] - 1)
    rows = np.arange(len(ordered))
    part = position - left
    between = ordered[rows, left] * (1 - part) + ordered[rows, right] * part
    return np.where(known, between, np.nan)
