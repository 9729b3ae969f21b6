"""Letters that nobody sees, and names of captures that have some."""

from __future__ import annotations

import io
import json
import shutil
from dataclasses import replace
from pathlib import Path
from typing import cast

import pytest
from crafting import Pcapng, ethernet_records
from hypothesis import given
from hypothesis import strategies as st
from pathscope.cli.terminal import PlainStream, rendered
from pathscope.reports.unseen import UNSEEN, json_text, plain
from rich.table import Table
from running import FAILOVER, inside

HOSTILE = "\x1b]0;mine\x07 \x1b[8mhidden \x9b31m wlan\u202e0 \u2066x\u2029 \U000e0041"


def test_what_is_seen_stays() -> None:
    for text in ("wlan0", "Zürich-西", "a\nb", "e\u0301", "narrow\u202fspace", "⁰¹", "🛰"):
        assert plain(text) == text


def test_nothing_hostile_stays() -> None:
    assert not UNSEEN.search(plain(HOSTILE))
    assert "\x1b" not in plain("\x1b[31m")


@given(st.text())
def test_json_says_the_same(text: str) -> None:
    told = json_text({text: [text]})
    assert json.loads(told) == {text: [text]}
    assert not UNSEEN.search(told)


def test_a_table_has_colours_of_ours_alone() -> None:
    table = Table("name")
    table.add_row(HOSTILE, style="red")
    assert not UNSEEN.search(rendered(table))


def test_bytes_may_end_within_a_letter() -> None:
    found = io.BytesIO()
    stream = PlainStream(cast("io.BufferedWriter", found))
    for byte in "é\x9b31m西\n".encode():
        assert stream.write(bytes([byte])) == 1
    assert found.getvalue().decode() == "é\N{REPLACEMENT CHARACTER}31m西\n"


@pytest.mark.parametrize("command", [("analyze",), ("info",), ("dissect",), ("show", "1")])
def test_the_name_of_a_file_that_cannot_be_read(tmp_path: Path, command: tuple[str, ...]) -> None:
    place = tmp_path / f"{HOSTILE}.pcap"
    place.write_bytes(b"junk")
    found = inside(command[0], place, *command[1:])
    assert found.exit_code == 2
    assert found.stderr.startswith("Error: ")
    assert not UNSEEN.search(found.output)


def test_a_name_that_is_taken_for_an_option() -> None:
    found = inside("info", "--\x1b[31m")
    assert found.exit_code == 2
    assert not UNSEEN.search(found.output)


def test_the_name_of_a_capture_in_its_results(tmp_path: Path) -> None:
    place = tmp_path / f"{HOSTILE}.pcapng"
    shutil.copy(FAILOVER, place)
    for words in (("info", place), ("explain", place), ("explain", place, "--json")):
        found = inside(*words)
        assert found.exit_code == 0, found.output
        assert not UNSEEN.search(found.output)


def test_names_in_a_capture(tmp_path: Path) -> None:
    file = Pcapng()
    file.section(file.option(1, HOSTILE.encode()), file.option(0, b""))
    file.interface(HOSTILE)
    file.packets([replace(record, comment=HOSTILE) for record in ethernet_records(30)])
    place = tmp_path / "hostile.pcapng"
    place.write_bytes(file.bytes())
    commands: list[tuple[object, ...]] = [
        ("info", place),
        ("analyze", place),
        ("show", place, 3, "--decoder", "own"),
        ("dissect", place, "--format", "json"),
        ("dissect", place, "--format", "json", "--table", "comments"),
        ("compare", place, place),
        ("compare", place, place, "--format", "json"),
    ]
    for words in commands:
        found = inside(*words)
        assert found.exit_code == 0, found.output
        assert not UNSEEN.search(found.output), words
