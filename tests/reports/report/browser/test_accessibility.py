"""Every page, light and dark, on a desk and in the hand: no barrier that axe knows of.

Pictures of them are kept in build/screenshots.
"""

from __future__ import annotations

from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from browsing import WIDTHS_PX, Tab, needs_chromium
from pathscope.reports.report.pages import PAGES
from playwright.sync_api import Browser

pytestmark = needs_chromium

BARRIERS = ("serious", "critical")

VIEWS = {**{name: f"/{name}" for name in PAGES}, "frame": "/packets?frame=444", "nowhere": "/x?y=z"}
"""Every page; a frame that is decoded; an address that cannot be followed."""


def barriers(tab: Tab) -> list[str]:
    """Return what axe finds to be a serious or critical barrier, and where."""
    found: dict[str, Any] = Axe().run(tab.page).response
    assert found["passes"] or found["incomplete"] or found["violations"]
    return [
        f"{one['id']} at {node['target']}: {node['html'][:200]}: {node['failureSummary']}"
        for one in found["violations"]
        if one["impact"] in BARRIERS
        for node in one["nodes"]
    ]


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width_px", WIDTHS_PX)
@pytest.mark.parametrize("name", VIEWS)
def test_pages_have_no_barrier(
    name: str, width_px: int, scheme: Any, browser: Browser, address: str
) -> None:
    tab = Tab(browser, width_px, color_scheme=scheme)
    tab.open(f"{address}{VIEWS[name]}")
    tab.photograph(f"{name}-{scheme}-{width_px}")
    found = barriers(tab)
    # What is wider than the screen is scrolled by itself, never the page.
    widths = tab.page.evaluate(
        "() => [document.documentElement.scrollWidth, document.documentElement.clientWidth]"
    )
    tab.close()
    assert not found, "\n".join(found)
    assert widths[0] <= widths[1]
    assert tab.complaints == []


def test_everything_is_reached_by_the_keyboard(tab: Tab, address: str) -> None:
    tab.open(f"{address}/association")
    wanted = tab.page.locator("a[href]:visible, button:visible, input:visible").count()
    reached: set[int] = set()
    for _ in range(4 * wanted):
        tab.page.keyboard.press("Tab")
        place = tab.page.evaluate(
            "() => { const all = [...document.querySelectorAll('a[href], button, input')];"
            " return all.indexOf(document.activeElement); }"
        )
        if place in reached and place == min(reached):
            break
        reached |= {place} - {-1}
    assert len(reached) == wanted
