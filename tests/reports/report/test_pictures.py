"""Figures as files: their names, what is refused, and what a real Chromium draws."""

from __future__ import annotations

import re
import struct
from importlib import metadata
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from pathscope.cli import main
from pathscope.reports.report import contents, pictures
from pathscope.reports.report.blocks import Figure
from pathscope.reports.report.data import ReportData
from pathscope.reports.report.load import How, load
from pathscope.reports.report.pages import blocks
from pathscope.reports.report.pictures import FORMATS, LOOK, PNG_SCALE, Picture
from reporting import FAILOVER, SCRIPT, desk, failover, flows, hostile
from running import CAPTURES

DATA = failover()
CAPTURE = FAILOVER / "client.pcapng"


def named(data: ReportData) -> dict[str, Picture]:
    found = list(pictures.pictures(desk(data)))
    assert len({one.name for one in found}) == len(found)
    return {one.name: one for one in found}


def test_every_figure_has_a_picture_whose_name_says_of_what() -> None:
    found = named(DATA)
    figures = [one for view in contents.pictured(DATA) for one in blocks(view)]
    assert len(found) == sum(isinstance(one, Figure) for one in figures)
    handovers = DATA.cases[0].document["associations"][0]["handovers"]
    for name in ("swimlane", "tsn", "throughput", "rtt", "window", "heartbeats"):
        assert found[f"client-association-0-{name}"].figure is not None
    for number in range(1, len(handovers) + 1):
        assert found[f"client-association-0-handover-{number}-phases"].figure is not None


def test_a_picture_without_anything_to_see_says_why() -> None:
    for one in named(DATA).values():
        assert (one.figure is None) == bool(one.reason)


def test_each_flow_has_a_picture() -> None:
    data = flows()
    numbers = list(data.cases[0].flows)[: contents.MOST]
    assert [f"flows-flow-{number}" for number in numbers] == list(named(data))


def test_captures_that_are_called_alike_are_told_apart() -> None:
    runs = [str(CAPTURES / one / "client.pcapng") for one in ("lab-one-way", "lab-failover")]
    found = named(load([*runs, str(CAPTURES / "lossy-v4" / "client.pcapng")], How()))
    for key in ("1", "2", "3"):
        assert f"client-{key}-association-0-tsn" in found
    assert "sets-goodput_bps" in found


def test_names_are_those_of_files(tmp_path: Path) -> None:
    for name in named(hostile(tmp_path)):
        assert re.fullmatch(r"[A-Za-z0-9._-]+", name)
        assert not name.startswith(".")


def test_what_is_left_out_is_told() -> None:
    assert list(contents.left_out(DATA)) == []


def test_more_than_a_file_takes_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(contents, "MOST", 1)
    (sentence,) = contents.left_out(DATA)
    number = len(DATA.cases[0].document["associations"][0]["handovers"])
    assert f"of {number} handovers of an association, the first 1" in sentence
    assert not any("handover-2" in name for name in named(DATA))


def command(*arguments: Any) -> Any:
    return CliRunner().invoke(main, ["report", *map(str, arguments)])


def test_without_kaleido_it_is_refused_before_anything_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from importlib.util import find_spec

    monkeypatch.setattr(
        pictures, "find_spec", lambda name: None if name == "kaleido" else find_spec(name)
    )
    done = command("/nonexistent", "--figures", tmp_path / "figures")
    assert done.exit_code == 2
    assert "kaleido is not installed: pip install 'pathscope[report]'" in done.output
    assert not (tmp_path / "figures").exists()


def test_an_old_kaleido_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(metadata, "version", lambda _: "0.2.1")
    assert str(pictures.missing()).startswith("kaleido 0.2.1 is too old")


def test_without_a_browser_it_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BROWSER_PATH", str(tmp_path / "none"))
    done = command(CAPTURE, "--figures", tmp_path / "figures")
    assert done.exit_code == 2
    assert "no Chromium or Chrome is installed" in done.output
    assert "Traceback" not in done.output
    assert not (tmp_path / "figures").exists()


def test_a_folder_with_something_in_it_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "own.svg").write_text("mine")
    done = command(CAPTURE, "--figures", tmp_path)
    assert done.exit_code == 2
    assert "is not empty; --force overwrites" in done.output
    assert [one.name for one in tmp_path.iterdir()] == ["own.svg"]


def one_picture(figure: str = "swimlane") -> Picture:
    return named(DATA)[f"client-association-0-{figure}"]


def test_chromium_draws_both_forms_and_overwrites_nothing(tmp_path: Path) -> None:
    picture = one_picture()
    told: list[str] = []
    nothing = Picture("nothing", None, "there is nothing")
    assert pictures.write([picture, nothing], tmp_path, force=False, told=told.append) == 1
    assert told == ["nothing: not written: there is nothing"]
    assert sorted(one.name for one in tmp_path.iterdir()) == sorted(
        f"{picture.name}.{form}" for form in FORMATS
    )
    svg = (tmp_path / f"{picture.name}.svg").read_text()
    assert svg.startswith("<svg")
    assert "wlan" in svg
    assert "cellular" in svg
    png = (tmp_path / f"{picture.name}.png").read_bytes()
    assert picture.figure is not None
    size = (LOOK.width_px * PNG_SCALE, picture.figure.layout.height * PNG_SCALE)
    assert struct.unpack(">II", png[16:24]) == size
    with pytest.raises(FileExistsError):
        pictures.write([picture], tmp_path, force=False, told=told.append)
    assert (tmp_path / f"{picture.name}.svg").read_text() == svg
    assert pictures.write([picture], tmp_path, force=True, told=told.append) == 1


def test_names_of_captures_are_text_in_pictures(tmp_path: Path) -> None:
    folder = tmp_path / "figures"
    folder.mkdir()
    found = [one for one in named(hostile(tmp_path)).values() if one.figure is not None]
    first = next(one for one in found if one.name.endswith("swimlane"))
    pictures.write([first], folder, force=False, told=print)
    (svg,) = folder.glob("*.svg")
    text = svg.read_text()
    assert SCRIPT not in text
    assert "<script" not in text
    assert "script&#62;" in text


def test_a_browser_that_fails_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BROWSER_PATH", "/bin/false")
    with pytest.raises(pictures.PictureError, match="the browser that draws figures failed"):
        pictures.write([one_picture()], tmp_path, force=False, told=print)
    assert list(tmp_path.iterdir()) == []
