"""The results of a study as Markdown: tables, ours beside the published."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from . import tables

if TYPE_CHECKING:
    from collections.abc import Iterator

Node = dict[str, Any]


def text(document: Node) -> str:
    """Return `study.md` for a document of `pathscope.study/1`."""
    return "\n".join(_lines(document)) + "\n"


def _lines(document: Node) -> Iterator[str]:
    yield f"# {_plain(document['title'])}"
    for fact in tables.facts(document):
        yield from ("", _plain(fact))
    for experiment in document["experiments"]:
        yield from ("", f"## {_plain(experiment['title'])}", "", _plain(tables.states(experiment)))
        if experiment["note"]:
            yield from ("", _plain(experiment["note"]))
        for figure in experiment["figures"]:
            yield from _figure(figure, document)
        failures = tables.failed(experiment)
        if failures:
            yield from ("", "Runs without a result:", "")
            yield from (f"- {_plain(line)}" for line in failures)


def _figure(figure: Node, document: Node) -> Iterator[str]:
    yield from ("", f"### {_plain(figure['title'])}", "", _plain(tables.what(figure, document)))
    heads = tables.head(figure)
    yield from ("", _row(heads), "|" + "---|" * len(heads))
    for cells in tables.rows(figure):
        yield _row(cells)
    for remark in tables.remarks(figure, document["confidence"]):
        yield from ("", _plain(remark))


def _row(cells: list[str]) -> str:
    return f"| {' | '.join(_plain(cell) for cell in cells)} |"


def _plain(text: str) -> str:
    """Return text in one line, as it is: what Markdown would take for its own is escaped."""
    escaped = "".join(f"\\{letter}" if letter in "\\`*<|" else letter for letter in text)
    return " ".join(escaped.split())
