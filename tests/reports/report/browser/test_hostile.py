"""Names that try to be markup, handlers, formulas, or to turn the writing: all are text."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from browsing import Tab
from pathscope.reports.report.pages import PAGES
from pathscope.reports.report.static import page as static_page
from playwright.sync_api import Browser, BrowserContext
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


TEXTS = """
() => Object.fromEntries([...document.querySelectorAll(".dash-graph")].map(one =>
    [JSON.parse(one.id).name, [...one.querySelectorAll("svg text")].map(each => each.textContent)]))
"""
"""What is written in each figure."""


@dataclass(frozen=True, slots=True)
class Shown:
    """A page: what became more than text, what its figures say, where its downloads are."""

    taken: list[str]
    texts: dict[str, list[str]]
    downloads: list[str]


def shown(tab: Tab) -> Shown:
    downloads = tab.page.locator("a.download").evaluate_all("all => all.map(one => one.href)")
    return Shown(taken(tab), tab.page.evaluate(TEXTS), downloads)


def taken(tab: Tab) -> list[str]:
    # Hints are made when they are looked at.
    for place in range(min(tab.page.locator(".hinted").count(), 2)):
        tab.page.locator(".hinted").nth(place).focus()
    found: list[str] = tab.page.evaluate(TAKEN, f"{MARKUP}, #main b, #main script")
    return found


@pytest.fixture(scope="module")
def pages(context: BrowserContext, trap: str) -> dict[str, dict[str, Shown]]:
    """Every page of the plain and of the multihomed capture, as a visitor goes from one to another:
    by the case, and by the page's title.
    """
    found: dict[str, dict[str, Shown]] = {}
    for case in ("1", "2"):
        tab = Tab(context)
        tab.open(f"{trap}/packets?case={case}")
        found[case] = {}
        for page in PAGES.values():
            tab.go(page.title)
            found[case][page.title] = shown(tab)
        tab.close()
        assert tab.complaints == []
    return found


@pytest.mark.parametrize("view", VIEWS)
def test_names_in_a_view_are_text(view: str, tab: Tab, trap: str) -> None:
    tab.open(f"{trap}{view}")
    assert taken(tab) == []


@pytest.mark.parametrize("case", ["1", "2"])
def test_names_are_text_on_every_page(case: str, pages: dict[str, dict[str, Shown]]) -> None:
    for title, one in pages[case].items():
        assert one.taken == [], title
        texts = "".join(text for texts in one.texts.values() for text in texts)
        assert [mark for mark in BIDI_MARKS if mark in texts] == [], title


def test_names_are_shown(pages: dict[str, dict[str, Shown]]) -> None:
    texts = pages["2"]["Association"].texts.values()
    assert any("<img" in one for each in texts for one in each)
    ladder = pages["2"]["Handover"].texts["ladder"]
    assert any("<img" in one for one in ladder)
    assert any("<b>wlan" in one for one in ladder)


def test_downloads_are_no_formulas(
    pages: dict[str, dict[str, Shown]], context: BrowserContext
) -> None:
    found = 0
    for address in (each for one in pages["2"].values() for each in one.downloads):
        answer = context.request.get(address)
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
