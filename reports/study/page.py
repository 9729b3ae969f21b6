"""The results of a study as one HTML page that needs nothing else: no server, no network."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Any

from plotly.io import to_html
from plotly.offline import get_plotlyjs

from . import tables
from .figures import figure as drawn

if TYPE_CHECKING:
    from collections.abc import Iterator

Node = dict[str, Any]

STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; color: #222; max-width: 62rem; margin: 2rem auto; padding: 0 1rem }
h2 { border-top: 1px solid #ddd; padding-top: 1.5rem; margin-top: 2.5rem }
table { border-collapse: collapse; margin: 1rem 0; font-variant-numeric: tabular-nums }
th, td { padding: .2rem .8rem; text-align: right; border-bottom: 1px solid #eee }
th { border-bottom: 1px solid #999; font-weight: 600 }
.failed { color: #a33 }
"""


def page(document: Node) -> str:
    """Return `study.html` for a document of `pathscope.study/1`."""
    return "\n".join(_lines(document)) + "\n"


def _lines(document: Node) -> Iterator[str]:
    title = escape(document["title"])
    yield f'<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n<title>{title}</title>'
    yield f"<style>{STYLE}</style>"
    # Once, inline: the page is to be readable where there is no network.
    yield f"<script>{get_plotlyjs()}</script>\n</head>\n<body>\n<h1>{title}</h1>"
    yield from (f"<p>{escape(fact)}</p>" for fact in tables.facts(document))
    for experiment in document["experiments"]:
        yield f"<h2>{escape(experiment['title'])}</h2>"
        yield f"<p>{escape(tables.states(experiment))}</p>"
        if experiment["note"]:
            yield f"<p>{escape(experiment['note'])}</p>"
        for figure in experiment["figures"]:
            yield from _figure(figure, document, f"{experiment['name']}-{figure['name']}")
        failures = tables.failed(experiment)
        if failures:
            items = "".join(f"<li>{escape(line)}</li>" for line in failures)
            yield f'<p class="failed">Runs without a result:</p><ul class="failed">{items}</ul>'
    yield "</body>\n</html>"


def _figure(figure: Node, document: Node, name: str) -> Iterator[str]:
    yield f"<h3>{escape(figure['title'])}</h3>"
    yield f"<p>{escape(tables.what(figure, document))}</p>"
    if figure["ours"]:
        yield to_html(drawn(figure), full_html=False, include_plotlyjs=False, div_id=name)
    yield "<table>"
    yield _row("th", tables.head(figure))
    yield from (_row("td", cells) for cells in tables.rows(figure))
    yield "</table>"
    yield from (f"<p>{escape(one)}</p>" for one in tables.remarks(figure, document["confidence"]))


def _row(kind: str, cells: list[str]) -> str:
    return "<tr>" + "".join(f"<{kind}>{escape(cell)}</{kind}>" for cell in cells) + "</tr>"
