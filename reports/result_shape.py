"""How the result contract (result.schema.json) becomes tables: which there are, and their columns.

A list of objects is a table; so is a pair of objects by sender (`a` and `b`, `a_to_b` and
`b_to_a`). All else is a column of the table around it: see docs/exports.md for how columns are
named. The schema says it all, so a number that the contract gains has its column by that.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

Node = dict[str, Any]

SCHEMA = Path(__file__).with_name("result.schema.json")

SIDES = {"a": "a", "b": "b", "a_to_b": "a", "b_to_a": "b"}
"""Properties that are of one sender, and whose."""

INLINE = frozenset(("endpoints", "instants", "metrics"))
"""Objects whose names say nothing that those of their properties do not."""

IDENTITY = {"streams": ("sender", "stream"), "subflows": ("flow",)}
"""By what a row is known in the tables below it, where it has no `id`."""

SINGULAR = {"asconf": "asconf", "switches": "switch"}

OWN_NAMES = frozenset(("association", "result"))
"""What stands in them is called by its own name alone: `handovers`, not `association_handovers`."""

PARTS = {
    "basis": "How it is known: observed, annotated or inferred.",
    "low": "Its lower bound.",
    "high": "Its upper bound.",
    "low_ns": "Its lower bound.",
    "high_ns": "Its upper bound.",
    "note": "What is to be known of it.",
    "reason": "Why it is absent.",
    "frame": "Frame that shows it.",
}
"""What the parts of numbers and instants mean, each beside its `value` or `ns`."""

KINDS = {bool: "boolean", int: "integer", str: "string"}
"""What a word of the schema is, by its type in Python."""

PLACE = ("",)
"""Where a column's value is that is the row's place in its list."""


@dataclass(frozen=True, slots=True)
class Column:
    """One column: where its value is in the row's object, and what it means."""

    name: str
    kind: str
    """integer, number, boolean, string, list (of what is none of these) or map."""
    place: tuple[str, ...]
    description: str


@dataclass(slots=True)
class Shape:
    """One table: its columns, the keys of the tables above it, and the tables below it."""

    name: str
    description: str
    keys: tuple[str, ...] = ()
    """Columns that say which row of the tables above a row belongs to."""
    columns: list[Column] = field(default_factory=list)
    below: list[Below] = field(default_factory=list)
    identity: tuple[str, ...] = ()
    """Columns by which its rows are known in the tables below."""

    def all(self) -> Iterator[Shape]:
        """Yield this table and all below it."""
        yield self
        for one in self.below:
            yield from one.shape.all()


@dataclass(frozen=True, slots=True)
class Below:
    """A table in another: where its objects are, as a list, or by sender."""

    shape: Shape
    places: dict[str, tuple[str, ...]]
    """By sender; "" for a list."""


@cache
def shape() -> Shape:
    """Return the shape of the whole document; it has no columns that are a table's."""
    schema = json.loads(SCHEMA.read_text(encoding="utf-8"))
    return _Reader(schema).document()


def _give_keys(above: Shape, keys: tuple[str, ...]) -> None:
    """Tell each table by which columns its rows belong to those of the tables above."""
    above.keys = keys
    capture = [column.name for column in above.columns if column.name == "capture"]
    known = tuple(dict.fromkeys((*keys, *capture, *above.identity)))
    for below in above.below:
        _give_keys(below.shape, known if "" in below.places else (*known, "sender"))


class _Reader:
    """Reads the schema, property by property."""

    def __init__(self, schema: Node) -> None:
        self._schema = schema

    def document(self) -> Shape:
        found = Shape("result", self._schema["description"])
        self._read(found, self._schema, "result", (), "")
        _give_keys(found, ())
        return found

    def _read(
        self, into: Shape, node: Node, singular: str, place: tuple[str, ...], prefix: str
    ) -> None:
        """Take in an object's properties. What has no words of its own has those around it."""
        first = len(into.columns)
        self._read_each(into, self._properties(node), singular, place, prefix)
        for number, column in enumerate(into.columns[first:], first):
            if not column.description:
                meaning = PARTS.get(column.place[-1], self._meaning(node))
                into.columns[number] = replace(column, description=meaning)

    def _read_each(
        self,
        into: Shape,
        properties: dict[str, Node],
        singular: str,
        place: tuple[str, ...],
        prefix: str,
    ) -> None:
        sides = [key for key in properties if key in SIDES]
        for key, child in properties.items():
            here = (*place, key)
            name = f"{prefix}{key}"
            items = self._item(child)
            inner = self._properties(child)
            if items is not None and self._properties(items):
                self._list(into, here, items, singular, self._meaning(child))
            elif items is not None:
                into.columns.append(Column(name, "list", here, self._meaning(child)))
            elif key in sides and key.endswith(("_to_a", "_to_b")):
                if key == sides[0]:
                    places = {SIDES[side]: (*place, side) for side in sides}
                    within = prefix.removesuffix("_") or "directions"
                    self._sided(into, f"{singular}_{within}", places, child)
            elif set(inner) == {"a", "b"} and key not in INLINE:
                places = {side: (*here, side) for side in inner}
                own = singular in OWN_NAMES
                self._sided(into, key if own else f"{singular}_{key}", places, inner["a"])
            elif inner:
                self._object(into, child, singular, here, name)
            else:
                into.columns.append(Column(name, self._kind(child), here, self._meaning(child)))

    def _object(
        self, into: Shape, child: Node, singular: str, here: tuple[str, ...], name: str
    ) -> None:
        inner = self._properties(child)
        key = here[-1]
        if "value" in inner:  # a number: its value has its name
            value = Column(name, self._kind(inner["value"]), (*here, "value"), self._meaning(child))
            into.columns.append(value)
            rest = {one: node for one, node in inner.items() if one != "value"}
            child = {"description": value.description, "properties": rest}
        prefix = name.removesuffix(key) if key in INLINE else f"{name}_"
        self._read(into, child, singular, here, prefix)

    def _list(
        self, into: Shape, here: tuple[str, ...], items: Node, singular: str, meaning: str
    ) -> None:
        plural = here[-1]
        one = SINGULAR.get(plural, plural.removesuffix("s"))
        name = plural if singular in OWN_NAMES else f"{singular}_{plural}"
        full = one if singular in OWN_NAMES else f"{singular}_{one}"
        found = Shape(name, self._meaning(items) or meaning)
        self._read(found, items, full, (), "")
        if any(column.name == "id" for column in found.columns):
            found.columns = [replace(c, name=one) if c.name == "id" else c for c in found.columns]
            found.identity = (one,)
        elif plural in IDENTITY:
            found.identity = IDENTITY[plural]
        elif found.below:
            found.identity = (one,)
            found.columns.insert(0, Column(one, "integer", PLACE, "Its place in the list, from 0."))
        into.below.append(Below(found, {"": here}))

    def _sided(
        self, into: Shape, name: str, places: dict[str, tuple[str, ...]], node: Node
    ) -> None:
        found = Shape(name, self._meaning(node))
        self._read(found, node, name.removesuffix("s"), (), "")
        into.below.append(Below(found, places))

    def _variants(self, node: Node) -> Iterator[Node]:
        """Yield what a node can be, references followed, null left out."""
        if "$ref" in node:
            yield from self._variants(self._schema["$defs"][node["$ref"].rpartition("/")[2]])
        elif "oneOf" in node or "anyOf" in node:
            for one in node.get("oneOf") or node["anyOf"]:
                yield from self._variants(one)
        elif node.get("type") != "null":
            yield node

    def _properties(self, node: Node) -> dict[str, Node]:
        """Return the properties of an object: of every form that it can have."""
        found: dict[str, list[Node]] = {}
        for variant in self._variants(node):
            for key, child in variant.get("properties", {}).items():
                found.setdefault(key, []).append(child)
        return {
            key: nodes[0] if len(nodes) == 1 else {"oneOf": nodes, **self._described(nodes)}
            for key, nodes in found.items()
        }

    def _described(self, nodes: list[Node]) -> Node:
        meaning = next((found for node in nodes if (found := self._meaning(node))), "")
        return {"description": meaning}

    def _item(self, node: Node) -> Node | None:
        for variant in self._variants(node):
            if variant.get("type") == "array":
                items: Node = variant["items"] or {}
                return items
        return None

    def _kind(self, node: Node) -> str:
        """Return the type of a column: of several, the one that holds all."""
        found: set[str] = set()
        for variant in self._variants(node):
            named = variant.get("type")
            if named is not None:
                found |= {named} if isinstance(named, str) else set(named)
            for word in variant.get("enum", [variant.get("const")]):
                if word is not None:
                    found.add(KINDS[type(word)])
        found -= {"null"}
        if found == {"object"}:
            return "map"
        for kind in ("string", "number", "integer", "boolean"):
            if kind in found:
                return kind
        return "string"

    def _meaning(self, node: Node) -> str:
        if "description" in node:
            return str(node["description"])
        for variant in self._variants(node):
            if "description" in variant:
                return str(variant["description"])
        if "$ref" in node:
            named = self._schema["$defs"][node["$ref"].rpartition("/")[2]]
            return str(named.get("description", ""))
        return ""
