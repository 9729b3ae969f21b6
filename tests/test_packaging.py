"""The package as it is installed: one version, one top-level name, every file, a release build."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tomllib
from configparser import ConfigParser
from importlib import metadata
from pathlib import Path, PurePosixPath
from typing import Any

import pytest
import shipped
from pathscope.cli import COMMANDS
from pathscope.dissectors import _core
from running import ROOT, loaded

WORKERS_EXTRAS = frozenset({"bench", "docs", "test", "wheel"})
"""Extras of those who work on pathscope, rather than with it."""


def setup() -> ConfigParser:
    found = ConfigParser()
    found.read(ROOT / "setup.cfg", encoding="utf-8")
    return found


def share() -> Any:
    return loaded(ROOT / "docs" / "share.py")


def test_one_version_everywhere() -> None:
    cargo = tomllib.loads((ROOT / "Cargo.toml").read_text())
    version = cargo["workspace"]["package"]["version"]
    assert metadata.version("pathscope") == version, "install again with `make build`"
    assert _core.__version__ == version, "rebuild with `make build`"
    assert not setup().has_option("metadata", "version")


def test_editable_install_has_the_release_build() -> None:
    assert _core.build_profile == "release"


def test_every_package_is_named() -> None:
    named = setup()["options"]["packages"].split()
    assert sorted(named) == sorted(shipped.packages())


def folder(package: str) -> Path:
    return ROOT.joinpath(*package.split(".")[1:])


def test_every_module_and_data_file_is_named() -> None:
    packages = setup()["options"]["packages"].split()
    named = {path for package in packages for path in folder(package).glob("*.py")}
    for package, patterns in setup()["options.package_data"].items():
        for pattern in patterns.split():
            named |= set(folder(package).glob(pattern))
    installed = {str(PurePosixPath("pathscope", path.relative_to(ROOT))) for path in named}
    assert installed - {"pathscope/setup.py"} == shipped.modules_and_data()


def test_all_is_every_extra_for_users() -> None:
    extras = setup()["options.extras_require"]
    inner = re.fullmatch(r"pathscope\[(.*)\]", extras["all"].strip())
    assert inner is not None
    assert sorted(inner[1].split(",")) == sorted(set(extras) - WORKERS_EXTRAS - {"all"})


def test_what_users_can_install_is_tested() -> None:
    tested = [line.partition("[") for line in setup()["options.extras_require"]["test"].split()]
    own = [extras.rstrip("]").split(",") for name, _, extras in tested if name == "pathscope"]
    assert ["all" in extras for extras in own] == [True]


def linked(*packages: str) -> set[str]:
    """The crates that are linked into these of ours, as `name vVERSION FEATURE,FEATURE`."""
    command = [os.environ.get("CARGO", "cargo"), "tree", "--locked", "--offline"]
    command += ["--edges", "normal", "--target", "x86_64-unknown-linux-gnu"]
    command += ["--prefix", "none", "--no-dedupe", "--format", "{p} {f}"]
    command += [f"--package={name}" for name in packages]
    tree = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True)
    return {line for line in tree.stdout.splitlines() if line and "pathscope" not in line}


EXTENSIONS = ("pathscope-binding", "pathscope-replay-binding")


def test_extensions_share_what_they_are_made_of() -> None:
    """Else every build compiles Arrow twice, which takes longer than all the rest."""
    one, other = ({tuple(line.split()[:2]): line for line in linked(name)} for name in EXTENSIONS)
    common = one.keys() & other.keys()
    assert {one[name] for name in common} == {other[name] for name in common}


def test_what_is_linked_has_its_notice() -> None:
    crates = {" ".join(line.split()[:2]).replace(" v", " ") for line in linked(*EXTENSIONS)}
    notices = (ROOT / "THIRD-PARTY-NOTICES.txt").read_text(encoding="utf-8")
    noticed = set(re.findall(r"^([\w-]+ \d+\.\d+\.\S+?)(?:,.*)?$", notices, re.MULTILINE))
    assert crates - noticed == set(), "run `make licenses`"
    lock = tomllib.loads((ROOT / "Cargo.lock").read_text())["package"]
    assert noticed - {f"{one['name']} {one['version']}" for one in lock} == set()


def test_every_command_has_a_manual_page() -> None:
    pages = dict(share().files())
    for name in COMMANDS:
        assert f"\n.SH NAME\npathscope\\-{name} \\- " in pages[f"man/man1/pathscope-{name}.1"]
        assert f"\n\\fBpathscope\\-{name}\\fR(1)\n" in pages["man/man1/pathscope.1"]


def test_manual_pages_cannot_be_misread_as_commands() -> None:
    assert share().roff(".TH x\n'a\\b -c") == "\\&.TH x\n\\&'a\\eb \\-c"


def test_manual_pages_have_the_day_that_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "86400")
    page = dict(share().files())["man/man1/pathscope.1"]
    assert page.startswith(f'.TH "PATHSCOPE" "1" "1970-01-02" "pathscope {_core.__version__}"')


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_installed_completion_is_what_the_command_prints(shell: str) -> None:
    printed = subprocess.run(
        [sys.executable, "-m", "pathscope", "completion", shell],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "LC_ALL": "C.UTF-8"},
    )
    assert dict(share().files())[share().COMPLETIONS[shell]] == printed.stdout
