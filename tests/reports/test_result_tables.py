"""The result as tables: nothing of the document is left out, nothing is in it twice."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from typing import Any

import pathscope
import pytest
from pathscope import api
from pathscope.dissectors.ledger import to_frame
from pathscope.reports.contract import result
from pathscope.reports.result_shape import shape
from pathscope.reports.result_tables import schemas, tables
from running import ASCONF, CAPTURES, FAILOVER, MIXED

Node = Any

TWO_ENDS = [
    tuple(CAPTURES / run / f"{end}.pcapng" for end in ("client", "server"))
    for run in ("lab-lossy", "lab-failover")
]

ALL = [
    FAILOVER,
    ASCONF,
    MIXED,
    CAPTURES / "lab-restart" / "client.pcapng",
    CAPTURES / "lab-potentially-failed" / "client.pcapng",
]


@pytest.fixture(scope="module")
def document() -> Node:
    analyses = [pathscope.analyze(capture).result for capture in ALL]
    analyses += [found.result for ends in TWO_ENDS for found in api.analyze_two(*ends)]
    return json.loads(json.dumps(result(analyses)))


MAPS = {column.place[-1] for one in shape().all() for column in one.columns if column.kind == "map"}
"""Objects whose keys the capture gives."""


def leaves(node: Node, key: str = "") -> Iterator[Any]:
    """Yield every value of a document that a column must hold: lists of words as one, maps too."""
    if key in MAPS and isinstance(node, dict):
        yield json.dumps(node, ensure_ascii=False)
    elif isinstance(node, dict):
        for name, child in node.items():
            yield from leaves(child, name)
    elif isinstance(node, list) and node and isinstance(node[0], dict):
        for child in node:
            yield from leaves(child)
    elif isinstance(node, list):
        yield from [", ".join(str(one) for one in node)] if node else []
    elif node is not None:
        yield node


def test_every_value_of_the_document_is_in_a_table(document: Node) -> None:
    """As often as there, at least: keys of rows come on top."""
    kept = {key: value for key, value in document.items() if key not in ("schema", "tool")}
    there = Counter(map(_text, leaves(kept)))
    here: Counter[str] = Counter()
    for table in tables(document).values():
        for row in table.to_pylist():
            here.update(_text(value) for value in row.values() if value is not None)
    missing = {text: n - here[text] for text, n in there.items() if here[text] < n}
    assert missing == {}


def _text(value: Any) -> str:
    """A whole number in a column of numbers is as good as in the document."""
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value)


def test_tables_have_names_of_their_own() -> None:
    names = [one.name for one in shape().all()]
    assert len(set(names)) == len(names)


def test_columns_have_names_of_their_own_and_a_meaning() -> None:
    for name, schema in schemas().items():
        assert len(set(schema.names)) == len(schema.names), name
        assert schema.metadata[b"description"]
        without = [field.name for field in schema if not field.metadata[b"description"]]
        assert without == [], name


def test_a_number_is_five_columns_or_fewer(document: Node) -> None:
    """Value, basis, bounds, reason, note: those that the number can have."""
    found = tables(document)["handovers"].to_pylist()[0]
    metrics = document["associations"][0]["handovers"][0]["metrics"]
    recovery = metrics["link_failure_recovery_s"]
    assert found["link_failure_recovery_s"] == recovery["value"]
    for part in ("basis", "low", "high"):
        assert found[f"link_failure_recovery_s_{part}"] == recovery[part]
    assert found["link_recognition_s"] is None
    assert found["link_recognition_s_reason"] == metrics["link_recognition_s"]["reason"]


def test_instants_keep_every_digit(document: Node) -> None:
    found = to_frame(tables(document)["handovers"])
    instants = document["associations"][0]["handovers"][0]["instants"]
    assert found.loc[0, "t_first_new_ns"] == instants["t_first_new"]["ns"]
    assert str(found["t_first_new_ns"].dtype) == "Int64"
    assert found.loc[0, "t_first_new_frame"] == 444


def test_rows_find_the_rows_that_they_belong_to(document: Node) -> None:
    found = {name: to_frame(table) for name, table in tables(document).items()}
    directions = found["path_directions"].merge(
        found["paths"], on=["capture", "association", "path"], validate="many_to_one"
    )
    assert len(directions) == len(found["path_directions"]) == 2 * len(found["paths"])
    sums = directions.groupby(["capture", "association", "sender"])["packets"].sum()
    totals = found["totals"].set_index(["capture", "association", "sender"])["packets"]
    assert (sums == totals).all()
    timeouts = found["handover_timeouts"].merge(
        found["handovers"], on=["capture", "association", "handover"], validate="many_to_one"
    )
    counted = timeouts.groupby(["capture", "association", "handover"]).size()
    assert counted.sum() == found["handovers"]["timeouts_before_move"].sum()
    switches = found["connection_timeline_switches"]
    assert set(switches["connection"]) <= set(found["connections"]["connection"])


def test_no_result_is_all_tables_without_rows() -> None:
    found = tables(result([]))
    assert set(found) == set(schemas())
    assert all(table.num_rows == 0 for table in found.values())


def test_a_column_means_what_the_contract_says() -> None:
    field = schemas()["handovers"].field("handover_delay_s")
    assert field.metadata[b"description"] == b"t_first_new - t_decision."
