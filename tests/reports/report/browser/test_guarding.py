"""Who may see the report, by a real browser: its own address, the token, the policy."""

from __future__ import annotations

import pytest
from browsing import REBOUND, stranger
from pathscope.reports.report.guard import COOKIE
from playwright.sync_api import Browser, Request
from reporting import failover

WORD = "a-word-to-know"

CHAT = "http://chat.example/"
"""Another site, where a link to the report was posted."""


def test_a_rebound_name_sees_nothing(browser: Browser, address: str) -> None:
    with stranger(browser) as tab:
        answer = tab.page.goto(address.replace("127.0.0.1", REBOUND))
        assert answer is not None
        assert answer.status == 421
        assert tab.page.locator("body").inner_text() == "This report is not served under that name."


def test_the_token_is_kept_out_of_sight(browser: Browser) -> None:
    asked: list[Request] = []
    with stranger(browser) as tab, tab.visit(failover(), token=WORD) as url:
        bare, _, query = url.partition("?")
        with stranger(browser) as other:
            refused = other.page.goto(f"{bare}packets")
            assert refused is not None
            assert refused.status == 401
        tab.page.on("request", lambda one: asked.append(one))  # noqa: PLW0108  Playwright looks at it
        tab.open(f"{bare}association?from=2.5&{query}")
        assert tab.page.url == f"{bare}association?from=2.5"
        tab.go("Packets")
        assert tab.page.locator("#packets .ag-row").count() > 0
        first, *others = asked
        assert WORD in first.url
        assert len(others) > 5
        assert not [one.url for one in others if WORD in one.url]
        assert not [one.url for one in asked if "referer" in one.all_headers()]
        (cookie,) = tab.context.cookies()
        assert (cookie["name"], cookie["value"], cookie["httpOnly"]) == (COOKIE, WORD, True)
        assert WORD not in tab.page.evaluate("() => document.cookie + JSON.stringify(localStorage)")
        assert tab.complaints == []


@pytest.mark.parametrize("has_been_here", [False, True])
def test_a_link_in_another_sites_page_leads_in(browser: Browser, has_been_here: bool) -> None:
    with stranger(browser) as tab, tab.visit(failover(), token=WORD) as url:
        bare, _, query = url.partition("?")
        link = f"{bare}packets?frame=444"
        if has_been_here:
            tab.open(url)
        else:
            link += f"&{query}"
        body = f'<a href="{link}">look at this</a>'
        tab.page.route(CHAT, lambda route: route.fulfill(body=body, content_type="text/html"))
        tab.page.goto(CHAT)
        tab.page.get_by_role("link").click()
        tab.page.wait_for_url(f"{bare}packets?frame=444")
        tab.rest()
        assert tab.page.locator("#packets .ag-row").count() > 0


def test_nothing_frames_the_report(browser: Browser, address: str) -> None:
    with stranger(browser) as tab:
        body = f'<iframe src="{address}/"></iframe>'
        tab.page.route(CHAT, lambda route: route.fulfill(body=body, content_type="text/html"))
        tab.page.goto(CHAT)
        (inner,) = tab.page.frames[1:]
        assert "pathscope" not in inner.content()
        assert inner.locator("#main").count() == 0
