"""Our dissection of the committed captures agrees with tshark in every field."""

import shutil
from pathlib import Path

import pytest
from conformance.compare import captures_in, compare

CAPTURES = Path(__file__).parents[2] / "fixtures" / "captures"
WITHOUT_SCTP = {"flows-mixed"}
"""The comparison is of SCTP: in these, neither reader may find any."""


def test_captures_are_there() -> None:
    assert captures_in(CAPTURES)


@pytest.mark.parametrize(
    "capture", captures_in(CAPTURES), ids=lambda path: str(path.relative_to(CAPTURES))
)
def test_agrees_with_tshark(capture: Path) -> None:
    assert shutil.which("tshark"), "tshark is missing: install the Debian package tshark"
    result = compare(capture)
    assert result.notes == []
    assert (result.packets > 0) == (capture.parent.name not in WITHOUT_SCTP)
    assert result.unexplained == []
