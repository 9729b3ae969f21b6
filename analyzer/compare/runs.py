"""The runs that are compared: each with its result, and what is known of how it was made."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

Node = dict[str, Any]
Value = str | int | float | bool | None

NOT_SETTINGS = frozenset(
    ("schema", "name", "description", "study", "kept", "approximated", "seed", "repetitions")
)
"""Of a scenario as run: what names it, and what is different in every run of the same settings."""

OF_ONE_CAPTURE = ("associations", "flows", "connections", "icmp_errors", "simulations", "verdicts")


@dataclass(frozen=True, slots=True)
class Run:
    """One run.

    Attributes
    ----------
    name
        Where it was found; no other run of its set has it.
    document
        Its result (`pathscope.result/1`).
    scenario
        What it is a run of; None when that is not known.
    settings
        Of the scenario, by dotted key.
    circumstances
        What it was made with: versions, which kernel. Not settings: nobody chose them for the run.
    """

    name: str
    document: Node
    scenario: str | None = None
    settings: Mapping[str, Value] = field(default_factory=dict)
    circumstances: Mapping[str, Value] = field(default_factory=dict)


def settings(scenario: Node) -> dict[str, Value]:
    """Return the settings of a scenario as run (`scenario.json`), by dotted key.

    >>> settings({"name": "failover", "seed": 7, "client": {"sctp": {"rto_min_ms": 500}}})
    {'client.sctp.rto_min_ms': 500}
    """
    return dict(
        _flat({key: value for key, value in scenario.items() if key not in NOT_SETTINGS}, "")
    )


def circumstances(facts: Node) -> dict[str, Value]:
    """Return what a run was made with, of what its folder says (`run.json`)."""
    kept = {key: facts[key] for key in ("runner", "versions") if key in facts}
    return dict(_flat(kept, ""))


def _flat(node: Any, prefix: str) -> Iterator[tuple[str, Value]]:
    if isinstance(node, dict | list):
        inner = node.items() if isinstance(node, dict) else enumerate(node)
        for key, value in inner:
            yield from _flat(value, f"{prefix}.{key}" if prefix else str(key))
    else:
        yield prefix, node


def split(document: Node) -> list[Node]:
    """Return a result a run: captures that were analyzed each by itself are runs of their own.

    The capture of the other end of a run stays with the one that it completes.
    """
    files = document["captures"]
    firsts = [index for index, file in enumerate(files) if "other_end" not in file]
    if len(firsts) <= 1:
        return [document]
    return [_only(document, first) for first in firsts]


def _only(document: Node, first: int) -> Node:
    files = document["captures"]
    own = [
        _renumbered(file)
        for index, file in enumerate(files)
        if index == first or file.get("other_end", {}).get("of") == first
    ]
    parts = {
        key: [{**one, "capture": 0} for one in document[key] if one["capture"] == first]
        for key in (*OF_ONE_CAPTURE, "warnings")
    }
    return {**document, "captures": own, **parts}


def _renumbered(file: Node) -> Node:
    if "other_end" not in file:
        return file
    return {**file, "other_end": {**file["other_end"], "of": 0}}
