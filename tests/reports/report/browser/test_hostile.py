"""Names that try to be markup, handlers, formulas, or to turn the writing: all are text."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from browsing import Tab
from pathscope.reports.report.pages import PAGES
from pathscope.reports.report.static import page as static_page
from playwright.sync_api import Browser
from reporting import SCRIPT, all_hostile, desk, served

VIEWS = (
    "/packets?case=1&table=comments",
    "/packets?case=1&frame=1",
    "/association?case=2",
    f"/{SCRIPT}?{SCRIPT}=1&filter={SCRIPT}&metric={SCRIPT}",
)

BIDI_MARKS = ("\u202e", "\u2066")

MARKUP = "img, iframe, svg a, svg image, svg foreignObject, svg script"

TAKEN = """
markup => [
    ...(window.taken ? ["it was run"] : []),
    ...[...document.body.querySelectorAll(markup)].map(one => one.outerHTML),
    ...[...document.body.querySelectorAll("*")].filter(
        one => [...one.attributes].some(each => each.name.startsWith("on"))
    ).map(one => one.outerHTML),
]
"""
"""What became more than text. A handler must not be there, though the policy would stop it."""


@pytest.fixture(scope="module")
def trap(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with served(all_hostile(tmp_path_factory.mktemp("hostile"))) as url:
        yield url.rstrip("/")


def taken(tab: Tab) -> list[str]:
    # Hints are made when they are looked at.
    for place in range(min(tab.page.locator(".hinted").count(), 2)):
        tab.page.locator(".hinted").nth(place).focus()
    found: list[str] = tab.page.evaluate(TAKEN, f"{MARKUP}, #main b, #main script")
    return found


@pytest.mark.parametrize("view", VIEWS)
def test_names_in_a_view_are_text(view: str, tab: Tab, trap: str) -> None:
    tab.open(f"{trap}{view}")
    assert taken(tab) == []


@pytest.mark.parametrize("case", ["1", "2"])
def test_names_are_text_on_every_page(case: str, tab: Tab, trap: str) -> None:
    tab.open(f"{trap}/packets?case={case}")
    for page in PAGES.values():
        tab.go(page.title)
        assert taken(tab) == []
        assert [mark for mark in BIDI_MARKS if mark in "".join(svg_texts(tab))] == []


def svg_texts(tab: Tab) -> list[str]:
    found: list[str] = tab.page.locator(".dash-graph svg text").all_text_contents()
    return found


def test_names_are_shown(tab: Tab, trap: str) -> None:
    tab.open(f"{trap}/association?case=2")
    assert any("<img" in one for one in svg_texts(tab))
    tab.go("Handover")
    texts = tab.figure("ladder").locator("svg text").all_text_contents()
    assert any("<img" in one for one in texts)
    assert any("<b>wlan" in one for one in texts)


def test_downloads_are_no_formulas(tab: Tab, trap: str) -> None:
    found = 0
    tab.open(f"{trap}/packets?case=2")
    for page in PAGES.values():
        tab.go(page.title)
        addresses = tab.page.locator("a.download").evaluate_all("all => all.map(one => one.href)")
        for address in addresses:
            answer = tab.page.request.get(address)
            assert answer.headers["content-type"].startswith("text/csv")
            assert "attachment" in answer.headers["content-disposition"]
            for row in csv.reader(io.StringIO(answer.text())):
                assert [one for one in row if is_formula(one)] == []
                found += 1
    assert found > 100


def is_formula(cell: str) -> bool:
    """Whether a spreadsheet would reckon with a cell; a number is none."""
    try:
        float(cell)
    except ValueError:
        return cell.startswith(("=", "+", "-", "@", "\t", "\r"))
    return False


def test_a_picture_has_no_markup(tab: Tab, trap: str) -> None:
    tab.open(f"{trap}/handover?case=2")
    with tab.page.expect_download() as waiting:
        tab.page.get_by_label("Download the figure as SVG").last.click()
    svg = ET.parse(Path(waiting.value.path()))
    tags = {one.tag.rpartition("}")[2] for one in svg.iter()}
    assert "text" in tags
    assert not tags & {"script", "a", "foreignObject", "img", "b"}


def test_the_file_is_safe_too(browser: Browser, tmp_path: Path) -> None:
    path = tmp_path / "report.html"
    path.write_text("".join(static_page(desk(all_hostile(tmp_path)))), encoding="utf-8")
    with browser.new_context(offline=True) as context:
        tab = Tab(context)
        tab.page.goto(path.as_uri())
        tab.page.wait_for_function(
            "() => [...document.querySelectorAll('.plotly-graph-div')]"
            ".every(one => one.querySelector('.main-svg'))"
        )
        assert tab.page.evaluate(TAKEN, MARKUP) == []
        assert "<img" in tab.page.locator("main").inner_text()
        assert tab.complaints == []
