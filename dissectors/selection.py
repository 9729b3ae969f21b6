"""Which rows of a table are wanted: those in a window of time, those of one association."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from functools import reduce
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pyarrow as pa

SECOND_NS = 1_000_000_000
OPEN = "-"
"""Stands for an end that is left open."""

EARLIEST_NS, LATEST_NS = -(1 << 63), (1 << 63) - 1
"""What a time of a capture can be."""

_SECONDS = re.compile(r"(@?)([+-]?\d{1,10}(?:\.\d{1,9})?)", re.ASCII)
_ISO = re.compile(
    r"(\d{4}-\d\d-\d\d)"
    r"(?:[T ](\d\d:\d\d)(?::(\d\d)(?:\.(\d{1,9}))?)?(Z|[+-]\d\d(?::?\d\d)?)?)?",
    re.ASCII,
)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Instant:
    """A point in time as people give it.

    Attributes
    ----------
    ns
        Nanoseconds since 1970, or since the capture's first frame.
    absolute
        Whether since 1970.
    """

    ns: int
    absolute: bool

    @classmethod
    def parse(cls, text: str) -> Instant:
        """Read seconds since the first frame, `@` and seconds since 1970, or an ISO 8601 time.

        Without a zone an ISO time is UTC. No digit is lost: up to nine decimals count.

        >>> Instant.parse("12.5")
        Instant(ns=12500000000, absolute=False)
        >>> Instant.parse("1970-01-01T00:00:01.000000001Z")
        Instant(ns=1000000001, absolute=True)

        Raises
        ------
        ValueError
            When it is none of these.
        """
        if seconds := _SECONDS.fullmatch(text):
            return cls(int(Decimal(seconds[2]) * SECOND_NS), seconds[1] == "@")
        if iso := _ISO.fullmatch(text):
            day, clock, second, fraction, zone = iso.groups()
            time = f"{clock or '00:00'}:{second or '00'}{zone or 'Z'}"
            try:
                whole = datetime.fromisoformat(f"{day}T{time}")
            except ValueError:
                pass  # no such day or hour: told like everything else that is no time
            else:
                seconds_since = (whole - _EPOCH) // timedelta(seconds=1)
                return cls(seconds_since * SECOND_NS + int((fraction or "").ljust(9, "0")), True)
        raise ValueError(
            f"'{text}' is no time: expected seconds since the first frame (12.5), @seconds since"
            f" 1970, an ISO 8601 time (2026-03-01T12:00:00.25Z), or {OPEN} for an open end"
        )

    def since_1970_ns(self, first_frame_ns: int) -> int:
        """Return the instant in nanoseconds since 1970, within what a capture's times can be."""
        found_ns = self.ns if self.absolute else self.ns + first_frame_ns
        return min(max(found_ns, EARLIEST_NS), LATEST_NS)


@dataclass(frozen=True, slots=True)
class Range:
    """A window in nanoseconds since 1970: from `start_ns` on, up to but without `end_ns`."""

    start_ns: int
    end_ns: int


@dataclass(frozen=True, slots=True)
class Window:
    """A window of time: from `start` on, up to but without `end`; None where it is open.

    >>> Window.parse("1.5", "-")
    Window(start=Instant(ns=1500000000, absolute=False), end=None)
    """

    start: Instant | None = None
    end: Instant | None = None

    @classmethod
    def parse(cls, start: str, end: str) -> Window:
        """Read both ends, each as `Instant.parse` does, or `-`.

        Raises
        ------
        ValueError
            When one is no time, or it can be seen that the end is before the start.
        """
        first, last = (None if text == OPEN else Instant.parse(text) for text in (start, end))
        if first is not None and last is not None and first.absolute == last.absolute:
            _in_order(first.ns, last.ns)
        return cls(first, last)

    def range(self, first_frame_ns: int) -> Range:
        """Return the window of a capture whose first frame has this time.

        Raises
        ------
        ValueError
            When it ends before it begins.
        """
        start_ns = EARLIEST_NS if self.start is None else self.start.since_1970_ns(first_frame_ns)
        end_ns = LATEST_NS if self.end is None else self.end.since_1970_ns(first_frame_ns)
        _in_order(start_ns, end_ns)
        return Range(start_ns, end_ns)


def _in_order(start_ns: int, end_ns: int) -> None:
    if end_ns < start_ns:
        early_s = Decimal(start_ns - end_ns) / SECOND_NS
        raise ValueError(f"the window ends {early_s} s before it begins")


@dataclass(frozen=True, slots=True)
class Selection:
    """What is wanted of a table; everything, by default."""

    window: Window | None = None
    association: int | None = None

    def __bool__(self) -> bool:
        return self != Selection()

    def check(self, table: str, schema: pa.Schema) -> None:
        """Find out whether a table can be selected from so.

        Raises
        ------
        ValueError
            When it lacks the columns.
        """
        if self.association is not None and "association" not in schema.names:
            raise ValueError(f"the table {table} is not of associations: it has no such column")
        if self.window is not None:
            span_of(table, schema)


@dataclass(frozen=True, slots=True)
class Span:
    """The columns that say when a row begins and ends."""

    start: str
    end: str
    is_bin: bool = False
    """The row ends one bin's width after `start`."""


def span_of(table: str, schema: pa.Schema) -> Span:
    """Return which columns of a table say when its rows begin and end.

    `time_ns` is a row's one instant, what it was about before and after is not meant. Rows with a
    `start_ns` and without an `end_ns` are time bins. Nothing in `left_ns` means "not yet".

    Raises
    ------
    ValueError
        When the table has no times.
    """
    names = set(schema.names)
    for start, end, is_bin in (
        ("time_ns", "time_ns", False),
        ("start_ns", "end_ns", False),
        ("start_ns", "start_ns", True),
        ("first_ns", "last_ns", False),
        ("first_ns", "left_ns", False),
        ("sent_ns", "sent_ns", False),
    ):
        if {start, end} <= names:
            return Span(start, end, is_bin)
    raise ValueError(f"the table {table} is over the whole capture: a window cannot be cut from it")


def select(
    rows: pa.RecordBatch | pa.Table,
    table: str,
    *,
    within: Range | None,
    association: int | None,
    bin_ns: int,
) -> pa.RecordBatch | pa.Table:
    """Return the rows that touch the window and are of the association, in their order."""
    import pyarrow as pa
    from pyarrow import compute as pc

    conditions = []
    if within is not None:
        span = span_of(table, rows.schema)
        start, end = rows[span.start], rows[span.end]
        start_ns = within.start_ns
        if span.is_bin:
            # Moved to the bin's start, as the end of a bin may not fit 64 bits.
            start_ns = max(start_ns - bin_ns + 1, EARLIEST_NS)
        elif span.end != span.start:
            end = pc.fill_null(end, LATEST_NS)
        conditions.append(pc.less(start, pa.scalar(within.end_ns, pa.int64())))
        conditions.append(pc.greater_equal(end, pa.scalar(start_ns, pa.int64())))
    if association is not None:
        conditions.append(pc.equal(rows["association"], association))
    if not conditions:
        return rows
    # A row whose time or association is not known is in no window and of no association.
    return rows.filter(pc.fill_null(reduce(pc.and_kleene, conditions), False))
