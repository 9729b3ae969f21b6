from __future__ import annotations

import numpy as np
import pytest
from pathscope.replay.profiles.derived.model import Interval, RateStep
from pathscope.replay.profiles.derived.rates import queueing_ns, rate
from routes import MS, SECOND, every, through_queue

STEP_NS = 100 * MS


def bursts(seconds: float, packets: int, seed: int = 1) -> tuple[np.ndarray, np.ndarray]:
    """So many packets at once, ten times a second, of different sizes."""
    starts = every(100, seconds)
    sent_ns = np.repeat(starts, packets) + np.tile(np.arange(packets) * 20_000, len(starts))
    return sent_ns, np.random.default_rng(seed).integers(80, 1500, len(sent_ns))


def arrived(sent_ns: np.ndarray, delays_ms: np.ndarray) -> np.ndarray:
    return sent_ns + np.round(delays_ms * MS).astype(np.int64)


@pytest.mark.parametrize("bps", [384e3, 2e6, 28e6])
def test_a_queue_shows_its_rate(bps: float) -> None:
    sent_ns, sizes = bursts(20, 5)
    found = rate(sent_ns, arrived(sent_ns, through_queue(sent_ns, sizes, bps, 20)), sizes, STEP_NS)
    (step,) = found.steps
    assert step.bps.value == pytest.approx(bps, rel=0.01)
    assert step.bps.low <= step.bps.value <= step.bps.high
    assert found.explained is not None
    assert found.explained > 0.9


def test_a_load_that_is_barely_too_much_shows_it_too() -> None:
    sent_ns = every(3.6, 10)
    sizes = np.full(len(sent_ns), 1100)  # 4.4 ms each
    found = rate(sent_ns, arrived(sent_ns, through_queue(sent_ns, sizes, 2e6, 20)), sizes, STEP_NS)
    assert found.steps[0].bps.value == pytest.approx(2e6, rel=0.001)


@pytest.mark.parametrize("seed", range(5))
def test_steady_packets_with_jitter_are_no_queue(seed: int) -> None:
    sent_ns = every(20, 30)
    delays = 30 + np.random.default_rng(seed).normal(0, 3, len(sent_ns))
    assert rate(sent_ns, arrived(sent_ns, delays), np.full(len(sent_ns), 200), STEP_NS).steps == ()


def test_a_rate_that_changes_is_two_steps() -> None:
    sent_ns, sizes = bursts(20, 5)
    early = sent_ns < 10 * SECOND
    delays = np.concatenate(
        [
            through_queue(sent_ns[part], sizes[part], bps, 20)
            for part, bps in ((early, 8e6), (~early, 2e6))
        ]
    )
    found = rate(sent_ns, arrived(sent_ns, delays), sizes, STEP_NS)
    first, second = found.steps
    assert (first.bps.value, second.bps.value) == pytest.approx((8e6, 2e6), rel=0.02)
    assert first.at_ns == 0
    assert abs(second.at_ns - 10 * SECOND) <= STEP_NS


def test_jitter_is_no_rate() -> None:
    sent_ns = every(2, 30)
    delays = 30 + np.random.default_rng(1).normal(0, 5, len(sent_ns))
    found = rate(sent_ns, arrived(sent_ns, delays), np.full(len(sent_ns), 500), STEP_NS)
    assert found.steps == ()
    assert "does not follow their bytes" in (found.reason or "")


def test_without_packets_that_wait_there_is_no_rate() -> None:
    sent_ns = every(20, 10)
    found = rate(sent_ns, sent_ns + 20 * MS, np.full(len(sent_ns), 500), STEP_NS)
    assert (found.steps, found.pairs) == ((), 0)
    assert "no queue held them" in (found.reason or "")
    assert rate(sent_ns[:0], sent_ns[:0], sent_ns[:0], STEP_NS).steps == ()


def test_what_a_queue_makes_of_a_delay_is_what_a_queue_makes() -> None:
    sent_ns, sizes = bursts(2, 7)
    step = RateStep(0, Interval(1e6, 1e6, 1e6))
    expected = through_queue(sent_ns, sizes, 1e6, 0)
    assert queueing_ns(sent_ns, sizes, [step]) / MS == pytest.approx(expected, abs=1e-3)
