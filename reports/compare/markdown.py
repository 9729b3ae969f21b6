"""A comparison as Markdown, for a comment on a pull request."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from . import cells

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence

Node = dict[str, Any]


def text(document: Node, shown: Collection[str] = cells.FIRST) -> str:
    """Return a document of `pathscope.compare/1` as Markdown."""
    return "\n".join(_lines(document, shown)) + "\n"


def _lines(document: Node, shown: Collection[str]) -> Iterator[str]:
    yield f"### {_plain(cells.summary(document))}"
    yield ""
    yield f"Baseline {_plain(document['baseline'])}, candidate {_plain(document['candidate'])}."
    for group in document["groups"]:
        yield from _group(group, shown)
    if left := list(cells.left_out(document)):
        yield from ("", "#### Left out", "", *_list(left))


def _group(group: Node, shown: Collection[str]) -> Iterator[str]:
    sizes = f"{len(group['baseline'])} against {len(group['candidate'])} runs"
    yield from ("", f"#### {_plain(group['name'])}: {sizes}")
    if changes := cells.changes(group):
        yield from ("", *_list(changes))
    rows = cells.shown_rows(group, shown)
    notes = cells.Notes()
    if rows:
        yield ""
        yield from _table(cells.HEAD, [cells.cells(row, notes) for row in rows])
    for line in (*cells.hidden(group, shown), *notes.lines()):
        yield from ("", _plain(line))
    if group["differences"]:
        yield from ("", "What happened:", "", *_list(map(cells.difference, group["differences"])))
    for one in group["timelines"]:
        yield from ("", _plain(cells.timeline_title(one)), "")
        yield from _table(cells.TIMELINE_HEAD, cells.timeline(one))
    if group["warnings"]:
        yield from ("", "Warnings:", "", *_list(one["text"] for one in group["warnings"]))


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> Iterator[str]:
    yield _row(head)
    yield "|" + "---|" * len(head)
    yield from map(_row, rows)


def _row(found: Sequence[str]) -> str:
    return f"| {' | '.join(map(_plain, found))} |"


def _list(texts: Iterable[str]) -> Iterator[str]:
    return (f"- {_plain(text)}" for text in texts)


def _plain(text: str) -> str:
    """Return text in one line, as it is: what Markdown would take for its own is escaped."""
    special = "\\`*_{}[]<>#|~!@"
    escaped = "".join(f"\\{letter}" if letter in special else letter for letter in text)
    return " ".join(escaped.split())
