"""What a report shows: made once, by the command or by a script, and passed to `create_app`."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from ...dissectors.selection import Instant, Window

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    import pyarrow as pa

    from ...api import Analysis
    from ...dissectors.frame import Decoder, Frame
    from ...dissectors.ledger import ReadOptions
    from ..figures.part import LinkChange

Node = dict[str, Any]


MOST_FRAMES_WITHOUT_INDEX = 200_000
"""A pass over more takes longer than a zoom may."""


class NoCaptureError(ValueError):
    """Packets are asked of what was stored without them; the message says of what."""


@dataclass(frozen=True, eq=False)
class Case:
    """One capture, one run, or one stored result.

    Attributes
    ----------
    key
        In the address bar: "1", "2", ... in the order given.
    name
        As it was named.
    document
        Its result (`pathscope.result/1`), of it alone.
    analysis
        None for stored results: then there is no ledger, and what is drawn from it is not.
    files
        Its capture, in the order in which `document` counts frames: nothing else is ever read.
    scenario
        What it is a run of, where that is known.
    links
        Changes of links by the user's word, by association.
    index
        Folder of an offset index of its own; None where one may lie beside the capture.
    """

    key: str
    name: str
    document: Node
    analysis: Analysis | None = None
    files: tuple[Path, ...] = ()
    scenario: str | None = None
    links: Mapping[int, tuple[LinkChange, ...]] = field(default_factory=dict)
    index: Path | None = None

    @property
    def capture(self) -> Node:
        """The capture by whose clock and frames all is told."""
        found: Node = self.document["captures"][0]
        return found

    @property
    def origin_ns(self) -> int:
        """Where the times of the address bar count from: frame 1, in ns since 1970."""
        return int(self.capture["first_frame_ns"] or 0)

    @cached_property
    def associations(self) -> dict[int, Node]:
        """The associations by number."""
        return {one["id"]: one for one in self.document["associations"]}

    @cached_property
    def flows(self) -> dict[int, Node]:
        """The flows by number."""
        return {one["id"]: one for one in self.document["flows"]}

    @cached_property
    def is_quick(self) -> bool:
        """Whether a window of packets is read within a zoom's time: of few, or by the index."""
        if self.capture["frames"]["read"] <= MOST_FRAMES_WITHOUT_INDEX:
            return True
        if len(self.files) != 1 or self.analysis is None:
            return False
        from ...dissectors.index import Index, UnfitIndexError

        try:
            return Index.find(self.files[0], reading(self.analysis), self.index) is not None
        except (UnfitIndexError, OSError):
            return False

    def batches(
        self, table: str, window: Window | None = None, association: int | None = None
    ) -> Iterator[pa.RecordBatch]:
        """Stream a table's rows; through the offset index where there is one.

        Raises
        ------
        NoCaptureError
            When there is no capture to read.
        CaptureError, KeyError, ValueError
            As `api.dissect`; damage that the analysis met already only ends the rows.
        """
        from ...api import dissect

        if not self.files or self.analysis is None:
            raise NoCaptureError(f"{self.name} is a stored result: its packets are not in it")
        source = self.files[0] if len(self.files) == 1 else self.files
        found = dissect(
            source,
            table,
            reading(self.analysis),
            window=window,
            association=association,
            index=self.index,
        )
        return found if self.capture["damage"] is None else _up_to_damage(found)

    def rows(
        self, table: str, window: Window | None = None, association: int | None = None
    ) -> pa.Table:
        """Return a table's rows as one table; raises what `batches` does."""
        import pyarrow as pa

        return pa.Table.from_batches(list(self.batches(table, window, association)))

    def frame(self, number: int) -> Frame:
        """Decode a frame, as `document` numbers it.

        Raises
        ------
        NoCaptureError
            When there is no capture to read.
        CaptureError, TsharkError, ValueError
            As `api.show`.
        """
        from ...api import show

        if not self.files or self.analysis is None:
            raise NoCaptureError(f"{self.name} is a stored result: its frames are not in it")
        parts = self.capture["files"]
        for path, part in zip(self.files, parts, strict=True):
            within = number - part["first_frame"] + 1
            if 1 <= within <= part["frames"]:
                # tshark reads all that is before the frame.
                decoder: Decoder = "auto" if within <= MOST_FRAMES_WITHOUT_INDEX else "own"
                options = reading(self.analysis)
                return show(path, within, options, decoder=decoder, index=self.index)
        total = self.capture["frames"]["read"]
        raise ValueError(f"{self.name} has no frame {number}: it has {total}")


def _up_to_damage(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Yield what comes before the damage, which the pages tell of."""
    from ...dissectors._core import CaptureError

    is_any = False
    try:
        for batch in batches:
            is_any = True
            yield batch
    except CaptureError:
        if not is_any:
            raise  # the capture is gone since, or is another one


def reading(analysis: Analysis) -> ReadOptions:
    """Return how a capture's packets are read again, which its offset index is made for, too.

    What the analysis followed beside SCTP's packets is in its ledger already.
    """
    return replace(analysis.ledger.options, flows=False, sightings=False)


@dataclass(frozen=True, slots=True)
class ReportData:
    """What is shown.

    Attributes
    ----------
    cases
        Captures, runs and results.
    comparison
        A document of `pathscope.compare/1`.
    replays
        Documents of `pathscope.fidelity/1`, by name.
    unread
        What could not be read, each with the reason.
    """

    cases: tuple[Case, ...]
    comparison: Node | None = None
    replays: tuple[tuple[str, Node], ...] = ()
    unread: tuple[tuple[str, str], ...] = ()

    def case(self, key: str) -> Case | None:
        """Return a case by its key."""
        return next((one for one in self.cases if one.key == key), None)


@dataclass(slots=True)
class Shelf:
    """Holds what is shown now: a watched folder puts another in its place."""

    data: ReportData
    edition: int = field(default=1)
    """Goes up with every replacement."""

    def replace(self, data: ReportData) -> None:
        """Show something else from now on."""
        self.data = data
        self.edition += 1


def window(from_ns: int | None, to_ns: int | None) -> Window | None:
    """Return a window of the address bar, in ns since frame 1; None for all."""
    if from_ns is None and to_ns is None:
        return None
    start, end = (None if ns is None else Instant(ns, absolute=False) for ns in (from_ns, to_ns))
    return Window(start, end)
