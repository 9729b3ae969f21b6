"""A profile as text: TOML that `load` reads again, and steps out of states."""

from __future__ import annotations

from textwrap import fill, indent
from typing import TYPE_CHECKING, Any

from ..lab import impairment

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from .profile import Profile

DIRECTION_KEY = "direction"

WIDTH = 96
"""Of lines of numbers."""


def text(profile: Profile) -> str:
    """Return a profile as TOML, a step a line."""
    import tomli_w

    whole = profile.document()
    tables = whole.pop("distributions", {})
    found: str = tomli_w.dumps(whole)
    if tables:
        found += "\n[distributions]\n"
    for name, values in tables.items():
        # A number a line is what tomli-w makes of an array; names have a dot at most.
        numbers = fill(", ".join(f"{value:.6g}" for value in values), WIDTH)
        found += f'"{name}" = [\n{indent(numbers, "    ")},\n]\n'
    return found


def table_of(states: Iterable[tuple[int, Mapping[str, Any]]], direction: str) -> dict[str, Any]:
    """Return a path's table that makes a direction, or both, what it is from each instant on.

    Parameters
    ----------
    states
        Instants in nanoseconds, ascending from 0, and the keys of the impairment from then on.
    direction
        `both`, `to_server` or `to_client`.
    """
    table: dict[str, Any] = {}
    steps: list[dict[str, Any]] = []
    before: dict[str, Any] = {}
    for at_ns, state in states:
        now = dict(state)
        if at_ns == 0:
            table[direction] = now
        elif (changed := _changed(before, now)) is not None:
            head: dict[str, Any] = {"at_s": at_ns / 1e9}
            if direction != "both":
                head[DIRECTION_KEY] = direction
            steps.append(head | changed)
        before = now
    if steps:
        table["steps"] = steps
    return table


def _changed(before: Mapping[str, Any], now: Mapping[str, Any]) -> dict[str, Any] | None:
    """The keys of a step from one state to another; None when there is nothing to change."""
    if impairment.complete(before) == impairment.complete(now):
        return None
    gone = before.keys() - now.keys()
    if any("default" not in impairment.rules()[key] for key in gone):
        return {"reset": True, **now}
    was, whole = impairment.complete(before), impairment.complete(now)
    return {key: value for key, value in whole.items() if was.get(key) != value}
