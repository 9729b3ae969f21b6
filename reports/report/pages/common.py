"""What several pages have: findings, instants, numbers with their definitions, empty states."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ... import names
from ...units import file_name, seconds
from ..blocks import Column, Link, Notice, Number, Table

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from ..blocks import Cell
    from ..data import Case
    from ..state import State

Node = dict[str, Any]

SENDERS = {"a": "a_to_b", "b": "b_to_a"}
WHEN = Column("time", "when", "s", "Seconds since frame 1 of the capture, by its clock.")
FRAME = Column("frame", "frame", "", "Number of the frame in the capture, as Wireshark has it.")
SENDER = Column("sender", "sender", "", "Whose DATA or view: end a sent INIT, or was seen first.")
BASIS = Column(
    "basis", "basis", "",
    "observed: in the capture; annotated: by the user's word; inferred: bounded by evidence.",
)  # fmt: skip


CAPTURE = Column("capture", "capture", "", "As it was named on the command line.")
PATH = Column("path", "path", "", "By its label: of --label, else of its interface or addresses.")
FILTER = Column("wireshark", "Wireshark filter", "", "For the packets of this row.")
WHAT = Column("meaning", "what it is", "", "In words.")


def metric(below: str, key: str, title: str) -> Column:
    """Return the column of a number, by the key it stands below in the contract and its own."""
    unit = names.units()[below, key]
    return Column(key, title, unit, names.definitions()[below, key])


def number(node: Node, column: Column) -> Number:
    """Return a number as a cell of its column."""
    return Number(node[column.key], column.unit)


def since(case: Case, ns: int | None) -> str | None:
    """Return an instant as seconds since frame 1, with every digit."""
    return None if ns is None else seconds(ns - case.origin_ns)


def frame(state: State, number: int | None, *, elsewhere: bool = False) -> Cell:
    """Return a frame's number, which leads to the frame; one of the other end's leads nowhere."""
    if number is None:
        return None
    if elsewhere:
        return f"{number} (other end)"
    return Link(str(number), state.to("packets", frame=number))


def case_name(case: Case) -> str:
    """Return what a case is called, without what cannot be shown."""
    return file_name(case.name)


SEVERITY = Column(
    "severity",
    "severity",
    "",
    "error: it did not work; warning: worse than it could; note: worth knowing.",
)
RULE = Column("rule", "rule", "", "What it means and what to do: docs/findings.md.")
TEXT = Column("text", "what looks wrong", "", "What the rule found, in words.")


def findings(found: Sequence[Node], state: State, wireshark: str | None) -> Table:
    """Return what looks wrong with what a filter shows, as a table."""
    first = Column("frames", "first frame", "", "The first one that shows it.")
    columns = (SEVERITY, RULE, TEXT, first, FILTER)
    rows = [
        (
            one["severity"],
            one["rule"],
            one["text"],
            frame(state, one["frames"][0]) if one["frames"] else None,
            one["wireshark"],
        )
        for one in found
    ]
    return Table(
        "findings",
        "What looks wrong",
        columns,
        rows,
        wireshark=wireshark,
        empty="Nothing that a rule knows of.",
        basis=("inferred",),
    )


def warnings(document: Node) -> Iterable[Notice]:
    """Tell what limits the numbers of a result."""
    texts = [one["text"] for one in document["warnings"]]
    if texts:
        yield Notice("warning", "What limits the numbers", tuple(dict.fromkeys(texts)))
    yield from damage(document)


def damage(document: Node) -> Iterable[Notice]:
    """Tell where captures end before their time."""
    for capture in document["captures"]:
        if capture["damage"] is not None:
            yield Notice(
                "error",
                f"{file_name(capture['path'])} is damaged: what was read before that is shown",
                (capture["damage"],),
            )


def nothing(title: str, *lines: str) -> Notice:
    """Tell that there is nothing to show, and what would change that."""
    return Notice("empty", title, lines)
