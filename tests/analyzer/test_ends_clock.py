"""The relation of two clocks, of packets whose true delays are known."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pathscope.analyzer.columns import Column
from pathscope.analyzer.ends.clock import NO_LINE, ONE_DIRECTION, Clock, Points, estimate

MS, SECOND = 1_000_000, 1_000_000_000
START_NS = 1_700_000_000 * SECOND


@dataclass(frozen=True)
class Crossing:
    """Packets both ways, and what each really took."""

    points: Points
    delay_ns: Column

    def measured(self, clock: Clock) -> Column:
        points = self.points
        moved = clock.to_first(points.other_ns, points.other_frame)
        apart = moved - (points.other_ns - points.delta_ns)
        found: Column = np.where(points.leaving, apart, -apart)
        return found


def crossing(
    seed: int,
    *,
    count: int = 600,
    span_s: float = 20,
    offset_ns: int = 0,
    ppm: float = 0,
    least_ms: tuple[float, ...] = (10, 15),
    queue_ms: float = 0.5,
    steps: tuple[tuple[float, float], ...] = (),
) -> Crossing:
    """Draw packets: `least_ms` are least delays out and back, of one path after the other."""
    rng = np.random.default_rng(seed)
    at = np.sort(rng.uniform(0, span_s * SECOND, count)).astype(np.int64)
    out = rng.random(count) < 0.5
    paths = len(least_ms) // 2
    path = np.minimum(at * paths // round(span_s * SECOND), paths - 1)
    least = np.array(least_ms)[2 * path + ~out] * MS
    delay = (least + rng.exponential(queue_ms * MS, count)).astype(np.int64)
    first = START_NS + np.where(out, at, at + delay)
    there = np.where(out, at + delay, at)
    other = START_NS + there + offset_ns + np.round(there * ppm / 1e6).astype(np.int64)
    for when_s, by_ms in steps:
        other = other + np.where(there >= when_s * SECOND, round(by_ms * MS), 0)
    order = np.argsort(there, kind="stable")
    points = Points(
        other[order], (other - first)[order], np.arange(1, count + 1), out[order],
        (2 * path + out)[order],
    )  # fmt: skip
    return Crossing(points, delay[order])


@settings(max_examples=60, deadline=None)
@given(
    seed=st.integers(0, 2**32 - 1),
    offset_s=st.integers(-100_000, 100_000),
    ppm=st.floats(-200, 200),
    least_ms=st.tuples(*4 * [st.floats(0.1, 100)]),
    queue_ms=st.floats(0.01, 3),
)
def test_delays_are_within_the_stated_error(
    seed: int, offset_s: int, ppm: float, least_ms: tuple[float, ...], queue_ms: float
) -> None:
    made = crossing(
        seed, offset_ns=offset_s * SECOND, ppm=ppm, least_ms=least_ms, queue_ms=queue_ms
    )
    clock = estimate(made.points)
    (only,) = clock.stretches
    measured = made.measured(clock)
    assert measured.min() >= -1
    assert clock.error_ns is not None
    # Drift is how far the line may be off at its ends, on top of what the offset may be off.
    off = np.abs(measured - made.delay_ns).max()
    assert off <= clock.error_ns + clock.drift_ns + 2
    # By the other's clock a skew is the least bit smaller.
    assert abs(only.skew * 1e6 - ppm) <= only.skew_error * 1e6 + 0.1


def test_the_offset_is_off_by_no_more_than_half_of_the_least_round_trip() -> None:
    """Ways of 4 and 30 ms: the middle is wrong by 13 ms, which the error of 17 ms says."""
    made = crossing(1, least_ms=(4, 30), queue_ms=0.001, offset_ns=5 * SECOND)
    clock = estimate(made.points)
    assert clock.error_ns == pytest.approx(17 * MS, abs=0.1 * MS)
    wrong = clock.stretches[0].difference_ns(made.points.other_ns[0]) - 5 * SECOND
    assert wrong == pytest.approx((4 - 30) / 2 * MS, abs=0.1 * MS)


def test_a_handover_to_a_longer_path_is_no_skew() -> None:
    clock = estimate(crossing(2, least_ms=(5, 5, 60, 40), ppm=35).points)
    (only,) = clock.stretches
    assert only.skew * 1e6 == pytest.approx(35, abs=5)


@pytest.mark.parametrize("by_ms", [40.0, -40.0, 7.0])
def test_a_step_is_found_and_the_rest_is_right(by_ms: float) -> None:
    made = crossing(3, ppm=20, steps=((8.0, by_ms),), queue_ms=0.2)
    clock = estimate(made.points)
    before, after = clock.stretches
    at_ns = after.origin_ns
    stepped_ms = (after.difference_ns(at_ns) - before.difference_ns(at_ns)) / MS
    assert stepped_ms == pytest.approx(by_ms, abs=0.5)
    assert abs(at_ns - START_NS - 8 * SECOND) < 0.3 * SECOND
    measured = made.measured(clock)
    assert measured.min() >= -1
    assert np.abs(measured - made.delay_ns).max() <= 2 * MS + 5 * MS


def test_two_steps_are_two() -> None:
    made = crossing(4, count=3000, steps=((5.0, 30.0), (12.0, -80.0)), queue_ms=0.2)
    assert len(estimate(made.points).stretches) == 3


@pytest.mark.parametrize("seed", range(8))
def test_queues_and_handovers_are_no_steps(seed: int) -> None:
    made = crossing(seed, least_ms=(5, 5, 40, 60, 8, 8), queue_ms=3, ppm=-150)
    assert len(estimate(made.points).stretches) == 1


def test_one_direction_has_no_offset() -> None:
    made = crossing(5, ppm=50)
    clock = estimate(made.points.part(made.points.leaving))
    assert (clock.error_ns, clock.reason) == (None, ONE_DIRECTION)
    assert clock.stretches[0].skew * 1e6 == pytest.approx(50, abs=5)
    moved = clock.to_first(made.points.other_ns, made.points.other_frame)
    apart = (moved - (made.points.other_ns - made.points.delta_ns))[made.points.leaving]
    assert apart.min() == pytest.approx(0, abs=1)


def test_few_packets_have_no_skew() -> None:
    clock = estimate(crossing(6, count=10, ppm=80).points)
    assert (clock.stretches[0].skew, clock.stretches[0].skew_error) == (0.0, 1e-3)


def test_clocks_that_no_line_explains() -> None:
    """The packets that come back arrive before they were sent, whatever the skew."""
    points = crossing(7).points
    wrong = np.where(points.leaving, points.delta_ns, points.delta_ns + 100 * MS)
    clock = estimate(Points(points.other_ns, wrong, points.other_frame, points.leaving, points.way))
    assert clock.reason == NO_LINE
