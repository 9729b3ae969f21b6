"""What a scenario may say in short: a walk for paths and actions, a crowd for background flows.

Written out before anything else is checked, so that all that follows knows paths, actions and flows
only, and a run's `scenario.json` tells them all. What was said of a walk stays beside them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from . import walk

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

STANDS_FOR = ("duration_s", "paths")
"""What a walk gives, and nothing else may."""

Mistake = tuple[tuple[str | int, ...], str]
"""A key, and what is wrong there."""


def mistakes(settings: Mapping[str, Any]) -> Iterable[Mistake]:
    """Yield what the schema cannot say of a walk, and of a crowd."""
    crowd = settings["background"]
    if isinstance(crowd, dict) and crowd["protocol"] == "udp" and "rate_kbit" not in crowd:
        yield ("background",), "hosts of udp need rate_kbit"
    if "walk" not in settings:
        return
    if isinstance(crowd, dict) and settings["walk"]["out_of_range"] != "nothing":
        yield (
            ("walk", "out_of_range"),
            "expected nothing: the links are those of background.hosts, too",
        )
    if settings["application"]["protocol"] != "sctp":
        yield ("application", "protocol"), "a walk hands addresses over, which only sctp can"
    if not settings["client"]["sctp"]["asconf"]:
        yield ("walk",), "a walk needs sctp.asconf = true"
    for key in STANDS_FOR:
        if key in settings:
            yield (key,), f"walk gives {key}"
    try:
        walk.expanded(settings["walk"], settings["seed"])
    except walk.WalkError as error:
        yield ("walk", error.key), error.what


def expand(settings: dict[str, Any]) -> dict[str, Any]:
    """Return settings without shorthand; what it stands for has no defaults yet."""
    if "walk" in settings:
        found = walk.expanded(settings["walk"], settings["seed"])
        # The scenario's own actions first: their numbers are those that its author knows.
        settings = settings | found | {"actions": settings["actions"] + found["actions"]}
    if isinstance(settings["background"], dict):
        settings = settings | {"background": _flows(settings["background"], settings["paths"])}
    return settings


def _flows(crowd: Mapping[str, Any], paths: Iterable[str]) -> list[dict[str, Any]]:
    flow = {key: value for key, value in crowd.items() if key != "hosts"}
    if crowd["hosts"] == 0:
        return []
    return [flow | {"path": path, "flows": crowd["hosts"], "neighbour": True} for path in paths]
