"""The way of every frame of a route: when it went, whether and when it came, what it met."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from .matching import ABSENT

if TYPE_CHECKING:
    import numpy.typing as npt

    from .matching import Frames, Matching
    from .model import Sizes, Times

    Flags = npt.NDArray[np.bool_]
    Counts = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Journeys:
    """Frames of one route in the order of their sending; times since the replay's base.

    `arrived_ns` is that of the first to come, and 0 where `came` is 0: how many came of it, and
    `corrupted` of these. `before_ns` is when the one before it came at the far end, `waiting` how
    many were on their way when it went. `is_certain` is false where other frames
    of the same bytes were on their way.
    """

    sent_ns: Times
    bytes: Sizes
    came: Counts
    corrupted: Counts
    arrived_ns: Times
    before_ns: Times
    waiting: Counts
    is_certain: Flags

    @classmethod
    def of(cls, sent: Frames, received: Frames, matching: Matching) -> Journeys:
        """Follow every sent frame."""
        size = sent.time_ns.size
        known = matching.source != ABSENT
        came = np.bincount(matching.source[known], minlength=size)
        corrupted = np.bincount(matching.source[known & matching.is_corrupted], minlength=size)
        has_come = matching.arrival != ABSENT
        arrived_ns = np.zeros(size, dtype=np.int64)
        arrived_ns[has_come] = received.time_ns[matching.arrival[has_come]]
        order = np.argsort(sent.time_ns, kind="stable")
        sent_ns, came = sent.time_ns[order], came[order]
        all_ns = np.sort(received.time_ns[known])
        gone = np.searchsorted(all_ns, sent_ns)
        return cls(
            sent_ns,
            sent.bytes[order],
            came,
            corrupted[order],
            arrived_ns[order],
            _latest_before(arrived_ns[order], came > 0),
            np.cumsum(came) - came - gone,
            matching.is_certain[order],
        )

    def part(self, first: int, last: int) -> Journeys:
        """Return those from one number to before another."""
        names = self.__dataclass_fields__
        return Journeys(**{name: getattr(self, name)[first:last] for name in names})

    def delay_ms(self) -> npt.NDArray[np.float64]:
        """How long each was on its way; of no meaning where `came` is 0."""
        return (self.arrived_ns - self.sent_ns) / 1e6

    def was_lost(self) -> Flags:
        """Whether nothing came of each."""
        found: Flags = self.came == 0
        return found

    def is_reordered(self) -> Flags:
        """Whether each came after one that was sent after it (RFC 4737, section 3.3)."""
        here = np.flatnonzero(self.came)
        order = here[np.argsort(self.arrived_ns[here], kind="stable")]
        found = np.zeros(self.came.size, dtype=np.bool_)
        if order.size:
            found[order] = order < np.maximum.accumulate(order)
        return found


def _latest_before(arrived_ns: Times, has_come: Flags) -> Times:
    """Of each frame, the latest arrival of all sent before it; the earliest time when none is."""
    least = np.iinfo(np.int64).min
    latest = (
        np.maximum.accumulate(np.where(has_come, arrived_ns, least))
        if arrived_ns.size
        else arrived_ns
    )
    found = np.full(arrived_ns.size, least, dtype=np.int64)
    found[1:] = latest[:-1]
    return found
