"""Rows of a comparison: what is tested, and each verdict."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pathscope.analyzer.compare.model import Row, Sample
from pathscope.analyzer.compare.rows import compare, corrected
from pathscope.analyzer.compare.tolerances import Tolerances

TOLERANCES = Tolerances("of the test", {"delay_s": {"absolute": 0.0, "relative": 0.05}})

STEADY = tuple(1 + 0.001 * step for step in range(10))
SLOWER = tuple(value + 0.5 for value in STEADY)


def sample(values: tuple[float, ...], metric: str = "delay_s", place: str = "x") -> Sample:
    runs = tuple(f"run-{number}" for number in range(len(values)))
    return Sample(metric, place, "s", runs, values, ())


def row(baseline: tuple[float, ...], candidate: tuple[float, ...], metric: str = "delay_s") -> Row:
    (found,) = corrected(
        compare("group", [sample(baseline, metric)], [sample(candidate, metric)], TOLERANCES)
    )
    return found


def test_longer_is_worse_where_lower_is_better() -> None:
    found = row(STEADY, SLOWER)
    assert found.verdict == "worse"
    assert found.why == "beyond the tolerance; lower is better"
    assert found.p == pytest.approx(2 / 184_756)
    assert found.p_holm == found.p
    assert found.test == "Mann-Whitney, exact"
    assert found.baseline is not None
    assert found.baseline.n == 10
    assert found.baseline.median == pytest.approx(1.0045)
    assert found.difference is not None
    assert found.difference.value == pytest.approx(0.5)
    assert found.difference.low is not None
    assert found.difference.high is not None
    assert found.difference.low < 0.5 < found.difference.high
    assert found.ratio is not None
    assert found.ratio.value == pytest.approx(1.5045 / 1.0045)
    assert found.warnings == ()


def test_the_direction_decides() -> None:
    assert row(SLOWER, STEADY).verdict == "better"
    assert row(STEADY, SLOWER, "goodput_bps").verdict == "better"
    assert row(SLOWER, STEADY, "goodput_bps").verdict == "worse"
    assert row(STEADY, SLOWER, "packets").verdict == "changed"


def test_within_the_tolerance_nothing_changed() -> None:
    found = row(STEADY, tuple(value + 0.02 for value in STEADY))
    assert found.verdict == "same"
    assert found.why == "significant, but within the tolerance"
    assert found.p_holm is not None
    assert found.p_holm < 0.05


def test_all_the_same_is_not_tested() -> None:
    found = row((3.0,) * 5, (3.0,) * 7)
    assert (found.verdict, found.p, found.test) == ("same", None, "not tested")
    assert found.why == "all runs have the same value"
    assert found.baseline is not None
    assert found.baseline.sd == 0


def test_two_constants_differ_without_an_interval() -> None:
    found = row((2.0,) * 8, (3.0,) * 8)
    assert found.verdict == "worse"
    assert found.test == "permutation of ranks, exact"
    assert found.difference is not None
    assert (found.difference.value, found.difference.low, found.difference.high) == (1, None, None)
    assert found.ratio is not None
    assert (found.ratio.value, found.ratio.low) == (1.5, None)


def test_too_few_runs_are_said_to_be() -> None:
    found = row((1.0, 1.1, 1.2), (2.0, 2.1, 2.2))
    assert (found.verdict, found.p_holm) == ("not-enough-runs", None)
    assert found.p == pytest.approx(0.1)
    assert found.why == "3 and 3 runs cannot differ significantly, whatever their values"
    assert found.warnings == (
        "fewer than 6 runs of the baseline",
        "fewer than 6 runs of the candidate",
    )
    single = row((1.0,), (2.0,))
    assert single.verdict == "not-enough-runs"
    assert single.baseline is not None
    assert single.baseline.sd is None
    assert single.difference is not None
    assert single.difference.low is None


def test_runs_that_would_do_alone_may_be_too_few_for_a_table() -> None:
    """4 against 4 give p = 2 / 70 at best: enough for one row, not for two."""
    pairs = [((1.0, 1.1, 1.2, 1.3), (2.0, 2.1, 2.2, 2.3))] * 2
    table = compare(
        "group",
        [sample(one, place=str(number)) for number, (one, _) in enumerate(pairs)],
        [sample(other, place=str(number)) for number, (_, other) in enumerate(pairs)],
        TOLERANCES,
    )
    assert [found.verdict for found in corrected(table[:1])] == ["worse"]
    found = corrected(table)
    assert {one.verdict for one in found} == {"not-enough-runs"}
    assert found[0].why == "4 and 4 runs cannot differ significantly among 2 tests"


def test_a_number_that_one_side_lacks_is_listed_with_the_reason() -> None:
    lacking = Sample("delay_s", "x", "s", (), (), (("run-0", "no handover"),))
    (found,) = corrected(compare("group", [sample(STEADY)], [lacking], TOLERANCES))
    assert (found.verdict, found.candidate) == ("not-enough-runs", None)
    assert found.why == "no run of the candidate has it: no handover"
    (found,) = corrected(compare("group", [], [sample(STEADY)], TOLERANCES))
    assert found.why == "no run of the baseline has it"
    assert compare("group", [lacking], [lacking], TOLERANCES) == []


def test_runs_without_the_number_are_a_warning() -> None:
    one = replace(sample(STEADY), absent=(("run-10", "no handover"), ("run-11", "cut off")))
    (found,) = compare("group", [one], [sample(SLOWER)], TOLERANCES)
    assert found.warnings == ("2 of 12 runs of the baseline lack it: no handover; cut off",)


def test_without_a_positive_baseline_there_is_no_ratio() -> None:
    found = row((0.0, *STEADY[1:]), SLOWER)
    assert found.ratio is None
    assert "no ratio: values are 0 or differ in sign" in found.warnings
    assert found.verdict == "worse"
    minus = row(tuple(-value for value in STEADY), tuple(-value for value in SLOWER))
    assert minus.ratio is not None
    assert minus.ratio.value == pytest.approx(1.5045 / 1.0045)


def test_where_ranks_and_means_disagree_it_is_neither_better_nor_worse() -> None:
    """Nine of ten runs are shorter, and one is so long that the mean is greater."""
    found = row(STEADY, (*(value - 0.1 for value in STEADY[1:]), 50.0))
    assert found.verdict == "changed"
    assert found.why == "most runs differ one way, and the mean the other"


def test_order_is_the_baselines_then_what_is_new() -> None:
    one = [sample(STEADY, place="b"), sample(STEADY, place="a")]
    other = [sample(SLOWER, place="c"), sample(SLOWER, place="a"), sample(SLOWER, place="b")]
    assert [found.place for found in compare("g", one, other, TOLERANCES)] == ["b", "a", "c"]


VALUES = st.lists(st.integers(1, 60).map(float), min_size=2, max_size=14).map(tuple)
OPPOSITE = {"better": "worse", "worse": "better"}


@settings(max_examples=60, deadline=None)
@given(VALUES, VALUES)
def test_swapping_the_sides_turns_better_into_worse(
    one: tuple[float, ...], other: tuple[float, ...]
) -> None:
    there, back = row(one, other), row(other, one)
    assert there.p == (None if back.p is None else pytest.approx(back.p))
    if "tolerance" not in there.why + back.why:
        assert there.verdict == back.verdict
    elif {there.verdict, back.verdict} <= set(OPPOSITE):
        assert OPPOSITE[there.verdict] == back.verdict
    if there.difference is not None and back.difference is not None:
        assert there.difference.value == pytest.approx(-back.difference.value)


@settings(max_examples=60, deadline=None)
@given(VALUES)
def test_the_same_values_never_differ(values: tuple[float, ...]) -> None:
    found = row(values, tuple(reversed(values)))
    assert found.verdict in ("same", "not-significant", "not-enough-runs")
    assert found.p in (None, 1.0)


@settings(max_examples=60, deadline=None)
@given(VALUES, VALUES, st.sampled_from((0.125, 8.0, 1024.0)))
def test_the_unit_does_not_matter(
    one: tuple[float, ...], other: tuple[float, ...], factor: float
) -> None:
    plain = row(one, other)
    scaled = row(tuple(factor * v for v in one), tuple(factor * v for v in other))
    assert (scaled.verdict, scaled.p, scaled.test) == (plain.verdict, plain.p, plain.test)
    assert scaled.ratio == plain.ratio
    if plain.difference is not None and scaled.difference is not None:
        assert scaled.difference.value == pytest.approx(factor * plain.difference.value)
