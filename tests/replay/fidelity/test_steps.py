"""Frames by step, those left out, and when a step took effect as frames show it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from impaired import Netem, log, sent, step
from pathscope.replay.fidelity.measure import measure
from pathscope.replay.fidelity.model import Step

CHANGE_NS = 1_000_000_000


def steps_of(before: dict[str, Any], after: dict[str, Any]) -> tuple[Step, ...]:
    rng = np.random.default_rng(1)
    frames = sent(rng, 20_000)
    steps = [step(**before), step(CHANGE_NS, **after)]
    return measure(log(frames), {0: Netem(rng, steps).run(frames)}, steps).steps


def test_every_frame_is_in_a_step_or_left_out() -> None:
    first, second = steps_of({"delay_ms": 5}, {"delay_ms": 5, "loss_percent": 1})
    assert first.left_out == 0
    # From a millisecond before it was set to when it was set: 1.5 ms at 10 a millisecond.
    assert 13 <= second.left_out <= 16
    assert first.frames + second.left_out + second.frames == 20_000
    assert (first.until_ns, second.until_ns) == (second.before_ns, None)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ({"delay_ms": 5}, {"delay_ms": 25}),
        ({"delay_ms": 25}, {"delay_ms": 5}),
        ({"delay_ms": 30, "jitter_ms": 5}, {"delay_ms": 10, "jitter_ms": 5, "loss_percent": 3}),
        ({"delay_ms": 5, "loss_percent": 1}, {"loss_percent": 100}),
        ({"loss_percent": 100}, {"delay_ms": 5, "loss_percent": 1}),
    ],
)
def test_frames_show_when_it_took_effect(before: dict[str, Any], after: dict[str, Any]) -> None:
    first, second = steps_of(before, after)
    assert (first.seen_after_ns, first.seen_by_ns) == (None, None)
    assert second.seen_after_ns is not None
    assert second.seen_by_ns is not None
    # The modelled change happens 0.3 ms after it was asked for.
    assert second.seen_after_ns <= CHANGE_NS + 300_000 + 200_000
    assert second.seen_by_ns >= CHANGE_NS + 300_000 - 1_000_000
    assert 0 < second.seen_by_ns - second.seen_after_ns < 1_000_000
    assert second.before_ns < second.seen_by_ns < second.after_ns + 1_000_000


def test_a_step_that_frames_do_not_meet_for_long_came_late() -> None:
    rng = np.random.default_rng(1)
    frames = sent(rng, 20_000)
    steps = [step(delay_ms=5), step(CHANGE_NS, delay_ms=25)]
    later = [steps[0], step(CHANGE_NS + 80_000_000, delay_ms=25)]
    found = measure(log(frames), {0: Netem(rng, later).run(frames)}, steps)
    (check,) = [one for one in found.checks if one.quantity == "step_late_ms"]
    assert check.value == pytest.approx(80, abs=0.5)
    assert check.verdict == "fail"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ({"delay_ms": 5}, {"delay_ms": 5.2}),
        ({"delay_ms": 10, "jitter_ms": 5}, {"delay_ms": 15, "jitter_ms": 5}),
        ({"loss_percent": 1}, {"loss_percent": 50}),
        ({"loss_percent": 90}, {"loss_percent": 100}),
    ],
)
def test_one_frame_cannot_show_every_change(before: dict[str, Any], after: dict[str, Any]) -> None:
    assert steps_of(before, after)[1].seen_by_ns is None
