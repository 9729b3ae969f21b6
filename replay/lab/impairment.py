"""What an impairment is: its defaults, and what netem would ignore or cannot do.

The keys themselves, with their bounds, are `$defs/impairment` of scenario.schema.json.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

UNIFORM = "uniform"
"""Netem's own, without a table."""

STANDARD = ("normal", "pareto", "paretonormal", "experimental")
"""Tables that come with tc."""

NEEDS = {
    "distribution": "jitter_ms",
    "loss_burst_packets": "loss_percent",
    "reorder_gap": "reorder_percent",
    "slot_max_ms": "slot_min_ms",
    "slot_packets": "slot_min_ms",
}
"""Keys that say how something happens, and the key that says that it does."""

ROUNDING_MS = 0.01
"""By how much a table of own may reach below no delay: its values are rounded."""


@cache
def rules() -> dict[str, dict[str, Any]]:
    """Return the rule of the schema for every key."""
    text = Path(__file__).with_name("scenario.schema.json").read_text(encoding="utf-8")
    found: dict[str, dict[str, Any]] = json.loads(text)["$defs"]["impairment"]["properties"]
    return found


@cache
def numeric() -> frozenset[str]:
    """Return the keys whose values are numbers: those that can change little by little."""
    return frozenset(
        key for key, rule in rules().items() if rule.get("type") in ("number", "integer")
    )


@cache
def _defaults() -> dict[str, Any]:
    return {key: rule["default"] for key, rule in rules().items() if "default" in rule}


def complete(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return an impairment with every default filled in."""
    return _defaults() | dict(given)


def least_burst(loss_percent: float) -> float:
    """Return the shortest mean burst that can make a loss below 100 %: a packet between two."""
    return max(1.0, loss_percent / (100 - loss_percent))


def mistakes(
    impairment: Mapping[str, Any], tables: Mapping[str, Sequence[float]] | None = None
) -> Iterator[tuple[str, str]]:
    """Yield the keys of a complete impairment that netem cannot keep, each with the reason.

    Parameters
    ----------
    impairment
        With every default filled in.
    tables
        Distributions of own, by name: values in standard deviations, ascending.
    """
    yield from _of_delay(impairment, tables or {})
    yield from _of_loss(impairment)
    if impairment["reorder_percent"] and not impairment["delay_ms"]:
        yield "reorder_percent", "without delay_ms there is nothing to overtake"
    least, most = impairment.get("slot_min_ms"), impairment.get("slot_max_ms")
    if least is not None and most is not None and most < least:
        yield "slot_max_ms", f"{most:g} ms are less than slot_min_ms, {least:g}"


def pointless(given: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield the keys that change nothing, as what they are about never happens.

    Parameters
    ----------
    given
        What is written, without defaults; of a key that changes over time, its largest value.
    """
    for key, needed in NEEDS.items():
        if given.get(key, UNIFORM) != UNIFORM and not given.get(needed):
            yield key, f"it changes nothing without {needed}"


def keeps_table(before: Mapping[str, Any], now: Mapping[str, Any]) -> bool:
    """Whether uniform jitter is asked for after a table: the kernel cannot be made to forget it."""
    return bool(
        before["jitter_ms"]
        and before["distribution"] != UNIFORM
        and now["jitter_ms"]
        and now["distribution"] == UNIFORM
    )


KEPT = "netem keeps the table it had before: name one here, too"
"""What is wrong then."""


def _of_delay(
    impairment: Mapping[str, Any], tables: Mapping[str, Sequence[float]]
) -> Iterator[tuple[str, str]]:
    delay, jitter = impairment["delay_ms"], impairment["jitter_ms"]
    name = impairment["distribution"]
    if name not in (UNIFORM, *STANDARD, *tables):
        known = ", ".join((UNIFORM, *STANDARD, *tables))
        yield "distribution", f"expected one of {known}; found {name!r}"
    # A skewed table of own may have a deviation above its mean, and no delay below 0.
    elif jitter > delay and delay + jitter * tables.get(name, (-1,))[0] < -ROUNDING_MS:
        yield "jitter_ms", f"{jitter:g} ms are more than delay_ms, {delay:g}: netem cuts at 0"


def _of_loss(impairment: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    percent, burst = impairment["loss_percent"], impairment.get("loss_burst_packets")
    if burst is None or percent >= 100:
        return
    least = least_burst(percent)
    if burst < least * (1 - 1e-9):
        what = f"with one packet between bursts, {percent:g} % are bursts of {least:.6g} or more"
        yield "loss_burst_packets", what
