"""All steps of a route together: many short ones tell together what none of them tells alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from . import intervals
from .impairments import Finding, enough_for_distance, few, rare

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .parts import Part
    from .tolerances import Tolerances

EVEN = 4096
"""Ranks that an even distribution is told by."""


def findings(parts: Sequence[Part], tolerances: Tolerances) -> list[Finding]:
    """Return what all parts of a route say together."""
    found = (_delay(parts, tolerances), _distribution(parts, tolerances), _loss(parts, tolerances))
    return [one for one in found if one is not None]


def _delay(parts: Sequence[Part], tolerances: Tolerances) -> Finding | None:
    """By how much delays are longer than those asked for at the time."""
    quantity, tolerance = "delay_offset_ms", tolerances.delay_ms
    samples = [
        part.delayed(part.delays, tolerance / 2)[0] - part.delays.median_ms
        for part in parts
        if part.delays is not None
        and part.is_told_by_delay
        and "slot_min_ms" not in part.impairment
    ]
    sample = np.sort(np.concatenate(samples)) if samples else np.zeros(0)
    if sample.size == 0:
        return None
    estimate = intervals.median(sample, 0.0, tolerance)
    return Finding(quantity, sample.size, 0.0, estimate, tolerance, few(sample.size))


def _distribution(parts: Sequence[Part], tolerances: Tolerances) -> Finding | None:
    """How far the delays' ranks among those asked for at the time are from even."""
    quantity, tolerance = "distribution_distance", tolerances.distribution_distance
    samples = [
        (part.delays.values_ms, part.delayed(part.delays, tolerances.delay_ms / 2)[0])
        for part in parts
        if _shows_its_table(part, tolerances.delay_ms) and part.delays is not None
    ]
    if not sum(sample.size for _, sample in samples):
        return None
    offsets = np.concatenate([sample - np.median(values) for values, sample in samples])
    off = float(np.clip(np.median(offsets), -tolerances.delay_ms, tolerances.delay_ms))
    ranks = [
        np.searchsorted(values, sample - off, "right") / values.size for values, sample in samples
    ]
    each = np.sort(np.concatenate(ranks))
    even = np.arange(1, EVEN + 1) / EVEN
    estimate = intervals.distance(each, even, tolerance)
    weak = few(each.size, enough_for_distance(tolerance))
    return Finding(quantity, each.size, 0.0, estimate, tolerance, weak)


def _shows_its_table(part: Part, room_ms: float) -> bool:
    """Whether a part's delays vary, and are all so long that none is cut."""
    delays = part.delays
    if delays is None or "slot_min_ms" in part.impairment or not part.is_told_by_delay:
        return False
    return room_ms < delays.low_ms < delays.high_ms


def _loss(parts: Sequence[Part], tolerances: Tolerances) -> Finding | None:
    """The share of losses, where each frame had the chance that its step gave it."""
    chances, spreads, lost = [], [], 0
    for part in parts:
        room = ~part.met_full_queue()
        if not 0 < part.loss < 1 or not room.any():
            continue
        n = int(room.sum())
        lost += int((part.frames.was_lost() & room).sum())
        chances.append(np.full(n, part.loss))
        spreads.append(n * part.loss * (1 - part.loss) * part.loss_spread)
    if not chances:
        return None
    each = np.concatenate(chances)
    asked, tolerance = float(each.mean()), tolerances.loss_percent / 100
    spread = sum(spreads) / float((each * (1 - each)).sum())
    one = intervals.share_of_sum(lost, each, tolerance, spread)
    expected = each.size * asked / spread
    percent = intervals.times(one, 100)
    return Finding("loss_percent", each.size, asked * 100, percent, tolerance * 100, rare(expected))
