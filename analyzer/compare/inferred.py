"""Settings that the senders' behaviour shows, where those of the two sides cannot be the same.

They cannot when the bounds of all runs of one side lie beyond those of all runs of the other. A
setting that one side does not show is no difference: what was not seen may still be the same.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .difference import Difference, Evidence, Seen
from .facts import associations

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .pairing import Group
    from .runs import Run

Node = dict[str, Any]

Shown = dict[tuple[str, str, str], list[tuple[str, Node]]]
"""By association, end and setting: runs with what they show."""


def setting_differences(group: Group) -> list[Difference]:
    """Return settings whose bounds on the two sides have nothing in common."""
    one, other = _shown(group.baseline), _shown(group.candidate)
    found = []
    for key in one:
        if key in other and _apart(one[key], other[key]):
            where, end, name = key
            before, after = (
                _seen(shown, len(runs))
                for shown, runs in ((one[key], group.baseline), (other[key], group.candidate))
            )
            clear = before.runs == before.of and after.runs == after.of
            place = f"{name} of {end}, {where}"
            found.append(
                Difference(group.name, "setting", "changed value", place, before, after, clear)
            )
    return found


def _shown(runs: Sequence[Run]) -> Shown:
    found: Shown = {}
    for run in runs:
        for where, association in associations(run.document):
            for end, timers in association["timers"].items():
                for name, timer in timers.items():
                    if timer["value"] is not None:
                        found.setdefault((where, end, name), []).append((run.name, timer))
    return found


def _apart(one: list[tuple[str, Node]], other: list[tuple[str, Node]]) -> bool:
    (low, high), (other_low, other_high) = _bounds(one), _bounds(other)
    return high < other_low or other_high < low


def _bounds(shown: list[tuple[str, Node]]) -> tuple[float, float]:
    """Return the bounds of all; a side that an inference leaves open ends at the value itself."""
    lows = [_or(timer.get("low"), timer["value"]) for _, timer in shown]
    highs = [_or(timer.get("high"), timer["value"]) for _, timer in shown]
    return min(lows), max(highs)


def _or(bound: float | None, value: float) -> float:
    return value if bound is None else bound


def _seen(shown: list[tuple[str, Node]], of: int) -> Seen:
    values = sorted({timer["value"] for _, timer in shown})
    text = f"{values[0]:g}" if len(values) == 1 else f"{values[0]:g} to {values[-1]:g}"
    run, timer = shown[0]
    return Seen(text, len(shown), of, Evidence(run, tuple(timer["frames"])))
