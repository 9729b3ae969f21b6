"""Evidence as the document of a profile: what holds from time 0, and the steps that change it.

What netem cannot do is kept out of it here, and told.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import numpy as np

from .model import DIRECTIONS, NS_PER_S

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from .model import RouteEvidence

NS_PER_US, US_PER_S = 1000, 1_000_000

SHORT = {"to_server": "up", "to_client": "down"}
"""Of a direction, in the name of a distribution."""

NAME_LENGTH = 31
"""Of a distribution's name."""

DOWN = 100.0
"""Percent: the loss of a link that is down."""

LEAST_PERCENT = 0.001
"""Less would be written as none."""

LONGEST_MS = 60_000
LATEST_NS = 86_400 * NS_PER_S
"""Bounds of the format, beyond which a capture's clock is broken rather than its links slow."""

Impairment = dict[str, Any]


def document(
    evidence: Sequence[RouteEvidence], description: str, seed: int
) -> tuple[dict[str, Any], list[str]]:
    """Return the profile, and what could not be written as it was measured.

    Routes without evidence are not in it, and so have no impairment.
    """
    names = distributions(evidence)
    paths: dict[str, Any] = {}
    told: list[str] = []
    for number, one in enumerate(evidence):
        first, steps, dropped = route(one, names.get(number))
        table = paths.setdefault(one.path, {"steps": []})
        table[one.direction] = first
        table["steps"] += steps
        told += [f"{one.path} {one.direction}: {text}" for text in dropped]
    paths = {name: _together(table) for name, table in paths.items()}
    whole: dict[str, Any] = {"description": description, "seed": seed}
    if names:
        whole["distributions"] = {
            name: evidence[number].distribution.tolist() for number, name in names.items()
        }
    return whole | {"paths": paths}, told


def _together(table: dict[str, Any]) -> dict[str, Any]:
    """Say once what holds in both directions, and put the steps in order."""
    found: dict[str, Any] = {name: table[name] for name in DIRECTIONS if name in table}
    if len(found) == len(DIRECTIONS) and found[DIRECTIONS[0]] == found[DIRECTIONS[1]]:
        found = {"both": found[DIRECTIONS[0]]}
    steps: list[Impairment] = []
    for step in sorted(table["steps"], key=lambda step: float(step["at_s"])):
        last = steps[-1] if steps else {}
        if {**last, "direction": step["direction"]} == step:
            last["direction"] = "both"
        else:
            steps.append(step)
    return found | ({"steps": steps} if steps else {})


def distributions(evidence: Sequence[RouteEvidence]) -> dict[int, str]:
    """Name the distributions of routes that have one, by the number of the route.

    Two directions of which only both together are known have one.
    """
    found: dict[int, str] = {}
    for number, one in enumerate(evidence):
        if not len(one.distribution):
            continue
        same = [
            name
            for at, name in found.items()
            if evidence[at].path == one.path
            and np.array_equal(evidence[at].distribution, one.distribution)
        ]
        plain = re.sub(r"[^A-Za-z0-9_.-]+", "-", one.path).lstrip("_.-")
        name = f"{plain}-{SHORT[one.direction]}"
        unfit = not plain or len(name) > NAME_LENGTH or name in found.values()
        found[number] = same[0] if same else f"route{number}" if unfit else name
    return found


def route(
    evidence: RouteEvidence, distribution: str | None
) -> tuple[Impairment, list[Impairment], list[str]]:
    """Return the impairment of a route from time 0, its steps, and what is not in them.

    A step has the keys that it changes.
    """
    told: list[str] = []
    delays = list(_delays(evidence, distribution is not None, told))
    changes = [
        *delays,
        *_losses(evidence),
        *((one.at_ns, {"rate_kbit": _digits(one.bps.value / 1000)}) for one in evidence.rate.steps),
    ]
    kept = [(at_ns, values) for at_ns, values in changes if at_ns <= LATEST_NS]
    if len(kept) < len(changes):
        told.append(f"{len(changes) - len(kept)} changes after more than a day are left out")
    kept.append((0, _constant(evidence, distribution, [values for _, values in kept])))
    kept.sort(key=lambda change: change[0])
    state: Impairment = {}
    by_time: dict[int, Impairment] = {}
    for at_ns, values in kept:
        new = {key: value for key, value in values.items() if state.get(key, 0) != value}
        state |= new
        if new:
            by_time.setdefault(max(0, round(at_ns / NS_PER_US)), {}).update(new)
    first = by_time.pop(0, {})
    steps = [
        {"at_s": at_us / US_PER_S, "direction": evidence.direction, **values}
        for at_us, values in by_time.items()
    ]
    return first, steps, told


def _constant(
    evidence: RouteEvidence, distribution: str | None, changes: list[Impairment]
) -> Impairment:
    found: Impairment = {}
    if any(one.get("jitter_ms") for one in changes):
        # Of a few packets only how far they spread is known.
        found["distribution"] = distribution or "normal"
    arrived = evidence.sent - evidence.lost
    if evidence.duplicated:
        found["duplicate_percent"] = _percent(evidence.duplicated, arrived)
    if evidence.order is not None:
        # Without a delay there is nothing to overtake.
        if evidence.order.early and all(one.get("delay_ms", 1) for one in changes):
            found["reorder_percent"] = _percent(evidence.order.early, arrived)
        if evidence.order.keep_order:
            found["keep_order"] = True
    return found


def _delays(
    evidence: RouteEvidence, own: bool, told: list[str]
) -> Iterator[tuple[int, Impairment]]:
    """Delays and their deviations, within what netem draws: nothing below no delay."""
    least = float(evidence.distribution[0]) if own else -1.0
    cut = 0
    for one in evidence.delays:
        delay_ms = min(max(_ms(one.delay_ms), 0.0), LONGEST_MS)
        most = delay_ms / -least
        cut += one.jitter_ms > most
        jitter_ms = _ms(min(one.jitter_ms, most))
        yield one.at_ns, {"delay_ms": delay_ms, "jitter_ms": jitter_ms}
    if cut:
        told.append(f"in {cut} steps the jitter is made less, as no delay can be below 0")
    if any(one.delay_ms > LONGEST_MS for one in evidence.delays):
        told.append(f"delays of more than {LONGEST_MS / 1000:g} s are written as that")


def _losses(evidence: RouteEvidence) -> Iterator[tuple[int, Impairment]]:
    """Losses by time, with the outages over them."""
    steps = [(one.at_ns, _loss(evidence, one.lost, one.sent)) for one in evidence.loss.steps]
    steps = steps or [(0, _loss(evidence, 0, 0))]
    down = [(one.start_ns, one.end_ns) for one in evidence.outages]
    for at_ns, values in steps:
        if not any(start <= at_ns and (end is None or at_ns < end) for start, end in down):
            yield at_ns, values
    for start_ns, end_ns in down:
        yield start_ns, {"loss_percent": DOWN}
        if end_ns is not None:
            yield end_ns, [values for at_ns, values in steps if at_ns <= end_ns][-1]


def _loss(evidence: RouteEvidence, lost: int, sent: int) -> Impairment:
    found: Impairment = {"loss_percent": _percent(lost, sent)}
    burst = evidence.loss.burst_packets
    if burst is not None and 0 < lost < sent:
        # One packet at least is between two bursts.
        least = lost / (sent - lost)
        found["loss_burst_packets"] = _digits(max(burst.value, 1.001 * least))
    return found


def _percent(part: float, whole: int) -> float:
    if not part or not whole:
        return 0.0
    return min(DOWN, max(LEAST_PERCENT, round(100 * part / whole, 3)))


def _ms(value: float) -> float:
    """Milliseconds to the microsecond, which is what tc can be told."""
    return round(value, 3)


def _digits(value: float) -> float:
    """Five digits, which is more than any of these numbers is known to."""
    return float(f"{value:.5g}")
