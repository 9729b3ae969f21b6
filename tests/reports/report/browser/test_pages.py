"""Every page as a visitor finds it: whole, light and dark, on a desk and in the hand, no barriers.

Pictures of them are kept (`browsing.SCREENSHOTS`).
"""

from __future__ import annotations

import re
from urllib.parse import urlsplit

import pytest
from browsing import SCHEMES, WIDTHS_PX, Scheme, Tab, stranger
from pathscope.reports.figures.look import Look
from pathscope.reports.report.pages import PAGES
from pathscope.reports.report.view import view_of
from playwright.sync_api import Browser
from reporting import desk, failover

VIEWS = {**{name: f"/{name}" for name in PAGES}, "frame": "/packets?frame=444", "nowhere": "/x?y=z"}
"""Every page; a frame that is decoded; an address that cannot be followed."""

LOOKS = tuple(zip(WIDTHS_PX, SCHEMES, strict=True))
"""Colours do not depend on the width: light on a desk and dark in the hand are enough."""

PAPER = """
() => getComputedStyle(document.querySelector(".dash-graph .main-svg")).backgroundColor
    .match(/\\d+/g).slice(0, 3).reduce((sum, one) => sum + Number(one), 0)
"""
"""How bright figures are, from 0 to 765."""


@pytest.mark.parametrize("name", VIEWS)
def test_a_page_is_whole_in_every_look(name: str, tab: Tab, address: str) -> None:
    tab.open(f"{address}{VIEWS[name]}")
    if name in PAGES:
        assert tab.page.locator("h1").inner_text() == PAGES[name].title
    found: list[str] = []
    for width_px, scheme in LOOKS:
        tab.look(width_px, scheme)
        tab.photograph(f"{name}-{scheme}-{width_px}")
        found += [f"{scheme}, {width_px}: {one}" for one in (*tab.barriers(), *tab.failures())]
        # What is wider than the screen is scrolled by itself, never the page.
        assert tab.overflow_px() == 0
    assert not found, "\n".join(found)


def test_figures_are_as_high_as_they_are_drawn(tab: Tab, address: str) -> None:
    tab.open(f"{address}/handover")
    data = failover()
    view, ours = view_of(data, "/handover"), desk(data)
    for name in ("instants", "phases", "timers", "ladder"):
        height = ours.draw(name, view, Look()).figure.layout.height
        box = tab.figure(name).locator(".main-svg").first.bounding_box()
        assert box is not None
        assert box["height"] == height, name


def test_pages_lead_to_each_other(tab: Tab, address: str) -> None:
    tab.open(f"{address}/")
    tab.go("Handover")
    assert urlsplit(tab.page.url).path == "/handover"
    tab.page.go_back()
    tab.page.wait_for_selector("h1:text-is('Overview')")
    tab.page.go_forward()
    tab.page.wait_for_selector("h1:text-is('Handover')")
    tab.rest()


@pytest.mark.parametrize("scheme", SCHEMES)
def test_figures_follow_the_system(scheme: Scheme, tab: Tab, address: str) -> None:
    tab.page.emulate_media(color_scheme=scheme)
    tab.open(f"{address}/sets")
    assert (tab.page.evaluate(PAPER) < 384) == (scheme == "dark")


def test_a_chosen_theme_is_kept(browser: Browser, address: str) -> None:
    with stranger(browser) as tab:
        tab.open(f"{address}/sets")
        tab.page.get_by_role("button", name=re.compile("^Theme: ")).click()
        tab.page.wait_for_selector("#main[data-ag-theme-mode='dark']")
        tab.rest()
        assert tab.page.evaluate(PAPER) < 384
        tab.open(f"{address}/sets")  # anew, as after a night
        assert tab.page.evaluate(PAPER) < 384
        tab.go("Compare")
        assert tab.page.evaluate(PAPER) < 384
        assert tab.complaints == []
