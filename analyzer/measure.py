"""Numbers and instants that say how they were seen."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Basis = Literal["observed", "annotated", "inferred"]
"""observed: in the capture; annotated: given by the user; inferred: bounded by evidence."""

NS_PER_S = 1_000_000_000


@dataclass(frozen=True, slots=True)
class Instant:
    """A point in time: nanoseconds of the capture's clock, with the frame that shows it.

    `low_ns` and `high_ns` bound an inferred instant. An absent one has a reason instead.
    `elsewhere`: the frame is one of the capture of the other end, whose clock the bounds allow for.
    """

    ns: int | None = None
    frame: int | None = None
    basis: Basis | None = None
    low_ns: int | None = None
    high_ns: int | None = None
    reason: str | None = None
    elsewhere: bool = False

    @classmethod
    def seen(cls, ns: int, frame: int) -> Instant:
        """Make an instant that a frame of the capture shows."""
        return cls(ns=ns, frame=frame, basis="observed")

    @classmethod
    def annotated(cls, ns: int) -> Instant:
        """Make an instant that the user gave."""
        return cls(ns=ns, basis="annotated")

    @classmethod
    def inferred(cls, low_ns: int, high_ns: int) -> Instant:
        """Make an instant that lies between two bounds; its own value is their middle."""
        return cls(ns=(low_ns + high_ns) // 2, basis="inferred", low_ns=low_ns, high_ns=high_ns)

    @classmethod
    def absent(cls, reason: str) -> Instant:
        """Make an instant that this capture cannot give."""
        return cls(reason=reason)


@dataclass(frozen=True, slots=True)
class Measure:
    """A number in the unit that its name ends in, with its basis and, if inferred, bounds."""

    value: float | int | None = None
    basis: Basis | None = None
    low: float | int | None = None
    high: float | int | None = None
    reason: str | None = None
    note: str | None = None

    @classmethod
    def observed(cls, value: float, note: str | None = None) -> Measure:
        """Make a number that the capture shows."""
        return cls(value=value, basis="observed", note=note)

    @classmethod
    def absent(cls, reason: str) -> Measure:
        """Make a number that this capture cannot give."""
        return cls(reason=reason)


def seconds(ns: int) -> float:
    """Convert nanoseconds to seconds."""
    return ns / NS_PER_S


def elapsed_s(start: Instant, end: Instant, note: str | None = None) -> Measure:
    """Time from one instant to another, in seconds, as certain as the less certain of them."""
    if start.ns is None or end.ns is None:
        missing = start if start.ns is None else end
        return Measure.absent(missing.reason or "not in this capture")
    bases = {start.basis, end.basis}
    basis: Basis = (
        "inferred" if "inferred" in bases else "annotated" if "annotated" in bases else "observed"
    )
    value = seconds(end.ns - start.ns)
    if basis != "inferred":
        return Measure(value, basis, note=note)
    low_ns = _first(end.low_ns, end.ns) - _first(start.high_ns, start.ns)
    high_ns = _first(end.high_ns, end.ns) - _first(start.low_ns, start.ns)
    return Measure(value, basis, seconds(low_ns), seconds(high_ns), note=note)


def _first(bound_ns: int | None, ns: int) -> int:
    return ns if bound_ns is None else bound_ns
