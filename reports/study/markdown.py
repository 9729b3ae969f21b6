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


def brief(document: Node, level: int) -> str:
    """Return every experiment as one table with its note, below a heading of this level."""
    lines: list[str] = []
    for experiment in document["experiments"]:
        heads, rows = tables.brief(experiment)
        lines += [f"{'#' * level} {_plain(experiment['title'])}", ""]
        if experiment["note"]:
            lines += [_plain(experiment["note"]), ""]
        lines += [_row(heads), "|" + "---|" * len(heads), *map(_row, rows), ""]
    return "\n".join(lines)


def _lines(document: Node) -> Iterator[str]:
    yield f"# {_plain(document['title'])}"
    if slow := tables.slow(document):
        yield from _list(f"**{slow[0]}**", slow[1])
    for fact in tables.facts(document):
        yield from ("", _plain(fact))
    for experiment in document["experiments"]:
        yield from ("", f"## {_plain(experiment['title'])}", "", _plain(tables.states(experiment)))
        if experiment["note"]:
            yield from ("", _plain(experiment["note"]))
        for figure in experiment["figures"]:
            yield from _figure(figure, document)
        if failed := tables.failures(experiment):
            yield from _list("Runs without a result", failed)


def _list(what: str, runs: list[str]) -> Iterator[str]:
    yield from ("", f"{what}:", "", *(f"- {_plain(run)}" for run in runs))


def _figure(figure: Node, document: Node) -> Iterator[str]:
    yield from ("", f"### {_plain(figure['title'])}", "", _plain(tables.what(figure, document)))
    rows = [_row(cells) for cells in tables.rows(figure)]
    if rows:
        heads = tables.head(figure)
        yield from ("", _row(heads), "|" + "---|" * len(heads), *rows)
    for remark in tables.remarks(figure, document["confidence"]):
        yield from ("", _plain(remark))


def _row(cells: list[str]) -> str:
    return f"| {' | '.join(_plain(cell) for cell in cells)} |"


def _plain(text: str) -> str:
    """Return text in one line, as it is: what Markdown would take for its own is escaped."""
    escaped = "".join(f"\\{letter}" if letter in "\\`*<|" else letter for letter in text)
    # Brackets alone, as around a unit, are none of Markdown's.
    return " ".join(escaped.replace("](", "]\\(").split())
