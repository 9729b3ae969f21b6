"""The report as JSON, by its own schema."""

from __future__ import annotations

import json

import jsonschema
import numpy as np
from impaired import log, sent, step
from pathscope.replay.fidelity.measure import measure
from pathscope.replay.fidelity.model import Received
from pathscope.reports.replay.document import document
from replayed_case import case
from running import ROOT

SCHEMA = json.loads((ROOT / "reports" / "replay" / "fidelity.schema.json").read_text())


def checked(document: object) -> None:
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    jsonschema.validate(json.loads(json.dumps(document, allow_nan=False)), SCHEMA)


def test_the_report_fits_its_schema() -> None:
    fidelity = case()
    found = document(fidelity)
    checked(found)
    assert found["failed"]
    assert sum(found["verdicts"].values()) == sum(
        len(found[name]) for name in ("checks", "rows", "balances")
    )
    assert len(found["rows"]) == len(fidelity.rows)
    assert found["replay"]["routes"][1] == {"path": "cellular", "direction": "to_server"}


def test_so_does_one_of_nothing() -> None:
    checked(document(measure(log(sent(np.random.default_rng(1), 0)), {}, [])))


def test_a_burst_without_an_end_is_no_number() -> None:
    """Every lost frame was followed by another: the mean burst has no upper bound."""
    rng = np.random.default_rng(1)
    frames = sent(rng, 200)
    nothing = Received(np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0, np.uint64))
    asked = [step(loss_percent=50, loss_burst_packets=4)]
    found = document(measure(log(frames), {0: nothing}, asked))
    checked(found)
    (row,) = [one for one in found["rows"] if one["quantity"] == "loss_burst_packets"]
    assert (row["achieved"], row["high"]) == (None, None)
    assert row["verdict"] == "fail"


def test_every_part_of_the_schema_says_what_it_is() -> None:
    def walk(node: object, where: str) -> None:
        if isinstance(node, dict):
            for name, one in node.get("properties", {}).items():
                assert "description" in one or "$ref" in one, f"{where}.{name}"
                walk(one, f"{where}.{name}")
            for name, one in node.get("$defs", {}).items():
                walk(one, name)

    walk(SCHEMA, "")
