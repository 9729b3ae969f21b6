"""Limits that numbers are held against: those of a TOML file, or a set that comes with pathscope.

[[limits]]
metric = "handover_delay_s"     # a number of the result contract, by its name there
max = 0.1                       # or min, or both; in the metric's unit
in = "handovers"                # optional: only directly below this key of the contract
path = "wlan"                   # optional: only of the path or flow with this label
sender = "a"                    # optional: only of this end
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any

from .lines import document_of, line_of

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping

    from .model import End

Key = tuple[str | int, ...]

KEYS = ("metric", "max", "min", "in", "path", "sender")


@dataclass(frozen=True, slots=True)
class Limit:
    """The least and the most that a metric may be, wherever it stands or in a part of a result."""

    metric: str
    low: float | None = None
    high: float | None = None
    within: str | None = None
    path: str | None = None
    sender: End | None = None


@dataclass(frozen=True, slots=True)
class Thresholds:
    """Limits under a name."""

    name: str
    limits: tuple[Limit, ...]


BUILT_IN = {
    "itu": Thresholds(
        "itu",
        (
            Limit("one_way_delay_mean_ns", high=100_000_000),
            Limit("jitter_w_ns", high=50_000_000),
        ),
    )
}
"""itu: what study W (Waleed 2011), after the ITU, calls good: delay to 100 ms, jitter to 50 ms."""


def parse_thresholds(
    text: str, name: str, metrics: Collection[str], places: Collection[str]
) -> Thresholds:
    """Read limits from TOML.

    Parameters
    ----------
    text
        The document.
    name
        What it is called in messages and in verdicts: its file.
    metrics
        Names of numbers of the result contract.
    places
        Keys of the result contract that numbers stand directly below.

    Raises
    ------
    ValueError
        When it is none; the message names file, line and key.
    """
    document = document_of(text, name)

    def refuse(key: Key, what: str) -> ValueError:
        shown = "".join(f"[{part + 1}]" if isinstance(part, int) else f".{part}" for part in key)
        return ValueError(f"{name}:{line_of(text, key)}: {shown[1:] or 'the file'}: {what}")

    for name_of_table in document:
        if name_of_table != "limits":
            raise refuse((name_of_table,), "there is no such key: expected [[limits]]")
    limits = document.get("limits")
    if not isinstance(limits, list) or not limits:
        raise refuse((), "expected [[limits]], at least one")
    for number, limit in enumerate(limits):
        for key, what in _mistakes(limit, metrics, places):
            raise refuse(("limits", number, *key), what)
    return Thresholds(name, tuple(_limit(limit) for limit in limits))


def _mistakes(
    limit: Any, metrics: Collection[str], places: Collection[str]
) -> Iterator[tuple[Key, str]]:
    if not isinstance(limit, dict):
        yield (), "expected a table with metric and max or min"
        return
    for key in limit:
        if key not in KEYS:
            yield (key,), _unknown("key", key, KEYS)
    if "metric" not in limit:
        yield (), "metric is missing"
    for key, kind, known in (("metric", "metric", metrics), ("in", "key in the result", places)):
        if key in limit and not isinstance(limit[key], str):
            yield (key,), f"expected a name, found {limit[key]!r}"
        elif key in limit and limit[key] not in known:
            yield (key,), _unknown(kind, limit[key], known)
    for key, fits, expected in _RULES:
        if key in limit and not fits(limit[key]):
            yield (key,), f"expected {expected}, found {limit[key]!r}"
    if "max" not in limit and "min" not in limit:
        yield (), "expected max or min"
    if "max" in limit and "min" in limit and limit["min"] > limit["max"]:
        yield ("min",), "it is above max"


def _is_number(value: Any) -> bool:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return is_number and math.isfinite(value)


_RULES: tuple[tuple[str, Callable[[Any], bool], str], ...] = (
    ("max", _is_number, "a finite number"),
    ("min", _is_number, "a finite number"),
    ("path", lambda value: isinstance(value, str), "a label"),
    ("sender", lambda value: value in ("a", "b"), '"a" or "b"'),
)


def _unknown(kind: str, word: str, known: Collection[str]) -> str:
    close = get_close_matches(word, list(known), 1)
    return f"there is no {kind} {word!r}" + (f", did you mean {close[0]}?" if close else "")


def _limit(table: Mapping[str, Any]) -> Limit:
    return Limit(
        table["metric"],
        table.get("min"),
        table.get("max"),
        table.get("in"),
        table.get("path"),
        table.get("sender"),
    )
