"""The part of a case that a figure is about: an association, one of its senders, a handover."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from . import columns

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pyarrow as pa

    from ...analyzer.model import End

Node = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Window:
    """A window of time, both ends in it, in nanoseconds since 1970 by the capture's clock."""

    from_ns: int
    to_ns: int


@dataclass(frozen=True, slots=True)
class LinkChange:
    """A link that went down or came up.

    Attributes
    ----------
    path
        Id of the path that it is about.
    low_ns, high_ns
        Bounds, where it is inferred; else both are `ns`.
    """

    path: int
    ns: int
    up: bool
    basis: Literal["annotated", "inferred"]
    low_ns: int
    high_ns: int


@dataclass(frozen=True, slots=True)
class Part:
    """What a figure of an association may look at.

    Attributes
    ----------
    association
        Its entry in a document of `pathscope.result/1`.
    origin_ns
        Frame 1 of its capture, in ns since 1970: times in figures count from there.
    tables
        Its capture's ledger, Arrow tables by name; None of a stored result, which has none.
    bin_ns
        Width of the ledger's time bins.
    sender
        The end whose DATA it is about.
    path
        Id of the one path that was chosen; None for all.
    handover
        Index of a handover in `handovers`; None for none.
    story
        The handover's story, an entry of `stories` in `pathscope.story/1`; None for none.
    chunks
        Rows of the table `chunks` in the window; None where they were not read.
    links
        Link changes by the user's word, beside those that the document's handovers have.
    """

    association: Node
    origin_ns: int
    tables: Mapping[str, pa.Table] | None = None
    bin_ns: int = 100_000_000
    sender: End = "a"
    path: int | None = None
    handover: int | None = None
    story: Node | None = None
    chunks: pa.Table | None = None
    links: tuple[LinkChange, ...] = ()

    @property
    def other(self) -> End:
        """The end that acknowledges."""
        return "b" if self.sender == "a" else "a"

    @property
    def labels(self) -> tuple[str, ...]:
        """Labels of the paths, by id."""
        return tuple(path["label"] for path in self.association["paths"])

    @property
    def is_captured_at_receiver(self) -> bool:
        """Whether round trips of the sender are not seen."""
        where: str = self.association["captured_at"]
        return where == self.other

    def window(self, wanted: Window | None) -> Window:
        """Return what of a window the association lasts; all of it for None or nothing of it."""
        start_ns, end_ns = self.association["start_ns"], self.association["end_ns"]
        if wanted is None:
            return Window(start_ns, end_ns)
        first, last = max(wanted.from_ns, start_ns), min(wanted.to_ns, end_ns)
        return Window(first, last) if first < last else Window(start_ns, end_ns)

    def seconds(self, ns: int) -> float:
        """Return a time in seconds from the origin."""
        return (ns - self.origin_ns) / columns.NS_PER_S

    def rows(self, table: str, sender: End | None = None) -> pa.Table:
        """Return the association's rows of one of the ledger's tables, of one sender or both.

        Raises
        ------
        KeyError
            When there is no such table, or no ledger.
        """
        if self.tables is None:
            raise KeyError(table)
        return columns.of(self.tables[table], sender=sender, association=self.association["id"])

    def paths(self, most: int) -> tuple[int, ...]:
        """Return the ids of the paths to draw: the chosen one, or those that carried most.

        Those that the sender put most bytes on, in the order of their ids.
        """
        if self.path is not None:
            return (self.path,) if 0 <= self.path < len(self.labels) else ()
        way = f"{self.sender}_to_{self.other}"
        by_bytes = sorted(
            self.association["paths"], key=lambda path: -(path[way]["wire_bytes"]["value"] or 0)
        )
        return tuple(sorted(path["id"] for path in by_bytes[:most]))


def bounds(instant: Node) -> tuple[int, int]:
    """Return the bounds of an instant, which are itself where it is not inferred."""
    ns: int = instant["ns"]
    low_ns, high_ns = instant.get("low_ns"), instant.get("high_ns")
    return ns if low_ns is None else low_ns, ns if high_ns is None else high_ns
