"""Large captures get an offset index of the report's own, and nothing is left anywhere."""

from __future__ import annotations

import gzip
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from pathscope.cli import main
from pathscope.dissectors import ledger, rows
from pathscope.dissectors.indexing import build
from pathscope.reports.report import data as datas
from pathscope.reports.report.data import Case, reading, window
from pathscope.reports.report.load import How, load
from pathscope.reports.report.watch import Watch
from reporting import FAILOVER

SECOND = 1_000_000_000


@pytest.fixture(autouse=True)
def large(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make the failover capture a large one."""
    monkeypatch.setattr(datas, "MOST_FRAMES_WITHOUT_INDEX", 1000)


@pytest.fixture
def capture(tmp_path: Path) -> Path:
    place = tmp_path / "captures"
    place.mkdir()
    return Path(shutil.copy(FAILOVER / "client.pcapng", place))


@pytest.fixture
def indexes(tmp_path: Path) -> Path:
    place = tmp_path / "indexes"
    place.mkdir()
    return place


def loaded(capture: Path, indexes: Path | None) -> Case:
    (case,) = load([str(capture)], How(indexes=indexes)).cases
    return case


def test_a_window_is_read_through_it(
    capture: Path, indexes: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain, case = loaded(capture, None), loaded(capture, indexes)
    assert not plain.is_quick
    assert plain.index is None
    assert case.is_quick
    assert case.index is not None
    assert case.index.is_relative_to(indexes)
    assert list(capture.parent.iterdir()) == [capture]
    part = window(10 * SECOND, 11 * SECOND)
    expected, frame = plain.rows("chunks", part, 0), plain.frame(444)

    def whole(*_: Any) -> Iterator[Any]:
        raise AssertionError("the whole capture was read")

    monkeypatch.setattr(rows, "_streamed", whole)
    monkeypatch.setattr(ledger, "stream", whole)
    found = case.rows("chunks", part, 0)
    assert found.num_rows > 0
    assert found.equals(expected)
    assert case.frame(444) == frame
    assert case.frame(1400).decoder == "own"  # tshark would read all before it


def test_it_is_made_in_the_pass_of_the_analysis(
    capture: Path, indexes: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = loaded(capture, None).document
    begun = []
    begin = ledger.begin

    def counted(*given: Any, **named: Any) -> Any:
        begun.append(given)
        return begin(*given, **named)

    monkeypatch.setattr(ledger, "begin", counted)
    case = loaded(capture, indexes)
    assert len(begun) == 1
    assert case.index is not None
    assert case.document == expected


def test_one_beside_the_capture_is_used(capture: Path, indexes: Path) -> None:
    build(capture, reading(loaded(capture, None).analysis))  # type: ignore[arg-type]
    case = loaded(capture, indexes)
    assert case.is_quick
    assert case.index is None
    assert list(indexes.iterdir()) == []


def test_two_ends_have_one_for_the_first(capture: Path, indexes: Path) -> None:
    server = Path(shutil.copy(FAILOVER / "server.pcapng", capture.parent))
    (case,) = load([str(capture), str(server)], How(indexes=indexes)).cases
    assert case.is_quick
    assert case.rows("chunks", window(10 * SECOND, 11 * SECOND), 0).num_rows > 0


def test_a_small_capture_needs_none(
    capture: Path, indexes: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(datas, "MOST_FRAMES_WITHOUT_INDEX", 100_000)
    case = loaded(capture, indexes)
    assert case.is_quick
    assert list(indexes.iterdir()) == []


def test_a_compressed_capture_is_shown_without(capture: Path, indexes: Path) -> None:
    packed = capture.with_suffix(".pcapng.gz")
    packed.write_bytes(gzip.compress(capture.read_bytes()))
    case = loaded(packed, indexes)
    assert case.index is None
    assert not case.is_quick
    assert case.rows("chunks", window(10 * SECOND, 11 * SECOND), 0).num_rows > 0


def test_what_appears_in_a_watched_folder_has_one(capture: Path, indexes: Path) -> None:
    shelf = datas.Shelf(load([str(capture)], How(indexes=indexes)))
    folder = capture.parent / "watched"
    folder.mkdir()
    watch = Watch(folder, shelf, How(indexes=indexes))
    shutil.copy(FAILOVER / "server.pcapng", folder)
    watch.look()
    watch.look()
    first, second = shelf.data.cases
    assert first.is_quick
    assert second.is_quick
    assert second.index is not None
    assert second.index != first.index


def test_the_command_leaves_nothing(
    capture: Path, indexes: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(indexes))
    path = tmp_path / "report.html"
    done = CliRunner().invoke(main, ["report", str(capture), "--html", str(path)])
    assert done.exit_code == 0, done.output
    assert path.exists()
    assert list(indexes.iterdir()) == []
    assert list(capture.parent.iterdir()) == [capture]
