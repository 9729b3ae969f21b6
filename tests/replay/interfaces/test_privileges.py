"""Privileges are asked for by name, with a command that grants them and no more."""

from __future__ import annotations

import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from interfaces_wire import ENVIRONMENT
from pathscope.replay.interfaces import privileges

CHECK = """
import sys
from pathscope.replay.interfaces import privileges
privileges.require(impaired=sys.argv[1] == "impaired")
"""


@pytest.mark.parametrize(
    ("effective", "missing"),
    [
        ("000001ffffffffff", []),
        ("0000000000000000", ["CAP_NET_RAW", "CAP_NET_ADMIN"]),
        ("0000000000002000", ["CAP_NET_ADMIN"]),
        ("0000000000001000", ["CAP_NET_RAW"]),
    ],
)
def test_effective_capabilities(effective: str, missing: list[str]) -> None:
    status = f"Name:\tx\nCapPrm:\t{'f' * 16}\nCapEff:\t{effective}\n"
    assert privileges.lacking(status, list(privileges.NEEDS)) == missing


def as_nobody(*options: str, asked: str) -> subprocess.CompletedProcess[str]:
    words = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", *options, "--"]
    command = [*words, sys.executable, "-c", CHECK, asked]
    return subprocess.run(
        command, capture_output=True, text=True, env=ENVIRONMENT, cwd="/", check=False
    )


@pytest.mark.usefixtures("namespace")
@pytest.mark.parametrize(
    ("held", "asked", "named"),
    [
        ("", "impaired", "CAP_NET_RAW (to send frames) and CAP_NET_ADMIN (to set qdiscs)"),
        ("", "plain", "CAP_NET_RAW (to send frames):"),
        ("net_raw", "plain", None),
        ("net_raw", "impaired", "CAP_NET_ADMIN (to set qdiscs):"),
        ("net_raw,+net_admin", "impaired", None),
    ],
)
def test_an_ordinary_user(held: str, asked: str, named: str | None) -> None:
    options = [f"--inh-caps=+{held}", f"--ambient-caps=+{held}"] if held else []
    done = as_nobody(*options, asked=asked)
    if "Permission denied" in done.stderr and "PrivilegeError" not in done.stderr:
        pytest.skip("an ordinary user cannot read this installation")
    if named is None:
        assert done.returncode == 0, done.stderr
    else:
        assert f"this needs {named}" in done.stderr.replace(": run it", ":")


def test_the_command_grants_what_is_needed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", ["/opt/bin/pathscope", "replay", "a trace.pcap"])
    words = shlex.split(privileges.grant(["CAP_NET_RAW"]))
    assert words[:2] == ["sudo", "setpriv"]
    assert "--ambient-caps=+net_raw" in words
    assert words[words.index("--") + 1 :] == ["/opt/bin/pathscope", "replay", "a trace.pcap"]
    assert Path(words[-3]).is_absolute()
