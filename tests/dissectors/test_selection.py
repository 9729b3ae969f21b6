"""Windows of time as people give them, and what of a table lies in one."""

from __future__ import annotations

import doctest
from datetime import UTC, datetime, timedelta

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pathscope.dissectors import ledger, selection
from pathscope.dissectors.selection import Instant, Range, Selection, Window, select, span_of

SECOND = 1_000_000_000


@pytest.mark.parametrize(
    ("text", "ns", "absolute"),
    [
        ("0", 0, False),
        ("12.5", 12 * SECOND + SECOND // 2, False),
        ("-1.000000001", -SECOND - 1, False),
        ("@1700000000.123456789", 1_700_000_000 * SECOND + 123_456_789, True),
        ("1970-01-01", 0, True),
        ("1970-01-01 00:01", 60 * SECOND, True),
        ("1970-01-01T00:00:01.5Z", SECOND + SECOND // 2, True),
        ("1970-01-01T01:00:00.000000001+01:00", 1, True),
        ("1969-12-31T23:59:59.999999999", -1, True),
    ],
)
def test_times_keep_every_digit(text: str, ns: int, absolute: bool) -> None:
    assert Instant.parse(text) == Instant(ns, absolute)


@pytest.mark.parametrize(
    "text",
    ["", "noon", "1e3", "nan", "inf", "1.0000000001", "@", "@-", "1,5", "12:00", "2026-02-30",
     "2026-01-01T25:00", "2026-01-01T12:00.5", "99999999999", "\u0661"],
)  # fmt: skip
def test_what_is_no_time_is_told_with_what_is(text: str) -> None:
    with pytest.raises(ValueError, match="is no time: expected seconds since the first frame"):
        Instant.parse(text)


@given(st.integers(-(1 << 62), 1 << 62))
def test_iso_times_are_those_of_the_calendar(ns: int) -> None:
    seconds, rest = divmod(ns, SECOND)
    when = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(seconds=seconds)
    assert Instant.parse(f"{when:%Y-%m-%dT%H:%M:%S}.{rest:09}Z").ns == ns


def test_a_window_counts_from_the_first_frame_or_from_1970() -> None:
    assert Window.parse("1", "@20").range(5 * SECOND) == Range(6 * SECOND, 20 * SECOND)
    assert Window.parse("-", "2").range(5 * SECOND) == Range(-(1 << 63), 7 * SECOND)
    assert Window.parse("2", "-").range(5 * SECOND) == Range(7 * SECOND, (1 << 63) - 1)
    assert Window.parse("9999999999", "-").range(5).start_ns == (1 << 63) - 1


def test_a_window_that_ends_before_it_begins() -> None:
    with pytest.raises(ValueError, match=r"the window ends 0\.5 s before it begins"):
        Window.parse("2", "1.5")
    with pytest.raises(ValueError, match="the window ends 3 s before it begins"):
        Window.parse("10", "@7").range(0)


TIMELESS = {"rtt", "authentication", "blocking", "acknowledgements", "routes", "hops", "links"}
BINS = {"intervals", "flow_intervals"}
INSTANTS = {
    "retransmissions", "timeouts", "heartbeats", "asconf", "control", "tcp_retransmissions",
    "icmp", "comments", "problems", "lone_packets", "chunks", "segments", "datagrams", "frames",
}  # fmt: skip
SPANS = {
    "associations": ("start_ns", "end_ns"),
    "addresses": ("first_ns", "left_ns"),
    "paths": ("first_ns", "last_ns"),
    "runs": ("first_ns", "last_ns"),
    "stalls": ("start_ns", "end_ns"),
    "silences": ("start_ns", "end_ns"),
    "zero_windows": ("start_ns", "end_ns"),
    "oddities": ("first_ns", "last_ns"),
    "flows": ("start_ns", "end_ns"),
    "transits": ("sent_ns", "sent_ns"),
    "flow_directions": ("start_ns", "end_ns"),
    "streams": ("first_ns", "last_ns"),
    "messages": ("first_ns", "last_ns"),
}


def test_every_table_says_when_its_rows_are() -> None:
    """A new table takes its place here."""
    for name, schema in ledger.schemas().items():
        if name in TIMELESS:
            with pytest.raises(ValueError, match=f"the table {name} is over the whole capture"):
                span_of(name, schema)
            continue
        span = span_of(name, schema)
        assert span.is_bin == (name in BINS), name
        if name in SPANS:
            assert (span.start, span.end) == SPANS[name]
        elif name not in BINS:
            assert (span.start, span.end) == ("time_ns", "time_ns"), name


def test_tables_without_associations() -> None:
    selected = Selection(association=0)
    selected.check("icmp", ledger.schemas()["icmp"])
    with pytest.raises(ValueError, match="the table flows is not of associations"):
        selected.check("flows", ledger.schemas()["flows"])


def rows(**columns: list[int | None]) -> pa.Table:
    return pa.table({name: pa.array(cells, pa.int64()) for name, cells in columns.items()})


def chosen(table: pa.Table, start_ns: int, end_ns: int) -> list[int]:
    found = select(table, "t", within=Range(start_ns, end_ns), association=None, bin_ns=10)
    return [row["n"] for row in found.to_pylist()]


def test_ends_of_a_window() -> None:
    """The start is in it, the end is not; a row whose time is not known is in none."""
    table = rows(n=[0, 1, 2, 3, 4], time_ns=[9, 10, 19, 20, None])
    assert chosen(table, 10, 20) == [1, 2]
    assert chosen(table, 10, 10) == []


def test_spans_touch() -> None:
    table = rows(n=[0, 1, 2, 3, 4], start_ns=[0, 0, 19, 20, 0], end_ns=[9, 10, 99, 99, 99])
    assert chosen(table, 10, 20) == [1, 2, 4]


def test_what_has_not_left_is_still_there() -> None:
    table = rows(n=[0, 1, 2], first_ns=[0, 0, 30], left_ns=[5, None, None])
    assert chosen(table, 10, 20) == [1]


def test_bins_have_a_width() -> None:
    table = rows(n=[0, 1, 2, 3], start_ns=[0, 1, 19, 20])
    assert chosen(table, 10, 20) == [1, 2]
    whole = (-(1 << 63), (1 << 63) - 1)
    assert chosen(table, *whole) == [0, 1, 2, 3]


def test_one_association() -> None:
    table = pa.table({"association": pa.array([0, 1, None], pa.uint32()), "n": [0, 1, 2]})
    found = select(table, "t", within=None, association=1, bin_ns=1)
    assert found["n"].to_pylist() == [1]


def test_examples() -> None:
    assert doctest.testmod(selection).failed == 0
