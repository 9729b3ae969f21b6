"""Without a mouse: everything is reached by Tab, and does what it is for."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from browsing import CLIPBOARD, Tab, stranger
from playwright.sync_api import Browser, Locator, expect

MOST_STOPS = 80

CONTROLS = "a[href], button, input:not([type=hidden]), .scrolled"


@pytest.fixture
def typist(browser: Browser) -> Iterator[Tab]:
    with stranger(browser, permissions=CLIPBOARD) as found:
        yield found
        assert found.complaints == []


def reach(tab: Tab, wanted: Locator) -> None:
    """Press Tab until a control has the focus, and can be seen to have it."""
    for _ in range(MOST_STOPS):
        if wanted.evaluate("one => one === document.activeElement"):
            break
        tab.page.keyboard.press("Tab")
    expect(wanted).to_be_focused()
    expect(wanted).to_be_in_viewport()


def press(tab: Tab, role: str, name: str, key: str = "Enter") -> None:
    wanted = tab.page.locator("body").get_by_role(role, name=name, exact=True).first  # type: ignore[arg-type]
    reach(tab, wanted)
    tab.page.keyboard.press(key)


def test_a_session_without_a_mouse(typist: Tab, address: str) -> None:
    page = typist.page
    typist.open(f"{address}/")
    press(typist, "button", "Theme: light, switch to dark", "Space")
    page.wait_for_selector("#main[data-ag-theme-mode='dark']")
    press(typist, "link", "Association")
    page.wait_for_selector("h1:text-is('Association')")
    typist.rest()
    reach(typist, page.get_by_role("textbox", name="Path", exact=True))
    page.keyboard.press("ArrowDown")
    wanted = page.get_by_role("option", name="cellular")
    wanted.wait_for()
    for _ in range(3):
        if wanted.get_attribute("data-combobox-selected") is None:
            page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    page.wait_for_url(re.compile("path=1"))
    typist.rest()
    reach(typist, page.get_by_label("From [s]"))
    page.keyboard.type("2.5")
    page.keyboard.press("Enter")
    page.wait_for_url(re.compile("from=2.5"))
    typist.rest()
    press(typist, "button", "Wireshark filter")
    page.wait_for_function("() => navigator.clipboard.readText().then(one => /sctp/.test(one))")
    for role, name in (
        ("link", "Download what the figure shows as CSV"),
        ("button", "Download the figure as PNG"),
        ("button", "Download the figure as SVG"),
    ):
        with page.expect_download():
            press(typist, role, name)


def test_every_control_is_reached(tab: Tab, address: str) -> None:
    tab.open(f"{address}/sets")
    controls = (
        f"""[...document.querySelectorAll("{CONTROLS}")].filter(one => one.checkVisibility())"""
    )
    wanted = tab.page.evaluate(f"() => {controls}.length")
    reached: set[int] = set()
    for _ in range(4 * wanted):
        tab.page.keyboard.press("Tab")
        reached.add(tab.page.evaluate(f"() => {controls}.indexOf(document.activeElement)"))
        if len(reached - {-1}) == wanted:
            break
    assert len(reached - {-1}) == wanted > 10
