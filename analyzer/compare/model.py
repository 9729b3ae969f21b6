"""What a comparison is made of: samples of a metric, and a row of the table for each pair of them.

All numbers are in the unit of the result contract.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Verdict = Literal["better", "worse", "changed", "same", "not-significant", "not-enough-runs"]
"""changed: significant and beyond the tolerance, of a metric without a direction."""


@dataclass(frozen=True, slots=True)
class Sample:
    """One metric at one place, over the runs of one set and group.

    `metric` is the key of the result contract, `place` says where in a result it stands ("handover
    1 of a", "path wlan, a", "association, a", "flow 0, a"). `runs` and `values` go together: the
    runs that have the number; `absent` are the others, each with its reason.
    """

    metric: str
    place: str
    unit: str
    runs: tuple[str, ...]
    values: tuple[float, ...]
    absent: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Side:
    """What the runs of one set say; `sd` (n - 1) is None for a single run."""

    n: int
    median: float
    mean: float
    sd: float | None


@dataclass(frozen=True, slots=True)
class Interval:
    """An estimate with its 95 % interval; no bounds where the runs do not bound it."""

    value: float
    low: float | None
    high: float | None


@dataclass(frozen=True, slots=True)
class Row:
    """One metric at one place in both sets.

    A side is None when none of its runs has the number. `difference` (candidate - baseline) and
    `ratio` (candidate / baseline) are of the means. `p` is the test's own, `p_holm` corrected over
    the table; both are None where nothing was tested, and `test` says why.
    """

    group: str
    metric: str
    place: str
    unit: str
    baseline: Side | None
    candidate: Side | None
    difference: Interval | None
    ratio: Interval | None
    p: float | None
    p_holm: float | None
    test: str
    verdict: Verdict
    why: str
    warnings: tuple[str, ...]
