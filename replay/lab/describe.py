"""A scenario in words: every setting by the key that `--set` takes, defaults filled in.

What a walk or a crowd stands for is shown as well, and follows from them: `--set` changes these.
"""

from __future__ import annotations

import json
from copy import deepcopy
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

    from .scenario import Scenario

WORDS = ("description", "study", "kept", "approximated")
"""What is said of a scenario, as against what it sets."""


def lines(scenario: Scenario) -> Iterator[str]:
    """Yield the name, what is said of it, and a line a setting."""
    settings = _joined(scenario.settings)
    yield scenario.name
    for word in WORDS:
        if settings.get(word):
            yield f"{word}: {settings[word]}"
    yield ""
    for key, value in _flat(settings, ""):
        if key not in WORDS:
            yield f"{key} = {json.dumps(value, ensure_ascii=False)}"


def _joined(settings: dict[str, Any]) -> dict[str, Any]:
    """Put together what holds for both ends, and for both directions of a path."""
    joined = deepcopy(settings)
    for parent, pair, both in [
        (joined, ("client.sctp", "server.sctp"), "sctp"),
        *((path, ("to_server", "to_client"), "both") for path in joined.get("paths", {}).values()),
    ]:
        one, other = (_at(parent, name) for name in pair)
        if not isinstance(one, dict) or not isinstance(other, dict):
            continue
        shared = {name: one[name] for name in one if other.get(name) == one[name]}
        for name in shared:
            del one[name], other[name]
        parent[both] = shared
    return joined


def _at(table: dict[str, Any], key: str) -> Any:
    found: Any = table
    for name in key.split("."):
        found = found.get(name) if isinstance(found, dict) else None
    return found


def _flat(value: Any, key: str) -> Iterator[tuple[str, Any]]:
    """Every setting with its dotted key; items of lists are numbered from 1, as `--set` does."""
    items: Iterator[tuple[Any, Any]] | None = None
    if isinstance(value, dict):
        items = iter(value.items())
    elif isinstance(value, list) and any(isinstance(item, dict) for item in value):
        items = ((number, item) for number, item in enumerate(value, 1))
    if items is None:
        yield key, value
        return
    for name, inner in items:
        yield from _flat(inner, f"{key}.{name}" if key else str(name))
