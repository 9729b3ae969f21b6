"""What a capture of the other end adds to an analysis: plain data.

Field names are those of the result contract (docs/result.md).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ..measure import Instant, Measure


@dataclass(frozen=True, slots=True)
class ClockStep:
    """A step of one clock against the other: by how much more the other capture's is ahead."""

    at: Instant
    step_s: Measure


@dataclass(frozen=True, slots=True)
class ClockRelation:
    """The other capture's clock against that of the first, at the beginning of what both have.

    `offset_s` is the other's minus the first's; `skew_ppm` how much faster the other's runs, in
    microseconds a second.
    """

    offset_s: Measure
    skew_ppm: Measure
    steps: tuple[ClockStep, ...]


@dataclass(frozen=True, slots=True)
class Counterpart:
    """An association or flow of the first capture as the other one shows it.

    Attributes
    ----------
    number, other
        Its number in the first capture, and in the other.
    is_flow
        Whether it is a flow.
    swapped
        Whether end a of the one is end b of the other.
    translated
        Whether addresses or ports of its packets differ: a NAT is on the way.
    addresses, ports
        Those that the other capture has, by the ends of the first: a, then b.
    unplaced_packets
        Packets of the other capture on paths of which the first has nothing; in no path's numbers.
    """

    number: int
    other: int
    is_flow: bool
    swapped: bool
    translated: bool
    addresses: tuple[tuple[str, ...], tuple[str, ...]]
    ports: tuple[int, int]
    unplaced_packets: int


@dataclass(frozen=True, slots=True)
class OtherEnd:
    """The capture of the other end of the same run.

    Attributes
    ----------
    path, capture
        As of the first capture.
    clock
        How its clock relates to the first's.
    matched_packets
        Packets that both captures have.
    shared_packets
        Packets of associations and flows that the first capture, and that the other, has of the
        time in which both ran.
    counterparts
        What both have, associations first.
    """

    path: str
    capture: dict[str, Any]
    clock: ClockRelation
    matched_packets: int
    shared_packets: tuple[int, int]
    counterparts: tuple[Counterpart, ...]
