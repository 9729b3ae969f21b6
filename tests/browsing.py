"""The report in a real Chromium: a tab, what it complains of, its pictures."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, sync_playwright
from running import ROOT

CHROMIUM = shutil.which("chromium")

needs_chromium = pytest.mark.skipif(CHROMIUM is None, reason="needs Debian's chromium")

SCREENSHOTS = ROOT / "build" / "screenshots"
"""Kept after the tests, to be looked at."""

PATIENCE_MS = 60_000

WIDTHS_PX = {1280: 900, 390: 844}
"""Screens on a desk and in the hand, with their heights."""


@contextmanager
def chromium() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        found = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield found
        found.close()


class Tab:
    """A page of the browser, and what it complains of."""

    def __init__(self, browser: Browser, width_px: int = 1280, **settings: Any) -> None:
        size: Any = {"width": width_px, "height": WIDTHS_PX[width_px]}
        self.context = browser.new_context(viewport=size, **settings)
        self.page: Page = self.context.new_page()
        self.page.set_default_timeout(PATIENCE_MS)
        self.complaints: list[str] = []
        self.page.on("console", self._console)
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("requestfailed", lambda request: self.complaints.append(request.url))

    def _console(self, message: Any) -> None:
        if message.type in ("error", "warning"):
            self.complaints.append(message.text)

    def open(self, address: str) -> None:
        self.page.goto(address)
        self.page.wait_for_selector("h1")
        self.rest()

    def rest(self) -> None:
        """Wait until every figure is drawn and nothing is asked for any more."""
        self.page.wait_for_load_state("networkidle")
        self.page.wait_for_function(
            "() => [...document.querySelectorAll('.about')].every(one => one.textContent)"
            " && [...document.querySelectorAll('.dash-graph')]"
            # Before it has come, a graph is one without a caption.
            ".every(one => one.querySelector('.js-plotly-plot')?.layout?.meta)"
        )

    def photograph(self, name: str) -> None:
        """Keep a picture of all of the page."""
        SCREENSHOTS.mkdir(parents=True, exist_ok=True)
        self.page.screenshot(path=SCREENSHOTS / f"{name}.png", full_page=True)

    def close(self) -> None:
        self.context.close()
