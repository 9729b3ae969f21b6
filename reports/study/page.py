"""The results of a study as one HTML page that needs nothing else: no server, no network."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Any

from plotly.io import to_html

from .. import standalone
from . import tables
from .figures import figure as drawn

if TYPE_CHECKING:
    from collections.abc import Iterator

Node = dict[str, Any]

STYLE = """
body { max-width: 62rem }
th, td { text-align: right; white-space: nowrap }
.failed { color: #a33; overflow-wrap: anywhere; margin: 1rem 0 }
.failed { border-left: .3rem solid #a33; background: #fbeeee; padding: .4rem .8rem }
@media (max-width: 40rem) { body { margin: 1rem auto } th, td { padding: .2rem .4rem } }
"""


def page(document: Node) -> str:
    """Return `study.html` for a document of `pathscope.study/1`."""
    body = (f"{line}\n" for line in _lines(document))
    return "".join(standalone.page(document["title"], body, style=STYLE, has_figures=True))


def _lines(document: Node) -> Iterator[str]:
    yield f"<h1>{escape(document['title'])}</h1>"
    if slow := tables.slow(document):
        yield _list(*slow)
    yield from (f"<p>{escape(fact)}</p>" for fact in tables.facts(document))
    for experiment in document["experiments"]:
        yield f"<h2>{escape(experiment['title'])}</h2>"
        yield f"<p>{escape(tables.states(experiment))}</p>"
        if experiment["note"]:
            yield f"<p>{escape(experiment['note'])}</p>"
        for figure in experiment["figures"]:
            yield from _figure(figure, document, f"{experiment['name']}-{figure['name']}")
        if failed := tables.failures(experiment):
            yield _list(f"{len(failed)} runs without a result", failed)


def _list(what: str, runs: list[str]) -> str:
    """Tell in red how many, and open up which: there can be hundreds."""
    items = "".join(f"<li>{escape(run)}</li>" for run in runs)
    return f'<details class="failed"><summary>{escape(what)}</summary><ul>{items}</ul></details>'


def _figure(figure: Node, document: Node, name: str) -> Iterator[str]:
    yield f"<h3>{escape(figure['title'])}</h3>"
    yield f"<p>{escape(tables.what(figure, document))}</p>"
    if figure["ours"]:
        yield to_html(drawn(figure), full_html=False, include_plotlyjs=False, div_id=name)
    rows = [_row("td", cells) for cells in tables.rows(figure)]
    if rows:
        yield from (
            '<div class="scrolled"><table>',
            _row("th", tables.head(figure)),
            *rows,
            "</table></div>",
        )
    yield from (f"<p>{escape(one)}</p>" for one in tables.remarks(figure, document["confidence"]))


def _row(kind: str, cells: list[str]) -> str:
    return "<tr>" + "".join(f"<{kind}>{escape(cell)}</{kind}>" for cell in cells) + "</tr>"
