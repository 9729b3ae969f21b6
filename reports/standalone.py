"""The shell of a page that needs nothing else: no server, no network."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; color: #1c1e21; background: #fff }
body { max-width: 80rem; margin: 1.5rem auto; padding: 0 1rem }
h1 { font-size: 1.7rem; line-height: 1.3 }
h2 { border-top: 1px solid #ccd1d6; padding-top: 1.2rem; margin-top: 2rem }
.scrolled { overflow-x: auto; margin: 1rem 0 }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; font-size: .9rem }
th, td { padding: .2rem .7rem; text-align: left; vertical-align: top }
th { border-bottom: 1px solid #5b6168; white-space: nowrap } td { border-bottom: 1px solid #e3e6ea }
.dim { color: #5b6168; font-size: .9rem }
code, dd, li { overflow-wrap: anywhere }
"""

POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data: blob:"
"""Whatever a name in a capture tries: the page asks nobody for anything."""


def page(
    title: str, body: Iterable[str], *, style: str = "", has_figures: bool = False
) -> Iterator[str]:
    """Yield the parts of a page.

    Parameters
    ----------
    title
        As text.
    body
        What it shows, as HTML.
    style
        Rules of its own, after those that all pages have.
    has_figures
        Whether plotly.js is needed, some 5 MB, and scripts are allowed; without, none is.
    """
    policy = POLICY
    if has_figures:
        policy += "; script-src 'unsafe-inline'"
    yield '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
    yield '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
    yield f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
    yield f"<title>{escape(title)}</title>\n<style>{STYLE}{style}</style>\n"
    if has_figures:
        from plotly.offline import get_plotlyjs

        yield f"<script>{get_plotlyjs()}</script>\n"
    yield "</head>\n<body>\n"
    yield from body
    yield "</body>\n</html>\n"
