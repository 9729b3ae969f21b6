"""Evidence as the document of a profile: what holds from time 0, and the steps that change it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from .model import RouteEvidence

NS_PER_US, US_PER_S = 1000, 1_000_000

SHORT = {"to_server": "up", "to_client": "down"}
"""Of a direction, in the name of a distribution."""

DOWN = 100.0
"""Percent: the loss of a link that is down."""

Impairment = dict[str, Any]


def document(evidence: Sequence[RouteEvidence], description: str, seed: int) -> dict[str, Any]:
    """Return the profile; routes without evidence are not in it and so have no impairment."""
    paths: dict[str, Any] = {}
    for one in evidence:
        table = paths.setdefault(one.path, {})
        table[one.direction], steps = route(one)
        table.setdefault("steps", []).extend(steps)
    for table in paths.values():
        steps = sorted(table.pop("steps"), key=lambda step: float(step["at_s"]))
        if steps:
            table["steps"] = steps
    whole: dict[str, Any] = {"description": description, "seed": seed}
    named = {name: values for one in evidence if (name := distribution(one)) for values in [one]}
    if named:
        whole["distributions"] = {name: one.distribution.tolist() for name, one in named.items()}
    return whole | {"paths": paths}


def distribution(evidence: RouteEvidence) -> str | None:
    """Return the name of a route's own distribution; None where it has none."""
    if not len(evidence.distribution):
        return None
    return f"{re.sub('[^A-Za-z0-9_.-]+', '-', evidence.path)}-{SHORT[evidence.direction]}"


def route(evidence: RouteEvidence) -> tuple[Impairment, list[Impairment]]:
    """Return the impairment of a route from time 0, and its steps, each with what it changes."""
    changes: list[tuple[int, Impairment]] = [(0, _constant(evidence))]
    changes += [
        (one.at_ns, {"delay_ms": _ms(one.delay_ms), "jitter_ms": _ms(one.jitter_ms)})
        for one in evidence.delays
    ]
    changes += [(at_ns, {"loss_percent": percent}) for at_ns, percent in _losses(evidence)]
    # Those of one instant in the order in which they were added: constants first.
    changes.sort(key=lambda change: _us(change[0]))
    state: Impairment = {}
    steps: dict[int, Impairment] = {}
    for at_ns, values in changes:
        new = {key: value for key, value in values.items() if state.get(key, 0) != value}
        state |= new
        if new:
            steps.setdefault(_us(at_ns), {}).update(new)
    first = steps.pop(0, {})
    return first, [
        {"at_s": at_us / US_PER_S, "direction": evidence.direction, **values}
        for at_us, values in steps.items()
    ]


def _constant(evidence: RouteEvidence) -> Impairment:
    found: Impairment = {}
    if any(one.jitter_ms for one in evidence.delays):
        # Of few packets only how far they spread is known; most delays are about as far apart as
        # a normal distribution says.
        found["distribution"] = distribution(evidence) or "normal"
    if evidence.loss.burst_packets is not None:
        found["loss_burst_packets"] = round(evidence.loss.burst_packets.value, 2)
    if evidence.rate.bps is not None:
        found["rate_kbit"] = round(evidence.rate.bps.value / 1000, 1)
    arrived = evidence.sent - evidence.lost
    if evidence.duplicated:
        found["duplicate_percent"] = round(100 * evidence.duplicated / arrived, 3)
    if evidence.order is not None:
        if evidence.order.early:
            found["reorder_percent"] = round(100 * evidence.order.early / arrived, 3)
        if evidence.order.keep_order:
            found["keep_order"] = True
    return found


def _losses(evidence: RouteEvidence) -> Iterable[tuple[int, float]]:
    """Losses by time, with the outages over them."""
    steps = [(one.at_ns, round(one.percent, 3)) for one in evidence.loss.steps] or [(0, 0.0)]
    down = [(one.start_ns, one.end_ns) for one in evidence.outages]
    for at_ns, percent in steps:
        if not any(start <= at_ns and (end is None or at_ns < end) for start, end in down):
            yield at_ns, percent
    for start_ns, end_ns in down:
        yield start_ns, DOWN
        if end_ns is not None:
            yield end_ns, [percent for at_ns, percent in steps if at_ns <= end_ns][-1]


def _us(at_ns: int) -> int:
    """Whole microseconds, never before the first frame."""
    return max(0, round(at_ns / NS_PER_US))


def _ms(value: float) -> float:
    """Milliseconds to the microsecond, which is what tc can be told."""
    return round(value, 3)
