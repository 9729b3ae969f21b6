"""Instants that the user knows: link changes from an event log or from packet comments."""

from __future__ import annotations

import json
import re
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from .measure import NS_PER_S
from .model import LinkEvent

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ..dissectors.ledger import Ledger, Row

_FURTHEST_S = (2**63 - 1) // NS_PER_S
"""Captures hold no later time."""

_COMMENT = re.compile(
    r"^\s*pathscope:\s*link\s+(?P<what>down|up)\s+(?P<label>.+?)"
    r"(?:\s+at\s+(?P<s>\d{1,10})\.(?P<ns>\d{9}))?\s*$"
)


def parse_events(lines: Iterable[str], name: str) -> list[LinkEvent]:
    """Read link events from JSON lines.

    A link event has `"event": "link"`, its time `"t"` in seconds since 1970, the link as
    `"link"` (a number, from 1 in the order of the interfaces, or a path's label), and what
    happened as `"note"`: `down` or `up`. Other events are passed over: they are not about links.

    Raises
    ------
    ValueError
        Naming the line, what was expected and what was found.
    """
    events = []
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        place = f"{name}, line {number}"
        try:
            # Decimal: a float holds an epoch time to a few hundred nanoseconds only.
            event = json.loads(line, parse_float=Decimal)
        except (ValueError, RecursionError) as error:
            raise ValueError(f"{place}: expected a JSON object: {error}") from error
        if not isinstance(event, dict):
            raise ValueError(f"{place}: expected a JSON object, found {line.strip()[:40]!r}")
        if event.get("event") == "link":
            events.append(_link_event(event, place))
    return events


def _link_event(event: dict[str, Any], place: str) -> LinkEvent:
    t = event.get("t")
    # Decimal is what a number with a point is read as; bool is an int in Python only.
    number = isinstance(t, (int, Decimal)) and not isinstance(t, bool)
    if t is None or not number or not -_FURTHEST_S <= t <= _FURTHEST_S:
        raise ValueError(f'{place}: expected "t" in seconds since 1970, found {_shown(t)}')
    note = event.get("note")
    if note not in ("down", "up"):
        raise ValueError(f'{place}: expected "note": "down" or "up", found {_shown(note)}')
    link = event.get("link")
    if not isinstance(link, (int, str)) or isinstance(link, bool):
        raise ValueError(f'{place}: expected "link": number or label, found {_shown(link)}')
    return LinkEvent(int(t * NS_PER_S), note == "up", str(link), place)


def _shown(value: object) -> str:
    if value is None:
        return "nothing"
    return (repr(value) if isinstance(value, str) else str(value))[:40]


def comment_events(ledger: Ledger) -> list[LinkEvent]:
    """Link events in pcapng packet comments: `pathscope: link down LABEL`.

    At the packet's time, unless `at SECONDS` with nine decimals follows.
    """
    events = []
    for row in ledger.rows("comments"):
        match = _COMMENT.match(row["text"])
        if match:
            source = f"comment of frame {row['frame']}"
            up = match["what"] == "up"
            told = match["s"] is not None
            ns = int(match["s"]) * NS_PER_S + int(match["ns"]) if told else row["time_ns"]
            events.append(LinkEvent(ns, up, match["label"], source))
    return events


def assign_events(
    events: list[LinkEvent],
    ledger: Ledger,
    labels: dict[tuple[int, int], str],
) -> tuple[dict[tuple[int, int], list[LinkEvent]], list[str]]:
    """Find the paths that each event is about.

    Returns the events by association and path number, in time order, and a warning for each
    event that names no path.
    """
    interfaces = [interface["name"] for interface in ledger.capture["interfaces"]]
    assigned: dict[tuple[int, int], list[LinkEvent]] = {}
    warnings = []
    paths = ledger.rows("paths")
    links = _links(ledger)
    # The lab tells both in a file and in comments, to the nanosecond.
    once = {(event.ns, event.up, event.name): event for event in reversed(events)}
    for event in sorted(once.values(), key=lambda event: event.ns):
        matching = [
            (path["association"], path["path"])
            for path in paths
            if _is_about(event.name, path, labels[path["association"], path["path"]], interfaces)
            or event.name in links.get((path["a_address"], path["b_address"]), ())
        ]
        for key in matching:
            assigned.setdefault(key, []).append(event)
        if not matching:
            warnings.append(f"{event.source}: no path is called {event.name!r}")
    return assigned, warnings


def _links(ledger: Ledger) -> dict[tuple[str, str], set[str]]:
    """Return the links that packets between two nodes went over, as `n3-n4`, of a simulation."""
    if not len(ledger.tables["hops"]):
        return {}
    found: dict[tuple[str, str], set[str]] = {}
    routes = {row["route"]: (row["source"], row["destination"]) for row in ledger.rows("routes")}
    for hop in ledger.rows("hops"):
        source, destination = routes[hop["route"]]
        names = {f"{hop['from']}-{hop['to']}", f"{hop['to']}-{hop['from']}"}
        for ends in ((source, destination), (destination, source)):
            found.setdefault(ends, set()).update(names)
    return found


def _is_about(name: str, path: Row, label: str, interfaces: list[str | None]) -> bool:
    if name in (label, path["interface"]):
        return True
    if name.isdecimal() and path["interface"] is not None:
        number = int(name)
        return 1 <= number <= len(interfaces) and interfaces[number - 1] == path["interface"]
    return False
