"""Make the pictures of docs/images/: the report in a real Chromium (`make screenshots`)."""

from __future__ import annotations

import contextlib
import shutil
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from pathscope.reports.report.load import How, load
from playwright.sync_api import sync_playwright
from reporting import FAILOVER, LABELS, served

if TYPE_CHECKING:
    from playwright.sync_api import Browser

IMAGES = Path(__file__).resolve().with_name("images")

PATIENCE_MS = 60_000

SETTLED = (
    "() => [...document.querySelectorAll('.about')].every(one => one.textContent)"
    " && [...document.querySelectorAll('.dash-graph')]"
    ".every(one => one.querySelector('.main-svg'))"
)
"""Every figure is drawn."""


@dataclass(frozen=True, slots=True)
class Shot:
    """A picture: the view, and the window that it is seen in."""

    name: str
    address: str
    width_px: int = 1280
    height_px: int = 860
    scheme: Literal["light", "dark"] = "light"
    wait_for: str = "h1"
    scroll_px: int = 0


SHOTS = (
    Shot("report-overview", "/", height_px=620),
    Shot("report-association", "/association", height_px=1000, scroll_px=540),
    Shot("report-handover", "/handover?association=0&handover=1", height_px=900, scroll_px=560),
    Shot(
        "report-packets",
        "/packets?association=0&from=10.99&to=11.3&frame=444",
        height_px=900,
        wait_for="#packets .ag-row[row-index='0'] .ag-cell",
    ),
    Shot(
        "report-narrow-dark",
        "/association",
        width_px=390,
        height_px=844,
        scheme="dark",
        scroll_px=780,
    ),
)


def main() -> None:
    """Serve the failover capture, and make every picture anew."""
    chromium = shutil.which("chromium")
    if chromium is None:
        sys.exit("chromium is not installed: apt install chromium")
    IMAGES.mkdir(exist_ok=True)
    # Its name stands in the pictures: as somebody beside it would give it.
    with (
        contextlib.chdir(FAILOVER),
        served(load(["client.pcapng"], How(Path("events.jsonl"), LABELS))) as url,
        sync_playwright() as playwright,
    ):
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        for shot in SHOTS:
            path = take(browser, url.rstrip("/"), shot)
            print(f"{path.name}: {path.stat().st_size / 1e3:.0f} kB", file=sys.stderr)
        browser.close()


def take(browser: Browser, url: str, shot: Shot) -> Path:
    """Make one picture."""
    context = browser.new_context(
        viewport={"width": shot.width_px, "height": shot.height_px}, color_scheme=shot.scheme
    )
    page = context.new_page()
    page.set_default_timeout(PATIENCE_MS)
    page.goto(f"{url}{shot.address}")
    page.wait_for_selector(shot.wait_for)
    page.wait_for_load_state("networkidle")
    page.wait_for_function(SETTLED)
    page.evaluate(f"window.scrollTo(0, {shot.scroll_px})")
    path = IMAGES / f"{shot.name}.png"
    page.screenshot(path=path, animations="disabled")
    context.close()
    return path


if __name__ == "__main__":
    main()
