"""What was asked for against what came of it: one function for each impairment, of one part."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from . import intervals
from .parts import LEAST_EVENTS, LEAST_FRAMES

if TYPE_CHECKING:
    from collections.abc import Callable

    from .model import Estimate
    from .parts import Part
    from .tolerances import Tolerances

BATCHES = 20
"""Stretches of time of which each gives a rate."""

LEAST_BUSY_FRAMES = 200
"""That came one behind the other, for a rate."""

WAITED = "every frame waited for another"

ALIKE = "frames on their way at the same time were the same, byte by byte"

TOO_SHORT = "the delay is too short to tell which frames overtook"


@dataclass(frozen=True, slots=True)
class Finding:
    """One quantity of one part, before there is a verdict.

    `estimate` is None where there is nothing to estimate from. `weak` says why chance can tell
    too little for a pass; what fails even so, fails. `wrong` says what no chance explains.
    """

    quantity: str
    n: int
    asked: float | None
    estimate: Estimate | None
    tolerance: float = 0.0
    weak: str = ""
    wrong: str = ""
    count: float | None = None


def findings(part: Part, tolerances: Tolerances) -> list[Finding]:
    """Return one finding for each thing that was asked for, and for what came unasked."""
    found = [one(part, tolerances) for one in _EACH]
    return [one for one in found if one is not None]


def _delay(part: Part, tolerances: Tolerances) -> Finding | None:
    quantity, delays = "delay_ms", part.delays
    if delays is None:
        name = part.impairment["distribution"]
        return Finding(quantity, 0, None, None, weak=f"the table {name} is not known")
    if part.percent("loss") == 1:
        return None
    asked, tolerance = delays.median_ms, tolerances.delay_ms
    sample, _ = part.delayed(delays, tolerance / 2)
    if "slot_min_ms" in part.impairment:
        return Finding(quantity, sample.size, asked, None, tolerance, "frames wait for slots")
    if not part.is_told_by_delay:
        return Finding(quantity, sample.size, asked, None, tolerance, TOO_SHORT)
    if sample.size == 0:
        weak = _why_none(part)
        return Finding(quantity, 0, asked, None, tolerance, weak)
    estimate = intervals.median(sample, asked, tolerance)
    return Finding(quantity, sample.size, asked, estimate, tolerance, few(sample.size))


def _why_none(part: Part) -> str:
    """Why no frame shows its own delay."""
    if not part.frames.came.any():
        return "nothing came"
    return WAITED if part.frames.is_certain.any() else ALIKE


def _distribution(part: Part, tolerances: Tolerances) -> Finding | None:
    delays = part.delays
    if delays is None or delays.low_ms == delays.high_ms or "slot_min_ms" in part.impairment:
        return None
    if part.percent("loss") == 1 or not part.is_told_by_delay:
        return None
    quantity, tolerance = "distribution_distance", tolerances.distribution_distance
    sample, _ = part.delayed(delays, tolerances.delay_ms / 2)
    if sample.size == 0:
        return Finding(quantity, 0, 0.0, None, tolerance, _why_none(part))
    # Where the delays lie is the delay's to say; what is below the resolution is one delay.
    room = tolerances.delay_ms
    off = min(max(float(np.median(sample)) - delays.median_ms, -room), room)
    ours = np.maximum(sample - off, room)
    estimate = intervals.distance(ours, np.maximum(delays.values_ms, room), tolerance)
    weak = few(sample.size, enough_for_distance(tolerance))
    return Finding(quantity, sample.size, 0.0, estimate, tolerance, weak)


def _loss(part: Part, tolerances: Tolerances) -> Finding:
    frames = part.frames
    room = ~part.met_full_queue()
    n, lost = int(room.sum()), int((frames.was_lost() & room).sum())
    asked, tolerance = part.loss, tolerances.loss_percent / 100
    if n == 0:
        return Finding("loss_percent", 0, asked * 100, None, weak="no frame found room")
    if part.burst is None:
        estimate = intervals.share(lost, n, asked, tolerance)
        expected = n * asked
    else:
        estimate = intervals.share_in_bursts(lost, n, asked, part.burst, tolerance)
        expected = n * asked / part.burst
    return _in_percent("loss_percent", n, asked, estimate, tolerance, expected)


def _burst(part: Part, tolerances: Tolerances) -> Finding | None:
    if part.burst is None:
        return None
    lost = part.frames.was_lost() & ~part.met_full_queue()
    before = lost[:-1] & part.frames.is_certain[:-1]
    losses, ended = int(before.sum()), int((before & ~lost[1:]).sum())
    # A frame that is lost and to come twice comes once, and ends a burst.
    asked = 1 / (1 - (1 - 1 / part.burst) * (1 - part.percent("duplicate")))
    tolerance = tolerances.loss_burst_packets
    if losses == 0:
        return Finding("loss_burst_packets", 0, asked, None, tolerance, "nothing was lost")
    estimate = intervals.mean_burst(ended, losses, asked, tolerance)
    weak = few(losses) or rare(losses / asked)
    return Finding("loss_burst_packets", losses, asked, estimate, tolerance, weak)


def _duplication(part: Part, tolerances: Tolerances) -> Finding | None:
    came = part.frames.came[~part.met_full_queue()]
    n, twice = int((came > 0).sum()), int((came > 1).sum())
    if not n or not (twice or part.percent("duplicate")):
        return None
    asked, tolerance = part.copy, tolerances.duplicate_percent / 100
    estimate = intervals.share(twice, n, asked, tolerance)
    return _in_percent("duplicate_percent", n, asked, estimate, tolerance, n * asked)


def _corruption(part: Part, tolerances: Tolerances) -> Finding | None:
    n, corrupted = int(part.frames.came.sum()), int(part.frames.corrupted.sum())
    asked, tolerance = part.percent("corrupt"), tolerances.corrupt_percent / 100
    if not n or not (corrupted or asked):
        return None
    estimate = intervals.share(corrupted, n, asked, tolerance)
    return _in_percent("corrupt_percent", n, asked, estimate, tolerance, n * asked)


def _reordering(part: Part, tolerances: Tolerances) -> Finding | None:
    asked, tolerance = part.overtaking, tolerances.reorder_percent / 100
    if not asked:
        return None
    quantity = "reorder_percent"
    if part.delays is None or not part.is_told_by_delay:
        return Finding(quantity, 0, asked * 100, None, tolerance * 100, TOO_SHORT)
    rest, overtook = part.delayed(part.delays, tolerances.delay_ms / 2)
    n = rest.size + overtook
    if n == 0:
        return Finding(quantity, 0, asked * 100, None, tolerance * 100, "nothing came")
    estimate = intervals.share(overtook, n, asked, tolerance)
    return _in_percent(quantity, n, asked, estimate, tolerance, n * asked)


def _order(part: Part, _tolerances: Tolerances) -> Finding | None:
    if not part.is_ordered or part.percent("loss") == 1:
        return None
    certain = part.frames.is_certain
    count = int((part.frames.is_reordered() & certain).sum())
    n = int((part.frames.came[certain] > 0).sum())
    wrong = "frames overtook others, which nothing asked for" if count else ""
    return Finding("reordered_packets", n, 0.0, None, weak=few(n), wrong=wrong, count=count)


def _rate(part: Part, tolerances: Tolerances) -> Finding | None:
    if "rate_kbit" not in part.impairment or part.percent("loss") == 1:
        return None
    asked = float(part.impairment["rate_kbit"])
    quantity, tolerance = "rate_kbit", tolerances.rate_share * asked
    if part.delays is None:
        return Finding(quantity, 0, asked, None, tolerance, "the delays are not known")
    bits, time_ms = _one_behind_the_other(part, part.delays.high_ms + tolerances.delay_ms)
    n = bits.size
    if n < LEAST_BUSY_FRAMES:
        weak = f"the queue was hardly ever full: {n} frames came one behind the other"
        return Finding(quantity, n, asked, None, tolerance, weak)
    sums = [np.array([one.sum() for one in np.array_split(of, BATCHES)]) for of in (bits, time_ms)]
    if not sums[1].all():
        return Finding(quantity, n, asked, None, tolerance, "the capture's clock is too coarse")
    estimate = intervals.mean(sums[0] / sums[1], asked, tolerance)
    whole = float(bits.sum() / time_ms.sum())
    half = (estimate.high - estimate.low) / 2
    estimate = replace(estimate, value=whole, low=whole - half, high=whole + half)
    return Finding(quantity, n, asked, estimate, tolerance)


def _one_behind_the_other(part: Part, longest_ms: float) -> tuple[np.ndarray, np.ndarray]:
    """Bits, and time since the one before, of frames that had to wait for the one before."""
    frames = part.frames
    here = np.flatnonzero(frames.came)
    here = here[1:][(frames.came[here[1:]] == 1) & (frames.came[here[:-1]] == 1)]
    waited_ns = frames.before_ns[here] - frames.sent_ns[here]
    in_order = frames.arrived_ns[here] >= frames.before_ns[here]
    here = here[(waited_ns > longest_ms * 1e6) & in_order]
    time_ms = (frames.arrived_ns[here] - frames.before_ns[here]) / 1e6
    return frames.bytes[here] * 8, time_ms


def _overflow(part: Part, _tolerances: Tolerances) -> Finding | None:
    count = int((part.frames.was_lost() & part.met_full_queue()).sum())
    if not count or part.percent("loss") == 1:
        return None
    limited = {"rate_kbit", "queue_packets"} & part.impairment.keys()
    wrong = "" if limited else "a queue overflowed that nobody asked for"
    n = part.frames.came.size
    asked = None if limited else 0.0
    return Finding("overflow_packets", n, asked, None, wrong=wrong, count=count)


_EACH: tuple[Callable[[Part, Tolerances], Finding | None], ...] = (
    _delay,
    _distribution,
    _loss,
    _burst,
    _duplication,
    _corruption,
    _reordering,
    _order,
    _rate,
    _overflow,
)


def _in_percent(
    quantity: str, n: int, asked: float, estimate: Estimate, tolerance: float, expected: float
) -> Finding:
    shown = intervals.times(estimate, 100)
    weak = few(n)
    if not weak and 0 < asked < 1:
        weak = rare(min(expected, n * (1 - asked)))
    return Finding(quantity, n, asked * 100, shown, tolerance * 100, weak)


def enough_for_distance(tolerance: float) -> int:
    """Return how many frames make the interval of a distance as narrow as its tolerance."""
    if not tolerance:
        return LEAST_FRAMES
    return max(LEAST_FRAMES, math.ceil(math.log(2 / intervals.ALPHA) / (2 * tolerance**2)))


def few(n: int, least: int = LEAST_FRAMES) -> str:
    """Say that there are too few frames; nothing when there are enough."""
    return f"{n} frames, {least} needed" if n < least else ""


def rare(expected: float) -> str:
    """Say that too few events are to be expected; nothing when there are enough."""
    return f"{expected:.1f} expected, {LEAST_EVENTS} needed" if expected < LEAST_EVENTS else ""
