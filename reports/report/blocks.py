"""What a page is made of, as plain data: the browser and the file show the same blocks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from ..figures.about import Basis
    from .state import State

Node = dict[str, Any]
Kind = Literal["info", "warning", "error", "empty"]


@dataclass(frozen=True, slots=True)
class Link:
    """Text that leads to another view."""

    text: str
    to: State


@dataclass(frozen=True, slots=True)
class Number:
    """A number of the result contract: a value with its basis, or the reason why there is none."""

    node: Node
    unit: str


Cell = str | int | float | bool | None | Link | Number


@dataclass(frozen=True, slots=True)
class Heading:
    """A section's title; `what` says what it answers."""

    text: str
    what: str = ""


@dataclass(frozen=True, slots=True)
class Notice:
    """Something to be known: of the data, of what is missing, of what went wrong."""

    kind: Kind
    title: str
    lines: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Figure:
    """A figure by its name in the registry."""

    name: str


@dataclass(frozen=True, slots=True)
class Column:
    """A column: its name in downloads, its title, unit and definition for people."""

    key: str
    title: str
    unit: str = ""
    definition: str = ""


@dataclass(frozen=True, slots=True)
class Table:
    """A table that fits the page, row by row in the order of `columns`.

    `is_long`: with filters and sorting of its own, as it may have hundreds of rows. `basis`: how
    what it tells is known, where its cells do not say it of themselves.
    """

    name: str
    title: str
    columns: tuple[Column, ...]
    rows: Sequence[tuple[Cell, ...]]
    what: str = ""
    wireshark: str | None = None
    empty: str = "Nothing of this kind was seen."
    is_long: bool = False
    basis: tuple[Basis, ...] = ("observed",)


@dataclass(frozen=True, slots=True)
class Packets:
    """A table of the capture's packets, whose rows are read as they are looked at."""

    table: str


@dataclass(frozen=True, slots=True)
class FrameView:
    """One frame, decoded."""


@dataclass(frozen=True, slots=True)
class Facts:
    """Short facts: a name and a cell each."""

    title: str
    facts: tuple[tuple[str, Cell], ...]
    wireshark: str | None = None


@dataclass(frozen=True, slots=True)
class Choices:
    """One of several views: tabs, or a list where there are many."""

    label: str
    options: tuple[Link, ...]
    chosen: State
    hint: str = field(default="")


Block = Heading | Notice | Figure | Table | Packets | FrameView | Facts | Choices

WIRESHARK = "wireshark"
"""Key of columns that have display filters, which are copied rather than read."""
