"""A view is sent as its address: whoever opens it sees the same. Filters and new runs change it."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import pytest
from browsing import Tab, stranger
from pathscope.reports.report.data import Shelf
from pathscope.reports.report.load import How
from pathscope.reports.report.watch import Watch
from playwright.sync_api import Browser, expect
from reporting import failover
from running import CAPTURES

WINDOW_S = (2.5, 6.25)

HEARTBEATS = {"chunk_name": {"filterType": "text", "type": "equals", "filter": "HEARTBEAT"}}


def test_a_link_shows_a_colleague_the_same(tab: Tab, browser: Browser, address: str) -> None:
    start, end = WINDOW_S
    tab.open(f"{address}/")
    tab.go("Association")
    for name, value in (("From [s]", start), ("To [s]", end)):
        tab.page.get_by_label(name).fill(str(value))
        tab.page.get_by_label(name).press("Enter")
        tab.page.wait_for_url(re.compile(f"={value}(&|$)"))
        tab.rest()
    tab.choose("Path", "cellular")
    tab.page.wait_for_url(re.compile("path=1"))
    tab.rest()
    assert tab.query() == {"case": "1", "path": "1", "from": str(start), "to": str(end)}
    ours = tab.seen()
    assert ours["chosen"][-2:] == [str(start), str(end)]
    for one in filter(lambda each: each["points"], ours["figures"]):
        assert one["range"] == pytest.approx([start, end])
    with stranger(browser) as colleague:
        colleague.open(tab.page.url)
        assert colleague.seen() == ours
        assert colleague.complaints == []


def test_a_frame_is_sent_with_its_rows(tab: Tab, browser: Browser, address: str) -> None:
    tab.open(f"{address}/packets?filter={json.dumps(HEARTBEATS)}&sort=frame:desc")
    row = tab.page.locator("#packets .ag-row[row-index='2'] .ag-cell[col-id='frame']")
    shown = row.inner_text()
    number = shown.replace(",", "")
    row.click()
    tab.page.wait_for_url(re.compile(f"frame={number}"))
    expect(tab.page.locator("#frame h2")).to_have_text(f"Frame {number}")
    with stranger(browser) as colleague:
        colleague.open(tab.page.url)
        expect(colleague.page.locator("#frame h2")).to_have_text(f"Frame {number}")
        same = colleague.page.locator("#packets .ag-row[row-index='2'] .ag-cell[col-id='frame']")
        expect(same).to_have_text(shown)
        assert colleague.complaints == []


def test_a_new_run_appears_by_itself(browser: Browser, tmp_path: Path) -> None:
    shelf = Shelf(failover())
    watch = Watch(tmp_path, shelf, How())
    with stranger(browser) as tab, tab.visit(shelf, is_watched=True) as url:
        tab.open(f"{url}/association?from=2.5&to=6.25")
        before = tab.seen()
        shutil.copy(CAPTURES / "lab-one-way" / "client.pcapng", tmp_path / "new.pcapng")
        watch.look()  # it may still be growing
        watch.look()
        # The page stays where it is: now there is a case to choose.
        expect(tab.page.get_by_role("textbox", name="Case", exact=True)).to_be_visible()
        tab.rest()
        assert tab.query() == {"from": "2.5", "to": "6.25"}
        assert tab.seen()["figures"] == before["figures"]
        tab.go("Overview")
        rows = tab.page.get_by_role("region", name="Captures and runs").locator("tbody tr")
        expect(rows).to_have_count(2)
        expect(rows.nth(1)).to_contain_text("new.pcapng")
        rows.nth(1).get_by_role("link").click()
        tab.page.wait_for_url("**/association?case=2")
        tab.rest()
        assert tab.failures() == []
        assert tab.complaints == []
