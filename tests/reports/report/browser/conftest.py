"""One Chromium for the tests of a file, and a report that is served to it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from browsing import Tab, chromium
from playwright.sync_api import Browser
from reporting import everything, served


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as found:
        yield found


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Where a report with something on each of its pages is."""
    with served(everything(tmp_path_factory.mktemp("given"))) as url:
        yield url.rstrip("/")


@pytest.fixture
def tab(browser: Browser) -> Iterator[Tab]:
    found = Tab(browser, accept_downloads=True)
    yield found
    found.close()
