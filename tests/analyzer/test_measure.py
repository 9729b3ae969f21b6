"""Instants, measures, and how sure a difference of two instants is."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from pathscope.analyzer.measure import NS_PER_S, Instant, Measure, elapsed_s

NS = st.integers(0, 2 * 10**18)


def test_an_inferred_instant_is_the_middle_of_its_bounds() -> None:
    assert Instant.inferred(10, 20).ns == 15


@given(NS, NS)
def test_observed_from_observed(start: int, end: int) -> None:
    assert elapsed_s(Instant.seen(start, 1), Instant.seen(end, 2)) == Measure(
        (end - start) / NS_PER_S, "observed"
    )


def test_annotated_is_no_better_than_the_users_word() -> None:
    measure = elapsed_s(Instant.annotated(1_000_000_000), Instant.seen(3_000_000_000, 7))
    assert (measure.value, measure.basis) == (2.0, "annotated")


@given(NS, NS, NS, NS, st.data())
def test_the_truth_is_within_the_bounds(
    a: int, b: int, c: int, d: int, data: st.DataObject
) -> None:
    """Wherever the instants truly were between their bounds."""
    (low, high), (low2, high2) = sorted((a, b)), sorted((c, d))
    measure = elapsed_s(Instant.inferred(low, high), Instant.inferred(low2, high2))
    truth = data.draw(st.integers(low2, high2)) - data.draw(st.integers(low, high))
    assert measure.low is not None
    assert measure.high is not None
    assert measure.low <= truth / NS_PER_S <= measure.high
    assert measure.basis == "inferred"


def test_what_is_missing_says_why() -> None:
    seen = Instant.seen(1, 1)
    assert elapsed_s(Instant.absent("no start"), seen).reason == "no start"
    assert elapsed_s(seen, Instant.absent("no end")).reason == "no end"
    assert elapsed_s(seen, Instant.absent("no end")).value is None


def test_an_instant_at_zero_is_an_instant() -> None:
    """The epoch is a time like any other: simulators start there."""
    measure = elapsed_s(Instant.inferred(0, 10), Instant.inferred(0, 10))
    assert (measure.low, measure.high) == (-1e-8, 1e-8)
