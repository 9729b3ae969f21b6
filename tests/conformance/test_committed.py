"""Our dissection of the committed captures agrees with tshark in every field."""

import shutil
from pathlib import Path

import pytest
from conformance.compare import captures_in, compare
from conformance.report import ROOT, Folder, capture_row

FIXTURES = Folder(ROOT / "fixtures", [])
PAGE = (ROOT / "docs" / "conformance.md").read_text(encoding="utf-8")
CAPTURES = captures_in(FIXTURES.path)


def test_the_page_lists_the_captures() -> None:
    assert CAPTURES
    assert PAGE.count("| `fixtures/") == len(CAPTURES)


@pytest.mark.parametrize("capture", CAPTURES, ids=lambda path: str(path.relative_to(FIXTURES.path)))
def test_agrees_with_tshark(capture: Path) -> None:
    assert shutil.which("tshark"), "tshark is missing: install the Debian package tshark"
    result = compare(capture)
    assert result.unexplained == []
    shown = " | ".join(str(cell) for cell in capture_row(FIXTURES, result))
    assert f"| {shown} |" in PAGE, "run `make conformance` with WRITE=docs/conformance.md"
