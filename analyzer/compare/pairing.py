"""Which runs are held against which: by scenario and settings where both sides know theirs.

A setting that has one value on the one side and another one on the other is what the comparison is
about: it is told, and does not keep runs apart. Any other setting that varies does.
"""

from __future__ import annotations

import json
from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from .runs import Run, Value

POOLED = "all runs"
"""The group of all runs, where a side does not know what they are runs of."""

UNKNOWN = "runs of no scenario"


@dataclass(frozen=True, slots=True)
class Change:
    """A setting or circumstance that each side has one value of, and not the same one."""

    key: str
    baseline: Value
    candidate: Value


@dataclass(frozen=True, slots=True)
class Variation:
    """A setting or circumstance that differs between runs of one side of a group."""

    key: str
    side: str
    values: tuple[Value, ...]


@dataclass(frozen=True, slots=True)
class Group:
    """Runs that are held against each other."""

    name: str
    baseline: tuple[Run, ...]
    candidate: tuple[Run, ...]
    changes: tuple[Change, ...]
    variations: tuple[Variation, ...]


@dataclass(frozen=True, slots=True)
class Unpaired:
    """Runs that the other side has nothing to hold against."""

    side: str
    group: str
    runs: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Pairing:
    """All groups, in the order of the baseline, and what has no partner."""

    groups: tuple[Group, ...]
    unpaired: tuple[Unpaired, ...]


def pair(baseline: Sequence[Run], candidate: Sequence[Run]) -> Pairing:
    """Pair two sets."""
    if not all(any(run.scenario is not None for run in side) for side in (baseline, candidate)):
        return Pairing((_group(POOLED, baseline, candidate),), ())
    groups: list[Group] = []
    unpaired: list[Unpaired] = []
    for scenario in dict.fromkeys(run.scenario for run in (*baseline, *candidate)):
        ours, theirs = (
            [r for r in side if r.scenario == scenario] for side in (baseline, candidate)
        )
        found = _of_one_scenario(scenario or UNKNOWN, ours, theirs)
        for name, one, other in found:
            if one and other:
                groups.append(_group(name, one, other))
            else:
                side = "baseline" if one else "candidate"
                unpaired.append(Unpaired(side, name, tuple(run.name for run in one or other)))
    return Pairing(tuple(groups), tuple(unpaired))


def _of_one_scenario(
    scenario: str, baseline: Sequence[Run], candidate: Sequence[Run]
) -> list[tuple[str, list[Run], list[Run]]]:
    told = {change.key for change in _changes(baseline, candidate, _settings)}
    keys = [key for key in _varying((*baseline, *candidate), _settings) if key not in told]
    found: dict[str, tuple[list[Run], list[Run]]] = defaultdict(lambda: ([], []))
    for place, side in enumerate((baseline, candidate)):
        for run in side:
            found[_name(scenario, keys, run)][place].append(run)
    return [(name, *sides) for name, sides in found.items()]


def _name(scenario: str, keys: Iterable[str], run: Run) -> str:
    values = [f"{_short(key, run.settings)}={_text(run.settings.get(key))}" for key in keys]
    return ", ".join([scenario, *dict.fromkeys(values)])


def _short(key: str, settings: Mapping[str, Value]) -> str:
    """Say a setting of SCTP that both ends have alike once, as the lab's own shorthand does."""
    end, _, rest = key.partition(".")
    if end in ("client", "server") and settings.get(f"client.{rest}") == settings.get(
        f"server.{rest}"
    ):
        return rest
    return key


def _text(value: Value) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def _group(name: str, baseline: Sequence[Run], candidate: Sequence[Run]) -> Group:
    kinds = (_settings, _circumstances)
    changes = [change for of in kinds for change in _changes(baseline, candidate, of)]
    sides = (("baseline", baseline), ("candidate", candidate))
    variations = [
        Variation(key, side, values)
        for side, runs in sides
        for of in kinds
        for key, values in _varying(runs, of).items()
    ]
    return Group(name, tuple(baseline), tuple(candidate), tuple(changes), tuple(variations))


def _settings(run: Run) -> Mapping[str, Value]:
    known = {} if run.scenario is None else {"scenario": run.scenario}
    return {**known, **run.settings}


def _circumstances(run: Run) -> Mapping[str, Value]:
    tool = run.document.get("tool", {}).get("version")
    return {"result made by pathscope": tool, **run.circumstances}


def _varying(
    runs: Sequence[Run], of: Callable[[Run], Mapping[str, Value]]
) -> dict[str, tuple[Value, ...]]:
    """Return what differs between runs, with the values in order of first sight."""
    known = [of(run) for run in runs]
    keys = dict.fromkeys(key for one in known for key in one)
    values = {key: tuple(dict.fromkeys(one.get(key) for one in known)) for key in keys}
    return {key: found for key, found in values.items() if len(found) > 1}


def _changes(
    baseline: Sequence[Run],
    candidate: Sequence[Run],
    of: Callable[[Run], Mapping[str, Value]],
) -> list[Change]:
    if not baseline or not candidate:
        return []
    inside = {*_varying(baseline, of), *_varying(candidate, of)}
    one, other = of(baseline[0]), of(candidate[0])
    return [
        Change(key, one.get(key), other.get(key))
        for key in dict.fromkeys((*one, *other))
        if key not in inside and one.get(key) != other.get(key)
    ]
