"""Known truths: what is as asked for is not called wrong, and what is wrong is found."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from impaired import Netem, Sent, log, sent, step
from pathscope.replay.fidelity.measure import measure
from pathscope.replay.fidelity.model import AppliedStep, Fidelity, Received, Row

RUNS = 200

MIXTURES: tuple[dict[str, Any], ...] = (
    {"delay_ms": 20, "loss_percent": 5},
    {"delay_ms": 40, "jitter_ms": 8, "distribution": "normal", "loss_percent": 3,
     "loss_burst_packets": 4, "corrupt_percent": 1},
    {"delay_ms": 30, "jitter_ms": 10, "loss_percent": 2, "duplicate_percent": 4},
    {"delay_ms": 15, "reorder_percent": 5, "loss_percent": 1},
    {"delay_ms": 50, "jitter_ms": 5, "distribution": "pareto", "loss_percent": 8,
     "loss_burst_packets": 3, "duplicate_percent": 3},
)  # fmt: skip


def replayed(
    rng: np.random.Generator, frames: Sent, asked: list[AppliedStep], real: list[AppliedStep]
) -> Fidelity:
    """Ask for one thing and do another."""
    came = Netem(rng, real, limit=100_000).run(frames)
    return measure(log(frames), {0: came}, asked)


def row(fidelity: Fidelity, quantity: str, step_number: int | None = 0) -> Row:
    (found,) = [one for one in fidelity.rows if (one.quantity, one.step) == (quantity, step_number)]
    return found


def test_one_row_in_twenty_misses_and_hardly_a_replay_fails() -> None:
    missed, tried, failed = 0, 0, 0
    for seed in range(RUNS):
        rng = np.random.default_rng(seed)
        own = [MIXTURES[(seed + number) % len(MIXTURES)] for number in range(2)]
        steps = [step(number * 150_000_000, **one) for number, one in enumerate(own)]
        found = replayed(rng, sent(rng, 3000), steps, steps)
        missed += found.misses[0]
        tried += round(found.misses[1] / 0.05)
        failed += found.failed
    # Clopper's and Pearson's intervals miss one time in twenty at most.
    assert 0.02 < missed / tried < 0.06
    assert failed <= 5


@pytest.mark.parametrize(
    ("asked", "real", "quantity"),
    [
        ({"loss_percent": 5}, {"loss_percent": 6}, "loss_percent"),
        ({"loss_percent": 5}, {"loss_percent": 4.2}, "loss_percent"),
        ({"loss_percent": 0}, {"loss_percent": 0.1}, "loss_percent"),
        ({"loss_percent": 100}, {"loss_percent": 99}, "loss_percent"),
        ({"loss_percent": 5, "loss_burst_packets": 4}, {"loss_percent": 7,
         "loss_burst_packets": 4}, "loss_percent"),
        ({"loss_percent": 5, "loss_burst_packets": 4}, {"loss_percent": 5,
         "loss_burst_packets": 3}, "loss_burst_packets"),
        ({"loss_percent": 5, "loss_burst_packets": 4}, {"loss_percent": 5},
         "loss_burst_packets"),
        ({"delay_ms": 20}, {"delay_ms": 21}, "delay_ms"),
        ({"delay_ms": 20}, {"delay_ms": 19}, "delay_ms"),
        ({"delay_ms": 40, "jitter_ms": 8}, {"delay_ms": 41, "jitter_ms": 8}, "delay_ms"),
        ({"delay_ms": 40, "jitter_ms": 8}, {"delay_ms": 40, "jitter_ms": 11},
         "distribution_distance"),
        ({"delay_ms": 40, "jitter_ms": 8}, {"delay_ms": 40, "jitter_ms": 8,
         "distribution": "normal"}, "distribution_distance"),
        ({"duplicate_percent": 2}, {"duplicate_percent": 2.5}, "duplicate_percent"),
        ({}, {"duplicate_percent": 0.1}, "duplicate_percent"),
        ({"corrupt_percent": 1}, {"corrupt_percent": 1.4}, "corrupt_percent"),
        ({}, {"corrupt_percent": 0.2}, "loss_percent"),
        ({"delay_ms": 10, "reorder_percent": 5}, {"delay_ms": 10, "reorder_percent": 6},
         "reorder_percent"),
        ({"delay_ms": 10}, {"delay_ms": 10, "reorder_percent": 1}, "reordered_packets"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_found(asked: dict[str, Any], real: dict[str, Any], quantity: str) -> None:
    rng = np.random.default_rng(11)
    found = replayed(rng, sent(rng, 50_000), [step(**asked)], [step(**real)])
    assert row(found, quantity).verdict == "fail"
    assert found.failed


@pytest.mark.parametrize(("rate_kbit", "verdict"), [(4000, "pass"), (3800, "fail"), (4200, "fail")])
def test_the_rate_of_a_full_queue(rate_kbit: float, verdict: str) -> None:
    rng = np.random.default_rng(5)
    frames = sent(rng, 20_000, per_s=1000)
    real = [step(delay_ms=10, rate_kbit=rate_kbit, queue_packets=50)]
    asked = [step(delay_ms=10, rate_kbit=4000, queue_packets=50)]
    came = Netem(rng, real, limit=50).run(frames)
    found = measure(log(frames), {0: came}, asked)
    rate = row(found, "rate_kbit")
    assert rate.verdict == verdict
    assert rate.achieved == pytest.approx(rate_kbit, rel=2e-3)
    assert found.routes[0].overflow == found.routes[0].lost > 5000
    # No loss was asked for, and none is what a full queue drops.
    assert row(found, "loss_percent").achieved == 0
    assert row(found, "overflow_packets").verdict == "no verdict"


@pytest.mark.parametrize(
    ("tick_ns", "verdict"), [(10_000_000, "pass"), (500_000_000, "no verdict")]
)
def test_the_rate_by_a_coarse_clock(tick_ns: int, verdict: str) -> None:
    rng = np.random.default_rng(5)
    frames = sent(rng, 4000, per_s=1000, size=1000)
    asked = [step(delay_ms=10, rate_kbit=4000, queue_packets=50)]
    came = Netem(rng, asked, limit=50).run(frames)
    ticks = Received(-(-came.time_ns // tick_ns) * tick_ns, came.bytes, came.fingerprint)
    rate = row(measure(log(frames), {0: ticks}, asked), "rate_kbit")
    assert rate.verdict == verdict
    if rate.achieved is not None:
        assert rate.achieved == pytest.approx(4000, rel=0.02)


def test_loss_by_chance_apart_from_a_full_queue() -> None:
    rng = np.random.default_rng(6)
    frames = sent(rng, 40_000, per_s=700)
    asked = [step(delay_ms=5, rate_kbit=4000, queue_packets=30, loss_percent=5)]
    came = Netem(rng, asked, limit=30).run(frames)
    found = measure(log(frames), {0: came}, asked)
    loss = row(found, "loss_percent")
    assert loss.verdict == "pass"
    assert loss.low is not None
    assert loss.high is not None
    assert loss.low < 5 < loss.high < 6.5
    assert found.routes[0].overflow > 1000


def test_a_queue_that_overflows_unasked() -> None:
    rng = np.random.default_rng(7)
    frames = sent(rng, 5000)
    steps = [step(delay_ms=200)]
    came = Netem(rng, steps, limit=1000).run(frames)
    found = measure(log(frames), {0: came}, [AppliedStep(
        0, -2, -1, "wlan", "to_server", steps[0].impairment, queue_packets=1000)])  # fmt: skip
    assert row(found, "overflow_packets").verdict == "fail"


def test_a_rate_that_is_never_reached_gives_no_verdict() -> None:
    rng = np.random.default_rng(8)
    steps = [step(delay_ms=10, rate_kbit=100_000)]
    found = replayed(rng, sent(rng, 3000, per_s=1000), steps, steps)
    assert row(found, "rate_kbit").verdict == "no verdict"
    assert row(found, "delay_ms").verdict == "pass"


def test_order_is_kept_with_jitter() -> None:
    """Frames wait for those before them: only those that did not show the table."""
    rng = np.random.default_rng(9)
    steps = [step(delay_ms=20, jitter_ms=5, keep_order=True)]
    found = replayed(rng, sent(rng, 20_000, per_s=60), steps, steps)
    assert row(found, "reordered_packets").verdict == "pass"
    assert row(found, "distribution_distance").verdict == "pass"
    assert row(found, "delay_ms").verdict == "pass"
    crowded = replayed(rng, sent(rng, 20_000, per_s=5000), steps, steps)
    assert not crowded.failed


def test_few_frames_give_no_verdict_but_a_wonder_fails() -> None:
    rng = np.random.default_rng(10)
    steps = [step(delay_ms=20, loss_percent=1)]
    few = replayed(rng, sent(rng, 100), steps, steps)
    assert row(few, "loss_percent").verdict == "no verdict"
    assert row(few, "loss_percent").why == "1.0 expected, 5 needed"
    none = replayed(rng, sent(rng, 20), steps, steps)
    assert row(none, "delay_ms").verdict == "no verdict"
    down = replayed(rng, sent(rng, 100), steps, [step(loss_percent=100)])
    assert row(down, "loss_percent").verdict == "fail"


def test_many_short_steps_tell_together() -> None:
    rng = np.random.default_rng(12)
    asked = [step(number * 20_000_000, delay_ms=10 + number % 7, loss_percent=2, jitter_ms=1)
             for number in range(100)]  # fmt: skip
    right = replayed(rng, sent(rng, 20_000), asked, asked)
    assert not right.failed
    assert {one.verdict for one in right.rows if one.step is not None} == {"pass", "no verdict"}
    for name in ("delay_offset_ms", "loss_percent", "distribution_distance"):
        assert row(right, name, None).verdict == "pass"
    real = [step(one.at_ns, **dict(one.impairment) | {"loss_percent": 3}) for one in asked]
    assert (
        row(replayed(rng, sent(rng, 20_000), asked, real), "loss_percent", None).verdict == "fail"
    )
