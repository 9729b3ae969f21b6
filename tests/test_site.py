"""The site is built of every page, without a warning, and asks no other host for anything."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from running import ROOT

DOCS = ROOT / "docs"
FOREIGN = re.compile(r"""(?:<(?:script|link|img|iframe)\b[^>]*\b(?:src|href)=|url\()["']?https?:""")


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    made = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(folder)],
        capture_output=True,
        text=True,
        cwd=ROOT,
        env={**os.environ, "NO_MKDOCS_2_WARNING": "1"},
        timeout=120,
        check=False,
    )
    assert made.returncode == 0, made.stderr
    assert "WARNING" not in made.stderr
    return folder


def test_every_page_is_there(site: Path) -> None:
    pages = {path.stem for path in DOCS.glob("*.md")} - {"README"}
    assert pages <= {path.stem for path in site.glob("*.html")}


def test_nothing_comes_from_elsewhere(site: Path) -> None:
    for path in (*site.rglob("*.html"), *site.rglob("*.css")):
        assert not FOREIGN.search(path.read_text()), path


def test_the_search_works_from_the_disk(site: Path) -> None:
    """Its index is a script, and what stands for its worker is loaded before it."""
    assert (site / "search" / "search_index.js").read_text().startswith("var __index = ")
    scripts = re.findall(r'<script src="([^"]+)"', (site / "tutorial.html").read_text())
    assert scripts[0] == "iframe-worker.js"
    assert all((site / script).is_file() for script in scripts)


def test_nothing_is_left_unrendered(site: Path) -> None:
    """A table or list that GitHub shows and Python-Markdown does not would stay text."""
    for path in site.glob("*.html"):
        text = re.sub(r"<(pre|code)\b.*?</\1>", "", path.read_text(), flags=re.DOTALL)
        assert "|---" not in text, path
        assert not re.search(r"^(?:- |\d\. |```)", text, re.MULTILINE), path


def test_the_notebook_shows_what_it_does(site: Path) -> None:
    page = (site / "examples" / "failover.html").read_text()
    assert "path-returned" in page
    assert page.count("<table") == 3
    (picture,) = (site / "examples").glob("*.svg")
    assert "<svg" in picture.read_text()


def test_the_notebook_is_committed_without_output() -> None:
    for path in DOCS.glob("examples/*.ipynb"):
        assert '"outputs": []' in path.read_text()
        assert '"output_type"' not in path.read_text()


@pytest.mark.parametrize("path", sorted(DOCS.glob("*.md")), ids=lambda path: path.name)
def test_a_page_begins_with_its_question(path: Path) -> None:
    title, empty, question = path.read_text().splitlines()[:3]
    assert title.startswith("# ")
    assert not empty
    assert re.fullmatch(r"\*.+\?\*", question), question


def test_every_page_has_its_place() -> None:
    named = re.findall(r": (\S+\.md)$", (ROOT / "mkdocs.yml").read_text(), re.MULTILINE)
    assert len(named) == len(set(named))
    assert {path.name for path in DOCS.glob("*.md")} == {name for name in named if "/" not in name}
