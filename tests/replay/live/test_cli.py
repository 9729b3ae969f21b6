"""`pathscope replay --live`, as a user runs it."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest
from pathscope.replay.lab import folder
from running import CAPTURES, MIXED, ROOT, inside

pytestmark = pytest.mark.guest

FAILOVER = CAPTURES / "lab-failover" / "client.pcapng"


def test_a_plan_touches_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    found = inside("replay", FAILOVER, "--live", "--sctp", "pmr=1,pf=0", "--dry-run")
    assert found.exit_code == 0
    assert "client: path_max_retrans: 2 -> 1" in found.stdout
    assert "server: potentially_failed: false -> true" in found.stdout
    assert "Handovers" not in found.stdout
    assert list(tmp_path.iterdir()) == []


def test_a_profile_in_a_plan(tmp_path: Path) -> None:
    profile = tmp_path / "cut.toml"
    profile.write_text("[[paths.wlan.steps]]\nat_s = 6\nloss_percent = 100\n")
    found = inside("replay", FAILOVER, "--live", "--profile", profile, "--dry-run")
    assert "changes of links and acts of the ends meanwhile: 1" in found.stdout
    profile.write_text("[[paths.wlna.steps]]\nat_s = 6\nloss_percent = 100\n")
    refused = inside("replay", FAILOVER, "--live", "--profile", profile, "--dry-run")
    assert refused.exit_code == 2
    assert "there is no such path here, only wlan, cellular" in refused.stderr


def test_a_run_with_its_report(tmp_path: Path) -> None:
    out, report = tmp_path / "again", tmp_path / "again.json"
    arguments = ("--live", "--flow", 1, "--kernel", "guest", "--out", out, "--json", report)
    found = inside("replay", MIXED, *arguments)
    assert found.exit_code == 0, found.stderr
    assert found.stdout.splitlines()[-1] == str(out)
    assert folder.state(out) == "complete"
    schema = json.loads((ROOT / "reports" / "replay" / "live.schema.json").read_text())
    document = json.loads(report.read_text())
    assert json.loads((out / "live.json").read_text()) == document
    jsonschema.validate(document, schema)
    assert document["runs"] == [str(out)]
    refused = inside("replay", MIXED, *arguments)
    assert refused.exit_code == 2
    assert "--force replaces it" in refused.stderr


@pytest.mark.parametrize(
    ("arguments", "what"),
    [
        (("--speed", 2), "--speed"),
        (("--loop", 2), "--loop is for frames"),
        (("--map-address", "10.0.0.1=10.0.0.2"), "--map-address"),
        (("--sctp", "rto_mni=5"), "did you mean rto_min?"),
        (("--association", 9), "association 9: the trace has 0"),
    ],
)
def test_what_is_refused(arguments: tuple[object, ...], what: str) -> None:
    refused = inside("replay", FAILOVER, "--live", "--dry-run", *arguments)
    assert refused.exit_code == 2
    assert what in refused.stderr
