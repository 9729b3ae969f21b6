"""A view is sent as its address: whoever opens it sees the same. Filters and new runs change it."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from browsing import Tab, needs_chromium
from pathscope.reports.report.data import Shelf
from pathscope.reports.report.load import How
from pathscope.reports.report.watch import Watch
from playwright.sync_api import Browser, expect
from reporting import failover, served
from running import CAPTURES

pytestmark = needs_chromium

WINDOW_S = (2.5, 6.25)

HEARTBEATS = {"chunk_name": {"filterType": "text", "type": "equals", "filter": "HEARTBEAT"}}


def asked(tab: Tab) -> dict[str, str]:
    """Return the query of a tab's address."""
    return {key: values[0] for key, values in parse_qs(urlsplit(tab.page.url).query).items()}


def seen(tab: Tab) -> dict[str, Any]:
    """Return what a page shows: its tables, its figures' points and ranges, what is chosen."""
    found: dict[str, Any] = tab.page.evaluate(
        """() => ({
            tables: [...document.querySelectorAll('table')].map(one => one.innerText),
            chosen: [...document.querySelectorAll('#selection input')].map(one => one.value),
            figures: [...document.querySelectorAll('.js-plotly-plot')].map(one => ({
                range: one.layout.xaxis.range,
                points: one.data.map(
                    each => [each.name, each.x && (each.x.bdata ?? each.x.length)]),
            })),
        })"""
    )
    return found


def test_a_link_shows_a_colleague_the_same(tab: Tab, browser: Browser, address: str) -> None:
    start, end = WINDOW_S
    tab.open(f"{address}/")
    tab.page.get_by_role("link", name="Association", exact=True).click()
    tab.page.wait_for_selector("h1:text-is('Association')")
    tab.rest()
    for name, value in (("From [s]", start), ("To [s]", end)):
        tab.page.get_by_label(name).fill(str(value))
        tab.page.get_by_label(name).press("Enter")
        tab.page.wait_for_url(re.compile(f"={value}(&|$)"))
        tab.rest()
    tab.page.get_by_role("textbox", name="Path").click()
    tab.page.get_by_role("option", name="cellular").click()
    tab.page.wait_for_url(re.compile("path=1"))
    tab.rest()
    assert asked(tab) == {"case": "1", "path": "1", "from": str(start), "to": str(end)}
    ours = seen(tab)
    assert ours["chosen"][-2:] == [str(start), str(end)]
    assert ours["figures"][0]["range"] == pytest.approx([start, end])
    colleague = Tab(browser)
    colleague.open(tab.page.url)
    theirs = seen(colleague)
    colleague.close()
    assert theirs == ours
    assert colleague.complaints == tab.complaints == []


def test_a_table_is_filtered_where_it_is_shown(tab: Tab, browser: Browser, address: str) -> None:
    tab.open(f"{address}/packets")
    tab.page.wait_for_selector("#packets .ag-row[row-index='0'] .ag-cell")
    before = tab.page.locator("#packets-told").inner_text()
    header = tab.page.locator("#packets .ag-header-cell[col-id='chunk_name']")
    header.locator(".ag-header-cell-filter-button").click()
    tab.page.locator(".ag-filter input[type=text]").first.fill("HEARTBEAT ACK")
    tab.page.get_by_role("button", name="Apply").click()
    tab.page.wait_for_url(re.compile("filter="))
    tab.rest()
    assert json.loads(asked(tab)["filter"])["chunk_name"]["filter"] == "HEARTBEAT ACK"
    cells = tab.page.locator("#packets .ag-cell[col-id='chunk_name']")
    expect(cells.first).to_have_text("HEARTBEAT ACK")
    assert set(cells.all_inner_texts()) == {"HEARTBEAT ACK"}
    told = tab.page.locator("#packets-told").inner_text()
    assert told != before
    colleague = Tab(browser)
    colleague.open(tab.page.url)
    expect(colleague.page.locator("#packets-told")).to_have_text(told)
    colleague.close()
    assert colleague.complaints == tab.complaints == []


def test_a_frame_is_sent_with_its_rows(tab: Tab, browser: Browser, address: str) -> None:
    tab.open(f"{address}/packets?filter={json.dumps(HEARTBEATS)}&sort=frame:desc")
    row = tab.page.locator("#packets .ag-row[row-index='2'] .ag-cell[col-id='frame']")
    number = row.inner_text()
    row.click()
    tab.page.wait_for_url(re.compile(f"frame={number}"))
    expect(tab.page.locator("#frame h2")).to_have_text(f"Frame {number}")
    colleague = Tab(browser)
    colleague.open(tab.page.url)
    expect(colleague.page.locator("#frame h2")).to_have_text(f"Frame {number}")
    same = colleague.page.locator("#packets .ag-row[row-index='2'] .ag-cell[col-id='frame']")
    expect(same).to_have_text(number)
    colleague.close()
    assert colleague.complaints == tab.complaints == []


def test_a_new_run_appears_by_itself(tab: Tab, tmp_path: Path) -> None:
    shelf = Shelf(failover())
    watch = Watch(tmp_path, shelf, How())
    with served(shelf, is_watched=True) as url:
        tab.open(url)
        table = tab.page.get_by_role("region", name="Captures")
        expect(table.locator("tbody tr")).to_have_count(1)
        shutil.copy(CAPTURES / "lab-one-way" / "client.pcapng", tmp_path / "new.pcapng")
        watch.look()  # it may still be growing
        watch.look()
        expect(table.locator("tbody tr")).to_have_count(2)
        expect(table).to_contain_text("new.pcapng")
        tab.open(f"{url}association?case=2")
        expect(tab.page.get_by_role("textbox", name="Case")).to_have_value(re.compile("new.pcapng"))
    # Once the report has ended, the page asks in vain.
    assert all("Failed to" in one or "_dash" in one for one in tab.complaints)
