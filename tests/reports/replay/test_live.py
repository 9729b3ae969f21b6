"""A live run beside its trace: the document and its text, of a run that was not made."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from pathscope import live
from pathscope.live import LiveRun
from pathscope.replay.live.run import Made, plan
from pathscope.reports.compare import document as compared
from pathscope.reports.replay.live import document, report
from rich.console import Console
from running import CAPTURES, MIXED, ROOT

SCHEMA: dict[str, Any] = json.loads(
    (ROOT / "reports" / "replay" / "live.schema.json").read_text(encoding="utf-8")
)


def compared_with(source: Path, other: Path, *sctp: str, flow: int | None = None) -> LiveRun:
    """Return what live mode would, had its run come out like `other`."""
    planned = plan(source, sctp=sctp, flow=flow)
    made = Made(Path("again"), (other,), planned)
    return LiveRun(made.folder, planned.scenario, made, live.beside([source], made))


def text(found: dict[str, Any]) -> str:
    console = Console(width=160)
    with console.capture() as said:
        console.print(report(found))
    return said.get()


@pytest.fixture(scope="module")
def failover() -> dict[str, Any]:
    source = CAPTURES / "lab-failover" / "client.pcapng"
    other = CAPTURES / "lab-potentially-failed" / "client.pcapng"
    return document(compared_with(source, other, "pf=0"))


def test_the_contract_holds(failover: dict[str, Any]) -> None:
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    jsonschema.validate(failover, SCHEMA)
    whole = json.loads((ROOT / "reports" / "compare" / "compare.schema.json").read_text())
    jsonschema.validate(failover["comparison"], whole)
    assert failover["comparison"]["schema"] == compared.SCHEMA
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(failover | {"more": 1}, SCHEMA)


def test_handovers_stand_beside_each_other(failover: dict[str, Any]) -> None:
    first = failover["handovers"][0]
    assert first["original"] == {"from_path": "wlan", "to_path": "cellular", "cause": "timeout"}
    assert first["live"]["cause"] == "potentially-failed"
    shown = text(failover)
    assert "wlan -> cellular, timeout" in shown
    assert "client: pf_max_retrans: 0 -> 0" not in shown  # it is what it was
    assert "client: potentially_failed: false -> true" in shown
    assert "link_failure_recovery_s" in shown


def test_the_text_says_what_stands_for_what() -> None:
    source = CAPTURES / "lab-failover" / "client.pcapng"
    found = document(compared_with(source, source))
    shown = text(found)
    assert "2001:db8:1::1 - 2001:db8:1::2  the same" in shown
    assert "Changed" not in shown
    rows = [row for group in found["comparison"]["groups"] for row in group["rows"]]
    assert all(row["difference"]["value"] == 0 for row in rows if row["difference"] is not None)


def test_a_flow_has_no_settings() -> None:
    found = document(compared_with(MIXED, MIXED, flow=2))
    jsonschema.validate(found, SCHEMA)
    assert found["settings"] == []
    assert "10.0.1.1 - 10.0.9.1  10.1.0.1 - 10.1.0.2" in text(found)
    assert {
        row["place"].split(",")[0] for g in found["comparison"]["groups"] for row in g["rows"]
    } == {"flow 0"}
