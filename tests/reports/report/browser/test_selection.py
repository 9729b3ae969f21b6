"""One selection for a page: a zoom that all figures follow, and rows chosen from the packets."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

import pytest
from browsing import Tab
from playwright.sync_api import Locator, expect
from reporting import failover, served

DATA = failover()

ROWS = DATA.cases[0].rows("chunks")

FIRST = "#packets .ag-row[row-index='0'] .ag-cell"


@pytest.fixture(scope="module")
def plain() -> Iterator[str]:
    """Where a report of the failover alone is."""
    with served(DATA) as url:
        yield url.rstrip("/")


def ranges(tab: Tab) -> list[tuple[float, float]]:
    """Return the times that the figures of a page show, in seconds of the address."""
    return [tuple(one["range"]) for one in tab.seen()["figures"]]


def drag(tab: Tab, figure: Locator, start: float, end: float) -> None:
    """Zoom a figure by dragging over it, from one share of its width to another."""
    area = figure.locator(".nsewdrag").first
    area.scroll_into_view_if_needed()
    box = area.bounding_box()
    assert box is not None
    y = box["y"] + box["height"] / 2
    tab.page.mouse.move(box["x"] + box["width"] * start, y)
    tab.page.mouse.down()
    tab.page.wait_for_selector(".dragcover", state="attached")
    tab.page.mouse.move(box["x"] + box["width"] * end, y, steps=4)
    figure.locator(".zoombox").wait_for(state="attached")
    tab.page.mouse.up()


def test_a_zoom_is_followed_by_all_figures_and_undone_by_going_back(tab: Tab, plain: str) -> None:
    tab.open(f"{plain}/association")
    whole = ranges(tab)
    drag(tab, tab.figure("throughput"), 0.25, 0.5)
    tab.page.wait_for_url(re.compile("from=.*to="))
    tab.rest()
    asked = tab.query()
    start, end = (float(asked[key]) for key in ("from", "to"))
    length = whole[2][1] - whole[2][0]
    assert end - start == pytest.approx(length / 4, rel=0.02)
    for one in ranges(tab):
        assert one == pytest.approx((start, end), abs=1e-6)
    assert tab.page.get_by_label("From [s]").input_value() == asked["from"]
    tab.page.go_back()
    tab.page.wait_for_url(re.compile("association$"))
    tab.rest()
    assert ranges(tab) == whole
    assert tab.page.get_by_label("From [s]").input_value() == ""
    tab.page.go_forward()
    tab.page.wait_for_url(re.compile("from="))
    tab.rest()
    assert ranges(tab)[0] == pytest.approx((start, end), abs=1e-6)


def test_a_double_click_shows_all_of_it_again_and_again(tab: Tab, plain: str) -> None:
    tab.open(f"{plain}/association")
    whole = ranges(tab)
    for _ in range(2):
        drag(tab, tab.figure("throughput"), 0.25, 0.5)
        tab.page.wait_for_url(re.compile("from=.*to="))
        tab.rest()
        assert ranges(tab) != whole
        tab.figure("rtt").locator(".nsewdrag").first.dblclick()
        tab.page.wait_for_url(re.compile(r"association(\?case=1)?$"))
        tab.rest()
        assert ranges(tab) == whole


def test_a_window_goes_with_the_visitor(tab: Tab, plain: str) -> None:
    tab.open(f"{plain}/association?from=2.5&to=6.25&sender=b")
    for title in ("Handover", "Packets"):
        tab.go(title)
        asked = tab.query()
        assert (asked["from"], asked["to"], asked["sender"]) == ("2.5", "6.25", "b")
    tab.page.get_by_role("link", name="Show all").click()
    tab.page.wait_for_url(re.compile("packets((?!from).)*$"))


def count(tab: Tab) -> int:
    """Return how many rows the packets page says there are."""
    text = tab.page.locator("#packets-told").inner_text()
    return int(text.split()[0].replace(",", ""))


def test_packets_are_filtered_and_sorted_by_the_server(tab: Tab, plain: str) -> None:
    tab.open(f"{plain}/packets")
    assert count(tab) == ROWS.num_rows
    header = tab.page.locator("#packets .ag-header-cell[col-id='chunk_name']")
    header.locator(".ag-header-cell-filter-button").click()
    tab.page.locator(".ag-filter input[type=text]").first.fill("HEARTBEAT ACK")
    tab.page.get_by_role("button", name="Apply").click()
    tab.page.wait_for_url(re.compile("filter="))
    tab.rest()
    assert json.loads(tab.query()["filter"])["chunk_name"]["filter"] == "HEARTBEAT ACK"
    cells = tab.page.locator("#packets .ag-cell[col-id='chunk_name']")
    expect(cells.first).to_have_text("HEARTBEAT ACK")
    assert set(cells.all_inner_texts()) == {"HEARTBEAT ACK"}
    names, frames = (ROWS.column(one).to_pylist() for one in ("chunk_name", "frame"))
    expected = [f for f, name in zip(frames, names, strict=True) if name == "HEARTBEAT ACK"]
    assert count(tab) == len(expected)
    sorts = tab.page.locator("#packets .ag-header-cell[col-id='frame'] .ag-header-cell-label")
    for way in ("asc", "desc"):
        sorts.click()
        tab.page.wait_for_url(re.compile(f"sort=frame%3A{way}"))
        tab.rest()
    first = tab.page.locator("#packets .ag-row[row-index='0'] .ag-cell[col-id='frame']")
    expect(first).to_have_text(re.compile(f"^{max(expected):,}$|^{max(expected)}$"))
    tab.page.go_back()
    tab.page.wait_for_url(re.compile("sort=frame%3Aasc"))
    tab.rest()
    expect(first).to_have_text(re.compile(f"^{min(expected):,}$|^{min(expected)}$"))


def test_packets_come_a_page_at_a_time(tab: Tab, plain: str) -> None:
    asked: list[str] = []
    tab.page.on("response", lambda one: asked.append(one.text()) if is_rows(one) else None)
    tab.open(f"{plain}/packets")
    tab.page.locator(FIRST).first.wait_for()
    assert max(map(len, asked)) < 200_000
    assert tab.page.locator("#packets .ag-row").count() < 100
    place = ROWS.num_rows - 1
    tab.page.locator("#packets .ag-body-viewport").evaluate("one => { one.scrollTop = 1e7; }")
    last = tab.page.locator(f"#packets .ag-row[row-index='{place}'] .ag-cell[col-id='frame']")
    expect(last).to_have_text(re.compile(r"\d"))
    frame = int(last.inner_text().replace(",", ""))
    assert frame == ROWS.column("frame")[place].as_py()
    assert len(asked) >= 2


def is_rows(response: object) -> bool:
    request = getattr(response, "request")  # noqa: B009  of Playwright
    return "getRowsRequest" in (request.post_data or "")


def test_a_row_decodes_its_frame(tab: Tab, plain: str) -> None:
    model = json.dumps({"chunk_name": {"filterType": "text", "type": "equals", "filter": "INIT"}})
    tab.open(f"{plain}/packets?filter={model}")
    assert count(tab) == 1
    tab.page.locator(FIRST).first.click()
    tab.page.wait_for_selector("#frame .tree")
    frame = ROWS.column("frame")[ROWS.column("chunk_name").to_pylist().index("INIT")].as_py()
    assert tab.query()["frame"] == str(frame)
    expect(tab.page.locator("#frame h2")).to_have_text(f"Frame {frame}")
    layers = tab.page.locator("#frame .tree > details > summary").all_inner_texts()
    assert layers[-1] == "sctp"
    tab.page.go_back()
    expect(tab.page.locator("#frame")).to_contain_text("Choose a row")
