"""Fixtures of the analyzer's tests."""

from __future__ import annotations

from pathlib import Path

import pytest
from invariants import check
from ladder import Ladder, Play
from pathscope import api
from pathscope.analyzer.model import Association


@pytest.fixture
def play(tmp_path: Path) -> Play:
    """Return a function that analyzes the only association of a ladder.

    Whatever the ladder, what holds for every analysis is checked, too.
    """

    def play(
        *scripts: str, paths: int = 2, events: str | None = None, labels: tuple[str, ...] = ()
    ) -> Association:
        capture = tmp_path / "ladder.pcapng"
        capture.write_bytes(Ladder(paths).draw("\n".join(scripts)).capture())
        log = tmp_path / "events.jsonl"
        if events is not None:
            log.write_text(events)
        analysis = api.analyze(capture, events=None if events is None else log, labels=labels)
        check(analysis)
        (association,) = analysis.associations
        return association

    return play
