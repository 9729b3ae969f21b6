from __future__ import annotations

import numpy as np
import pytest
from pathscope.replay.profiles.derived.delays import delay_steps, moments, residuals_ms, table
from pathscope.replay.profiles.derived.model import Resolution
from routes import MS, SECOND, every
from scipy import stats

USUAL = Resolution()


def test_a_constant_delay_is_one_step_without_jitter() -> None:
    sent_ns = every(20, 30)
    (step,) = delay_steps(sent_ns, np.full(len(sent_ns), 20.0), USUAL)
    assert (step.at_ns, step.delay_ms, step.jitter_ms) == (0, 20.0, 0.0)
    assert step.packets == len(sent_ns)


@pytest.mark.parametrize("seed", range(10))
def test_jitter_alone_makes_no_steps(seed: int) -> None:
    sent_ns = every(10, 30)
    delays = np.random.default_rng(seed).normal(40, 5, len(sent_ns))
    (step,) = delay_steps(sent_ns, delays, USUAL)
    assert step.delay_ms == pytest.approx(40, abs=0.5)
    assert step.jitter_ms == pytest.approx(5, rel=0.1)


@pytest.mark.parametrize("seed", range(10))
def test_a_change_of_the_delay_is_found_at_its_packet(seed: int) -> None:
    sent_ns = every(10, 20)
    middle_ns = round(7.333 * SECOND)
    level = np.where(sent_ns < middle_ns, 20.0, 60.0)
    delays = level + np.random.default_rng(seed).normal(0, 3, len(sent_ns))
    first, second = delay_steps(sent_ns, delays, USUAL)
    assert abs(second.at_ns - middle_ns) <= 10 * MS
    assert (first.delay_ms, second.delay_ms) == pytest.approx((20, 60), abs=0.5)


def test_a_change_of_the_jitter_alone_is_a_step() -> None:
    sent_ns = every(10, 20)
    drawn = np.random.default_rng(1).normal(0, 1, len(sent_ns))
    delays = 50 + drawn * np.where(sent_ns < 10 * SECOND, 1, 8)
    first, second = delay_steps(sent_ns, delays, USUAL)
    assert (first.jitter_ms, second.jitter_ms) == pytest.approx((1, 8), rel=0.15)
    assert abs(second.at_ns - 10 * SECOND) < 0.3 * SECOND


def test_every_level_of_a_staircase_is_a_step() -> None:
    sent_ns = every(20, 30)
    delays = 10 + 5.0 * (sent_ns // SECOND)
    found = delay_steps(sent_ns, delays, USUAL)
    assert [one.at_ns for one in found] == [max(0, at * SECOND - 10 * MS) for at in range(30)]
    assert [one.delay_ms for one in found] == pytest.approx([10 + 5.0 * at for at in range(30)])


def test_a_silence_holds_the_last_value() -> None:
    sent_ns = np.concatenate((every(20, 2), 8 * SECOND + every(20, 2)))
    delays = np.repeat((10.0, 30.0), len(sent_ns) // 2)
    _, second = delay_steps(sent_ns, delays, USUAL)
    assert second.at_ns == 8 * SECOND - USUAL.step_ns


def test_the_resolution_says_what_a_step_is() -> None:
    sent_ns = every(20, 10)
    delays = np.where(sent_ns < 5 * SECOND, 20.0, 22.0)
    assert len(delay_steps(sent_ns, delays, USUAL)) == 2
    assert len(delay_steps(sent_ns, delays, Resolution(delay_ms=3))) == 1
    assert len(delay_steps(sent_ns, delays, Resolution(delay_ratio=0.2))) == 1


def test_the_table_is_the_distribution_that_was_drawn_from() -> None:
    sent_ns = every(5, 60)
    drawn = np.random.default_rng(3).exponential(4, len(sent_ns))
    delays = 20 + drawn
    steps = delay_steps(sent_ns, delays, USUAL)
    values = table(sent_ns, delays, steps)
    assert moments(values) == pytest.approx((0, 1), abs=0.041)
    assert (np.diff(values) >= 0).all()
    made = steps[0].delay_ms + steps[0].jitter_ms * values
    assert stats.ks_2samp(made, delays).statistic < 0.01


def test_of_few_packets_there_is_no_table() -> None:
    sent_ns = every(100, 2)
    delays = np.random.default_rng(3).normal(20, 4, len(sent_ns))
    steps = delay_steps(sent_ns, delays, USUAL)
    assert len(table(sent_ns, delays, steps)) == 0
    assert len(table(sent_ns[:0], delays[:0], [])) == 0


def test_residuals_are_what_is_left_of_a_step() -> None:
    sent_ns = every(10, 20)
    noise = np.random.default_rng(5).normal(0, 3, len(sent_ns))
    delays = np.where(sent_ns < 10 * SECOND, 20.0, 60.0) + noise
    steps = delay_steps(sent_ns, delays, USUAL)
    assert np.abs(residuals_ms(sent_ns, delays, steps) - noise).max() < 0.5
    assert not residuals_ms(sent_ns, delays, []).any()
