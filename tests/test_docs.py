"""The manual is true: its commands run, its output is the program's, its names exist."""

from __future__ import annotations

import doctest
import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import click
import pathscope
import pytest
from pathscope import cli
from pathscope.analyzer.compare import runs
from pathscope.reports import units
from pathscope.reports.compare import cells
from running import FAILOVER, MIXED, PROGRAM, ROOT, outside

DOCS = sorted((ROOT / "docs").glob("*.md"))
MANUAL = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *DOCS]
SCHEMA: dict[str, Any] = json.loads((ROOT / "reports" / "result.schema.json").read_text())
MEASURED = {
    "instants": "instants",
    "handover-metrics": "handover_metrics",
    "path-metrics": "direction_metrics",
    "waiting": "waiting_metrics",
    "receivers": "receiver_metrics",
    "heartbeats": "heartbeats",
    "transit-metrics": "transit_metrics",
    "totals": "totals",
    "handoff-region": "region_metrics",
    "handoff": "handoff_metrics",
    "timeline-instants": "timeline_instants",
    "timeline-metrics": "timeline_metrics",
    "phase-instants": "phase_instants",
    "phase-metrics": "phase_metrics",
    "path-choice": "choice_metrics",
    "timers": "timers",
    "flow-metrics": "flow_metrics",
    "flow-direction-metrics": "flow_direction_metrics",
    "connection-totals": "connection_totals",
    "subflow-sender-metrics": "subflow_sender_metrics",
    "subflow-metrics": "subflow_metrics",
}
ANYTHING = "..."


def generator() -> Any:
    spec = importlib.util.spec_from_file_location("generate", ROOT / "docs" / "generate.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("path", DOCS, ids=lambda path: path.name)
def test_generated_parts_are_up_to_date(path: Path) -> None:
    text = path.read_text()
    assert generator().render(text) == text, "run `make docs`"


@pytest.mark.parametrize(
    ("name", "parts"),
    [
        ("ledger.md", {"tables"}),
        ("cli.md", {"commands"}),
        ("compare.md", {"compare-fields"}),
        ("explain.md", {"story-fields"}),
        ("findings.md", {"findings"}),
        ("index.md", {"index-tables"}),
        ("lab-ns2.md", {"ns-settings"}),
        ("result.md", {"fields"}),
        ("studies.md", {"quantities", "study-numbers", "study-settings"}),
        ("metrics.md", {"causes", *MEASURED}),
    ],
)
def test_nothing_generated_is_missing(name: str, parts: set[str]) -> None:
    text = (ROOT / "docs" / name).read_text()
    assert set(re.findall(r"<!-- generated: ([a-z-]+) -->", text)) == parts


def keys() -> dict[str, set[str]]:
    return {name: set(SCHEMA["$defs"][name]["properties"]) for name in MEASURED.values()}


def test_every_key_of_the_contract_is_defined() -> None:
    text = (ROOT / "docs" / "metrics.md").read_text()
    for part, name in MEASURED.items():
        body = text.split(f"<!-- generated: {part} -->")[1].split("<!-- end -->")[0]
        assert set(re.findall(r"^\| `([a-z0-9_]+)` \|", body, re.MULTILINE)) == keys()[name]


def test_every_key_that_the_manual_names_is_in_the_contract() -> None:
    known = {key for found in keys().values() for key in found} | {
        "asconf_add_s",
        "asconf_delete_s",
    }
    known |= {"measured_s", "predicted_s", "difference_s"}
    known |= {"asconf_set_primary_s", "delay_s", "elapsed_s", "shared_ratio", "rto_clamped_s"}
    text = (ROOT / "docs" / "metrics.md").read_text()
    named = set(re.findall(r"\bt_[a-z_]+\b|\b[a-z0-9_]+_(?:s|bps|bytes|chunks|ratio)\b", text))
    assert named <= known


def test_the_analysis_gives_every_key_that_is_defined() -> None:
    (association,) = pathscope.analyze(FAILOVER).associations
    given: dict[str, dict[str, Any]] = {
        "instants": association.handovers[0].instants,
        "handover_metrics": association.handovers[0].metrics,
        "direction_metrics": association.paths[0].directions["a"].metrics,
        "waiting_metrics": association.streams[0].waiting.metrics,
        "receiver_metrics": association.receivers["b"].metrics,
        "heartbeats": association.paths[0].directions["a"].heartbeats,
        "totals": association.totals["a"],
        "timers": association.timers["a"],
    }
    for name, found in given.items():
        assert set(found) == keys()[name], name


def test_two_captures_give_every_key_of_transit() -> None:
    run = ROOT / "fixtures" / "captures" / "lab-lossy"
    (both,) = pathscope.api.analyze_two(run / "client.pcapng", run / "server.pcapng")
    for direction in both.associations[0].paths[0].directions.values():
        assert set(direction.transit or ()) == keys()["transit_metrics"]


def test_the_analysis_gives_every_key_that_is_defined_of_flows() -> None:
    analysis = pathscope.analyze(MIXED)
    (connection,) = analysis.connections
    given: dict[str, list[dict[str, Any]]] = {
        "flow_metrics": [flow.metrics for flow in analysis.flows],
        "flow_direction_metrics": [
            direction.metrics for flow in analysis.flows for direction in flow.directions.values()
        ],
        "connection_totals": list(connection.totals.values()),
        "subflow_sender_metrics": [
            sent for subflow in connection.subflows for sent in subflow.senders.values()
        ],
        "subflow_metrics": [subflow.metrics for subflow in connection.subflows],
    }
    for name, several in given.items():
        assert all(set(found) == keys()[name] for found in several), name


@dataclass
class Example:
    """A command of the manual with the output shown for it, if any."""

    command: str
    output: list[str] = field(default_factory=list)


def examples(text: str) -> Iterator[Example]:
    for block in re.findall(r"^```console\n(.*?)^```$", text, re.MULTILINE | re.DOTALL):
        example: Example | None = None
        for line in block.splitlines():
            if line.startswith("$ "):
                if example is not None:
                    yield example
                example = Example(line[2:])
            elif example is None:
                pytest.fail(f"a console block begins with a command: {line}")
            elif example.command.endswith("\\") and not example.output:
                example.command += "\n" + line.removeprefix("> ")
            else:
                example.output.append(line)
        if example is not None:
            yield example


def matches(shown: list[str], real: list[str]) -> bool:
    """Compare line by line; a line `...` stands for any number of lines."""
    if not shown:
        return not real
    if shown[0].strip() == ANYTHING:
        return any(matches(shown[1:], real[skip:]) for skip in range(len(real) + 1))
    return bool(real) and shown[0].rstrip() == real[0].rstrip() and matches(shown[1:], real[1:])


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """Make a folder like the repository, with a capture and its events at hand."""
    (tmp_path / "fixtures").symlink_to(ROOT / "fixtures")
    for file in (FAILOVER, FAILOVER.parent / "events.jsonl"):
        shutil.copy(file, tmp_path)
    (tmp_path / "home" / ".local/share/bash-completion/completions").mkdir(parents=True)
    kept = tmp_path / "home" / ".local/share/pathscope/baselines/before"
    shutil.copytree(ROOT / "fixtures" / "compare" / "rto-500", kept)
    program = tmp_path / "bin" / "pathscope"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\nexec {PROGRAM[0]} -c "{PROGRAM[2]}" "$@"\n')
    program.chmod(0o755)
    return tmp_path


def run(command: str, place: Path) -> list[str]:
    """Run a command as on a terminal: output and errors together; it must succeed."""
    path = f"{place / 'bin'}:{Path(sys.executable).parent}:{os.environ['PATH']}"
    found = subprocess.run(
        ["bash", "-o", "pipefail", "-c", command],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        cwd=place,
        env={**os.environ, "PATH": path, "HOME": str(place / "home"), "XDG_DATA_HOME": ""},
        timeout=120,
        check=False,
    )
    assert found.returncode == 0, f"{command}\n{found.stdout}"
    return found.stdout.splitlines()


def made_by(target: str) -> str:
    """The pathscope command that a make target runs, if it runs one."""
    steps = subprocess.run(
        ["make", "--dry-run", "--always-make", target],
        capture_output=True, text=True, cwd=ROOT, check=True,
    ).stdout.replace("\\\n", " ").splitlines()  # fmt: skip
    commands = [step.removeprefix(".venv/bin/") for step in steps]
    return "\n".join(step for step in commands if step.startswith("pathscope "))


@pytest.mark.parametrize("path", MANUAL, ids=lambda path: path.name)
def test_commands_of_the_manual(path: Path, place: Path) -> None:
    for example in examples(path.read_text()):
        program, _, target = example.command.partition(" ")
        if program == "make":
            command = made_by(target)
            assert command or not example.output, f"make {target} shows what no test can show"
        else:
            assert program == "pathscope", f"{path.name}: {example.command} is not run by any test"
            command = example.command
        real = run(command, place)
        if example.output:
            assert matches(example.output, real), "\n".join([command, *real])


def test_readme_shows_what_analyze_says() -> None:
    found = list(examples((ROOT / "README.md").read_text()))
    assert any(one.command.startswith("pathscope analyze") and one.output for one in found)


def test_demo_shows_the_handovers(place: Path) -> None:
    shown = "\n".join(run(made_by("demo"), place))
    assert shown.count("Handover ") == 2


def helps(command: click.Command = cli.main, name: str = "pathscope") -> dict[str, str]:
    found = {name: command.help or ""}
    if isinstance(command, click.Group):
        context = click.Context(command)
        for inner in command.list_commands(context):
            known = command.get_command(context, inner)
            assert known is not None
            found |= helps(known, f"{name} {inner}")
    return found


@pytest.mark.parametrize("name", helps())
def test_every_help_has_an_example_that_runs(name: str, place: Path) -> None:
    _, _, after = helps()[name].partition("Example:\n")
    command = after.strip().replace("\\\n", " ")
    assert command.startswith(name)
    run(command, place)


@pytest.mark.parametrize("name", helps())
def test_cli_page_shows_the_true_help(name: str) -> None:
    words = [*name.split()[1:], "--help"]
    shown = outside(*words, environment={"COLUMNS": "100"}).stdout
    lines = "\n".join(line.rstrip() for line in shown.splitlines())
    assert f"## {name}\n\n```text\n{lines}\n```" in (ROOT / "docs" / "cli.md").read_text()


@pytest.mark.parametrize(
    "module", [pathscope, units, cells, runs], ids=lambda module: module.__name__
)
def test_examples_in_docstrings(module: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    found = doctest.testmod(module)
    assert found.attempted > 0
    assert found.failed == 0


@pytest.mark.parametrize("path", MANUAL, ids=lambda path: path.name)
def test_python_examples(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    assert doctest.testfile(str(path), module_relative=False).failed == 0


@pytest.mark.parametrize("path", MANUAL, ids=lambda path: path.name)
def test_links_lead_somewhere(path: Path) -> None:
    for target in re.findall(r"\]\(([^)#\s]*)(?:#[^)\s]*)?\)", path.read_text()):
        if target and "://" not in target:
            assert (path.parent / target).exists(), target


@pytest.mark.parametrize("path", MANUAL, ids=lambda path: path.name)
def test_make_targets_exist(path: Path) -> None:
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    named = re.findall(r"(?:`|\$ |^ {4})make ([a-z-]+)", path.read_text(), re.MULTILINE)
    assert set(named) <= targets
