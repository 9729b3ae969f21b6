"""Every committed capture, page by page: it is shown, and every figure is drawn."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from browsing import Tab
from pathscope.reports.report.data import Case, ReportData
from pathscope.reports.report.load import How, load, numbered
from pathscope.reports.report.pages import PAGES
from pathscope.reports.units import file_name
from playwright.sync_api import BrowserContext
from reporting import LABELS, served
from running import CAPTURES

FILES = sorted((*CAPTURES.glob("*/client.pcapng"), *CAPTURES.glob("*/*.pcap")))

NAMES = [str(one.relative_to(CAPTURES)) for one in FILES]

OF_CASE = [page.title for page in PAGES.values() if page.of_case]

DRAWN = {
    "Association": ("swimlane", "tsn", "throughput", "rtt", "window"),
    "Handover": ("instants", "phases", "ladder"),
    "Flows": ("flows",),
    "Packets": (),
}
"""Figures that have something to show wherever their page has: others need timers, HEARTBEATs."""


def case(path: Path) -> Case:
    events = path.with_name("events.jsonl")
    how = How(events if events.exists() else None, LABELS)
    (found,) = load([str(path)], how).cases
    return found


@pytest.fixture(scope="module")
def cases() -> tuple[Case, ...]:
    return numbered(map(case, FILES))


@pytest.fixture(scope="module")
def reader(cases: tuple[Case, ...], context: BrowserContext) -> Iterator[Tab]:
    """A tab in which one after the other is looked at, as a visitor does."""
    with served(ReportData(cases)) as url:
        found = Tab(context)
        found.open(f"{url}packets?case={cases[-1].key}")
        yield found
        found.close()


def has(title: str, one: Case) -> bool:
    """Whether a page has something to show of a case, by its result."""
    return {
        "Association": bool(one.associations),
        "Handover": any(each["handovers"] for each in list(one.associations.values())[:1]),
        "Flows": bool(one.flows),
        "Packets": True,
    }[title]


@pytest.mark.parametrize("number", range(len(FILES)), ids=NAMES)
def test_a_capture_is_shown(number: int, reader: Tab, cases: tuple[Case, ...]) -> None:
    one = cases[number]
    reader.go("Packets")
    reader.choose("Case", f"{one.key}: {file_name(one.name)}")
    reader.page.wait_for_url(f"**/packets?case={one.key}")
    reader.rest()
    assert (reader.page.locator("#packets .ag-row").count() > 0) == bool(one.associations)
    for title in OF_CASE:
        reader.go(title)
        assert reader.query()["case"] == one.key
        assert reader.failures() == []
        assert reader.page.locator(".notice.empty").count() == (not has(title, one))
        assert set(DRAWN[title] if has(title, one) else ()) <= set(drawn(reader))
    assert not reader.page.get_by_text("Not all of the address").is_visible()
    assert reader.complaints == []


def drawn(tab: Tab) -> list[str]:
    """Return the names of figures that draw something."""
    found: list[str] = tab.page.locator(".dash-graph").evaluate_all(
        """all => all.filter(one => one.querySelector(".js-plotly-plot").data.length)
            .map(one => JSON.parse(one.id).name)"""
    )
    return found


def test_the_overview_has_them_all(reader: Tab, cases: tuple[Case, ...]) -> None:
    reader.go("Overview")
    rows = reader.page.get_by_role("region", name="Captures and runs").locator("tbody tr")
    assert rows.count() == len(FILES)
    told = [int(one.replace(",", "")) for one in rows.locator("td:nth-child(3)").all_inner_texts()]
    assert told == [one.capture["frames"]["read"] for one in cases]
    assert reader.failures() == []
    assert reader.complaints == []
