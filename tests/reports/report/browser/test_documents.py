"""Sets, Compare and Replay on committed sets, their comparison, and a replay that partly failed."""

from __future__ import annotations

import csv
import statistics
from pathlib import Path
from typing import Any

import pathscope
from browsing import Tab
from pathscope.reports.compare.document import document as compare_document
from pathscope.reports.report.data import ReportData
from playwright.sync_api import expect
from reporting import FAILOVER, comparison, fidelity

RECOVERY = "link_failure_recovery_s"


def csv_rows(tab: Tab, label: str, place: int = 0) -> list[dict[str, str]]:
    with tab.page.expect_download() as waiting:
        tab.page.get_by_label(label).nth(place).click()
    with Path(waiting.value.path()).open(encoding="utf-8") as file:
        return list(csv.DictReader(file))


def in_page(tab: Tab, title: str) -> Any:
    return tab.page.get_by_role("region", name=title)


def test_a_set_is_spread_as_its_runs_are(tab: Tab, address: str) -> None:
    (group,) = comparison()["groups"]
    (row,) = [one for one in group["rows"] if one["metric"] == RECOVERY]
    tab.open(f"{address}/sets?metric={RECOVERY}")
    rows = [one for one in csv_rows(tab, f"Download {RECOVERY} as CSV") if one["n"] == "8"]
    (ours,) = rows
    assert ours["scenario"] == "failover"
    for key in ("mean", "median", "sd"):
        assert float(ours[key]) == row["candidate"][key]
    drawn = csv_rows(tab, "Download what the figure shows as CSV")
    values = [
        float(one["x"]) for one in drawn if one["data"] and one["trace"].startswith("failover: ")
    ]
    assert len(values) == 8
    assert statistics.fmean(values) == float(ours["mean"])


def test_another_number_is_chosen(tab: Tab, address: str) -> None:
    tab.open(f"{address}/sets")
    tab.page.get_by_role("textbox", name="Number").fill("goodput_bps")
    tab.page.get_by_role("option", name="goodput_bps", exact=True).click()
    tab.page.wait_for_url("**/sets?*metric=goodput_bps*")
    tab.rest()
    expect(in_page(tab, "goodput_bps")).to_be_visible()


def test_verdicts_are_those_of_the_comparison(tab: Tab, address: str) -> None:
    document = comparison()
    (group,) = document["groups"]
    tab.open(f"{address}/compare")
    table = in_page(tab, "What is better, worse or other")
    told = [one for one in group["rows"] if one["verdict"] in ("better", "worse", "changed")]
    expect(table.locator("tbody tr")).to_have_count(len(told))
    assert RECOVERY in table.inner_text()
    drawn = csv_rows(tab, "Download what the figure shows as CSV")
    ratios = {one["ratio"]["value"] for one in group["rows"] if one["ratio"] is not None}
    assert drawn
    assert {float(one["x"]) for one in drawn} <= ratios


def test_runs_are_aligned_at_their_handovers(tab: Tab) -> None:
    run = str(FAILOVER / "client.pcapng")
    document = compare_document(pathscope.compare(run, run), 0)
    timelines = [one for group in document["groups"] for one in group["timelines"]]
    with tab.visit(ReportData((), document)) as url:
        tab.open(f"{url}/compare")
        assert tab.failures() == []
        drawn = csv_rows(tab, "Download what the figure shows as CSV", -1)
        tab.photograph("alignment-light-1280")
    for side in ("baseline", "candidate"):
        expected = [
            one[side]["offset_ns"] / 1e9
            for timeline in timelines
            for one in timeline["instants"]
            if one[side]["offset_ns"] is not None
        ]
        assert expected
        assert [float(one["x"]) for one in drawn if one["trace"].startswith(side)] == expected


def test_a_replay_is_shown_with_what_it_missed(tab: Tab, address: str) -> None:
    document = fidelity()
    tab.open(f"{address}/replay")
    expect(tab.page.get_by_role("heading", name="Fidelity: FAIL")).to_be_visible()
    routes = in_page(tab, "What became of the frames").locator("tbody tr")
    expect(routes).to_have_count(len(document["routes"]))
    for number, route in enumerate(document["routes"]):
        text = routes.nth(number).inner_text()
        assert text.startswith(f"{route['path']} {route['direction']}")
        assert f"{route['planned']:,}" in text
    drawn = csv_rows(tab, "Download what the figure shows as CSV")
    # What failed is drawn as such.
    failed = [float(one["y"]) for one in drawn if one["trace"].startswith("fail: ")]
    assert failed == [
        one["achieved"]
        for one in document["rows"]
        if one["step"] is not None and one["verdict"] == "fail"
    ]
    rows = csv_rows(tab, "Download Asked and achieved as CSV")
    assert [one["verdict"] for one in rows] == [one["verdict"] for one in document["rows"]]
