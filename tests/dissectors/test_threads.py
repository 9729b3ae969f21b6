"""Reading in one thread and tracking in another changes nothing, on any capture of the project."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pathscope import CaptureError
from pathscope.dissectors._core import Pass
from running import CAPTURES as RUNS

CAPTURES = sorted(
    path
    for path in (*RUNS.glob("*/*"), *RUNS.parent.glob("malformed/*"))
    if path.is_file() and path.suffix not in {".jsonl", ".json", ".toml", ".py", ".md"}
)


def told(path: Path, two_threads: bool) -> tuple[dict[str, Any], Any] | str:
    """Return the tables, and what is known about the capture; or why it cannot be read."""
    try:
        reading = Pass([path], flows=True, two_threads=two_threads)
        while reading.step(1000):
            pass
        result = reading.finish()
    except CaptureError as error:
        return str(error)
    return {name: pa.table(batch) for name, batch in result["tables"].items()}, result["capture"]


@pytest.mark.parametrize("path", CAPTURES, ids=lambda path: "/".join(path.parts[-2:]))
def test_one_thread_and_two(path: Path) -> None:
    assert told(path, two_threads=True) == told(path, two_threads=False)


def test_there_are_captures() -> None:
    assert len(CAPTURES) > 50
