"""Make the pictures of docs/images/: the report in a real Chromium (`make screenshots`)."""

from __future__ import annotations

import contextlib
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from browsing import CHROMIUM, Scheme, chromium, stranger
from pathscope.reports.report.load import How, load
from reporting import FAILOVER, LABELS, served

if TYPE_CHECKING:
    from playwright.sync_api import Browser

IMAGES = Path(__file__).resolve().with_name("images")


@dataclass(frozen=True, slots=True)
class Shot:
    """A picture: the view, and the window that it is seen in."""

    name: str
    address: str
    width_px: int = 1280
    height_px: int = 860
    scheme: Scheme = "light"
    scroll_px: int = 0


SHOTS = (
    Shot("report-overview", "/", height_px=620),
    Shot("report-association", "/association", height_px=1000, scroll_px=540),
    Shot("report-handover", "/handover?association=0&handover=1", height_px=900, scroll_px=560),
    Shot(
        "report-packets",
        "/packets?association=0&from=10.99&to=11.3&frame=444",
        height_px=900,
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
    if CHROMIUM is None:
        sys.exit("chromium is not installed: apt install chromium")
    IMAGES.mkdir(exist_ok=True)
    # Its name stands in the pictures: as somebody beside it would give it.
    with (
        contextlib.chdir(FAILOVER),
        served(load(["client.pcapng"], How(Path("events.jsonl"), LABELS))) as url,
        chromium() as browser,
    ):
        for shot in SHOTS:
            path = take(browser, url.rstrip("/"), shot)
            print(f"{path.name}: {path.stat().st_size / 1e3:.0f} kB", file=sys.stderr)


def take(browser: Browser, url: str, shot: Shot) -> Path:
    """Make one picture."""
    size = {"width": shot.width_px, "height": shot.height_px}
    with stranger(browser, viewport=size, color_scheme=shot.scheme) as tab:
        tab.open(f"{url}{shot.address}")
        tab.page.evaluate(f"window.scrollTo(0, {shot.scroll_px})")
        path = IMAGES / f"{shot.name}.png"
        tab.page.screenshot(path=path, animations="disabled")
    return path


if __name__ == "__main__":
    main()
