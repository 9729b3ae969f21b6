"""`pathscope profile`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from pathscope.cli import main

WALK = """\
description = "A walk."

[paths.wlan]
both = {delay_ms = 20, rate_kbit = 3000}

[[paths.wlan.steps]]
at_s = 2
loss_percent = 100
"""


def run(*words: str | Path | int) -> Result:
    return CliRunner().invoke(main, ["profile", *map(str, words)])


@pytest.fixture
def walk(tmp_path: Path) -> Path:
    file = tmp_path / "walk.toml"
    file.write_text(WALK)
    return file


def test_show(walk: Path, tmp_path: Path) -> None:
    done = run("show", walk, "--path", "lte", "--plot", tmp_path / "walk.html")
    assert done.exit_code == 0
    lines = done.stdout.splitlines()
    assert len(lines) == 6
    assert "2.000000 s  wlan to_server  limit 1000 delay 20ms loss 100%" in lines[4]
    assert "lte to client" in (tmp_path / "walk.html").read_text()
    again = run("show", walk, "--plot", tmp_path / "walk.html")
    assert again.exit_code == 2
    assert "exists; --force overwrites it" in again.stderr


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("walk.sh", "loss_percent = 100"),
        # Its last second has the one opportunity with which a trace has to end.
        ("walk.up", "{ at_s = 2.0, rate_kbit = 12.032 }"),
        ("again.toml", "loss_percent = 100"),
    ],
)
def test_convert_there_and_back(walk: Path, tmp_path: Path, name: str, expected: str) -> None:
    there = run("convert", walk, tmp_path / name)
    assert there.exit_code == 0
    back = run("convert", tmp_path / name, "-", "--path", "wlan", "--bin", 1000)
    assert back.exit_code == 0
    assert "[paths.wlan" in back.stdout
    assert expected in back.stdout


def test_what_is_lost_is_said_and_strict_refuses_it(walk: Path, tmp_path: Path) -> None:
    out = tmp_path / "walk.up"
    done = run("convert", walk, out, "--strict")
    assert done.exit_code == 1
    assert "warning: a trace of mahimahi has no delay_ms" in done.stderr
    assert not out.exists()


def test_formats_can_be_named(walk: Path, tmp_path: Path) -> None:
    still = tmp_path / "still.toml"
    still.write_text(WALK.partition("[[")[0])
    done = run("convert", still, "-", "--to", "tcconfig")
    assert done.exit_code == 0
    assert json.loads(done.stdout)["wlan"]["incoming"]["protocol=ip"]["delay"] == "20ms"
    done = run("convert", walk, "-", "--to", "tcconfig")
    assert done.exit_code == 2
    assert "wlan changes over time" in done.stderr


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("x.toml", "sede = 1", "x.toml:1: sede: there is no such key, did you mean seed?"),
        ("x.up", "1\nfast\n", "x.up: line 2: expected a number of milliseconds"),
        ("x.json", "{", "x.json: Expecting property name"),
        ("x.sh", "tc qdisc add dev a root netem loss 5", "x.sh: line 1: loss: expected a share"),
        ("x.sh", "tc qdisc add dev a root netem reorder 5%", "x.sh: as a profile: paths.a.to_ser"),
        ("x.up", b"\xff\xfe", "x.up: 'utf-8' codec"),
    ],
)
def test_mistakes(tmp_path: Path, name: str, text: str | bytes, expected: str) -> None:
    file = tmp_path / name
    file.write_bytes(text if isinstance(text, bytes) else text.encode())
    done = run("convert", file, "-", "--to", "profile")
    assert done.exit_code == 2
    assert expected in done.stderr
    assert "Traceback" not in done.output


def test_paths_have_to_be_named_somewhere(tmp_path: Path) -> None:
    file = tmp_path / "any.toml"
    file.write_text('[paths."*"]\nboth = {delay_ms = 5}\n')
    done = run("show", file)
    assert done.exit_code == 2
    assert "any names no path: say with --path which there are" in done.stderr
    assert run("show", file, "--path", "wlan").exit_code == 0
