"""Two captures of one run: whether they are, and what became of every packet between them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ..transit import ClockError
from .between import UNPLACED, Sent, sent_between
from .pairing import NO_WAY, pair_groups
from .sides import Overlay, overlay
from .sightings import columns, is_cut

if TYPE_CHECKING:
    from ...dissectors.ledger import Ledger
    from ..model import End
    from .clock import Clock
    from .pairing import Pair

LEAST_PACKETS = 16
"""So many packets in both captures are no accident of what a file happens to begin or end with."""

MOST = 0.5
"""Of the packets that either capture has while both ran, this share is in the other."""

Way = tuple[int, int, "End"]
"""A group of the first capture, a path of it (`NO_PATH` for flows), and the sender."""


class NotTwoEndsError(ValueError):
    """Two captures that are not of the two ends of one run; the message says why."""


@dataclass(frozen=True, slots=True)
class Ends:
    """How two captures of one run fit together; times are by the first's clock.

    Attributes
    ----------
    clock
        The second capture's clock against the first's.
    pairs
        Associations and flows that both have.
    matched
        Packets that both have.
    shared
        Packets that each capture has of the time in which both ran.
    ways
        What was sent on each way.
    unplaced
        Packets of the second capture on paths of which the first has nothing, by association of the
        first.
    """

    clock: Clock
    pairs: tuple[Pair, ...]
    matched: int
    shared: tuple[int, int]
    ways: dict[Way, Sent]
    unplaced: dict[int, int]

    @property
    def error(self) -> ClockError:
        """How far delays may be off."""
        return ClockError(self.clock.error_ns, self.clock.drift_ns, self.clock.reason)


def find_ends(
    first: Ledger, second: Ledger, *, forced: bool = False, one_clock: bool = False
) -> Ends:
    """Fit two captures together, of which both have the table of sightings.

    It is taken out of both ledgers: at 63 bytes a packet there is no room for it beside what is
    made of it. `one_clock`: both were taken by one clock, and nothing is to be estimated.

    Raises
    ------
    NotTwoEndsError
        When they have no packet in common; and, unless `forced`, when they have too few, or the
        same packets at the same times, which is one capture twice.
    """
    heads = any(is_cut(ledger.tables["sightings"]) for ledger in (first, second))
    one, other = (
        columns(ledger.tables.pop("sightings"), heads=heads) for ledger in (first, second)
    )
    pairs = pair_groups(one, other)
    if not pairs:
        raise NotTwoEndsError("no packet is in both captures")
    laid = overlay(one, other, pairs, (first, second), one_clock=one_clock)
    shared = _shared(laid)
    if not forced:
        _check(laid, shared)
    ways: dict[Way, Sent] = {}
    for sender, receiver in ((laid.first, laid.second), (laid.second, laid.first)):
        found = sent_between(sender, receiver, leaving=sender is laid.first)
        for (way, path), sent in found.items():
            ways[pairs[way // 2].first, path, "b" if way % 2 else "a"] = sent
    return Ends(laid.clock, tuple(pairs), len(laid.rows), shared, ways, _unplaced(laid, pairs))


def _shared(laid: Overlay) -> tuple[int, int]:
    """Packets of each capture in the time in which both ran, by their first and last ones."""
    sides = (laid.first, laid.second)
    start_ns = max(int(side.time_ns.min()) for side in sides)
    end_ns = min(int(side.time_ns.max()) for side in sides)
    one, other = (
        int((~side.rows.copy & (side.time_ns >= start_ns) & (side.time_ns <= end_ns)).sum())
        for side in sides
    )
    return one, other


def _check(laid: Overlay, shared: tuple[int, int]) -> None:
    """Refuse captures that are not of two ends."""
    count = len(laid.rows)
    if count < LEAST_PACKETS or count < MOST * min(shared):
        raise NotTwoEndsError(
            f"{count} packets are in both captures, of {shared[0]} and {shared[1]} in the time in"
            " which both ran"
        )
    times, other_times = laid.first.rows.time_ns, laid.second.rows.time_ns
    if (times[laid.rows] == other_times[laid.others]).all():
        raise NotTwoEndsError("the same packets at the same times: one capture twice")
    both = [
        {way % 2 for way in np.unique(side.way).tolist() if way != NO_WAY}
        for side in (laid.first, laid.second)
    ]
    if len(both[0]) != len(both[1]):
        raise NotTwoEndsError("packets of one direction only are in both captures")


def _unplaced(laid: Overlay, pairs: list[Pair]) -> dict[int, int]:
    lost = laid.second.way[laid.second.path == UNPLACED] // 2
    numbers, counts = np.unique(lost, return_counts=True)
    return {
        pairs[number].first: count
        for number, count in zip(numbers.tolist(), counts.tolist(), strict=True)
    }
