"""What is wrong with the impairments of a scenario that fits its schema."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .impairment import KEPT, complete, keeps_table, mistakes, pointless

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

Key = tuple[str | int, ...]
Written = list[tuple[Key, dict[str, Any]]]
"""Tables of keys, the later over the earlier, and where each stands."""


def mistakes_of(
    paths: Mapping[str, Any], actions: Sequence[Mapping[str, Any]]
) -> Iterator[tuple[Key, str]]:
    """Yield what netem cannot keep, or would ignore, and where it is written."""
    for name, path in paths.items():
        for direction in ("to_server", "to_client"):
            own: Written = [
                (("paths", name, table), path[table])
                for table in ("both", direction)
                if table in path
            ]
            impairs = list(_impairs(actions, name, direction))
            yield from _of_route(own, impairs)


def _impairs(
    actions: Sequence[Mapping[str, Any]], name: str, direction: str
) -> Iterator[tuple[Key, dict[str, Any]]]:
    """What actions do to a route, in order of time; a link that returns is as its path says."""
    for number in sorted(range(len(actions)), key=lambda number: float(actions[number]["at_s"])):
        action = actions[number]
        if action.get("path") != name or action["direction"] not in ("both", direction):
            continue
        if action["do"] == "impair" and "impairment" in action:
            yield ("actions", number, "impairment"), action["impairment"]
        elif action["do"] == "link-up":
            yield ("actions", number), {}


def _of_route(own: Written, impairs: Written) -> Iterator[tuple[Key, str]]:
    # A burst of the path's own may wait for an action that brings the loss.
    ever = {key: value for _, given in [*own, *impairs] for key, value in given.items() if value}
    idle = list(pointless(ever))
    before = complete({})
    for later in ([], *([impair] for impair in impairs)):
        places = {key: (*at, key) for at, given in own + later for key in given}
        now = complete({key: value for _, given in own + later for key, value in given.items()})
        for key, what in [*mistakes(now), *idle]:
            if key in places:
                yield places[key], what
        if keeps_table(before, now):
            yield places.get("distribution", places["jitter_ms"]), KEPT
        before = now if now["jitter_ms"] else before
