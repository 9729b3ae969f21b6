"""What can be taken from a page: CSV, pictures, filters; each is held against its source."""

from __future__ import annotations

import csv
import io
import struct
import subprocess
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from xml.etree import ElementTree as ET

import numpy as np
import pathscope
import pytest
from browsing import Tab
from pathscope.dissectors.selection import Instant, Window
from pathscope.reports.report.load import How, load
from pathscope.reports.report.pages import PAGES
from playwright.sync_api import expect
from reporting import FAILOVER, FAST

CAPTURE = FAILOVER / "client.pcapng"

WINDOW = "from=2.5&to=6.25"


def taken(tab: Tab, label: str, place: int = 0) -> bytes:
    """Download something by its button."""
    with tab.page.expect_download() as waiting:
        tab.page.get_by_label(label, exact=True).nth(place).click()
    return Path(waiting.value.path()).read_bytes()


def rows(content: bytes) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(content.decode())))


def test_rows_are_those_of_the_ledger(tab: Tab, address: str) -> None:
    tab.open(f"{address}/packets?{WINDOW}")
    found = rows(taken(tab, "Download the rows as CSV"))
    window = Window(*(Instant(round(one * 1e9), absolute=False) for one in (2.5, 6.25)))
    expected = [row for batch in pathscope.dissect(CAPTURE, "chunks", window=window)
                for row in batch.to_pylist()]  # fmt: skip
    assert len(found) == len(expected) > 100
    for name in ("frame", "time_ns", "tsn", "chunk_name", "path"):
        assert [one[name] for one in found] == [
            "" if one[name] is None else str(one[name]) for one in expected
        ]


def test_a_table_is_that_of_the_result(tab: Tab, address: str) -> None:
    tab.open(f"{address}/association")
    found = rows(taken(tab, "Download Paths as CSV"))
    (one,) = pathscope.analyze(CAPTURE).to_dict()["associations"]
    packets = [
        path[way]["packets"]["value"] for path in one["paths"] for way in ("a_to_b", "b_to_a")
    ]
    assert [int(row["packets"]) for row in found] == packets


def test_a_figure_is_taken_as_it_is_drawn(tab: Tab, address: str) -> None:
    tab.open(f"{address}/association?{WINDOW}")
    place = [one["name"] for one in names(tab)].index("rtt")
    found = rows(taken(tab, "Download what the figure shows as CSV", place))
    drawn = names(tab)[place]
    assert len(found) > 10
    assert {row["trace"] for row in found} <= set(drawn["traces"])
    times = np.array([float(row["x"]) for row in found if row["x"]])
    low, high = drawn["range"]
    assert ((times >= low - 1) & (times <= high + 1)).all()


def names(tab: Tab) -> list[dict[str, Any]]:
    """Return the figures of a page: names, those of their traces, and what time they show."""
    found: list[dict[str, Any]] = tab.page.locator(".dash-graph").evaluate_all(
        """all => all.map(one => [one, one.querySelector(".js-plotly-plot")]).map(
            ([one, plot]) => ({
                name: JSON.parse(one.id).name,
                traces: plot.data.map(each => each.name ?? ""),
                range: plot.layout.xaxis.range,
                size: ["clientWidth", "clientHeight"].map(
                    key => plot.querySelector(".svg-container")[key]),
            }))"""
    )
    return found


def test_pictures_are_of_what_is_drawn(tab: Tab, address: str) -> None:
    tab.open(f"{address}/sets")
    ((width, height),) = (one["size"] for one in names(tab))
    png = taken(tab, "Download the figure as PNG")
    assert png.startswith(b"\x89PNG\r\n")
    assert struct.unpack(">II", png[16:24]) == (2 * width, 2 * height)
    svg = ET.fromstring(taken(tab, "Download the figure as SVG"))
    assert svg.tag == "{http://www.w3.org/2000/svg}svg"
    assert [float(svg.attrib[key]) for key in ("width", "height")] == [width, height]
    texts = " ".join(
        "".join(one.itertext()) for one in svg.iter("{http://www.w3.org/2000/svg}text")
    )
    assert "failover" in texts


@pytest.mark.parametrize("page", ["association", "handover", "overview"])
def test_copied_filters_are_wiresharks(page: str, tab: Tab, address: str) -> None:
    copied: set[str] = set()
    tab.open(f"{address}/{page}?{WINDOW}" if page == "association" else f"{address}/{page}")
    buttons = tab.page.get_by_role("button", name="Wireshark filter")
    # By themselves, not by their places: one that was pressed has another name for a second.
    pressed = [one for one in buttons.element_handles() if one.is_visible()]
    for button in pressed:
        tab.page.evaluate("() => navigator.clipboard.writeText('nothing yet')")
        button.focus()
        tab.page.keyboard.press("Enter")
        tab.page.wait_for_function(
            "told => navigator.clipboard.readText().then(one => one && one !== told)",
            arg="nothing yet",
        )
        copied.add(tab.page.evaluate("() => navigator.clipboard.readText()"))
    expect(buttons).to_have_count(len(pressed))
    # On the overview stored results stand beside the capture; their packets are in other ones.
    stored = copied & of_stored_results()
    assert bool(stored) == (page == "overview")
    shown = {one: frames(one) for one in sorted(copied - stored)}
    assert shown
    assert all(shown.values()), shown


def of_stored_results() -> set[str]:
    """Return the filters of the associations in the committed set."""
    documents = [one.document for one in load([str(FAST)], How()).cases]
    return {one["wireshark"] for document in documents for one in document["associations"]}


def frames(expression: str) -> int:
    """Return how many frames tshark shows by a filter; it refuses what is none."""
    command = ["tshark", "-n", "-r", str(CAPTURE), "-Y", expression]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{expression}: {done.stderr}"
    return len(done.stdout.splitlines())


def test_a_download_that_is_not_there_is_told(tab: Tab, address: str) -> None:
    parts = urlsplit(address)
    assert parts.hostname == "127.0.0.1"
    for name in ("overview/table/none", "association/figure/none", "nowhere/rows/etc"):
        found = tab.page.request.get(f"{address}/download/{name}.csv")
        assert found.status == (200 if name.startswith("nowhere") else 404)
    assert set(PAGES)
