"""One difference in what happened, with where it can be looked up."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Kind = Literal["handover", "path", "finding", "setting"]
What = Literal["appeared", "vanished", "changed cause", "changed path", "changed value"]


@dataclass(frozen=True, slots=True)
class Evidence:
    """A run that shows it, and its frames there."""

    run: str
    frames: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Seen:
    """What one side shows: None where it shows nothing; in so many of its runs."""

    what: str | None
    runs: int
    of: int
    evidence: Evidence | None


@dataclass(frozen=True, slots=True)
class Difference:
    """A difference between two sides.

    `clear`: every run of a side shows what no run of the other does. What is not may be chance.
    """

    group: str
    kind: Kind
    what: What
    place: str
    baseline: Seen
    candidate: Seen
    clear: bool


def appeared_or_vanished(
    group: str, kind: Kind, place: str, baseline: Seen, candidate: Seen
) -> Difference:
    """Return the difference that only one side shows something."""
    shown, other = (candidate, baseline) if candidate.runs else (baseline, candidate)
    clear = other.runs == 0 and shown.runs == shown.of
    return Difference(
        group,
        kind,
        "appeared" if shown is candidate else "vanished",
        place,
        baseline,
        candidate,
        clear,
    )
