"""The figures as files for a paper, SVG and PNG: kaleido lets a Chromium draw them.

They are what the report shows in its light theme, of the whole time; their names say capture,
association and figure.
"""

from __future__ import annotations

import asyncio
import logging
import re
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from importlib import import_module, metadata
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..export import whole_file
from ..figures.look import Look
from ..figures.sheet import caption
from . import contents
from .blocks import Figure
from .callbacks import TOLD
from .pages import blocks

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Coroutine, Iterable, Iterator

    import plotly.graph_objects as go

    from .data import ReportData
    from .desk import Desk
    from .view import View

FORMATS = ("svg", "png")

LOOK = Look(theme="light", width_px=1000)

PNG_SCALE = 3
"""Pixels of a PNG for one of the screen: 300 dots to the inch where it is printed 25 cm wide."""

LONGEST_NAME = 60
"""Letters of a capture's name in that of a file."""

OLDEST_KALEIDO = 1
"""Before, it came with a browser of its own, and was called otherwise."""


class PictureError(ValueError):
    """The browser is there and does not draw; the message has what it said."""


_OTHERS = re.compile(r"[^A-Za-z0-9._-]+")
_ENDING = re.compile(r"(\.(pcapng|pcap|cap|snoop|tr|json))?(\.(gz|zst|xz|lz4))?$")


@dataclass(frozen=True, slots=True)
class Picture:
    """A figure to write; or the reason why there is none."""

    name: str
    figure: go.Figure | None
    reason: str = ""


def missing() -> str | None:
    """Say what is not installed that draws pictures, and how to get it; None when all is there."""
    if find_spec("kaleido") is None:
        return "kaleido is not installed: pip install 'pathscope[report]'"
    version = metadata.version("kaleido")
    if int(version.split(".")[0]) < OLDEST_KALEIDO:
        return f"kaleido {version} is too old: pip install --upgrade 'pathscope[report]'"
    chromium = import_module("choreographer.browsers.chromium").Chromium
    browser = chromium.find_browser(skip_local=False)
    if browser is None or not Path(browser).is_file():
        return (
            "no Chromium or Chrome is installed, which figures are drawn by: apt install chromium,"
            " or name one in BROWSER_PATH"
        )
    return None


def pictures(desk: Desk) -> Iterator[Picture]:
    """Yield every figure of a report, by a name of its own."""
    data = desk.shelf.data
    names = _case_names(data)
    for view in contents.pictured(data):
        for block in blocks(view):
            if isinstance(block, Figure):
                yield _picture(desk, view, block.name, name(view, block.name, names))


def _picture(desk: Desk, view: View, figure: str, file: str) -> Picture:
    try:
        drawn = desk.draw(figure, view, LOOK).figure
    except TOLD as error:
        return Picture(file, None, str(error))
    # A frame around the words that there is nothing to see is of no use in a paper.
    return Picture(file, drawn) if drawn.data else Picture(file, None, caption(drawn))


def name(view: View, figure: str, cases: dict[str, str]) -> str:
    """Return the name of a figure's files, without the form; `cases` are the names of cases.

    Such as `client-association-0-handover-1-phases`, `compare-intervals`, `sets-goodput_bps`.
    """
    state = view.state
    match state.page:
        case "sets":
            return f"sets-{state.metric}"
        case "compare":
            return f"compare-{figure}"
        case "replay":
            return f"replay-{state.replay}"
        case "flows":
            return f"{cases[view.the_case().key]}-flow-{state.flow}"
    one = f"{cases[view.the_case().key]}-association-{state.association}"
    return (
        f"{one}-{figure}" if state.handover is None else f"{one}-handover-{state.handover}-{figure}"
    )


def _case_names(data: ReportData) -> dict[str, str]:
    """Name the cases by their captures, and those that are called alike by their numbers, too."""
    plain = {}
    for case in data.cases:
        words = _OTHERS.sub("_", _ENDING.sub("", Path(case.name).name))
        plain[case.key] = words[:LONGEST_NAME].strip("._-") or "capture"
    alike = list(plain.values())
    return {key: one if alike.count(one) == 1 else f"{one}-{key}" for key, one in plain.items()}


def write(
    found: Iterable[Picture], folder: Path, *, force: bool, told: Callable[[str], None]
) -> int:
    """Write pictures in every form; returns the number of figures.

    Parameters
    ----------
    found
        The pictures.
    folder
        It has to be there.
    force
        Overwrite what is there already.
    told
        Called with a sentence for each that has nothing to show.

    Raises
    ------
    FileExistsError
        When a file is there already, and `force` is not given.
    OSError
        When one cannot be written.
    PictureError
        When the browser does not do its part.
    """
    # It logs the browser's last words, which it cannot read, as an error.
    logging.getLogger("choreographer").setLevel(logging.CRITICAL)
    errors = import_module("kaleido.errors")
    try:
        return _run(_write(found, folder, force=force, told=told))
    # What the browser's side raises is a RuntimeError, or this one.
    except (RuntimeError, errors.KaleidoError) as error:
        raise PictureError(f"the browser that draws figures failed: {error}") from error


def _run(work: Coroutine[Any, Any, int]) -> int:
    """Run it to its end, here, where Ctrl-C ends it; beside an event loop as notebooks have one."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(work)
    with ThreadPoolExecutor(max_workers=1) as beside:
        return beside.submit(asyncio.run, work).result()


async def _write(
    found: Iterable[Picture], folder: Path, *, force: bool, told: Callable[[str], None]
) -> int:
    written = 0
    kaleido = import_module("kaleido")
    # Figures have no formulas: what draws those would be fetched from the network.
    page = kaleido.PageGenerator(mathjax=False)
    async with kaleido.Kaleido(page_generator=page) as browser:
        for picture in found:
            if picture.figure is None:
                told(f"{picture.name}: not written: {picture.reason}")
                continue
            async for form, content in _drawn(browser, picture.figure):
                with whole_file(folder / f"{picture.name}.{form}", force=force) as stream:
                    stream.write(content)
            written += 1
    return written


async def _drawn(browser: Any, figure: go.Figure) -> AsyncIterator[tuple[str, bytes]]:
    size = {"width": LOOK.width_px, "height": figure.layout.height}
    for form in FORMATS:
        options = {**size, "format": form, "scale": PNG_SCALE if form == "png" else 1}
        yield form, await browser.calc_fig(figure, opts=options)
