from __future__ import annotations

import numpy as np
import pytest
from pathscope.replay.profiles.derived.losses import loss, wilson
from pathscope.replay.profiles.derived.model import Resolution
from routes import SECOND, every, gilbert
from scipy import stats

USUAL = Resolution()
RUNS = 100


def none(count: int) -> np.ndarray:
    return np.zeros(count, bool)


@pytest.mark.parametrize(("hits", "of"), [(0, 10), (1, 10), (10, 10), (30, 1000), (500, 1000)])
def test_wilson_is_scipys(hits: int, of: int) -> None:
    known = stats.binomtest(hits, of).proportion_ci(method="wilson")
    found = wilson(hits, of)
    assert (found.low, found.high) == pytest.approx((known.low, known.high), abs=1e-6)


@pytest.mark.parametrize(("p", "r"), [(0.02, 0.3), (0.01, 0.1), (0.05, 0.5)])
def test_intervals_hold_gilberts_parameters_as_often_as_they_say(p: float, r: float) -> None:
    sent_ns = every(10, 100)
    held = {"enter": 0, "leave": 0, "ratio": 0, "burst": 0}
    for seed in range(RUNS):
        found = loss(sent_ns, gilbert(p, r, len(sent_ns), seed), none(len(sent_ns)), USUAL)
        truths = {
            "enter": (found.enter, p),
            "leave": (found.leave, r),
            "ratio": (found.ratio, p / (p + r)),
            "burst": (found.burst_packets, 1 / r),
        }
        for name, (interval, truth) in truths.items():
            held[name] += interval is not None and interval.low <= truth <= interval.high
    # Of 95 %, by a hundred runs: fewer than 88 would be chance once in a thousand times.
    assert min(held.values()) >= 88


@pytest.mark.parametrize("seed", range(5))
def test_independent_losses_need_no_bursts(seed: int) -> None:
    sent_ns = every(10, 60)
    lost = np.random.default_rng(seed).random(len(sent_ns)) < 0.05
    found = loss(sent_ns, lost, none(len(sent_ns)), USUAL)
    assert found.burst_packets is None
    assert found.ratio is not None
    # Once in twenty times the truth is outside by chance: here, it is not far outside.
    assert found.ratio.value == pytest.approx(0.05, abs=0.01)
    assert len(found.steps) == 1


def test_bursts_alone_make_no_steps_and_a_change_does() -> None:
    sent_ns = every(10, 120)
    lost = gilbert(0.01, 0.2, len(sent_ns), 1)
    assert len(loss(sent_ns, lost, none(len(lost)), USUAL).steps) == 1
    more = lost | ((sent_ns >= 60 * SECOND) & gilbert(0.1, 0.2, len(sent_ns), 2))
    first, second = loss(sent_ns, more, none(len(lost)), USUAL).steps
    assert abs(second.at_ns - 60 * SECOND) < 3 * SECOND
    assert first.percent == pytest.approx(4.8, abs=2)
    assert second.percent > 25


def test_what_is_in_outages_does_not_count() -> None:
    sent_ns = every(10, 10)
    inside = (sent_ns >= 4 * SECOND) & (sent_ns < 6 * SECOND)
    found = loss(sent_ns, inside.copy(), inside, USUAL)
    assert (found.lost, found.sent) == (0, 800)
    assert [one.percent for one in found.steps] == [0.0]


def test_of_nothing_nothing_is_said() -> None:
    found = loss(every(10, 0), none(0), none(0), USUAL)
    assert (found.ratio, found.enter, found.leave, found.burst_packets) == (None,) * 4
    assert found.steps == ()
