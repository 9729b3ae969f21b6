"""The numbers that ns-2 gives nodes, and how a trace's analysis writes them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ....analyzer.application import Way

if TYPE_CHECKING:
    from collections.abc import Mapping


def numbers(settings: Mapping[str, Any]) -> dict[str, int]:
    """Return the number of every node by its name: they are numbered in the order of the file."""
    return {name: number for number, name in enumerate(settings["nodes"])}


def way(settings: Mapping[str, Any], flow: str) -> Way:
    """Return the addresses that a flow of a scenario joins: of a multihomed host its interfaces.

    Raises
    ------
    KeyError
        When the scenario has no such flow.
    """
    known = {one["name"]: one for one in settings["flows"]}
    found = known[flow]
    return Way(_addresses(settings, found["from"]), _addresses(settings, found["to"]))


def _addresses(settings: Mapping[str, Any], host: str) -> frozenset[str]:
    known = numbers(settings)
    interfaces = settings.get("multihomed", {}).get(host, [host])
    return frozenset(f"n{known[name]}" for name in interfaces)
