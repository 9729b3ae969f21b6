"""The table of a comparison: a row for every metric at every place, and its verdict.

A verdict takes three things: that the sides differ beyond chance (the rank test, corrected over
the table), that the means differ by more than the metric's tolerance, and which way is better.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from .bootstrap import differences, ratios
from .holm import at_best, holm
from .model import Interval, Row, Sample, Side, Verdict
from .ranks import least_p, rank_tests

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import numpy.typing as npt

    from .bootstrap import Bounds
    from .ranks import Tested
    from .tolerances import Tolerance, Tolerances

    Numbers = npt.NDArray[np.float64]

LEVEL = 0.05
FEW_RUNS = 6
"""With fewer a side, little can be told: even 5 against 5, all apart, give p = 0.008, which is not
significant among more than six rows."""

BATCH = 256
"""Rows that are computed at once, which bounds the memory for their resamples."""

NOT_TESTED = "not tested"

Pair = tuple[Sample, Sample | None, Sample | None]
"""One of both, and those of the two sides."""


def compare(
    group: str,
    baseline: Sequence[Sample],
    candidate: Sequence[Sample],
    tolerances: Tolerances,
    *,
    seed: int = 0,
) -> list[Row]:
    """Compare two sets of samples, by metric and place.

    Parameters
    ----------
    group
        What the runs have in common; goes into the rows.
    baseline, candidate
        Samples of the same group; each metric and place once a side.
    tolerances
        What a metric may change by, and which way it is better.
    seed
        Of the bootstrap.

    Returns
    -------
    list of Row
        In the baseline's order, then what only the candidate has; nothing for a number that no run
        of either side has. The verdicts are those that stand if `corrected` finds the rows
        significant: call it on all rows of a comparison.
    """
    rows: dict[tuple[str, str], Row] = {}
    tested: dict[tuple[int, int], list[tuple[Sample, Sample]]] = defaultdict(list)
    for known, one, other in _pairs(baseline, candidate):
        if not _values(one) + _values(other):
            continue
        row, is_to_be_tested = _started(group, known, one, other)
        rows[row.metric, row.place] = row
        if is_to_be_tested and one is not None and other is not None:
            tested[len(one.values), len(other.values)].append((one, other))
    for pairs in tested.values():
        for start in range(0, len(pairs), BATCH):
            for row in _tested(pairs[start : start + BATCH], rows, tolerances, seed):
                rows[row.metric, row.place] = row
    return list(rows.values())


def corrected(rows: Sequence[Row]) -> list[Row]:
    """Correct the p-values of a whole table for their number, and set the verdicts.

    A row whose runs are so few that no outcome would be significant even alone takes no part in the
    correction, and costs the others nothing (Tarone 1990). Of the rest, one that is not
    significant is `not-enough-runs` where the smallest p-value of so many runs would not have been
    significant in its place either.
    """
    found = list(rows)
    family = []
    for number, row in enumerate(rows):
        if row.p is not None and _floor(row) < LEVEL:
            family.append((number, row, row.p))
        elif row.p is not None:
            why = f"{_counts(row)} cannot differ significantly, whatever their values"
            found[number] = replace(row, verdict="not-enough-runs", why=why)
    p_values = [p for _, _, p in family]
    best = at_best(p_values, [_floor(row) for _, row, _ in family])
    for (number, row, _), p_holm, least in zip(family, holm(p_values), best, strict=True):
        verdict, why = row.verdict, row.why
        if p_holm >= LEVEL and least < LEVEL:
            verdict, why = "not-significant", f"p is not below {LEVEL:g} among {_tests(family)}"
        elif p_holm >= LEVEL:
            verdict = "not-enough-runs"
            why = f"{_counts(row)} cannot differ significantly among {_tests(family)}"
        found[number] = replace(row, p_holm=p_holm, verdict=verdict, why=why)
    return found


def _tests(family: Sequence[object]) -> str:
    return f"{len(family)} tests" if len(family) != 1 else "1 test"


def _floor(row: Row) -> float:
    return least_p(row.baseline.n, row.candidate.n) if row.baseline and row.candidate else 1.0


def _counts(row: Row) -> str:
    sides = (row.baseline, row.candidate)
    return " and ".join(str(side.n if side else 0) for side in sides) + " runs"


def _pairs(baseline: Sequence[Sample], candidate: Sequence[Sample]) -> Iterator[Pair]:
    others = {(sample.metric, sample.place): sample for sample in candidate}
    for sample in baseline:
        yield sample, sample, others.pop((sample.metric, sample.place), None)
    for sample in others.values():
        yield sample, None, sample


def _values(sample: Sample | None) -> tuple[float, ...]:
    return () if sample is None else sample.values


def _started(
    group: str, known: Sample, one: Sample | None, other: Sample | None
) -> tuple[Row, bool]:
    """Return a row as it is without a test, and whether one is to come."""
    verdict: Verdict = "not-enough-runs"
    why = ""
    for name, sample in (("baseline", one), ("candidate", other)):
        if not _values(sample):
            why = f"no run of the {name} has it{_reasons(sample)}"
    pooled = _values(one) + _values(other)
    if not why and min(pooled) == max(pooled):
        verdict, why = "same", "all runs have the same value"
    row = Row(
        group,
        known.metric,
        known.place,
        known.unit,
        _side(_values(one)),
        _side(_values(other)),
        difference=None,
        ratio=None,
        p=None,
        p_holm=None,
        test=NOT_TESTED,
        verdict=verdict,
        why=why,
        warnings=tuple(_warnings(one, other)),
    )
    return row, not why


def _side(values: tuple[float, ...]) -> Side | None:
    if not values:
        return None
    if min(values) == max(values):  # exact, where sums would round
        return Side(len(values), values[0], values[0], 0.0 if len(values) > 1 else None)
    numbers = np.asarray(values)
    sd = float(numbers.std(ddof=1))
    return Side(len(values), float(np.median(numbers)), float(numbers.mean()), sd)


def _warnings(one: Sample | None, other: Sample | None) -> Iterator[str]:
    for name, sample in (("baseline", one), ("candidate", other)):
        if sample is None or not sample.values:
            continue
        if len(sample.values) < FEW_RUNS:
            yield f"fewer than {FEW_RUNS} runs of the {name}"
        if sample.absent:
            runs = len(sample.values) + len(sample.absent)
            yield f"{len(sample.absent)} of {runs} runs of the {name} lack it{_reasons(sample)}"


def _reasons(sample: Sample | None) -> str:
    reasons = dict.fromkeys(reason for _, reason in sample.absent) if sample else {}
    return f": {'; '.join(reasons)}" if reasons else ""


def _tested(
    pairs: Sequence[tuple[Sample, Sample]],
    rows: dict[tuple[str, str], Row],
    tolerances: Tolerances,
    seed: int,
) -> Iterator[Row]:
    """Test pairs of samples that have as many runs as the others on each side."""
    baseline = np.array([one.values for one, _ in pairs])
    candidate = np.array([other.values for _, other in pairs])
    bounds = differences(baseline, candidate, seed)
    signed = [position for position, pair in enumerate(pairs) if _has_ratio(*pair)]
    ratio_bounds: Bounds = ratios(baseline[signed], candidate[signed], seed)
    of_ratio = {position: number for number, position in enumerate(signed)}
    results = rank_tests(baseline, candidate)
    for position, ((one, _), result) in enumerate(zip(pairs, results, strict=True)):
        row = rows[one.metric, one.place]
        if row.baseline is None or row.candidate is None:
            continue
        difference = _interval(row.candidate.mean - row.baseline.mean, bounds, position)
        number = of_ratio.get(position)
        ratio = (
            None
            if number is None
            else _interval(row.candidate.mean / row.baseline.mean, ratio_bounds, number)
        )
        row = replace(row, difference=difference, ratio=ratio, p=result.p, test=result.test)
        yield _judged(row, result, tolerances.of(one.metric, one.unit))


def _has_ratio(one: Sample, other: Sample) -> bool:
    """Whether the baseline is never 0, and no value has another sign than it."""
    low, high = min(one.values), max(one.values)
    return (low > 0 and min(other.values) >= 0) or (high < 0 and max(other.values) <= 0)


def _interval(value: float, bounds: Bounds, position: int) -> Interval:
    low, high = float(bounds.low[position]), float(bounds.high[position])
    bounded = np.isfinite(low) and np.isfinite(high)
    return Interval(value, low if bounded else None, high if bounded else None)


def _judged(row: Row, result: Tested, tolerance: Tolerance) -> Row:
    """Say what a row means if it is significant."""
    difference = row.difference.value if row.difference else 0.0
    baseline = row.baseline.mean if row.baseline else 0.0
    verdict: Verdict = "changed"
    if not tolerance.is_exceeded(difference, baseline):
        verdict, why = "same", "significant, but within the tolerance"
    elif result.shift * difference < 0:
        # A few far-off runs move the mean against the most: neither is the answer alone.
        why = "most runs differ one way, and the mean the other"
    elif tolerance.direction == "none":
        why = "beyond the tolerance; the metric has no better way"
    else:
        verdict = "better" if (difference < 0) == (tolerance.direction == "lower") else "worse"
        why = f"beyond the tolerance; {tolerance.direction} is better"
    lacks = () if row.ratio else ("no ratio: values are 0 or differ in sign",)
    return replace(row, verdict=verdict, why=why, warnings=(*row.warnings, *lacks))
