"""A handover of one run beside the same one of another run: instants from a common origin.

The origin is when the link failed, where both runs have that from someone who knew; else the first
new DATA on the new path, which every handover has.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from .courses import courses_of, matched

if TYPE_CHECKING:
    from .pairing import Group

Node = dict[str, Any]

FAILED, MOVED = "t_fail", "t_first_new"


@dataclass(frozen=True, slots=True)
class Moment:
    """When an instant was, from the origin on, and its frame; None: absent, for the reason.

    `elsewhere`: the frame is in the capture of the other end.
    """

    offset_ns: int | None
    frame: int | None
    reason: str | None
    elsewhere: bool = False


@dataclass(frozen=True, slots=True)
class Aligned:
    """The instants of one handover in two runs, by name, in the order of the contract."""

    group: str
    place: str
    baseline_run: str
    candidate_run: str
    origin: str
    instants: tuple[tuple[str, Moment, Moment], ...]


def aligned(group: Group) -> list[Aligned]:
    """Return every handover that both runs have, where each side has one run."""
    if len(group.baseline) != 1 or len(group.candidate) != 1:
        return []
    one, other = group.baseline[0], group.candidate[0]
    ours, theirs = courses_of(one), courses_of(other)
    found = []
    for (where, sender), handovers in ours.items():
        others = theirs.get((where, sender), [])
        courses = (tuple(move for move, _ in side) for side in (handovers, others))
        for match in matched(*courses):
            if match.baseline is None or match.candidate is None:
                continue
            before = handovers[match.baseline][1]["instants"]
            after = others[match.candidate][1]["instants"]
            place = f"handover {match.baseline + 1} of {sender}, {where}"
            origin = _origin(before, after)
            instants = tuple(
                (name, _moment(before, name, origin), _moment(after, name, origin))
                for name in before
                if any(side.get(name, {}).get("ns") is not None for side in (before, after))
            )
            found.append(Aligned(group.name, place, one.name, other.name, origin, instants))
    return found


def _origin(before: Node, after: Node) -> str:
    known = all(
        side[FAILED]["ns"] is not None and side[FAILED]["basis"] == "annotated"
        for side in (before, after)
    )
    return FAILED if known else MOVED


def _moment(instants: Node, name: str, origin: str) -> Moment:
    found = instants.get(name, {"ns": None, "reason": "an earlier pathscope does not tell"})
    if found["ns"] is None:
        return Moment(None, None, found["reason"])
    offset_ns = found["ns"] - instants[origin]["ns"]
    return Moment(offset_ns, found["frame"], None, found.get("other_capture", False))
