"""What the command was given, and folders that are watched."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from manycaptures import fill
from pathscope import analyze_many
from pathscope.cli import main
from pathscope.reports.report.data import Shelf
from pathscope.reports.report.load import How, load
from pathscope.reports.report.watch import Watch
from reporting import FAILOVER, LABELS, failover
from running import CAPTURES


def test_cases_are_numbered_in_order() -> None:
    names = [
        str(CAPTURES / one / "client.pcapng") for one in ("lab-one-way", "lab-failover", "lossy-v4")
    ]
    found = load(names, How())
    assert [(case.key, case.name) for case in found.cases] == [
        (str(number), name) for number, name in enumerate(names, 1)
    ]


def test_two_ends_of_a_run_are_one_case() -> None:
    ends = [str(FAILOVER / f"{end}.pcapng") for end in ("client", "server")]
    (case,) = load(ends, How(labels=LABELS)).cases
    assert case.files == (FAILOVER / "client.pcapng",)
    assert len(case.document["captures"]) == 2


def test_documents_are_known_by_what_they_are(tmp_path: Path) -> None:
    fidelity = tmp_path / "fidelity.json"
    fidelity.write_text(json.dumps({"schema": "pathscope.fidelity/1"}))
    comparison = tmp_path / "comparison.json"
    comparison.write_text(json.dumps({"schema": "pathscope.compare/1"}))
    result = tmp_path / "result.json"
    result.write_text(json.dumps(failover().cases[0].document))
    found = load([str(one) for one in (fidelity, comparison, result)], How())
    assert found.replays == ((str(fidelity), {"schema": "pathscope.fidelity/1"}),)
    assert found.comparison == {"schema": "pathscope.compare/1"}
    assert [(case.analysis, case.files) for case in found.cases] == [(None, ())]


def test_what_cannot_be_read_is_told_and_the_rest_is_shown(tmp_path: Path) -> None:
    bad = tmp_path / "bad.pcap"
    bad.write_bytes(b"no capture at all")
    good = CAPTURES / "lab-one-way" / "client.pcapng"
    found = load([str(bad), str(good), str(CAPTURES / "lossy-v4" / "client.pcapng")], How())
    assert len(found.cases) == 2
    ((name, reason),) = found.unread
    assert name == str(bad)
    assert reason


def test_a_dataset_is_shown_with_what_failed_of_it(tmp_path: Path) -> None:
    captures = fill(tmp_path / "captures", 3)
    bad = tmp_path / "captures" / "bad.pcap"
    bad.write_text("junk")
    analyze_many(tmp_path / "captures", tmp_path / "out")
    data = load([str(tmp_path / "out")], How())
    assert [one.name for one in data.cases] == [str(path) for path in captures]
    assert [one.analysis for one in data.cases] == [None] * 3
    ((name, reason),) = data.unread
    assert name == str(bad)
    assert "expected a pcap, pcapng or snoop header" in reason


def test_a_capture_that_appears_is_shown_once_it_is_whole(tmp_path: Path) -> None:
    shelf = Shelf(failover())
    watch = Watch(tmp_path, shelf, How())
    watch.look()
    shutil.copy(CAPTURES / "lab-one-way" / "client.pcapng", tmp_path / "new.pcapng")
    watch.look()
    assert len(shelf.data.cases) == 1  # it may still be growing
    watch.look()
    assert [case.key for case in shelf.data.cases] == ["1", "2"]
    assert shelf.edition == 2
    watch.look()
    assert shelf.edition == 2


def command(*arguments: Any) -> Any:
    return CliRunner().invoke(main, ["report", *map(str, arguments)])


def test_the_command_writes_a_file(tmp_path: Path) -> None:
    path = tmp_path / "report.html"
    done = command(FAILOVER / "client.pcapng", "--html", path)
    assert done.exit_code == 0, done.output
    assert path.stat().st_size < 6_000_000
    assert command(FAILOVER / "client.pcapng", "--html", path).exit_code == 2
    assert command(FAILOVER / "client.pcapng", "--html", path, "--force").exit_code == 0


@pytest.mark.parametrize("name", ["/nonexistent", ""])
def test_nothing_of_a_name_is_refused(name: str) -> None:
    done = command(name)
    assert done.exit_code == 2
    assert "Traceback" not in done.output
