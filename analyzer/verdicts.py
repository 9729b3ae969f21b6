"""Verdicts: numbers held against limits, wherever in a result they stand.

A number is looked up by its name in all that an analysis says, so that whatever is measured can be
limited. An absent number has no verdict, but the reason why it has none.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, is_dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

from .context import ENDS
from .measure import Measure
from .model import Timer
from .simulation import Link, Route

if TYPE_CHECKING:
    from collections.abc import Iterator

    from .model import CaptureResult, End
    from .thresholds import Limit, Thresholds

UNSAID = frozenset(("metrics", "directions", "senders", "measure"))
"""Fields that are no keys of the contract, or say nothing of where a number stands."""

Found = tuple["Place", str, Measure]


@dataclass(frozen=True, slots=True)
class Place:
    """Where in a result a number stands: the keys and indices above it, and what they are about."""

    keys: tuple[str | int, ...]
    association: int | None = None
    flow: int | None = None
    connection: int | None = None
    path: str | None = None
    sender: End | None = None

    @property
    def within(self) -> str:
        """The key that the number stands directly below."""
        return next(str(key) for key in reversed(self.keys) if isinstance(key, str))


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether a number keeps a limit.

    `place` is None where nothing of this name was found. `certain` says whether all within the
    bounds of an inferred number has the same verdict; None where there is none.
    """

    thresholds: str
    limit: Limit
    place: Place | None
    measure: Measure
    outcome: Literal["pass", "fail", "absent"]
    certain: bool | None


def judge(result: CaptureResult, thresholds: Thresholds) -> tuple[Verdict, ...]:
    """Hold a result against limits: a verdict for every number that one is about, by limit."""
    numbers: dict[str, list[Found]] = {}
    for found in _everything(result):
        numbers.setdefault(found[1], []).append(found)
    verdicts = []
    for limit in thresholds.limits:
        fitting = [
            _verdict(thresholds.name, limit, place, measure)
            for place, _, measure in numbers.get(limit.metric, [])
            if _is_about(limit, place)
        ]
        verdicts += fitting or [_nothing(thresholds.name, limit)]
    return tuple(verdicts)


def unmet(verdicts: tuple[Verdict, ...]) -> list[Verdict]:
    """Return the verdicts that fail, and those of a limit that no number was held to."""
    held = {one.limit for one in verdicts if one.outcome != "absent"}
    return [one for one in verdicts if one.outcome == "fail" or one.limit not in held]


def _is_about(limit: Limit, place: Place) -> bool:
    return (
        limit.within in (None, place.within)
        and limit.path in (None, place.path)
        and limit.sender in (None, place.sender)
    )


def _verdict(name: str, limit: Limit, place: Place, measure: Measure) -> Verdict:
    if measure.value is None:
        return Verdict(name, limit, place, measure, "absent", None)
    kept = _keeps(limit, measure.value)
    bounds = [one for one in (measure.low, measure.high) if one is not None]
    certain = all(_keeps(limit, bound) == kept for bound in bounds)
    return Verdict(name, limit, place, measure, "pass" if kept else "fail", certain)


def _keeps(limit: Limit, value: float) -> bool:
    return (limit.low is None or value >= limit.low) and (limit.high is None or value <= limit.high)


def _nothing(name: str, limit: Limit) -> Verdict:
    narrowed = limit.within or limit.path or limit.sender
    where = "where the limit applies" if narrowed else "in this capture"
    absent = Measure.absent(f"{limit.metric} is not measured {where}")
    return Verdict(name, limit, None, absent, "absent", None)


def _everything(result: CaptureResult) -> Iterator[Found]:
    for association in result.associations:
        number = association.number
        yield from _inside(association, Place(("associations",), association=number))
    for flow in result.flows:
        yield from _inside(flow, Place(("flows",), flow=flow.number, path=flow.label))
    for connection in result.connections:
        number = connection.number
        yield from _inside(connection, Place(("connections",), connection=number))
    if result.simulation is not None:
        yield from _inside(result.simulation, Place(("simulations",)))


def _inside(thing: Any, place: Place) -> Iterator[Found]:
    """Walk a dataclass: its numbers, and those of what it holds."""
    for field in fields(thing):
        value = getattr(thing, field.name)
        below = place if field.name in UNSAID else replace(place, keys=(*place.keys, field.name))
        if isinstance(value, Measure):
            yield place, field.name, value
        elif isinstance(value, dict):
            yield from _named(value, below)
        elif isinstance(value, tuple):
            for number, item in enumerate(value):
                if is_dataclass(item):
                    yield from _inside(item, _about(item, below, number))
        elif is_dataclass(value):
            yield from _inside(value, below)


def _named(values: dict[str, Any], place: Place) -> Iterator[Found]:
    for name, value in values.items():
        if isinstance(value, Measure):
            yield place, name, value
        elif isinstance(value, Timer):
            yield place, name, value.measure
        elif name in ENDS and isinstance(value, dict):
            yield from _named(value, replace(place, sender=name))
        elif name in ENDS and is_dataclass(value):
            yield from _inside(value, replace(place, sender=name))


def _about(item: Any, place: Place, number: int) -> Place:
    """Say of an item of a list which one it is, and whose."""
    return replace(
        place,
        keys=(*place.keys, number),
        path=_label(item) or place.path,
        sender=getattr(item, "sender", place.sender),
    )


def _label(item: Any) -> str | None:
    """Return what a path or flow is called, or from which node to which a route or link leads."""
    if isinstance(item, Route):
        return f"{item.source}-{item.destination}"
    if isinstance(item, Link):
        return f"{item.from_node}-{item.to_node}"
    return getattr(item, "label", None)
