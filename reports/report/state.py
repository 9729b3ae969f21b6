"""What the address bar says: the whole state of a view, so that it can be sent to a colleague.

The path is the page, the query the rest. Whatever stands there, a state comes out: what cannot be
read is left at its default, and why is told. Whether a case or an association exists is not known
here (`view.py`).
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl, quote, urlencode, urlsplit

if TYPE_CHECKING:
    from collections.abc import Callable

PAGES = ("overview", "association", "handover", "flows", "packets", "sets", "compare", "replay")

LONGEST_ADDRESS = 4096
"""Bytes that are looked at; what a page writes is far shorter."""

LONGEST_TEXT = 1024
"""Letters of a filter."""

LARGEST_NUMBER = 2**53 - 1
"""What JavaScript's numbers hold."""

MOST_TOLD = 8
"""Problems of one address: more would not be read."""

_SECONDS = re.compile(r"(-?)(\d{1,10})(?:\.(\d{1,9}))?", re.ASCII)
_WHOLE = re.compile(r"\d{1,16}", re.ASCII)
_WORD = re.compile(r"[a-z0-9_]{1,64}", re.ASCII)
_SORT = re.compile(r"[a-z0-9_]{1,64}:(?:asc|desc)", re.ASCII)
NS_PER_S = 1_000_000_000


@dataclass(frozen=True, slots=True)
class State:
    """A view.

    Attributes
    ----------
    page
        One of `PAGES`.
    case
        Key of a case; None for the first.
    association, handover, flow, replay
        Numbers; a handover counts from 1 in its association, a replay from 1. None for the first.
    path, sender
        Only this path, only what this end sent; None for all.
    from_ns, to_ns
        The window, in ns since frame 1; None where it is open.
    table, filter, sort
        Of the packets: the table, the filter as AG Grid's model in JSON, `column:asc` or `:desc`.
    frame
        The frame that is decoded.
    metric
        Of the sets.
    """

    page: str = PAGES[0]
    case: str | None = None
    association: int | None = None
    handover: int | None = None
    flow: int | None = None
    replay: int | None = None
    path: int | None = None
    sender: str | None = None
    from_ns: int | None = None
    to_ns: int | None = None
    table: str | None = None
    filter: str | None = None
    sort: str | None = None
    frame: int | None = None
    metric: str | None = None

    def to(self, page: str, **changes: Any) -> State:
        """Return the state of another page: the case, the selection and the window stay."""
        kept = {name: getattr(self, name) for name in KEPT}
        return replace(State(page=page), **{**kept, **changes})

    def address(self) -> str:
        """Return path and query.

        >>> State(page="handover", case="2", from_ns=3_187_097_000).address()
        '/handover?case=2&from=3.187097'
        """
        query = [
            (key, form(value))
            for key, (name, _, form) in FIELDS.items()
            if (value := getattr(self, name)) is not None
        ]
        path = "/" if self.page == PAGES[0] else f"/{self.page}"
        return f"{path}?{urlencode(query, quote_via=quote)}" if query else path


KEPT = ("case", "association", "path", "sender", "from_ns", "to_ns")
"""The selection that pages share."""


def _seconds(text: str) -> int:
    found = _SECONDS.fullmatch(text)
    if found is None:
        raise ValueError("expected seconds since the first frame, such as 3.187")
    sign, whole, part = found.groups()
    ns = int(whole) * NS_PER_S + int((part or "").ljust(9, "0"))
    return -ns if sign else ns


def seconds(ns: int) -> str:
    """Return nanoseconds as seconds, every digit that counts.

    >>> seconds(3_187_097_000), seconds(-1), seconds(2_000_000_000)
    ('3.187097', '-0.000000001', '2')
    """
    whole, part = divmod(abs(ns), NS_PER_S)
    text = f"{whole}.{part:09}".rstrip("0").rstrip(".")
    return f"-{text}" if ns < 0 else text


def _number(text: str) -> int:
    if not _WHOLE.fullmatch(text) or int(text) > LARGEST_NUMBER:
        raise ValueError("expected a whole number")
    return int(text)


def _counted(text: str) -> int:
    if (found := _number(text)) < 1:
        raise ValueError("these are counted from 1")
    return found


def _word(text: str) -> str:
    if not _WORD.fullmatch(text):
        raise ValueError("expected a word of small letters, digits and _")
    return text


def _end(text: str) -> str:
    if text not in ("a", "b"):
        raise ValueError("expected a or b")
    return text


def _filter(text: str) -> str:
    if len(text) > LONGEST_TEXT:
        raise ValueError(f"longer than {LONGEST_TEXT} letters")
    return text


def _sort(text: str) -> str:
    if not _SORT.fullmatch(text):
        raise ValueError("expected a column and asc or desc, such as tsn:desc")
    return text


FIELDS: dict[str, tuple[str, Callable[[str], Any], Callable[[Any], str]]] = {
    "case": ("case", _word, str),
    "association": ("association", _number, str),
    "handover": ("handover", _counted, str),
    "flow": ("flow", _number, str),
    "replay": ("replay", _counted, str),
    "path": ("path", _number, str),
    "sender": ("sender", _end, str),
    "from": ("from_ns", _seconds, seconds),
    "to": ("to_ns", _seconds, seconds),
    "table": ("table", _word, str),
    "filter": ("filter", _filter, str),
    "sort": ("sort", _sort, str),
    "frame": ("frame", _counted, str),
    "metric": ("metric", _word, str),
}
"""Keys of the query: the field, how it is read, how it is written."""


@dataclass(frozen=True, slots=True)
class Parsed:
    """A state, and what of the address could not be read, each in a sentence."""

    state: State
    problems: tuple[str, ...] = ()


def parse(address: str | None) -> Parsed:
    """Read an address: a whole one, or its path and query. Nothing raises.

    >>> parse("/packets?association=0&frame=zero")  # doctest: +NORMALIZE_WHITESPACE
    Parsed(state=State(page='packets', case=None, association=0, handover=None, flow=None,
    replay=None, path=None, sender=None, from_ns=None, to_ns=None, table=None, filter=None,
    sort=None, frame=None, metric=None), problems=("frame 'zero': expected a whole number",))
    """
    if not address:
        return Parsed(State())
    if len(address) > LONGEST_ADDRESS:
        return Parsed(State(), (f"the address is longer than {LONGEST_ADDRESS} letters",))
    try:
        parts = urlsplit(address)
        pairs = parse_qsl(parts.query, keep_blank_values=True, errors="strict")
    except ValueError:  # such as half an IPv6 address, or no UTF-8
        return Parsed(State(), ("the address cannot be read",))
    found: dict[str, Any] = {}
    problems: list[str] = []
    name = parts.path.strip("/") or PAGES[0]
    if name in PAGES:
        found["page"] = name
    else:
        problems.append(f"there is no page {_shown(name)}")
    for key, text in pairs:
        if key not in FIELDS:
            problems.append(f"{_shown(key)}: not known")
            continue
        field, read, _ = FIELDS[key]
        if field in found:
            problems.append(f"{key}: given twice, the first one counts")
            continue
        try:
            found[field] = read(text)
        except ValueError as error:
            problems.append(f"{key} {_shown(text)}: {error}")
    start, end = found.get("from_ns"), found.get("to_ns")
    if start is not None and end is not None and end <= start:
        del found["from_ns"], found["to_ns"]
        problems.append("the window ends before it begins: all is shown")
    return Parsed(State(**found), tuple(problems[:MOST_TOLD]))


def _shown(text: str) -> str:
    return repr(text if len(text) <= 40 else f"{text[:40]}...")
