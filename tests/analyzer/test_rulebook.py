"""Every rule has a capture that triggers it and one that must not, and both do as they should."""

from __future__ import annotations

import ast
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

import pathscope
import pytest
from invariants import check
from pathscope.analyzer import findings, flow_findings
from pathscope.analyzer.model import Finding
from pathscope.analyzer.rulebook import RULEBOOK, Rule
from running import ROOT

FOLDER = ROOT / "fixtures" / "findings"
NAMES = [f"{rule.scope}-{rule.name}" for rule in RULEBOOK]
MOST_BYTES = 1_000_000


def folder(rule: Rule) -> Path:
    return FOLDER / (rule.name if rule.scope == "association" else f"{rule.scope}-{rule.name}")


@cache
def told(capture: Path, scope: str) -> tuple[Finding, ...]:
    analysis = pathscope.analyze(capture)
    check(analysis)
    things = analysis.associations if scope == "association" else analysis.flows
    return tuple(finding for thing in things for finding in thing.findings)


@pytest.mark.parametrize("rule", RULEBOOK, ids=NAMES)
def test_a_capture_triggers_it(rule: Rule) -> None:
    capture = folder(rule) / "triggers.pcapng"
    frames = pathscope.read(capture).capture["frames"]["read"]
    found = [one for one in told(capture, rule.scope) if one.rule == rule.name]
    assert found
    for one in found:
        assert one.severity == rule.severity
        assert one.text
        assert one.frames, "a finding names the frames that show it"
        assert all(1 <= frame <= frames for frame in one.frames)


@pytest.mark.parametrize("rule", RULEBOOK, ids=NAMES)
def test_one_nearly_like_it_does_not(rule: Rule) -> None:
    found = told(folder(rule) / "not.pcapng", rule.scope)
    assert rule.name not in {one.rule for one in found}


def named(scope: str) -> set[str]:
    """The rules that the code can give: the first argument of every Finding that is made."""
    return {
        call.args[0].value
        for source in sorted((ROOT / "analyzer").glob("*.py"))
        if (source.name == "flow_findings.py") == (scope == "flow")
        for call in ast.walk(ast.parse(source.read_text()))
        if isinstance(call, ast.Call)
        and isinstance(call.func, ast.Name)
        and call.func.id == "Finding"
        and isinstance(call.args[0], ast.Constant)
        and isinstance(call.args[0].value, str)
    }


@pytest.mark.parametrize("scope", ["association", "flow"])
def test_every_rule_of_the_code_is_in_the_book(scope: str) -> None:
    known = [rule.name for rule in RULEBOOK if rule.scope == scope]
    assert len(set(known)) == len(known)
    assert named(scope) == set(known)


def test_every_function_that_is_a_rule_says_something(monkeypatch: pytest.MonkeyPatch) -> None:
    silent = {rule.__name__ for module in (findings, flow_findings) for rule in module.RULES}

    def heard(rule: Any) -> Any:
        def apply(*arguments: Any) -> Any:
            for finding in rule(*arguments):
                silent.discard(rule.__name__)
                yield finding

        return apply

    for module in (findings, flow_findings):
        monkeypatch.setattr(module, "RULES", tuple(heard(rule) for rule in module.RULES))
    for rule in RULEBOOK:
        pathscope.analyze(folder(rule) / "triggers.pcapng")
    assert silent == set()


def test_the_captures_are_those_that_the_script_makes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(FOLDER)
    write: Any = import_module("write")
    made = write.files()
    there = {
        path.relative_to(FOLDER).as_posix(): path.read_bytes() for path in FOLDER.rglob("*.pcapng")
    }
    assert there.keys() == made.keys(), "run `make docs`"
    for name, content in made.items():
        assert there[name] == content, name
    assert {folder(rule).name for rule in RULEBOOK} == {name.partition("/")[0] for name in made}
    assert sum(len(content) for content in there.values()) < MOST_BYTES
