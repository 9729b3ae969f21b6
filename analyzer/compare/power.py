"""How many runs a side it takes to see a change: simulated from the spread of stored runs.

Both sides are drawn from the sample's own values, one of them changed, and held against each other
by the same rank test: so often that the share of trials that find the change is known to about
one percent. Values drawn twice are told apart by chance, as no two runs of a continuous
number are equal. A sample's spread about its own mean is somewhat less than that of what it is
from: its values are moved away from the mean by sqrt(n / (n - 1)) for that.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from .ranks import least_p, p_of_u

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

    Numbers = npt.NDArray[np.float64]

POWER = 0.8
LEVEL = 0.05
TRIALS = 1000
MOST_RUNS = 200


@dataclass(frozen=True, slots=True)
class Need:
    """Runs a side, and the share of trials with so many that found the change.

    `runs` is None where `MOST_RUNS` are not enough; `power` is what those reach then.
    """

    runs: int | None
    power: float


def needed_runs(values: Sequence[float], change: float, *, tests: int = 1, seed: int = 0) -> Need:
    """Return the least number of runs a side that finds a change in 80 % of trials.

    Parameters
    ----------
    values
        One metric at one place, of two runs at least.
    change
        What the candidate's values are greater by, in the metric's unit; for a relative one, that
        share of the values' mean. All values are moved, none is scaled: the spread stays.
    tests
        Of so many rows of a table the p-value is corrected for: the change is found at 5 % / tests,
        as the smallest p-value of the table would have to be.
    seed
        Of the trials.

    Raises
    ------
    ValueError
        For fewer than two values, a change of 0, or no test.
    """
    if len(values) < 2:
        raise ValueError("the spread of one run is not known: it takes two")
    if change == 0 or tests < 1:
        raise ValueError("there is no change to be found" if change == 0 else "tests: at least 1")
    numbers = np.asarray(values, dtype=np.float64)
    spread = (numbers - numbers.mean()) * np.sqrt(len(numbers) / (len(numbers) - 1))

    def power(runs: int) -> float:
        return _power(spread, change, runs, LEVEL / tests, seed)

    too_few, enough, reached = 1, 2, power(2)
    while reached < POWER:
        if enough == MOST_RUNS:
            return Need(None, reached)
        too_few, enough = enough, min(2 * enough, MOST_RUNS)
        reached = power(enough)
    while enough - too_few > 1:
        middle = (too_few + enough) // 2
        tried = power(middle)
        if tried < POWER:
            too_few = middle
        else:
            enough, reached = middle, tried
    return Need(enough, reached)


def _power(spread: Numbers, change: float, runs: int, level: float, seed: int) -> float:
    """Return the share of trials with so many runs a side that find the change."""
    if least_p(runs, runs) >= level:
        return 0.0
    generator = np.random.default_rng((seed, runs))
    drawn = generator.choice(spread, size=(TRIALS, 2 * runs))
    drawn[:, runs:] += change
    # Far less than what tells different values apart, so that only equal ones change places.
    drawn += np.ptp(drawn) * 1e-9 * generator.random(drawn.shape)
    ranks = drawn.argsort(axis=1).argsort(axis=1)
    u = ranks[:, runs:].sum(axis=1) - runs * (runs - 1) // 2
    return float((p_of_u(runs)[u] < level).mean())
