"""Names in the result contract, read from its schema: of numbers, and of the keys above them."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

Node = dict[str, Any]

UNSAID = frozenset(("metrics", "a_to_b", "b_to_a", "a", "b"))
"""Keys that say nothing of where a number stands, or only whose it is."""


@cache
def _definitions() -> Node:
    text = Path(__file__).with_name("result.schema.json").read_text(encoding="utf-8")
    schema: Node = json.loads(text)
    document: Node = {"properties": schema["properties"]}
    return {"document": document, **schema["$defs"]}


@cache
def metrics() -> frozenset[str]:
    """Return the names of all numbers: what has a value, or a reason why there is none."""
    return frozenset(
        name
        for definition in _definitions().values()
        for name, field in definition.get("properties", {}).items()
        if _is_number(field)
    )


@cache
def places() -> frozenset[str]:
    """Return the keys that numbers stand directly below, whatever is said of them in between."""
    return frozenset(below for below, _ in _numbers())


@cache
def units() -> dict[tuple[str, str], str]:
    """Return the unit of every number that has one, by the key directly above it and its own."""
    return {key: field["x-unit"] for key, field in _numbers().items() if "x-unit" in field}


@cache
def definitions() -> dict[tuple[str, str], str]:
    """Return the definition of every number, in the words of docs/metrics.md, by the same keys."""
    return {key: str(field.get("description", "")) for key, field in _numbers().items()}


@cache
def _numbers() -> dict[tuple[str, str], Node]:
    found: dict[tuple[str, str], Node] = {}
    _collect({"properties": _definitions()["document"]["properties"]}, "", found)
    return found


def _collect(node: Node, below: str, found: dict[tuple[str, str], Node]) -> None:
    node = _resolved(node)
    for inner in (*_alternatives(node), *filter(None, [node.get("items")])):
        _collect(inner, below, found)
    for name, field in node.get("properties", {}).items():
        if _is_number(field):
            found[below, name] = field
        else:
            _collect(field, below if name in UNSAID else name, found)


def _resolved(node: Node) -> Node:
    if "$ref" not in node:
        return node
    found: Node = _definitions()[node["$ref"].rpartition("/")[2]]
    return found


def _is_number(node: Node) -> bool:
    node = _resolved(node)
    return "value" in node.get("properties", ()) or any(map(_is_number, _alternatives(node)))


def _alternatives(node: Node) -> list[Node]:
    return [*node.get("oneOf", ()), *node.get("anyOf", ())]
