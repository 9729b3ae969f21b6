"""Every block of the manual that anything can run, also the long ones: `make docs-commands`.

No test of `make test`: pytest collects this file only when it is named.
"""

from __future__ import annotations

from pathlib import Path

import manual
import pytest
from manual import LATER, NEVER, PAGES
from running import ROOT

LONG = [page for page in PAGES if any(block.kind == LATER for block in manual.blocks(page))]


@pytest.mark.guest
@pytest.mark.parametrize("page", LONG, ids=lambda page: str(page.relative_to(ROOT)))
def test_all_blocks_run(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    manual.Runner(tmp_path).page(page, {NEVER})
