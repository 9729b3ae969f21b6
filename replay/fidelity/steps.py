"""A route's frames by step, and when a step took effect, as far as frames show it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from .model import AppliedStep, Step
from .parts import Part

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .delays import Delays
    from .journeys import Journeys

UNTOUCHED = {
    "delay_ms": 0,
    "jitter_ms": 0,
    "distribution": "uniform",
    "loss_percent": 0,
    "duplicate_percent": 0,
    "reorder_percent": 0,
    "corrupt_percent": 0,
}
"""What a route that nothing was asked of is to do."""

APART_MS = 1.0
"""Delays of two steps must be so far from each other for one frame to show which it met."""

MOST_LOSS = 0.5
"""Beyond it, what is lost says little of whether the link was down."""


def untouched(path: str, direction: str) -> AppliedStep:
    """Return the one step of a route that nothing was asked of."""
    return AppliedStep(0, 0, 0, path, direction, UNTOUCHED)


def cut(journeys: Journeys, steps: Sequence[AppliedStep], guard_ns: int) -> list[tuple[int, int]]:
    """Return for each step, in order of time, its first frame and the one after its last.

    Its frames were sent after it was set, and not so shortly before the next that they may have met
    that.
    """
    first = np.searchsorted(journeys.sent_ns, [step.after_ns for step in steps], "right")
    before = [step.before_ns - guard_ns for step in steps[1:]]
    last = [*np.searchsorted(journeys.sent_ns, before, "left"), journeys.sent_ns.size]
    return [(int(a), max(int(a), int(b))) for a, b in zip(first, last, strict=True)]


def described(
    route: int,
    journeys: Journeys,
    steps: Sequence[AppliedStep],
    cuts: Sequence[tuple[int, int]],
    parts: Sequence[Part],
) -> list[Step]:
    """Describe a route's steps, in order of time."""
    found = []
    for number, (step, (first, last), part) in enumerate(zip(steps, cuts, parts, strict=True)):
        before = cuts[number - 1][1] if number else 0
        until_ns = steps[number + 1].before_ns if number + 1 < len(steps) else None
        seen: tuple[int | None, int | None] = (None, None)
        if number:
            seen = _seen(journeys, cuts[number - 1], (first, last), parts[number - 1], part)
        overflow = int((part.frames.was_lost() & part.met_full_queue()).sum())
        found.append(
            Step(
                route, number, step.at_ns, step.before_ns, step.after_ns, until_ns,
                step.impairment, last - first, first - before, overflow, *seen,
            )
        )  # fmt: skip
    return found


def _seen(
    journeys: Journeys, old: tuple[int, int], new: tuple[int, int], before: Part, after: Part
) -> tuple[int | None, int | None]:
    """When the last frame was sent that met the impairment before, and the first that met this.

    It takes two that no frame can meet both of: a link that is down and one that is not, or delays
    apart.
    """
    frames = journeys.part(old[0], new[1])
    if (before.percent("loss") == 1) == (after.percent("loss") == 1):
        return _seen_by_delay(frames, before, after)
    came = np.flatnonzero(frames.came)
    if not came.size or min(before.loss, after.loss) > MOST_LOSS:
        return None, None
    # What came met the step in which the link was not down.
    first = int(came[-1]) + 1 if after.percent("loss") == 1 else int(came[0])
    if first >= frames.sent_ns.size:
        return None, None
    return int(frames.sent_ns[first - 1]) if first else None, int(frames.sent_ns[first])


def _seen_by_delay(frames: Journeys, before: Part, after: Part) -> tuple[int | None, int | None]:
    bounds = _between(before.delays, after.delays)
    mixed = any(one.is_a_queue or one.percent("reorder") for one in (before, after))
    if bounds is None or mixed:
        return None, None
    told = (frames.came == 1) & frames.is_certain
    met_new = (frames.delay_ms() > sum(bounds) / 2) == (bounds[0] < bounds[1])
    first = np.flatnonzero(told & met_new)[:1]
    if not first.size:
        return None, None
    earlier = np.flatnonzero((told & ~met_new)[: int(first[0])])
    after_ns = int(frames.sent_ns[earlier[-1]]) if earlier.size else None
    return after_ns, int(frames.sent_ns[first[0]])


def _between(old: Delays | None, new: Delays | None) -> tuple[float, float] | None:
    """The old and new delays that are nearest to each other, when all are apart."""
    if old is None or new is None:
        return None
    if new.low_ms - old.high_ms >= APART_MS:
        return old.high_ms, new.low_ms
    if old.low_ms - new.high_ms >= APART_MS:
        return old.low_ms, new.high_ms
    return None
