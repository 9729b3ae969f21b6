"""One Chromium for all of these tests, and a report that is served to it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from browsing import CLIPBOARD, WIDTHS_PX, Tab, chromium
from playwright.sync_api import Browser, BrowserContext
from reporting import everything, served


@pytest.fixture(scope="package")
def browser() -> Iterator[Browser]:
    with chromium() as found:
        yield found


@pytest.fixture(scope="package")
def context(browser: Browser) -> Iterator[BrowserContext]:
    """What tabs share: most of a first visit is the reading of scripts."""
    with browser.new_context(
        viewport={"width": 1280, "height": WIDTHS_PX[1280]}, permissions=CLIPBOARD
    ) as found:
        yield found


@pytest.fixture(scope="package")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Where a report with something on each of its pages is."""
    with served(everything(tmp_path_factory.mktemp("given"))) as url:
        yield url.rstrip("/")


@pytest.fixture
def tab(context: BrowserContext) -> Iterator[Tab]:
    """A tab that has complained of nothing when the test is over."""
    found = Tab(context)
    yield found
    found.close()
    assert found.complaints == []
