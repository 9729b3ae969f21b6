"""Samples out of result documents: the same number of every run, found by where it stands.

What stands at the same place in two runs: of associations, flows, subflows and routes the one with
the same number; of paths the one with the same label; of handovers the n-th of the same sender and
cause, so that a handover more in one run does not shift the others; of the like the n-th of the
same sender.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from .model import Sample

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

Node = dict[str, Any]

SECTIONS = ("associations", "flows", "connections", "simulations")

SENDERS = {"a": "a", "b": "b", "a_to_b": "a", "b_to_a": "b"}

UNSAID = frozenset(("metrics", "totals"))
"""Keys that say nothing of a place that those around them do not."""

WORDS = {"receivers": "receiver", "path_choice": "path choice", "handoff": "handoff regions"}

ITEMS: dict[str, Callable[[Node], str]] = {
    "flows": lambda item: f"flow {item['id']}",
    "connections": lambda item: f"connection {item['id']}",
    "routes": lambda item: f"route {item['id']}",
    "links": lambda item: f"link {item['from']} to {item['to']}",
    "paths": lambda item: f"path {item['label']}",
    "streams": lambda item: f"stream {item['stream']} of {item['sender']}",
}
"""Lists whose items have a name of their own."""

COUNTED: dict[str, Callable[[Node], tuple[str, str]]] = {
    "subflows": lambda _: ("subflow", ""),
    "handoff_regions": lambda item: ("handoff region", f" of {item['sender']}"),
    "asconf": lambda item: (f"ASCONF {item['request']}", f" of {item['sender']}"),
    "handovers": lambda item: ("handover", f" of {item['sender']}, {item['cause']}"),
}
"""Lists whose items are counted, from 1, among those that have the same words around the count."""

NOT_THERE = "the run has no such place"


def samples(documents: Mapping[str, Node], units: Mapping[tuple[str, str], str]) -> list[Sample]:
    """Collect every number that the contract gives a unit, over runs.

    Parameters
    ----------
    documents
        A result document (pathscope.result/1) by the name of its run.
    units
        The unit of a number, by the key that it stands directly below and its own.

    Returns
    -------
    list of Sample
        In the order in which they are met first; each has every run, with a value or as absent.
    """
    found: dict[tuple[str, str], tuple[str, dict[str, float], dict[str, str]]] = {}
    for run, document in documents.items():
        for place, metric, unit, number in _Reader(units).numbers(document):
            key = (metric, place)
            entry = found.get(key)
            if entry is None:
                entry = found[key] = (unit, {}, {})
            if number["value"] is None:
                entry[2][run] = number["reason"]
            else:
                entry[1][run] = number["value"]
    return [
        Sample(
            metric,
            place,
            unit,
            tuple(values),
            tuple(map(float, values.values())),
            tuple((run, reasons.get(run, NOT_THERE)) for run in documents if run not in values),
        )
        for (metric, place), (unit, values, reasons) in found.items()
    ]


Number = tuple[str, str, str, Node]
"""Place, metric, unit, and what the document says of it."""


class _Reader:
    """Walks one document."""

    def __init__(self, units: Mapping[tuple[str, str], str]) -> None:
        self._units = units
        self._handovers: list[str] = []
        """What the handovers of the association at hand are called; its phases refer to them."""

    def numbers(self, document: Node) -> Iterator[Number]:
        for section in SECTIONS:
            for item in document[section]:
                place = f"capture {item['capture']}" if item["capture"] else ""
                if section == "associations":
                    yield from self._association(item, place)
                elif section == "simulations":
                    yield from self._inside(item, place, section)
                else:
                    yield from self._inside(item, _joined(place, ITEMS[section](item)), section)

    def _association(self, item: Node, place: str) -> Iterator[Number]:
        """Name the first association only where nothing else says where a number stands."""
        if item["id"]:
            place = _joined(place, f"association {item['id']}")
        self._handovers = list(_names("handovers", item["handovers"]))
        yield from self._inside(item["totals"], place or "association", "totals")
        rest = {key: value for key, value in item.items() if key != "totals"}
        yield from self._inside(rest, place, "associations")

    def _inside(self, node: Node, place: str, within: str) -> Iterator[Number]:
        for key, child in node.items():
            if isinstance(child, dict):
                if "value" in child:
                    unit = self._units.get((within, key))
                    if unit is not None:
                        yield place, key, unit, child
                elif key in SENDERS:
                    yield from self._inside(child, _joined(place, SENDERS[key]), within)
                elif key in UNSAID:
                    yield from self._inside(child, place, within if key == "metrics" else key)
                else:
                    yield from self._inside(child, _joined(place, WORDS.get(key, key)), key)
            elif isinstance(child, list) and child:
                for name, item in zip(self._names(key, child), child, strict=False):
                    yield from self._inside(item, _joined(place, name), key)

    def _names(self, key: str, items: list[Any]) -> Iterator[str]:
        if key == "phases":
            return (self._handovers[item["handover"]] for item in items)
        return _names(key, items)


def _names(key: str, items: list[Any]) -> Iterator[str]:
    """Yield what the items of a list are called; nothing for a list without numbers."""
    named, counted = ITEMS.get(key), COUNTED.get(key)
    if named is not None:
        yield from map(named, items)
    elif counted is not None:
        counts: Counter[tuple[str, str]] = Counter()
        for item in items:
            words = counted(item)
            counts[words] += 1
            yield f"{words[0]} {counts[words]}{words[1]}"


def _joined(place: str, more: str) -> str:
    return f"{place}, {more}" if place else more
