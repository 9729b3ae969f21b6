"""Rows of the packets page, against the table that they come from."""

from __future__ import annotations

import json
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from pathscope import api
from pathscope.dissectors.ledger import schemas
from pathscope.reports.report import query
from pathscope.reports.report.query import QueryError
from reporting import FAILOVER

CHUNKS = pa.Table.from_batches(list(api.dissect(FAILOVER / "client.pcapng")))
SCHEMA = schemas()["chunks"]
ROWS = CHUNKS.to_pylist()
ORIGIN_NS = min(row["time_ns"] for row in ROWS)

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                (
                    "type",
                    "filter",
                    "filterTo",
                    "operator",
                    "conditions",
                    "tsn",
                    "gaps",
                    "time_ns",
                    "x",
                )
            ),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)


def found(model: dict[str, Any]) -> list[dict[str, Any]]:
    expression = query.expression(model, SCHEMA, ORIGIN_NS)
    rows: list[dict[str, Any]] = query.select(CHUNKS.to_batches(), expression).rows.to_pylist()
    return rows


def test_no_filter_takes_all() -> None:
    assert found({}) == ROWS


@pytest.mark.parametrize(
    ("column", "model", "keep"),
    [
        ("tsn", {"type": "blank"}, lambda row: row["tsn"] is None),
        ("tsn", {"type": "notBlank"}, lambda row: row["tsn"] is not None),
        ("frame", {"type": "lessThan", "filter": 20}, lambda row: row["frame"] < 20),
        ("frame", {"type": "inRange", "filter": 5, "filterTo": 9},
         lambda row: 5 <= row["frame"] <= 9),
        ("frame", {"type": "notEqual", "filter": 5}, lambda row: row["frame"] != 5),
        ("chunk_name", {"type": "equals", "filter": "sack"},
         lambda row: row["chunk_name"] == "SACK"),
        ("chunk_name", {"type": "startsWith", "filter": "HEART"},
         lambda row: row["chunk_name"].startswith("HEART")),
        ("chunk_name", {"type": "notContains", "filter": "data"},
         lambda row: "DATA" not in row["chunk_name"]),
        ("truncated", {"type": "true"}, lambda row: row["truncated"]),
        ("time_ns", {"type": "greaterThanOrEqual", "filter": 10.5},
         lambda row: row["time_ns"] >= ORIGIN_NS + 10_500_000_000),
        (
            "chunk_name",
            {"operator": "OR", "conditions": [
                {"type": "equals", "filter": "INIT"}, {"type": "equals", "filter": "INIT ACK"}]},
            lambda row: row["chunk_name"] in ("INIT", "INIT_ACK", "INIT ACK"),
        ),
    ],
)  # fmt: skip
def test_a_filter_takes_the_rows_that_python_would(column: str, model: Any, keep: Any) -> None:
    expected = [row for row in ROWS if keep(row)]
    assert found({column: model}) == expected


def test_filters_of_several_columns_hold_together() -> None:
    model = {"sender": {"type": "equals", "filter": "a"}, "tsn": {"type": "notBlank"}}
    assert found(model) == [r for r in ROWS if r["sender"] == "a" and r["tsn"] is not None]


@pytest.mark.parametrize(
    "model",
    [
        {"nothing": {"type": "blank"}},
        {"tsn": {"type": "equals", "filter": "1 OR 1=1"}},
        {"tsn": {"type": "equals", "filter": "1e999999999"}},
        {"tsn": {"type": "equals", "filter": "-1e20"}},
        {"time_ns": {"type": "equals", "filter": "1e18"}},
        {"time_ns": {"type": "equals", "filter": 9223372036.9}},
        {"tsn": {"type": "__class__", "filter": 1}},
        {"tsn": {"type": "equals", "filter": float("inf")}},
        {"tsn": {"type": []}},
        {"tsn": {"conditions": []}},
        {"tsn": []},
        {"chunk_name": {"type": "contains", "filter": 5}},
        {f"column{n}": {"type": "blank"} for n in range(40)},
    ],
)
def test_what_is_no_filter_is_told(model: Any) -> None:
    with pytest.raises(QueryError):
        query.expression(model, SCHEMA, ORIGIN_NS)


@given(JSON)
@example({"tsn": {"type": []}})
def test_any_json_is_a_filter_or_told(value: Any) -> None:
    try:
        model = query.read_filter(json.dumps(value))
        expression = query.expression(model, SCHEMA, ORIGIN_NS)
    except QueryError:
        return
    query.select(CHUNKS.slice(0, 5).to_batches(), expression)


@given(st.text(max_size=50))
def test_any_text_is_a_filter_or_told(text: str) -> None:
    try:
        query.expression(query.read_filter(text), SCHEMA, ORIGIN_NS)
    except QueryError:
        return


def test_an_answer_is_bounded_and_says_so() -> None:
    some = query.select(CHUNKS.to_batches(), None, 100)
    assert some.is_cut
    assert some.rows.to_pylist() == ROWS[:100]
    assert not query.select(CHUNKS.to_batches(), None).is_cut


@given(st.integers(-5, 5000), st.integers(-5, 5000))
def test_a_page_is_that_part_of_the_rows(start: int, end: int) -> None:
    page = query.page(CHUNKS, start, end, ORIGIN_NS)
    expected = ROWS[max(start, 0) : max(end, 0)][: query.MOST_ON_A_PAGE]
    assert [row["frame"] for row in page] == [row["frame"] for row in expected]
    for row, whole in zip(page, expected, strict=True):
        assert Decimal(row["time_ns"]) * 10**9 == whole["time_ns"] - ORIGIN_NS
        assert len(row["time_ns"].partition(".")[2]) == 9


def test_rows_are_sorted_by_a_column_of_the_table() -> None:
    by = query.order("tsn:desc", SCHEMA)
    tsns = [tsn for tsn in CHUNKS.sort_by(by)["tsn"].to_pylist() if tsn is not None]
    assert tsns == sorted(tsns, reverse=True)
    with pytest.raises(QueryError):
        query.order("nothing:asc", SCHEMA)
