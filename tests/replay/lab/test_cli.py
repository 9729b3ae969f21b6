"""The lab's commands, without a run."""

from __future__ import annotations

import json
import shutil
from importlib.util import find_spec
from pathlib import Path

import pytest
from pathscope.replay.lab import catalog, doctor, folder, guest, host, matrix, run, tools
from pathscope.replay.lab.doctor import Check
from pathscope.replay.lab.scenario import Scenario
from running import ROOT, inside

SMALL = """\
description = "Nothing happens."
duration_s = 1
[paths.wlan]
client = "10.0.1.1"
server = "10.0.1.2"
"""


def test_list_names_every_scenario_with_its_sentence() -> None:
    lines = inside("lab", "list").stdout.splitlines()
    assert [line.split()[0] for line in lines] == catalog.names()
    assert all(line.endswith(".") for line in lines)


def test_every_setting_that_describe_shows_can_be_set() -> None:
    shown = inside("lab", "describe", "asconf").stdout
    settings = [line for line in shown.splitlines() if " = " in line]
    assert "sctp.asconf = true" in settings
    assert 'actions.1.do = "address-add"' in settings
    changes = [
        word
        for line in settings
        if not line.startswith("background")
        for word in ("--set", line.replace(" = ", "=", 1))
    ]
    again = inside("lab", "describe", "asconf", *changes)
    assert again.exit_code == 0, again.stderr
    assert sorted(again.stdout.splitlines()) == sorted(shown.splitlines())


def test_describe_as_the_runs_own_document() -> None:
    document = json.loads(inside("lab", "describe", "failover", "--json").stdout)
    assert document["schema"] == "pathscope.scenario/1"
    assert document["name"] == "failover"


def test_a_scenario_that_is_not_there() -> None:
    refused = inside("lab", "run", "fail-over")
    assert refused.exit_code == 2
    assert "fail-over: no file, and none of pathscope's scenarios" in refused.stderr
    refused = inside("lab", "run", "fail-over.toml")
    assert (refused.exit_code, refused.stderr) == (
        2,
        "Error: fail-over.toml: No such file or directory\n",
    )


def test_a_mistake_in_a_scenario_is_refused_before_anything_is_made(tmp_path: Path) -> None:
    file = tmp_path / "wrong.toml"
    file.write_text(SMALL.replace("[paths.wlan]", "[paths.wlan]\ndelay = 3"))
    refused = inside("lab", "run", file, "--out", tmp_path / "run")
    assert refused.exit_code == 2
    assert refused.stderr.startswith(f"Error: {file}:4: paths.wlan.delay: there is no such key")
    assert not (tmp_path / "run").exists()


def test_a_kernel_without_what_a_run_needs(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(host, "missing", lambda _: "this kernel has no sctp for us (none)")
    refused = inside("lab", "run", "failover", "--kernel", "host", "--out", tmp_path / "run")
    assert refused.exit_code == 1
    assert "this kernel has no sctp for us" in refused.stderr
    assert "--kernel guest needs none of it" in refused.stderr
    monkeypatch.setattr(guest, "missing", lambda: "linux.uml is not installed")
    refused = inside("lab", "run", "failover", "--out", tmp_path / "run")
    assert "apt-get install user-mode-linux kmod" in refused.stderr
    assert run.choose.__doc__ is not None


def test_auto_takes_the_running_kernel_where_it_can(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tools, "missing", list)
    monkeypatch.setattr(host, "missing", lambda _: None)
    assert run.choose("auto") == run.choose("host") == "host"
    monkeypatch.setattr(guest, "missing", lambda: None)
    assert run.choose("guest") == "guest"
    monkeypatch.setattr(host, "missing", lambda _: "no")
    assert run.choose("auto") == "guest"
    monkeypatch.setattr(tools, "missing", lambda: ["tc", "tcpdump"])
    with pytest.raises(run.LabError, match="tc, tcpdump: apt-get install iproute2 tcpdump"):
        run.choose("auto")


def test_without_jsonschema(monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    monkeypatch.setitem(sys.modules, "jsonschema", None)
    refused = inside("lab", "describe", "failover")
    assert refused.exit_code == 2
    assert "jsonschema is not installed: pip install 'pathscope[lab]'" in refused.stderr


def test_a_grid_is_every_combination_so_many_times() -> None:
    grid = matrix.cells(
        catalog.find("failover"),
        ["duration_s=5"],
        ["sctp.rto_max_ms=500,1000", "application.kind=bulk,fixed-rate"],
        2,
    )
    assert len(grid) == 8
    assert [cell.place for cell in grid[:3]] == [
        "sctp.rto_max_ms=500_application.kind=bulk/run-1",
        "sctp.rto_max_ms=500_application.kind=bulk/run-2",
        "sctp.rto_max_ms=500_application.kind=fixed-rate/run-1",
    ]
    assert [cell.scenario["seed"] for cell in grid[:2]] == [1, 2]
    assert grid[4].scenario.sctp("server")["rto_max_ms"] == 1000
    assert grid[4].settings == {"sctp.rto_max_ms": 1000, "application.kind": "bulk"}


def test_a_matrix_makes_only_what_is_not_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = []

    def pretend(scenario: Scenario, out: Path, kernel: str) -> None:
        assert kernel == "guest"
        folder.claim(out, force=False)
        with folder.running(out, {}):
            (out / folder.SCENARIO).write_text(json.dumps(scenario.document()))
            made.append(out.relative_to(tmp_path).as_posix())
            if len(made) == 2:
                raise run.LabError(f"{out}: it rains")

    monkeypatch.setattr(matrix, "run", pretend)
    monkeypatch.setattr(run, "choose", lambda *_: "guest")
    command = ["lab", "matrix", "failover", "--vary", "sctp.rto_max_ms=500,1000"]
    command += ["--out", str(tmp_path)]
    first = inside(*command)
    assert first.exit_code == 1
    assert "1 of 2 runs failed:\n" in first.stderr
    assert "it rains" in first.stderr
    listed = inside(*command, "--dry-run").stdout.split()
    assert listed[::2] == ["complete", "failed"]
    assert inside(*command).exit_code == 0
    assert made == [f"sctp.rto_max_ms={ms}/run-1" for ms in (500, 1000, 1000)]
    document = json.loads((tmp_path / matrix.GRID).read_text())
    assert [one["settings"] for one in document["runs"]] == [
        {"sctp.rto_max_ms": 500},
        {"sctp.rto_max_ms": 1000},
    ]
    # The same folder for another grid is refused: a run's settings are not those asked for.
    refused = inside(*command, "--set", "duration_s=6")
    assert refused.exit_code == 2
    assert "a run with other settings is there" in refused.stderr


@pytest.mark.parametrize("text", ["sctp.rto_max_ms", "=3", "sctp.rto_max_ms="])
def test_a_variation_that_is_none(text: str, tmp_path: Path) -> None:
    refused = inside("lab", "matrix", "failover", "--vary", text, "--out", tmp_path, "--dry-run")
    assert refused.exit_code == 2
    assert "expected KEY=VALUE,VALUE..." in refused.stderr


def test_doctor_names_a_command_for_all_that_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "which", lambda *_, **__: None)
    monkeypatch.setattr(doctor, "find_spec", lambda _: None)
    checks = list(doctor.checks())
    assert all(check.cure for check in checks if not check.found)
    assert doctor.runner(checks) is None
    cures = {check.name: check.cure for check in checks}
    assert cures["tcpdump"] == "sudo apt-get install tcpdump"
    assert cures["jsonschema"] == "pip install 'pathscope[lab]'"
    shown = inside("doctor").stdout
    assert "missing  tcpdump" in shown
    assert "runs nowhere on this machine" in shown


def test_doctor_as_a_document() -> None:
    document = json.loads(inside("doctor", "--json").stdout)
    names = [check["name"] for check in document["checks"]]
    assert {"host sctp", "host netem", "guest kernel", "tshark", "ns2", "privileges"} <= set(names)
    assert document["runner"] in ("host", "guest", None)
    assert find_spec("jsonschema") is not None


def test_the_kernel_that_doctor_names() -> None:
    good = [Check(name, "", True, "") for name in (*tools.PROGRAMS, "jsonschema", "guest kernel")]
    host_checks = [Check(f"host {probe}", "", True, "") for probe in host.PROBES]
    assert doctor.runner([*good, *host_checks]) == "host"
    assert doctor.runner([*good, *(Check(c.name, "", False, "") for c in host_checks)]) == "guest"


def test_scenarios_are_where_the_manual_says() -> None:
    assert catalog.FOLDER.resolve() == (ROOT / "fixtures" / "scenarios").resolve()
