"""The report in a real Chromium: every page, no console error; a zoom, a filter, a download."""

from __future__ import annotations

import csv
import json
import re
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from browsing import Tab, needs_chromium
from pathscope.reports.report.pages import PAGES
from pathscope.reports.report.static import page as static_page
from playwright.sync_api import Browser, expect
from reporting import desk, failover, hostile, served

pytestmark = needs_chromium


@pytest.mark.parametrize("page", PAGES)
def test_every_page_opens_without_a_complaint(page: str, tab: Tab, address: str) -> None:
    tab.open(f"{address}/{page}")
    assert tab.page.locator("h1").inner_text() == PAGES[page].title
    assert tab.complaints == []


def test_pages_lead_to_each_other(tab: Tab, address: str) -> None:
    tab.open(f"{address}/")
    tab.page.get_by_role("link", name="Handover", exact=True).click()
    tab.page.wait_for_selector("h1:text-is('Handover')")
    tab.rest()
    assert urlsplit(tab.page.url).path == "/handover"
    tab.page.go_back()
    tab.page.wait_for_selector("h1:text-is('Overview')")
    assert tab.complaints == []


def test_a_zoom_is_in_the_address_and_is_there_again(tab: Tab, address: str) -> None:
    tab.open(f"{address}/association")
    area = tab.page.locator(".dash-graph .nsewdrag").first
    area.scroll_into_view_if_needed()
    box = area.bounding_box()
    assert box is not None
    y = box["y"] + box["height"] / 2
    tab.page.mouse.move(box["x"] + box["width"] * 0.25, y)
    tab.page.mouse.down()
    tab.page.mouse.move(box["x"] + box["width"] * 0.5, y, steps=8)
    tab.page.mouse.up()
    tab.page.wait_for_url(re.compile("from=.*to="))
    tab.rest()
    expect(tab.page.get_by_label("From [s]")).not_to_have_value("")
    start = tab.page.get_by_label("From [s]").input_value()
    assert f"from={start}" in tab.page.url
    other = tab.context.new_page()
    other.goto(tab.page.url)
    other.wait_for_selector("h1")
    other.wait_for_load_state("networkidle")
    expect(other.get_by_label("From [s]")).to_have_value(start)
    assert tab.complaints == []


def test_packets_are_filtered_by_the_server(tab: Tab, address: str) -> None:
    model = json.dumps({"chunk_name": {"filterType": "text", "type": "equals", "filter": "INIT"}})
    tab.open(f"{address}/packets?filter={model}")
    tab.page.wait_for_selector("#packets .ag-row[row-index='0'] .ag-cell")
    tab.page.wait_for_selector("#packets-told:has-text('1 rows')")
    tab.page.locator("#packets .ag-row[row-index='0'] .ag-cell").first.click()
    tab.page.wait_for_selector("#frame .tree")
    assert "frame=" in tab.page.url
    assert tab.complaints == []


def test_what_is_shown_is_downloaded(tab: Tab, address: str) -> None:
    tab.open(f"{address}/association")
    with tab.page.expect_download() as waiting:
        tab.page.get_by_label("Download Paths as CSV").click()
    with Path(waiting.value.path()).open(encoding="utf-8") as file:
        assert len(list(csv.DictReader(file))) == 4
    for form, magic in (("PNG", b"\x89PNG"), ("SVG", b"<svg")):
        with tab.page.expect_download() as waiting:
            tab.page.get_by_label(f"Download the figure as {form}").first.click()
        assert Path(waiting.value.path()).read_bytes().startswith(magic)
    assert tab.complaints == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_figures_are_light_or_dark_as_the_system_is(
    scheme: Any, browser: Browser, address: str
) -> None:
    tab = Tab(browser, color_scheme=scheme)
    tab.open(f"{address}/association")
    paper = tab.page.eval_on_selector(
        ".dash-graph .main-svg", "one => getComputedStyle(one).backgroundColor"
    )
    levels = [int(level) for level in re.findall(r"\d+", paper)[:3]]
    assert (sum(levels) < 384) == (scheme == "dark")
    assert tab.complaints == []
    tab.close()


def test_names_are_not_run(tab: Tab, tmp_path: Path) -> None:
    data = hostile(tmp_path)
    with served(data) as url:
        for page in PAGES:
            tab.open(f"{url.rstrip('/')}/{page}")
            assert tab.page.evaluate("window.taken") is None
    assert tab.complaints == []


def test_the_file_works_without_a_network(tab: Tab, tmp_path: Path) -> None:
    path = tmp_path / "report.html"
    path.write_text("".join(static_page(desk(failover()))), encoding="utf-8")
    assert path.stat().st_size < 6_000_000
    tab.context.set_offline(True)
    tab.page.goto(path.as_uri())
    tab.page.wait_for_selector(".js-plotly-plot .main-svg")
    assert tab.page.locator("h2").count() >= 4
    assert tab.complaints == []
