"""How two captures' clocks relate, from packets that both saw.

A packet that left the first capture's place and arrived at the second's shows the difference of
the clocks plus its delay; one that came the other way shows the difference minus its delay. So the
difference lies below all of the former and above all of the latter, and in the middle of that
interval when the least delays of both directions are the same (Cristian 1989): whatever they are,
it is off by no more than half of the least round trip. One clock may run faster (`skew`), and it
may step (`steps`): each stretch between two steps has its own line.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING

import numpy as np

from .skew import estimate_skew
from .steps import find_step

if TYPE_CHECKING:
    from ..columns import Column

MOST_STEPS = 8
"""Beyond so many a clock is no clock."""

ONE_DIRECTION = "packets of one direction only are in both captures: nothing bounds the offset"
NO_LINE = "no steady pair of clocks explains the packets' times"


@dataclass(frozen=True, slots=True)
class Points:
    """Packets that both captures saw, in the order of the second's frames; columns.

    Attributes
    ----------
    other_ns
        int64: by the second capture's clock.
    delta_ns
        int64: that minus the time by the first capture's clock.
    other_frame
        int64: its frame in the second capture.
    leaving
        Whether it went from the first capture's place to the second's.
    way
        int64: the same for packets of one path and direction.
    """

    other_ns: Column
    delta_ns: Column
    other_frame: Column
    leaving: Column
    way: Column

    def __len__(self) -> int:
        return len(self.way)

    def part(self, chosen: Column) -> Points:
        """Return some of them."""
        return Points(*(getattr(self, one.name)[chosen] for one in fields(self)))


@dataclass(frozen=True, slots=True)
class Stretch:
    """The line between two steps, of the second clock minus the first.

    It is base_ns + offset_ns + skew (second clock - origin_ns).

    Attributes
    ----------
    first_frame
        The second capture's frame that it begins with.
    origin_ns, end_ns
        First and last packet, by the second clock.
    base_ns, offset_ns
        The difference at `origin_ns`, in two parts, so that no digit is lost.
    error_ns
        How far the offset may be off either way; None where nothing bounds it.
    skew, skew_error
        Seconds a second, and how far off that may be.
    """

    first_frame: int
    origin_ns: int
    end_ns: int
    base_ns: int
    offset_ns: float
    error_ns: float | None
    skew: float
    skew_error: float

    def difference_ns(self, other_ns: int) -> float:
        """The second clock minus the first, when the second shows a time."""
        return self.base_ns + (self.offset_ns + self.skew * (other_ns - self.origin_ns))

    @property
    def drift_ns(self) -> float:
        """How far the line may be off at its ends beside the offset's error, the skew being off."""
        return self.skew_error * (self.end_ns - self.origin_ns) / 2


@dataclass(frozen=True, slots=True)
class Clock:
    """How the second capture's clock relates to the first's: stretches between steps, in order.

    `reason` says why the offset is not known, where it is not.
    """

    stretches: tuple[Stretch, ...]
    reason: str | None = None

    @property
    def error_ns(self) -> float | None:
        """How far a delay may be off, in the worst stretch; None where nothing bounds it."""
        errors = [one.error_ns for one in self.stretches]
        return None if None in errors else max(error for error in errors if error is not None)

    @property
    def drift_ns(self) -> float:
        """How much that may change within a stretch."""
        return max(one.drift_ns for one in self.stretches)

    def to_first(self, other_ns: Column, other_frame: Column) -> Column:
        """Return times of the second capture by the first's clock, int64 ns."""
        starts = np.array([one.first_frame for one in self.stretches[1:]], np.int64)
        places = np.searchsorted(starts, other_frame, side="right")
        times_ns = other_ns.copy()
        for place, one in enumerate(self.stretches):
            own = slice(None) if len(self.stretches) == 1 else places == place
            since_ns = other_ns[own] - one.origin_ns
            moved_ns = np.round(one.offset_ns + one.skew * since_ns).astype(np.int64)
            times_ns[own] -= one.base_ns + moved_ns
        return times_ns


SAME = Clock((Stretch(1, 0, 0, 0, 0.0, 0.0, 0.0, 0.0),))
"""Of two captures that were taken by one clock."""


def estimate(points: Points) -> Clock:
    """Estimate the relation of two clocks from at least one packet that both captures saw."""
    parts = _parts(points, MOST_STEPS)
    stretches = [_stretch(part) for part in parts]
    reason = None
    if any(one.error_ns is None for one in stretches):
        both = bool(points.leaving.any()) and not bool(points.leaving.all())
        reason = NO_LINE if both else ONE_DIRECTION
    return Clock(tuple(stretches), reason)


def _parts(points: Points, steps: int) -> list[Points]:
    """Cut where a clock stepped, the greatest step first."""
    frame = (
        find_step(points.other_ns, points.delta_ns, points.leaving, points.way) if steps else None
    )
    if frame is None:
        return [points]
    before = np.arange(len(points)) < frame
    first = _parts(points.part(before), steps - 1)
    return first + _parts(points.part(~before), steps - len(first))


def _stretch(points: Points) -> Stretch:
    origin_ns, end_ns = int(points.other_ns.min()), int(points.other_ns.max())
    base_ns = int(np.median(points.delta_ns))
    x = (points.other_ns - origin_ns).astype(float)
    y = (points.delta_ns - base_ns).astype(float)
    skew, error = estimate_skew(x, y, points.leaving, points.way)
    level = y - skew * x
    leaving = points.leaving
    ceiling = float(level[leaving].min()) if leaving.any() else None
    floor = float(level[~leaving].max()) if not leaving.all() else None
    offset_ns, error_ns = _offset(floor, ceiling)
    return Stretch(
        int(points.other_frame[0]),
        origin_ns,
        end_ns,
        base_ns,
        offset_ns,
        error_ns,
        skew,
        error,
    )


def _offset(floor: float | None, ceiling: float | None) -> tuple[float, float | None]:
    """Return the middle of where the offset can be, and how far it may be off.

    Of one direction, the offset by which the least delay is 0.
    """
    if floor is None or ceiling is None:
        found = ceiling if floor is None else floor
        return (0.0 if found is None else found), None
    if floor > ceiling:
        return (floor + ceiling) / 2, None
    return (floor + ceiling) / 2, (ceiling - floor) / 2
