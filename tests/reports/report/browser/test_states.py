"""What a page shows where there is little or nothing: no packets, no ledger, damage, a mistake."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from browsing import Tab
from crafting import ethernet_records, pcap
from pathscope import CaptureError, dissect
from pathscope.reports.report.data import ReportData
from pathscope.reports.report.load import How, load
from pathscope.reports.report.pages import PAGES
from playwright.sync_api import Route
from reporting import FAILOVER, FAST, served

OF_CASE = [page.title for page in PAGES.values() if page.of_case]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A capture without packets, one that is cut, one that is none."""
    folder = tmp_path_factory.mktemp("states")
    (folder / "a-empty.pcap").write_bytes(pcap([]))
    whole = (FAILOVER / "client.pcapng").read_bytes()
    (folder / "b-cut.pcapng").write_bytes(whole[: len(whole) // 2 + 3])
    (folder / "c-none.pcap").write_bytes(pcap(ethernet_records(3))[:10])
    return folder


@pytest.fixture(scope="module")
def states(folder: Path) -> Iterator[str]:
    """Where a report of these and a stored result is."""
    with served(load([str(folder), str(FAST)], How())) as url:
        yield url.rstrip("/")


def before(path: Path) -> list[object]:
    """Return the chunks that can be read before the damage."""
    found: list[object] = []
    batches = dissect(path, "chunks")
    with pytest.raises(CaptureError):
        found.extend(row for batch in batches for row in batch.to_pylist())
    return found


def told(tab: Tab) -> str:
    return "\n".join(tab.page.locator(".notice").all_inner_texts())


def test_the_overview_says_what_could_not_be_read(tab: Tab, states: str) -> None:
    tab.open(f"{states}/")
    assert "1 could not be read" in told(tab)
    assert "c-none.pcap" in told(tab)
    assert "b-cut.pcapng is damaged: what was read before that is shown" in told(tab)
    tab.photograph("states-overview")
    assert tab.barriers() == []


@pytest.mark.parametrize("title", OF_CASE)
def test_an_empty_capture_is_said_to_be(title: str, tab: Tab, states: str) -> None:
    tab.open(f"{states}/{title.lower()}?case=1")
    words = {
        "Association": "No SCTP association was seen",
        "Handover": "No handover",
        "Flows": "No TCP or UDP flow was seen",
        "Packets": "",
    }
    assert words[title] in told(tab)
    if title == "Packets":
        assert tab.page.locator("#packets-told").inner_text() == "0 rows"
    assert tab.failures() == []
    assert tab.barriers() == []


def test_a_damaged_capture_is_shown_up_to_the_damage(tab: Tab, states: str, folder: Path) -> None:
    tab.open(f"{states}/association?case=2")
    assert "is damaged: what was read before that is shown" in told(tab)
    assert [one for one in tab.failures() if "is damaged" not in one] == []
    assert tab.figure("throughput").locator(".scatterlayer .trace").count() > 0
    tab.go("Packets")
    assert "is damaged" in told(tab)
    rows = len(before(folder / "b-cut.pcapng"))
    assert tab.page.locator("#packets-told").inner_text() == f"{rows:,} rows"
    assert [one for one in tab.failures() if "is damaged" not in one] == []


def test_a_stored_result_says_what_it_has_not(tab: Tab, states: str) -> None:
    tab.open(f"{states}/association?case=3")
    assert tab.failures() == []
    assert tab.page.get_by_role("region", name="Paths").locator("tbody tr").count() == 4
    assert "no ledger" in tab.figure("throughput").inner_text()
    tab.photograph("states-stored")
    tab.go("Packets")
    assert "No packets in a stored result" in told(tab)
    tab.go("Handover")
    assert tab.failures() == []


def test_nothing_at_all(tab: Tab) -> None:
    with tab.visit(ReportData(())) as url:
        tab.open(url)
        for page in PAGES.values():
            tab.go(page.title)
            assert tab.failures() == []
            assert tab.page.locator(".notice.empty").count() == 1


def test_figures_say_that_they_are_coming(tab: Tab, address: str) -> None:
    tab.open(f"{address}/")
    # The answer to a figure is held back until its card has been looked at.
    held = Held()
    tab.page.route("**/_dash-update-component*", held.hold)
    tab.page.get_by_label("Pages").get_by_role("link", name="Sets").click()
    tab.page.wait_for_selector(".dash-spinner")
    assert tab.page.locator(".about").inner_text() == ""
    held.release()
    tab.page.wait_for_selector(".dash-spinner", state="detached")
    tab.page.unroute_all()
    tab.rest()


@dataclass
class Held:
    """Keeps back what asks for a figure, until it is released; the rest goes on."""

    routes: list[Route] | None = field(default_factory=list)

    def hold(self, route: Route) -> None:
        asks = '"part":"figure"' in (route.request.post_data or "").replace(" ", "")
        if asks and self.routes is not None:
            self.routes.append(route)
        else:
            route.continue_()

    def release(self) -> None:
        routes, self.routes = self.routes or [], None  # a figure may be asked for once more
        for route in routes:
            route.continue_()


def test_a_capture_that_is_gone_is_told(tab: Tab, tmp_path: Path) -> None:
    path = tmp_path / "gone.pcapng"
    path.write_bytes((FAILOVER / "client.pcapng").read_bytes())
    data = load([str(path)], How())
    path.unlink()
    with tab.visit(data) as url:
        tab.open(f"{url}/packets?frame=5")
        assert "These rows cannot be shown" in told(tab)
        assert "Frame 5 cannot be shown" in told(tab)
        tab.go("Association")
        # Packets cannot be read any more; what the ledger has is drawn still.
        assert tab.figure("throughput").locator(".scatterlayer .trace").count() > 0
