"""Stories as text and as JSON, and what `explain` refuses."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from running import CAPTURES, FAILOVER, LOSSY, ROOT, inside

SCHEMA: dict[str, Any] = json.loads((ROOT / "reports" / "story.schema.json").read_text())
VALIDATOR = jsonschema.Draft202012Validator(SCHEMA)
WITH_HANDOVERS = (
    "failover-v6", "asconf-handover-v4", "lab-return", "lab-potentially-failed", "lab-three-paths",
)  # fmt: skip


def test_the_schema_is_one() -> None:
    jsonschema.Draft202012Validator.check_schema(SCHEMA)


@pytest.mark.parametrize("end", ["client", "server"])
@pytest.mark.parametrize("run", WITH_HANDOVERS)
def test_the_contract_holds(run: str, end: str) -> None:
    found = inside("explain", CAPTURES / run / f"{end}.pcapng", "--json")
    assert found.exit_code == 0
    document = json.loads(found.stdout)
    VALIDATOR.validate(document)
    assert document["stories"]


def test_the_contract_is_strict() -> None:
    document = json.loads(inside("explain", FAILOVER, "--json").stdout)
    document["stories"][0]["more"] = 1
    with pytest.raises(jsonschema.ValidationError):
        VALIDATOR.validate(document)


def test_settings_that_were_given_are_marked() -> None:
    found = inside("explain", FAILOVER, "--handover", 1, "--set", "pmr=0", "--json")
    (story,) = json.loads(found.stdout)["stories"]
    as_it_was, other = story["alternatives"]
    assert (as_it_was["given"], other["given"]) == ({}, {"pmr": 0})
    assert other["settings"]["pmr"] == {"value": 0, "source": "given", "low": 0, "high": 0}
    assert other["settings"]["rto_min"]["source"] == "inferred"
    assert len(other["time_outs_s"]) == 1


def test_the_text_marks_what_is_inferred() -> None:
    text = inside("explain", FAILOVER, "--handover", 1).stdout
    expiries = [line for line in text.splitlines() if "T3-rtx of v1 expires" in line]
    assert len(expiries) == 3
    assert all(" inferred " in line for line in expiries)
    assert "Path.Max.Retrans + 1 = 3" in text
    assert "hb_interval=2.12s inferred" in text


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([LOSSY], "no handover to explain: 1 associations with 2 paths; new DATA stayed"),
        ([FAILOVER, "--handover", 9], "no handover 9: there are 2, from 1 in each association"),
        ([FAILOVER, "--association", 4], "no association 4 to explain: of 1 there: 0"),
        ([FAILOVER, "--set", "rto=1s"], "one of rto_initial, rto_min, rto_max, pmr, pf"),
        ([FAILOVER, "--set", "pmr=many"], "expected a number of expiries, 0 to 255"),
        ([FAILOVER, "--set", "rto_min=1"], "expected a time from 1ms to 86400s"),
        ([CAPTURES / "flows-mixed" / "flows.pcap"], "no association to explain: there is none"),
    ],
)
def test_refusals(arguments: list[object], message: str) -> None:
    found = inside("explain", *arguments)
    assert found.exit_code == 2
    assert message in " ".join(found.stderr.split())
    assert found.stdout == ""


def test_a_run_by_its_folder() -> None:
    found = inside("explain", ROOT / "fixtures" / "sweep" / "held")
    assert found.exit_code == 0
    assert "wlan -> cellular, timeout" in found.stdout


def test_unreadable_input(tmp_path: Path) -> None:
    missing = inside("explain", tmp_path / "nothing.pcap")
    assert missing.exit_code == 2
    assert "nothing.pcap" in missing.stderr
