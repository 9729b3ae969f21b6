"""JSON of tcconfig, as `tcshow` prints it and `tcset` takes it: profiles that do not change.

A device is a path; what it calls outgoing is to the server, incoming to the client.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from ..lab.impairment import UNIFORM, complete
from . import quantities
from .schedule import schedule

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from .profile import Profile

SIDES = {"to_server": "outgoing", "to_client": "incoming"}

EVERYTHING = frozenset(("protocol=ip", "protocol=ipv6", ""))
"""Filters that take every packet."""

TABLE = "normal"
"""tcset's own distribution where jitter is given without one: it has no uniform."""

TABLES = ("normal", "pareto", "paretonormal")

IGNORED = frozenset(("filter_id",))
"""A number that the kernel gave: it says nothing of the link."""

READERS: dict[str, tuple[str, Callable[[str], Any]]] = {
    "delay": ("delay_ms", quantities.milliseconds),
    "delay-distro": ("jitter_ms", quantities.milliseconds),
    "delay-distribution": ("distribution", str),
    "loss": ("loss_percent", quantities.percent),
    "duplicate": ("duplicate_percent", quantities.percent),
    "reorder": ("reorder_percent", quantities.percent),
    "reordering": ("reorder_percent", quantities.percent),
    "corrupt": ("corrupt_percent", quantities.percent),
    "rate": ("rate_kbit", quantities.kilobits),
    "limit": ("queue_packets", int),
}
"""By what tcshow prints and what tcset takes: a key of an impairment, and how to read it."""


class TcconfigError(ValueError):
    """JSON that is none of tcconfig's, or a profile that cannot be one."""


def read(text: str) -> tuple[dict[str, Any], list[str]]:
    """Return the document of a profile that is as a tcconfig file says, and warnings.

    Raises
    ------
    TcconfigError
        Naming device, direction and key that are wrong.
    """
    try:
        found = json.loads(text)
    except ValueError as error:
        raise TcconfigError(str(error)) from error
    except RecursionError as error:
        raise TcconfigError("its objects are too deep in each other") from error
    warnings: list[str] = []
    paths: dict[str, dict[str, Any]] = {}
    for device, sides in _objects(found, "the file"):
        for side, rules in _objects(sides, device):
            direction = next((d for d, name in SIDES.items() if name == side), None)
            if direction is None:
                raise TcconfigError(f"{device}: expected outgoing or incoming, found {side!r}")
            chosen = _chosen(dict(_objects(rules, f"{device} {side}")), f"{device} {side}")
            if chosen is None:
                continue
            given, said = chosen
            warnings += said
            paths.setdefault(device, {})[direction] = _impairment(
                given, f"{device} {side}", warnings
            )
    return {"paths": paths}, warnings


def write(profile: Profile, paths: Sequence[str]) -> tuple[str, list[str]]:
    """Return what tcset takes of a profile, and what of it that cannot hold.

    Raises
    ------
    TcconfigError
        When the profile changes over time.
    """
    found: dict[str, Any] = {path: {side: {} for side in SIDES.values()} for path in paths}
    warnings: list[str] = []
    steps = schedule(profile, paths, (profile.repeat_ns or _long_ns(profile)))
    for step in steps:
        if step.at_ns:
            raise TcconfigError(f"{step.path} changes over time, which tcconfig cannot say")
        rule = dict(_written(step.impairment, f"{step.path} {step.direction}", warnings))
        if rule:
            found[step.path][SIDES[step.direction]] = {"protocol=ip": rule}
    return json.dumps(found, indent=4) + "\n", warnings


def _objects(value: Any, where: str) -> Iterator[tuple[str, Any]]:
    if not isinstance(value, dict):
        raise TcconfigError(f"{where}: expected an object, found {str(value)[:40]!r}")
    yield from value.items()


def _chosen(rules: dict[str, Any], where: str) -> tuple[dict[str, Any], list[str]] | None:
    """The rule of a direction; a path has one, whatever is filtered."""
    rules = {name: rule for name, rule in rules.items() if rule}
    if not rules:
        return None
    name, rule = next(iter(rules.items()))
    warnings = [
        f"{where}: the rule {other!r} is left out: a path has one" for other in [*rules][1:]
    ]
    if name not in EVERYTHING:
        warnings.append(f"{where}: the rule of {name!r} is taken for all packets")
    return dict(_objects(rule, f"{where} {name!r}")), warnings


def _impairment(given: Mapping[str, Any], where: str, warnings: list[str]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, value in given.items():
        if name in IGNORED:
            continue
        if name not in READERS:
            warnings.append(f"{where}: {name} = {value} is left out: no impairment has it")
            continue
        key, reader = READERS[name]
        try:
            found[key] = reader(str(value))
        except ValueError as error:
            raise TcconfigError(f"{where}: {name}: {error}") from error
    if found.get("jitter_ms"):
        found.setdefault("distribution", TABLE)
    return found


def _written(
    impairment: Mapping[str, Any], where: str, warnings: list[str]
) -> Iterator[tuple[str, Any]]:
    nothing = complete({})
    given = {key: value for key, value in impairment.items() if value != nothing.get(key)}
    if given.get("jitter_ms"):
        asked = given.pop("distribution", UNIFORM)
        table = asked if asked in TABLES else TABLE
        if table != asked:
            warnings.append(f"{where}: tcset has no distribution {asked}, it takes {table}")
        given["distribution"] = table
    units = {"delay_ms": "ms", "jitter_ms": "ms", "rate_kbit": "Kbps"}
    names = {key: name for name, (key, _) in reversed(READERS.items())} | {
        "reorder_percent": "reordering"
    }
    for key, value in given.items():
        if key not in names:
            warnings.append(f"{where}: {key} = {value} is left out: tcconfig has no such setting")
            continue
        unit = "%" if key.endswith("_percent") else units.get(key, "")
        yield names[key], f"{value}{unit}" if unit else value


def _long_ns(profile: Profile) -> int:
    from .schedule import last_instant_ns

    return 1 + max(map(last_instant_ns, profile.paths.values()), default=0)
