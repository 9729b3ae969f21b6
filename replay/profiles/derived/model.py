"""What was measured of each route, and what was made of it: plain data.

A route is one direction of one path. Times are nanoseconds since the first frame of the (first)
capture, which is time 0 of the profile.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from ....analyzer.transit import ABSENT_NS

if TYPE_CHECKING:
    from ....analyzer.columns import Column

NS_PER_MS = 1_000_000
NS_PER_S = 1_000_000_000

Direction = Literal["to_server", "to_client"]
Basis = Literal["observed", "inferred"]

DIRECTIONS: tuple[Direction, Direction] = ("to_server", "to_client")


def opposite(direction: Direction) -> Direction:
    """Return the other direction of a path."""
    return "to_client" if direction == "to_server" else "to_server"


@dataclass(frozen=True, slots=True)
class Resolution:
    """What counts as a change, and what is too little to be written.

    Attributes
    ----------
    step_ns
        Packets are looked at in cells of this length: no step of a profile is much shorter.
    delay_ms, delay_ratio
        Two delays that differ by no more than either are one; the ratio is of the lesser delay.
    jitter_ms
        Likewise of two deviations of the delay; and what is less is no jitter.
    loss_percent
        Likewise of two losses.
    """

    step_ns: int = 100 * NS_PER_MS
    delay_ms: float = 0.5
    delay_ratio: float = 0.02
    jitter_ms: float = 0.2
    loss_percent: float = 1.0


@dataclass(frozen=True, slots=True)
class Series:
    """What crossed one route, in sending order; columns of one length.

    Attributes
    ----------
    sent_ns, arrived_ns
        int64; `ABSENT_NS` where a packet is not seen to arrive.
    wire_bytes
        Of each packet on its sender's link.
    duplicated
        How many arrived a second time; None where that is not known.
    outside
        Packets sent when the other capture did not run, which are not in the columns.
    unsent
        Packets that arrived and that the sender's capture has not, likewise.
    """

    path: str
    direction: Direction
    sent_ns: Column
    arrived_ns: Column
    wire_bytes: Column
    duplicated: int | None
    outside: int = 0
    unsent: int = 0

    @property
    def arrived(self) -> Column:
        """Which packets arrived."""
        found: Column = self.arrived_ns != ABSENT_NS
        return found


@dataclass(frozen=True, slots=True)
class Interval:
    """A number with its 95 % interval."""

    value: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Outage:
    """A time in which nothing came through.

    It began between `last_arrival_ns` and `first_loss_ns`: the sending of the last packet that
    arrived and of the first that did not. It ended between `last_loss_ns` and `first_arrival_ns`.
    Where both directions failed as one (`both`), these are the narrower bounds of the packets of
    both. A bound beyond the capture is None: the outage then begins with the packet lost, and has
    no `end_ns`. `packets` are those of the route that were lost in it; None where only the first
    and the last are known.
    """

    last_arrival_ns: int | None
    first_loss_ns: int
    last_loss_ns: int
    first_arrival_ns: int | None
    packets: int | None
    both: bool = False

    @property
    def start_ns(self) -> int:
        """The middle of where it can have begun."""
        if self.last_arrival_ns is None:
            return self.first_loss_ns
        return (self.last_arrival_ns + self.first_loss_ns) // 2

    @property
    def end_ns(self) -> int | None:
        """The middle of where it can have ended."""
        if self.first_arrival_ns is None:
            return None
        return (self.last_loss_ns + self.first_arrival_ns) // 2


@dataclass(frozen=True, slots=True)
class DelayStep:
    """From `at_ns` on the delay has this mean and deviation, by so many packets."""

    at_ns: int
    delay_ms: float
    jitter_ms: float
    packets: int


@dataclass(frozen=True, slots=True)
class LossStep:
    """From `at_ns` on so many of the packets that were sent are lost."""

    at_ns: int
    lost: int
    sent: int

    @property
    def percent(self) -> float:
        """The share, in percent."""
        return 100 * self.lost / self.sent if self.sent else 0.0


@dataclass(frozen=True, slots=True)
class Loss:
    """Loss outside outages.

    Attributes
    ----------
    ratio
        Packets lost of those sent; None where nothing was sent.
    enter, leave
        Gilbert's p and r: of packets after one that arrived (was lost), the share that is lost
        (arrives). None where there is no such packet, or its fate is not known one by one.
    burst_packets
        Mean length of a burst, 1 / r. None as `leave`, and where losses need no bursts: they may
        then be independent.
    steps
        How it changed; the first is from time 0.
    """

    lost: int
    sent: int
    ratio: Interval | None
    enter: Interval | None
    leave: Interval | None
    burst_packets: Interval | None
    steps: tuple[LossStep, ...]


@dataclass(frozen=True, slots=True)
class RateStep:
    """From `at_ns` on the link has this rate."""

    at_ns: int
    bps: Interval


@dataclass(frozen=True, slots=True)
class Rate:
    """What a queue shows of the rate of a link; without `steps` it shows none, with a reason.

    `pairs` are packets that left the queue right after the one before; `explained` is how much of
    the delay's variance queues of these rates take away.
    """

    steps: tuple[RateStep, ...]
    pairs: int
    explained: float | None
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class Order:
    """Packets that overtook others, and by what.

    `early` ones were not delayed at all; `expected` is how many pairs of neighbours independent
    delays of this distribution would have turned around, `turned` how many were.
    """

    early: int
    turned: int
    expected: int
    keep_order: bool


@dataclass(frozen=True, slots=True)
class Points:
    """The delays measured on one route; columns of one length.

    `own_ms` is what is left of each without the queue of a derived rate.
    """

    path: str
    direction: Direction
    sent_ns: Column
    delay_ms: Column
    own_ms: Column

    @property
    def time_s(self) -> Column:
        """When each packet was sent, in seconds since time 0."""
        found: Column = self.sent_ns / NS_PER_S
        return found


@dataclass(frozen=True, slots=True)
class RouteEvidence:
    """All that is known of one route.

    `sent` and `lost` are packets where both ends are known, else DATA chunks. `delay_error_ms` is
    how far every delay may be off. `lone` counts packets whose delay differed from that of all
    around them, in too small a number for a step; `outside` and `unsent` packets
    are in no other number.
    """

    path: str
    direction: Direction
    basis: Basis
    sent: int
    lost: int
    points: Points
    delay_error_ms: float | None
    delays: tuple[DelayStep, ...]
    distribution: Column
    loss: Loss
    outages: tuple[Outage, ...]
    rate: Rate
    order: Order | None
    duplicated: int | None
    lone: int = 0
    outside: int = 0
    unsent: int = 0


@dataclass(frozen=True, slots=True)
class Derived:
    """A profile out of captures, and what it is made of.

    Attributes
    ----------
    document
        The profile, in the format `pathscope.profile/1`.
    evidence
        One for each route on which anything was sent.
    duration_ns
        From the first frame to the last.
    established_ns
        When each association of the capture was up, if that was seen.
    """

    document: dict[str, Any]
    evidence: tuple[RouteEvidence, ...]
    warnings: tuple[str, ...]
    duration_ns: int
    established_ns: tuple[int | None, ...] = field(default=())

    @property
    def points(self) -> tuple[Points, ...]:
        """The delays of every route, to be shown beside the profile."""
        return tuple(one.points for one in self.evidence)


NO_VALUES = np.zeros(0)
