"""What is wrong with the impairments of a scenario that fits its schema."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .impairment import KEPT, complete, keeps_table, mistakes, pointless

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

Key = tuple[str | int, ...]
Given = tuple[Key, dict[str, Any]]
"""A table of keys, and where it stands."""

Written = list[Given]
"""The later ones over the earlier."""


def mistakes_of(
    paths: Mapping[str, Any],
    actions: Sequence[Mapping[str, Any]],
    tables: Mapping[str, Sequence[float]],
) -> Iterator[tuple[Key, str]]:
    """Yield what netem cannot keep, or would ignore, and where it is written.

    `tables` are the scenario's own distributions of delays.
    """
    for name, path in paths.items():
        for direction in ("to_server", "to_client"):
            own: Written = [
                (("paths", name, table), path[table])
                for table in ("both", direction)
                if table in path
            ]
            impairs = list(_impairs(actions, name, direction))
            yield from _of_route(own, impairs, tables)


def _impairs(
    actions: Sequence[Mapping[str, Any]], name: str, direction: str
) -> Iterator[tuple[Given, bool]]:
    """What actions do to a route, in order of time, and whether it stands alone.

    A link that returns is as its path says, unless the action says otherwise.
    """
    for number in sorted(range(len(actions)), key=lambda number: float(actions[number]["at_s"])):
        action = actions[number]
        if action.get("path") != name or action["direction"] not in ("both", direction):
            continue
        if "impairment" in action:
            yield (("actions", number, "impairment"), action["impairment"]), action["reset"]
        elif action["do"] == "link-up":
            yield (("actions", number), {}), False


def _of_route(
    own: Written, impairs: Sequence[tuple[Given, bool]], tables: Mapping[str, Sequence[float]]
) -> Iterator[tuple[Key, str]]:
    # A burst of the path's own may wait for an action that brings the loss.
    parts = [*own, *(given for given, _ in impairs)]
    ever = {key: value for _, given in parts for key, value in given.items() if value}
    idle = list(pointless(ever))
    before = complete({})
    for written in (own, *([*([] if alone else own), given] for given, alone in impairs)):
        places = {key: (*at, key) for at, given in written for key in given}
        now = complete({key: value for _, given in written for key, value in given.items()})
        for key, what in [*mistakes(now, tables), *idle]:
            if key in places:
                yield places[key], what
        if keeps_table(before, now):
            yield places.get("distribution", places["jitter_ms"]), KEPT
        before = now if now["jitter_ms"] else before
