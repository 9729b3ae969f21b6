"""Whether two samples differ: the Mann-Whitney U test, two-sided.

Up to `EXACT_RUNS` runs the p-value is exact: the share of all ways to deal the pooled values to the
two sides that are as extreme. Without ties that is Mann and Whitney's table; with ties it is the
permutation test of the sum of mid-ranks. All ways are counted, none is sampled, by adding up how
many subsets of the ranks have each sum (Streitberg and Roehmel 1986). Beyond, it is the normal
approximation with corrections for ties and continuity. The p-value of either tail is doubled.

Sampled permutations would not do in a table: no p-value of 9999 of them is below 0.0001, which a
correction over a few hundred rows makes more than 0.05.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from math import comb
from typing import TYPE_CHECKING

import numpy as np
from scipy import stats

if TYPE_CHECKING:
    import numpy.typing as npt

    Numbers = npt.NDArray[np.float64]

EXACT_RUNS = 50
"""Of both sides together: they can be dealt in 1.3e14 ways, which a float counts exactly."""

EXACT, PERMUTED, NORMAL = (
    "Mann-Whitney, exact",
    "permutation of ranks, exact",
    "Mann-Whitney, normal approximation",
)


@dataclass(frozen=True, slots=True)
class Tested:
    """A p-value, the test that it comes from, and which way the ranks differ.

    `shift` is the share of pairs of runs in which the candidate's value is greater, less the share
    in which it is less: -1 to 1.
    """

    p: float
    test: str
    shift: float


def rank_tests(baseline: Numbers, candidate: Numbers) -> list[Tested]:
    """Test samples of equal sizes, row by row.

    Parameters
    ----------
    baseline, candidate
        Of shape (rows, runs of the side), with a run at least; no row with all values equal.
    """
    runs, others = baseline.shape[1], candidate.shape[1]
    ranks = stats.rankdata(np.hstack((baseline, candidate)), axis=1)
    u = ranks[:, runs:].sum(axis=1) - others * (others + 1) / 2
    shifts = 2 * u / (runs * others) - 1
    if runs + others > EXACT_RUNS:
        found = stats.mannwhitneyu(baseline, candidate, axis=1, method="asymptotic")
        return [
            Tested(float(p), NORMAL, float(shift))
            for p, shift in zip(np.atleast_1d(found.pvalue), shifts, strict=True)
        ]
    # Doubled, mid-ranks are whole numbers.
    doubled = np.rint(2 * ranks).astype(np.int64)
    return [
        _exact(row[:runs], row[runs:], float(shift))
        for row, shift in zip(doubled, shifts, strict=True)
    ]


def least_p(runs: int, others: int) -> float:
    """Return the smallest p-value that so many runs a side can give."""
    return min(1.0, 2 / comb(runs + others, runs))


def p_of_u(runs: int) -> Numbers:
    """Return the p-values of all U, 0 to runs^2, that so many runs a side give without ties."""
    if 2 * runs > EXACT_RUNS:
        away = np.abs(np.arange(runs * runs + 1) - runs * runs / 2) - 0.5
        sd = np.sqrt(runs * runs * (2 * runs + 1) / 12)
        p: Numbers = 2 * stats.norm.sf(away / sd)
        return np.minimum(p, 1)
    below, ways = _sums(tuple(range(1, 2 * runs + 1)), runs)
    first = runs * (runs + 1) // 2  # the sum of the ranks of a side that is below the other
    less = (below + ways)[first:]
    return np.minimum(2 * np.minimum(less, less[::-1]) / comb(2 * runs, runs), 1)


def _exact(
    baseline: npt.NDArray[np.int64], candidate: npt.NDArray[np.int64], shift: float
) -> Tested:
    dealt = min(baseline, candidate, key=len)
    pooled = np.sort(np.concatenate((baseline, candidate)))
    below, ways = _sums(tuple(pooled.tolist()), len(dealt))
    total = int(dealt.sum())
    less = float(below[total]) + float(ways[total])
    more = float(below[-1]) + float(ways[-1]) - float(below[total])
    p = min(1.0, 2 * min(less, more) / comb(len(pooled), len(dealt)))
    untied = bool((np.diff(pooled) > 0).all())
    return Tested(p, EXACT if untied else PERMUTED, shift)


@lru_cache(maxsize=256)
def _sums(ranks: tuple[int, ...], size: int) -> tuple[Numbers, Numbers]:
    """Count the subsets of that size with a sum less than each, and with each, up to the greatest.

    The ranks are in rising order; the counts do not depend on the values behind them, so that rows
    without ties share one.
    """
    greatest = sum(ranks[-size:])
    counts = np.zeros((size + 1, greatest + 1))
    counts[0, 0] = 1
    for rank in ranks:
        # numpy reads the right side whole before it writes: every rank is dealt once at most.
        counts[1:, rank:] += counts[:-1, : greatest + 1 - rank]
    ways = counts[size]
    return np.cumsum(ways) - ways, ways
