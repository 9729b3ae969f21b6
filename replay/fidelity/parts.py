"""A part of a route's frames, under one impairment, with what that lets one expect of each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from .intervals import burst_spread

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy.typing as npt

    from .delays import Delays
    from .journeys import Flags, Journeys

    Sample = npt.NDArray[np.float64]

LEAST_FRAMES = 30
"""Fewer say nothing."""

LEAST_EVENTS = 5
"""Expected ones, of what happens to few frames, and of frames that it does not happen to."""

LEAST_SEEN_DELAY_MS = 2.0
"""A frame that overtakes is told by its delay: the others' must be this long."""

FULL_SHARE = 0.95
"""Of a queue's limit: a frame that was lost with so many on their way may have found it full."""


@dataclass(frozen=True, slots=True)
class Part:
    """Frames of a route that were sent under one impairment, and the delays that it asks for.

    `delays` is None when the table that the impairment names is not known; `queue_packets` is the
    limit that netem was given.
    """

    frames: Journeys
    impairment: Mapping[str, Any]
    delays: Delays | None
    queue_packets: int

    def percent(self, name: str) -> float:
        """Return an impairment's chance, from 0 to 1."""
        return float(self.impairment.get(f"{name}_percent", 0)) / 100

    @property
    def burst(self) -> float | None:
        """Mean length of bursts of losses, before duplication; None: losses are independent."""
        burst = self.impairment.get("loss_burst_packets")
        return None if burst is None or not 0 < self.percent("loss") < 1 else float(burst)

    @property
    def loss(self) -> float:
        """The chance that nothing comes of a frame.

        Netem draws duplication and loss one after the other and adds them up: a frame that was to
        be both comes once.
        """
        return self.percent("loss") * (1 - self.percent("duplicate"))

    @property
    def loss_spread(self) -> float:
        """How many times as much the count of losses varies as that of independent ones."""
        return 1.0 if self.burst is None else burst_spread(self.percent("loss"), self.burst)

    @property
    def copy(self) -> float:
        """The chance that of a frame that came, two came. A copy's loss is drawn anew."""
        loss, duplicate = self.percent("loss"), self.percent("duplicate")
        if self.loss == 1:
            return 0.0
        lost_again = loss
        if self.burst is not None:
            # The chain was in its good state: a copy is lost when it leaves that.
            lost_again = loss / (1 - loss) / self.burst
        return duplicate * (1 - loss) * (1 - lost_again) / (1 - self.loss)

    @property
    def overtaking(self) -> float:
        """The share of frames that netem sends at once, of a cycle of gap - 1 others before it."""
        chance, gap = self.percent("reorder"), self.impairment.get("reorder_gap") or 1
        return chance / (1 + (gap - 1) * chance)

    @property
    def is_a_queue(self) -> bool:
        """Whether frames wait for those before them."""
        return "rate_kbit" in self.impairment or bool(self.impairment.get("keep_order"))

    @property
    def is_ordered(self) -> bool:
        """Whether no frame may overtake another."""
        constant = self.delays is not None and self.delays.low_ms == self.delays.high_ms
        return (self.is_a_queue or constant) and not self.percent("reorder")

    @property
    def is_told_by_delay(self) -> bool:
        """Whether a frame that overtakes differs from one that was delayed, where both may be."""
        if not self.percent("reorder"):
            return True
        return self.delays is not None and self.delays.low_ms >= LEAST_SEEN_DELAY_MS

    def met_full_queue(self) -> Flags:
        """Whether each frame may have found the queue full."""
        limit = self.queue_packets
        found: Flags = self.frames.waiting >= max(1, min(FULL_SHARE * limit, limit - 2))
        return found

    def own_time_ms(self) -> Sample:
        """How long the rate needs for each frame itself."""
        if "rate_kbit" not in self.impairment:
            return np.zeros(self.frames.bytes.size)
        # A kbit/s is a bit in a millisecond.
        found: Sample = self.frames.bytes * 8 / float(self.impairment["rate_kbit"])
        return found

    def was_held_up(self, delays: Delays, room_ms: float) -> Flags:
        """Whether each may have had to wait for one before it, for longer than some room."""
        if not self.is_a_queue:
            return np.zeros(self.frames.came.size, dtype=np.bool_)
        ready_ns = self.frames.sent_ns + round((delays.low_ms + room_ms) * 1e6)
        found: Flags = self.frames.before_ns > ready_ns
        return found

    def delayed(self, delays: Delays, room_ms: float) -> tuple[Sample, int]:
        """Return, sorted, the delays of frames that show what was drawn for them, in ms.

        Those are frames of which one came, that did not wait for others. The second number is how
        many of these overtook the rest: they were not delayed at all.
        """
        frames = self.frames
        clear = (frames.came == 1) & frames.is_certain & ~self.was_held_up(delays, room_ms)
        found = np.sort((frames.delay_ms() - self.own_time_ms())[clear])
        if not self.percent("reorder"):
            return found, 0
        overtook = int(np.searchsorted(found, delays.low_ms / 2))
        return found[overtook:], overtook
