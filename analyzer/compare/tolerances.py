"""How much a metric may change before it matters: built in by unit, or from a TOML file.

[metrics.link_failure_recovery_s]   # a number of the result contract, by its name there
absolute = 0.01                     # in the metric's unit
relative = 0.1                      # share of the baseline's mean
direction = "lower"                 # which way it is better: lower, higher or none

A change matters when it is beyond both limits, so that neither a tenth of a very small time nor a
millisecond of a very long one does; a limit of 0 is no limit. What a table leaves out stays as it
is built in.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any

from ..lines import document_of, line_of
from .directions import Direction, direction_of

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping

Key = tuple[str | int, ...]


@dataclass(frozen=True, slots=True)
class Tolerance:
    """What a metric may change by: in its own unit, and as a share of the baseline's mean."""

    direction: Direction
    absolute: float = 0.0
    relative: float = 0.0

    def is_exceeded(self, difference: float, baseline: float) -> bool:
        """Whether a difference of means matters."""
        return abs(difference) > max(self.absolute, self.relative * abs(baseline))


BY_UNIT = {
    "bit/s": (0.0, 0.02),
    "chunks/s": (0.0, 0.02),
    "s": (1e-3, 0.05),
    "ns": (1e5, 0.05),
    "1": (1e-3, 0.05),
}
"""Absolute and relative. Rates are means over a whole run and steady, so that 2 % show. Times below
a millisecond (of round trips and delays, a tenth of one) are how a host schedules its work, and a
tenth of a percent of all packets is within what few runs show of rare events."""

OTHERWISE = (0.0, 0.05)


@dataclass(frozen=True, slots=True)
class Tolerances:
    """Tolerances under a name: where a metric is not listed, the built-in ones."""

    name: str = "built-in"
    listed: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)

    def of(self, metric: str, unit: str) -> Tolerance:
        """Return what holds for a metric."""
        absolute, relative = BY_UNIT.get(unit, OTHERWISE)
        built_in = Tolerance(direction_of(metric), absolute, relative)
        return replace(built_in, **self.listed.get(metric, {}))


def parse_tolerances(text: str, name: str, metrics: Collection[str]) -> Tolerances:
    """Read tolerances from TOML.

    Parameters
    ----------
    text
        The document.
    name
        What it is called in messages: its file.
    metrics
        Names of numbers of the result contract.

    Raises
    ------
    ValueError
        When it is none; the message names file, line and key.
    """
    document = document_of(text, name)
    for key, what in _mistakes(document, metrics):
        shown = ".".join(map(str, key)) or "the file"
        raise ValueError(f"{name}:{line_of(text, key)}: {shown}: {what}")
    return Tolerances(name, document["metrics"])


def _mistakes(document: dict[str, Any], metrics: Collection[str]) -> Iterator[tuple[Key, str]]:
    for key in document:
        if key != "metrics":
            yield (key,), "there is no such key: expected [metrics.NAME]"
    tables = document.get("metrics")
    if not isinstance(tables, dict) or not tables:
        yield (), "expected [metrics.NAME], at least one"
        return
    for metric, table in tables.items():
        if metric not in metrics:
            yield ("metrics", metric), _unknown("metric", metric, metrics)
        elif not isinstance(table, dict) or not table:
            yield ("metrics", metric), f"expected a table with {', '.join(_KEYS)} or some of them"
        else:
            for key, what in _mistakes_of_one(table):
                yield ("metrics", metric, key), what


def _mistakes_of_one(table: dict[str, Any]) -> Iterator[tuple[str, str]]:
    for key, value in table.items():
        if key not in _KEYS:
            yield key, _unknown("key", key, _KEYS)
            continue
        fits, expected = _KEYS[key]
        if not fits(value):
            yield key, f"expected {expected}, found {value!r}"


def _is_limit(value: Any) -> bool:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return is_number and math.isfinite(value) and value >= 0


_KEYS: dict[str, tuple[Callable[[Any], bool], str]] = {
    "direction": (lambda value: value in ("lower", "higher", "none"), "lower, higher or none"),
    "absolute": (_is_limit, "a number in the metric's unit, 0 or more"),
    "relative": (_is_limit, "a share, such as 0.05 for 5 %, 0 or more"),
}


def _unknown(kind: str, word: str, known: Collection[str]) -> str:
    close = get_close_matches(word, list(known), 1)
    return f"there is no {kind} {word!r}" + (f", did you mean {close[0]}?" if close else "")
