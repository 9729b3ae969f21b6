"""Estimates from samples: a value, its 95 % interval, and the chance of it were all as asked for.

An asked value may be off by a tolerance: the chance is that of the nearest value within it. Small
chances are evidence against it; what is small enough, `verdicts` decides over all rows.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
from scipy import stats

from .model import Estimate

if TYPE_CHECKING:
    import numpy.typing as npt

    Sample = npt.NDArray[np.float64]

ALPHA = 0.05
NORMAL = float(stats.norm.ppf(1 - ALPHA / 2))


def share(k: int, n: int, asked: float, tolerance: float = 0.0) -> Estimate:
    """Estimate the chance of an event of which `k` were seen in `n` independent trials.

    The interval is Clopper's and Pearson's (1934), and the test the same one's.
    """
    low = float(stats.beta.ppf(ALPHA / 2, k, n - k + 1)) if k else 0.0
    high = float(stats.beta.ppf(1 - ALPHA / 2, k + 1, n - k)) if k < n else 1.0
    least, most = max(asked - tolerance, 0.0), min(asked + tolerance, 1.0)
    above, below = stats.binom.sf(k - 1, n, most), stats.binom.cdf(k, n, least)
    return Estimate(k / n, low, high, _two_sided(above, below))


def share_of_sum(k: int, chances: Sample, tolerance: float = 0.0, spread: float = 1.0) -> Estimate:
    """Estimate by how much events are more frequent than the trials' own chances say.

    The value is a share of all trials; the normal distribution is taken for that of the sum, with
    `spread` times the variance of independent trials.
    """
    n = chances.size
    asked = float(chances.mean())
    error = math.sqrt(spread * float((chances * (1 - chances)).sum())) / n
    return _normal(k / n, error, asked, tolerance)


def share_in_bursts(k: int, n: int, asked: float, burst: float, tolerance: float = 0.0) -> Estimate:
    """Estimate the share of losses that come in bursts of a mean length (Gilbert's chain).

    One trial tells less where it is like the one before: the n frames count as n (1 - c) / (1 + c)
    independent ones, with c the correlation of neighbours. The interval is Wilson's (1927).
    """
    spread = burst_spread(asked, burst)
    trials = n / spread
    value = k / n
    middle = (value + NORMAL**2 / (2 * trials)) / (1 + NORMAL**2 / trials)
    half = math.sqrt(value * (1 - value) / trials + NORMAL**2 / (4 * trials**2))
    half *= NORMAL / (1 + NORMAL**2 / trials)
    error = math.sqrt(asked * (1 - asked) / trials)
    p = _normal(value, error, asked, tolerance).p
    return Estimate(value, max(middle - half, 0.0), min(middle + half, 1.0), p)


def burst_spread(loss: float, burst: float) -> float:
    """Return how many times as much the share of losses varies as that of independent ones.

    The chain leaves the bad state with 1 / burst and enters it so that it is there for `loss` of
    the time; neighbours correlate by 1 - enter - leave.
    """
    leave = 1 / burst
    enter = leave * loss / (1 - loss)
    alike = 1 - enter - leave
    return (1 + alike) / (1 - alike)


def mean_burst(ended: int, losses: int, asked: float, tolerance: float = 0.0) -> Estimate:
    """Estimate the mean length of bursts, of which `ended` end with one of `losses` frames.

    Each lost frame is the last of its burst with the same chance, the mean length's reciprocal.
    """
    shortest, longest = max(asked - tolerance, 1.0), asked + tolerance
    ends = share(ended, losses, 1 / asked)
    above = stats.binom.sf(ended - 1, losses, 1 / shortest)
    below = stats.binom.cdf(ended, losses, 1 / longest)
    high = math.inf if ends.low == 0 else 1 / ends.low
    value = math.inf if ended == 0 else losses / ended
    return Estimate(value, 1 / ends.high, high, _two_sided(above, below))


def median(sample: Sample, asked: float, tolerance: float = 0.0) -> Estimate:
    """Estimate a median from a sorted sample, by the binomial law of its ranks (sign test)."""
    n = sample.size
    rank = max(int(stats.binom.ppf(ALPHA / 2, n, 0.5)) - 1, 0)
    above = n - int(np.searchsorted(sample, asked + tolerance, "right"))
    below = int(np.searchsorted(sample, asked - tolerance, "left"))
    p = _two_sided(stats.binom.sf(above - 1, n, 0.5), stats.binom.sf(below - 1, n, 0.5))
    low, high = float(sample[rank]), float(sample[n - 1 - rank])
    return Estimate(float(np.median(sample)), low, high, p)


def mean(values: Sample, asked: float, tolerance: float = 0.0) -> Estimate:
    """Estimate a mean from independent values, two at least, by Student's law."""
    n = values.size
    value, error = float(values.mean()), float(values.std(ddof=1)) / math.sqrt(n)
    half = float(stats.t.ppf(1 - ALPHA / 2, n - 1)) * error
    off = abs(value - asked) - tolerance
    p = 2 * float(stats.t.sf(_ratio(off, error), n - 1))
    return Estimate(value, value - half, value + half, min(p, 1.0))


def distance(sample: Sample, model: Sample, tolerance: float) -> Estimate:
    """Estimate how far a sorted sample's distribution is from that of equally likely values.

    The distance is the greatest between the two distribution functions (Kolmogorov, Smirnov). Its
    interval, and the chance of one so large were the true one at the tolerance, are those of
    Dvoretzky, Kiefer and Wolfowitz, with Massart's constant (1990).
    """
    places = np.concatenate((sample, model))
    ours = np.searchsorted(sample, places, "right") / sample.size
    theirs = np.searchsorted(model, places, "right") / model.size
    value = float(np.abs(ours - theirs).max())
    half = math.sqrt(math.log(2 / ALPHA) / (2 * sample.size))
    beyond = value - tolerance
    p = 1.0 if beyond <= 0 else min(1.0, 2 * math.exp(-2 * sample.size * beyond**2))
    return Estimate(value, max(value - half, 0.0), min(value + half, 1.0), p)


def times(estimate: Estimate, factor: float) -> Estimate:
    """Return an estimate in another unit."""
    value, low, high = (factor * one for one in (estimate.value, estimate.low, estimate.high))
    return Estimate(value, low, high, estimate.p)


def _normal(value: float, error: float, asked: float, tolerance: float) -> Estimate:
    p = 2 * float(stats.norm.sf(_ratio(abs(value - asked) - tolerance, error)))
    return Estimate(value, value - NORMAL * error, value + NORMAL * error, min(p, 1.0))


def _ratio(off: float, error: float) -> float:
    """How many errors a value is off; without an error, all or nothing."""
    if error:
        return off / error
    return math.inf if off > 0 else 0.0


def _two_sided(above: float, below: float) -> float:
    return min(1.0, 2 * float(min(above, below)))
