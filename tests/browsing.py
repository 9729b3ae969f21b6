"""The report in a real Chromium: a tab, what it complains of, its barriers, its pictures."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal
from urllib.parse import parse_qs, urlsplit

from axe_playwright_python.sync_playwright import Axe
from pathscope.reports.report.data import ReportData, Shelf
from playwright.sync_api import (
    Browser,
    BrowserContext,
    Locator,
    Page,
    Request,
    expect,
    sync_playwright,
)
from reporting import served
from running import ROOT

Scheme = Literal["light", "dark"]

CHROMIUM = shutil.which("chromium") or "chromium"
"""Debian's, which `make test` installs."""

SCREENSHOTS = Path(os.environ.get("PATHSCOPE_SCREENSHOTS") or ROOT / "build" / "screenshots")
"""Kept after the tests, to be looked at."""

PATIENCE_MS = 60_000

expect.set_options(timeout=PATIENCE_MS)

WIDTHS_PX = {1280: 900, 390: 844}
"""Screens on a desk and in the hand, with their heights."""

SCHEMES: tuple[Scheme, ...] = ("light", "dark")

REBOUND = "rebound.example"

CLIPBOARD = ("clipboard-read", "clipboard-write")
"""Permissions to see what a button copied."""

BARRIERS = ("serious", "critical")

AT_REST = r"""
() => {
    if (!window.store || !document.querySelector("h1")) { return false; }
    const {isLoading, callbacks} = window.store.getState();
    const {stored, completed, ...waiting} = callbacks;
    const all = (selector, holds) => [...document.querySelectorAll(selector)].every(holds);
    const rows = (one, grid) => one.querySelector(`${grid} .ag-row .ag-cell:not(:empty)`);
    return !isLoading
        && Object.values(waiting).every(one => one.length === 0)
        && all(".about", one => one.textContent)
        && all(".dash-graph", one => one.querySelector(".js-plotly-plot")?.layout?.meta)
        && all("#packets-told", one => one.textContent && (one.textContent === "0 rows"
            || one.querySelector(".notice") || rows(document, "#packets")))
        && all("[id*='\"part\":\"grid\"']", one => rows(one, ".ag-root"))
        && all(".ag-row-loading", one => false);
}
"""
"""Dash waits for no answer, every figure is drawn (before that, it is one without a caption), and
every grid has its rows, or says that it has none. The store is what Dash's own tests look at."""

SEEN = """
() => ({
    tables: [...document.querySelectorAll("table")].map(one => one.innerText),
    chosen: [...document.querySelectorAll("#selection input")].map(one => one.value),
    figures: [...document.querySelectorAll(".js-plotly-plot")].map(one => ({
        range: one.layout.xaxis.range,
        points: one.data.map(each => [each.name, each.x && (each.x.bdata ?? each.x.length)]),
    })),
})
"""


@contextmanager
def chromium() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        # A name that another site owns and lets lead here (DNS rebinding).
        flags = ["--no-sandbox", f"--host-resolver-rules=MAP {REBOUND} 127.0.0.1"]
        found = playwright.chromium.launch(executable_path=CHROMIUM, args=flags)
        yield found
        found.close()


class Tab:
    """A page of the browser, and what it complains of.

    Tabs of one context share what the browser keeps: files, cookies, the chosen theme.
    """

    def __init__(self, context: BrowserContext) -> None:
        self.context = context
        self.page: Page = context.new_page()
        self.page.set_default_timeout(PATIENCE_MS)
        self.complaints: list[str] = []
        self.page.on("console", self._console)
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("requestfailed", self._failed)

    def _failed(self, request: Request) -> None:
        # What is given up as the visitor moves on is no failure.
        if request.failure != "net::ERR_ABORTED":
            self.complaints.append(f"{request.url}: {request.failure}")

    def _console(self, message: Any) -> None:
        if message.type in ("error", "warning"):
            self.complaints.append(message.text)

    def open(self, address: str) -> None:
        self.page.goto(address)
        self.rest()

    def rest(self) -> None:
        """Wait until everything is drawn and nothing is asked for any more."""
        self.page.wait_for_function(AT_REST)

    def go(self, title: str) -> None:
        """Go to another page of the report, as a visitor does."""
        self.page.get_by_label("Pages").get_by_role("link", name=title, exact=True).click()
        self.page.wait_for_selector(f"h1:text-is('{title}')")
        self.rest()

    def choose(self, label: str, text: str) -> None:
        """Choose from a list of the selection."""
        self.page.get_by_role("textbox", name=label, exact=True).click()
        self.page.get_by_role("option", name=text, exact=True).click()

    def look(self, width_px: int, scheme: Scheme) -> None:
        """Let the screen have a width, and the system be light or dark."""
        self.page.set_viewport_size({"width": width_px, "height": WIDTHS_PX[width_px]})
        self.page.emulate_media(color_scheme=scheme)
        self.page.wait_for_selector(f"#main[data-ag-theme-mode='{scheme}']")
        self.rest()

    def query(self) -> dict[str, str]:
        """Return what the address asks for."""
        return {key: one for key, (one, *_) in parse_qs(urlsplit(self.page.url).query).items()}

    def seen(self) -> dict[str, Any]:
        """Return what is shown: tables, figures' points and ranges, what is chosen."""
        found: dict[str, Any] = self.page.evaluate(SEEN)
        return found

    def figure(self, name: str) -> Locator:
        """Return a figure's graph."""
        return self.page.locator(f'.dash-graph[id*=\'"name":"{name}"\']')

    def failures(self) -> list[str]:
        """Return what says that something is broken, and figures that say nothing at all."""
        found: list[str] = self.page.evaluate(
            """() => [
                ...[...document.querySelectorAll(".notice.error")].map(one => one.innerText),
                ...[...document.querySelectorAll(".js-plotly-plot")].filter(one =>
                    !one.querySelector(".main-svg")
                    || /mistake in|cannot be drawn/.test(one.textContent)
                    || !(one.data.length || one.layout.annotations?.length)
                ).map(one => one.innerText),
            ]"""
        )
        return found

    def barriers(self) -> list[str]:
        """Return what axe finds to be a serious or critical barrier, and where."""
        found: dict[str, Any] = Axe().run(self.page).response
        assert found["passes"]
        return [
            f"{one['id']} at {node['target']}: {node['html'][:200]}: {node['failureSummary']}"
            for one in found["violations"]
            if one["impact"] in BARRIERS
            for node in one["nodes"]
        ]

    def overflow_px(self) -> int:
        """Return by how much the page is wider than the screen."""
        found: int = self.page.evaluate(
            "() => document.documentElement.scrollWidth - document.documentElement.clientWidth"
        )
        return found

    def photograph(self, name: str) -> None:
        """Keep a picture of all of the page."""
        SCREENSHOTS.mkdir(parents=True, exist_ok=True)
        self.page.screenshot(path=SCREENSHOTS / f"{name}.png", full_page=True)

    @contextmanager
    def visit(self, shown: ReportData | Shelf, **how: Any) -> Iterator[str]:
        """Serve a report of its own, and leave it before it ends."""
        with served(shown, **how) as url:
            yield url.rstrip("/")
            self.page.goto("about:blank")

    def close(self) -> None:
        self.page.close()


@contextmanager
def stranger(browser: Browser, **settings: Any) -> Iterator[Tab]:
    """Give a tab of a browser that has never seen the report."""
    with browser.new_context(**settings) as context:
        yield Tab(context)
