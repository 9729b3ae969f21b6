"""What limits a comparison, as data: each warning with its kind, so that a program can tell."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from .pairing import Group, Pairing
    from .runs import Run

Node = dict[str, Any]

FEWEST = 6
"""Runs a side: with fewer, few differences can be told from chance."""


@dataclass(frozen=True, slots=True)
class Warned:
    """A warning: its kind, its group, and the runs that it is about."""

    kind: str
    group: str
    text: str
    runs: tuple[str, ...] = ()


def warned(pairing: Pairing) -> list[Warned]:
    """Return what limits the comparison, group by group."""
    return [warning for group in pairing.groups for warning in _of_group(group)]


def _of_group(group: Group) -> Iterator[Warned]:
    for side, runs in (("baseline", group.baseline), ("candidate", group.candidate)):
        if len(runs) < FEWEST:
            text = f"{side} has {_count(len(runs))}; {FEWEST} or more show differences better"
            yield Warned("few-runs", group.name, text)
        yield from _of_captures(group.name, side, runs)
    for variation in group.variations:
        values = ", ".join(map(str, variation.values))
        text = f"runs of the {variation.side} differ in {variation.key}: {values}"
        yield Warned("settings-differ", group.name, text)
    yield from _vantage(group)


def _of_captures(group: str, side: str, runs: Sequence[Run]) -> Iterator[Warned]:
    kinds = (
        ("damaged", "damaged or cut off: the numbers go up to there", _damaged),
        ("dropped-packets", "the capturing host dropped packets", _dropped),
        ("clock-steps", "the clock of the capture was set back", _stepped),
        ("other-clock", "the clocks of its two ends do not run as one", _clocks),
    )
    for kind, what, fits in kinds:
        found = tuple(run.name for run in runs if any(map(fits, run.document["captures"])))
        if found:
            yield Warned(kind, group, f"{_count(len(found))} of the {side}: {what}", found)


def _damaged(capture: Node) -> bool:
    return capture["damage"] is not None


def _dropped(capture: Node) -> bool:
    return bool(capture["dropped_by_capture"])


def _stepped(capture: Node) -> bool:
    return bool(capture["clock_steps"])


def _clocks(capture: Node) -> bool:
    return bool(capture.get("other_end", {}).get("clock", {}).get("steps"))


def _vantage(group: Group) -> Iterator[Warned]:
    """Numbers of one end's capture and of both ends' are not of the same thing."""
    seen = {
        side: sorted({_from(run.document) for run in runs})
        for side, runs in (("baseline", group.baseline), ("candidate", group.candidate))
    }
    if seen["baseline"] != seen["candidate"] or len(seen["baseline"]) > 1:
        text = "; ".join(f"{side}: {', '.join(found)}" for side, found in seen.items())
        yield Warned("vantage", group.name, f"not all were captured at the same place: {text}")


def _from(document: Node) -> str:
    if any("other_end" in capture for capture in document["captures"]):
        return "both ends"
    places = {one["captured_at"] for one in document["associations"]} - {None}
    return f"at {' and '.join(sorted(places))}" if places else "not known where"


def _count(runs: int) -> str:
    return "1 run" if runs == 1 else f"{runs} runs"
