"""Every command and program of the manual runs, and gives what is shown; or it says why not."""

from __future__ import annotations

import os
import re
from collections import Counter
from pathlib import Path

import click
import manual
import pytest
from manual import LATER, NEVER, PAGES, Block, Runner, made_by, run
from pathscope import cli
from running import ROOT, outside

GOLDEN = ROOT / "tests" / "manual.txt"
COMMAND = re.compile(r"^\s*(?:\$ )?(pathscope|make|pip|sudo|python3?|tshark|cargo) ")
OPTION = re.compile(r"(?<![\w-])(--[a-z][a-z-]+)")


def named(page: Path) -> str:
    return str(page.relative_to(ROOT))


@pytest.fixture
def runner(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Runner:
    monkeypatch.chdir(tmp_path)
    return Runner(tmp_path)


@pytest.mark.parametrize("page", PAGES, ids=named)
def test_blocks_run(page: Path, runner: Runner) -> None:
    runner.page(page, {LATER, NEVER})


def counted() -> str:
    """How many blocks there are, and each that `make test` does not run, with the reason."""
    found = [block for page in PAGES for block in manual.blocks(page)]
    kinds = Counter(block.kind for block in found)
    now = len(found) - kinds[LATER] - kinds[NEVER]
    lines = [
        f"{len(found)} blocks:",
        f"  {now} run by make test",
        f"  {kinds[LATER]} more by make docs-commands",
        f"  {kinds[NEVER]} not run",
    ]
    for kind in (LATER, NEVER):
        lines += ["", f"{kind}:"]
        lines += [f"  {told(block)}" for block in found if block.kind == kind]
    return "\n".join(lines) + "\n"


def told(block: Block) -> str:
    first, *_ = block.text.splitlines()
    return f"{named(block.page)}: {first[:70]}: {block.reason}"


def test_what_is_not_run_is_counted() -> None:
    if "PATHSCOPE_UPDATE_GOLDEN" in os.environ:
        GOLDEN.write_text(counted())
    assert counted() == GOLDEN.read_text(), "run `make docs`"


@pytest.mark.parametrize("page", PAGES, ids=named)
def test_commands_stand_in_blocks_that_run(page: Path) -> None:
    """No command is hidden in an indented block, or in one that only shows something."""
    fence = ""
    for number, line in enumerate(page.read_text().splitlines(), 1):
        if line.startswith("```"):
            fence = "" if fence else line
            assert fence != "```", f"{named(page)}:{number}: a block without a language"
        elif fence == "```text" and page.name != "cli.md":
            assert not COMMAND.match(line), f"{named(page)}:{number}: {line}"
        elif not fence:
            assert not line.startswith("    "), f"{named(page)}:{number}: {line}"


def resolved(words: list[str]) -> click.Command:
    """The command that a line begins with, as far as it names one."""
    command: click.Command = cli.main
    context = click.Context(command)
    for word in words:
        if not isinstance(command, click.Group):
            break
        inner = command.get_command(context, word)
        if inner is None:
            break
        command = inner
    return command


@pytest.mark.parametrize("page", PAGES, ids=named)
def test_commands_in_the_text_exist(page: Path) -> None:
    """What a sentence says of a command is a command with these options."""
    text = re.sub(r"^```.*?^```$", "", page.read_text(), flags=re.MULTILINE | re.DOTALL)
    for said in re.findall(r"`pathscope ((?:[^`]|\n)+)`", text):
        words = said.split()
        command = resolved(words)
        assert command is not cli.main or words[0].startswith("-"), f"{named(page)}: {said}"
        known = {name for one in command.params for name in (*one.opts, *one.secondary_opts)}
        assert set(OPTION.findall(said)) <= known | {"--help", "--version"}, (
            f"{named(page)}: {said}"
        )


def test_readme_shows_what_analyze_says() -> None:
    shown = [
        example
        for block in manual.blocks(ROOT / "README.md")
        if block.language == "console" and block.kind != NEVER
        for example in manual.examples(block)
    ]
    assert any(one.command.startswith("pathscope analyze") and one.output for one in shown)


def test_demo_shows_the_handovers(runner: Runner) -> None:
    shown = "\n".join(run(made_by("demo"), runner.place))
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
def test_every_help_has_an_example_that_runs(name: str, runner: Runner) -> None:
    _, _, after = helps()[name].partition("Example:\n")
    command = after.strip().replace("\\\n", " ")
    assert command.startswith(name)
    run(command, runner.place)


@pytest.mark.parametrize("name", helps())
def test_cli_page_shows_the_true_help(name: str) -> None:
    words = [*name.split()[1:], "--help"]
    shown = outside(*words, environment={"COLUMNS": "100"}).stdout
    lines = "\n".join(line.rstrip() for line in shown.splitlines())
    assert f"## {name}\n\n```text\n{lines}\n```" in (ROOT / "docs" / "cli.md").read_text()
