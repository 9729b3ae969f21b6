"""Comparisons of stored lab runs: no false alarms, and what is true is found."""

from __future__ import annotations

from dataclasses import replace
from statistics import fmean

import numpy as np
import pytest
from pathscope.analyzer.compare.model import Row, Sample
from pathscope.analyzer.compare.power import needed_runs
from pathscope.analyzer.compare.rows import compare, corrected
from pathscope.analyzer.compare.tolerances import Tolerances
from stored import lateness, some, stored

FIRST = [f"run-{number}" for number in range(1, 11)]
SECOND = [f"run-{number}" for number in range(11, 21)]
ALARMS = ("better", "worse", "changed")


def compared(baseline: list[Sample], candidate: list[Sample], seed: int = 0) -> list[Row]:
    return corrected(compare("failover", baseline, candidate, Tolerances(), seed=seed))


def one_of(rows: list[Row], metric: str, place: str) -> Row:
    (found,) = (row for row in rows if (row.metric, row.place) == (metric, place))
    return found


def test_two_sets_of_ten_runs_of_one_scenario_do_not_differ() -> None:
    rows = compared(some(stored("rto-500"), FIRST), some(stored("rto-500"), SECOND))
    assert len(rows) > 200
    assert not [row for row in rows if row.verdict in ALARMS]


def test_false_alarms_of_resampled_comparisons_stay_below_five_percent() -> None:
    """Twenty runs at one setting, dealt to two sides at random 200 times: whole tables count."""
    generator = np.random.default_rng(6)
    whole = stored("rto-500")
    alarmed = significant = 0
    for seed in range(200):
        runs = [f"run-{number}" for number in generator.permutation(20) + 1]
        rows = compared(some(whole, runs[:10]), some(whole, runs[10:]), seed)
        alarmed += any(row.verdict in ALARMS for row in rows)
        significant += any(row.p_holm is not None and row.p_holm < 0.05 for row in rows)
    assert alarmed / 200 < 0.05
    assert significant / 200 < 0.05


@pytest.mark.parametrize("runs", [FIRST, SECOND])
def test_the_interval_of_recovery_at_twice_the_rto_holds_the_true_difference(
    runs: list[str],
) -> None:
    """Path.Max.Retrans + 1 = 3 time-outs, each 0.5 s longer: 1.5 s, and what the timers are late.

    A kernel that ticks at 100 Hz ends a timer of 1 s up to 80 ms late, one of 0.5 s up to 10 ms
    (docs/lab.md); how late its time-outs were is known of each run.
    """
    slow, fast = some(stored("rto-1000"), FIRST), some(stored("rto-500"), runs)
    found = one_of(compared(slow, fast), "link_failure_recovery_s", "handover 1 of a, timeout")
    assert found.verdict == "better"
    assert found.difference is not None
    assert found.difference.low is not None
    assert found.difference.high is not None
    late = fmean(lateness("rto-1000")[run] for run in FIRST)
    late -= fmean(lateness("rto-500")[run] for run in runs)
    assert 0 < late < 0.24
    assert found.difference.low <= -(1.5 + late) <= found.difference.high


def test_without_the_lateness_of_timers_the_difference_is_that_of_the_settings() -> None:
    sides = []
    for name in ("rto-1000", "rto-500"):
        (one,) = (
            sample
            for sample in some(stored(name), FIRST)
            if sample.metric == "link_failure_recovery_s"
        )
        late = lateness(name)
        values = tuple(v - late[run] for run, v in zip(one.runs, one.values, strict=True))
        sides.append([replace(one, values=values)])
    (found,) = compared(sides[0], sides[1])
    assert found.difference is not None
    assert found.difference.low is not None
    assert found.difference.high is not None
    assert found.difference.low <= -1.5 <= found.difference.high
    assert found.ratio is not None
    assert found.ratio.low is not None
    assert found.ratio.high is not None
    assert found.ratio.low <= 0.5 <= found.ratio.high


def test_five_percent_less_throughput_is_found_with_ten_runs() -> None:
    """A message every 26.25 ms instead of every 25: what arrives is 25 / 26.25 of it."""
    rows = compared(some(stored("rto-500"), FIRST), stored("slower"))
    for metric in ("goodput_bps", "throughput_bps"):
        found = one_of(rows, metric, "association, a")
        assert found.verdict == "worse"
        assert found.ratio is not None
        assert found.ratio.low is not None
        assert found.ratio.high is not None
        assert found.ratio.low <= 25 / 26.25 <= found.ratio.high


def test_ten_runs_are_planned_to_be_enough_for_that() -> None:
    (goodput,) = (
        sample
        for sample in stored("rto-500")
        if (sample.metric, sample.place) == ("goodput_bps", "association, a")
    )
    change = -0.05 * fmean(goodput.values)
    alone, in_a_table = (
        needed_runs(goodput.values, change),
        needed_runs(goodput.values, change, tests=130),
    )
    assert alone.runs is not None
    assert in_a_table.runs is not None
    assert alone.runs <= in_a_table.runs <= 10
