"""From a profile to what each direction of each path is to be like, instant by instant: pure."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random
from typing import TYPE_CHECKING, Any

from ..lab import impairment

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from .profile import Profile

DIRECTIONS = ("to_server", "to_client")

MOST_STEPS = 1_000_000
"""More are a slip: tc takes longer for one than the millisecond that would be left."""

EVERY_PATH = "*"

Key = tuple[str | int, ...]
"""Where in a document: names of tables and keys, and numbers of items."""


@dataclass(frozen=True, slots=True)
class Step:
    """What a route is like from an instant on.

    Attributes
    ----------
    at_ns
        Since the start of the replay.
    path
        Its name.
    direction
        `to_server` or `to_client`.
    impairment
        The whole of it, every default filled in.
    """

    at_ns: int
    path: str
    direction: str
    impairment: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Change:
    """Keys of a route that change at an instant, and where that is written."""

    at_ns: int
    keys: Mapping[str, Any]
    place: Key
    reset: bool = False


@dataclass(frozen=True, slots=True)
class State:
    """The keys of a route from an instant on, and where each was written last."""

    at_ns: int
    keys: dict[str, Any]
    places: dict[str, Key]


def schedule(profile: Profile, paths: Sequence[str], duration_ns: int) -> list[Step]:
    """Return every change of every route, in order of time.

    Parameters
    ----------
    profile
        How paths are impaired.
    paths
        Names of the paths there are.
    duration_ns
        How long it is to last; every route has a step at 0, and none at this instant or later.

    Raises
    ------
    ProfileError
        When the profile has a path that is not among `paths`, when it makes more than 1,000,000
        steps, or when netem cannot keep one of them.
    """
    for name in profile.paths:
        if name not in paths and name != EVERY_PATH:
            known = ", ".join(paths)
            raise profile.refuse(("paths", name), f"there is no such path here, only {known}")
    found: list[Step] = []
    for path in paths:
        for direction in DIRECTIONS:
            found += _route(profile, path, direction, duration_ns, MOST_STEPS - len(found))
    found.sort(key=lambda step: step.at_ns)
    return found


def first_mistake(profile: Profile) -> tuple[Key, str] | None:
    """Return what netem cannot keep the first time that the profile runs through, and where."""
    for name, table in profile.paths.items():
        end_ns = profile.repeat_ns or last_instant_ns(table) + 1
        for direction in DIRECTIONS:
            if changes(table, direction, end_ns) > MOST_STEPS:
                return ("paths", name), f"it makes more than {MOST_STEPS:,} steps"
            cycle = list(states(profile, name, name, direction, end_ns))
            if (wrong := _mistake(profile, cycle)) is not None:
                return wrong
    return None


def last_instant_ns(table: Mapping[str, Any]) -> int:
    """Return when a path's table has its last change, as far as it says."""
    written = [
        item[key]
        for kind in ("steps", "ramps", "random")
        for item in table.get(kind, ())
        for key in ("at_s", "from_s", "to_s")
        if key in item
    ]
    return nanoseconds(max(written, default=0))


def changes(table: Mapping[str, Any], direction: str, end_ns: int) -> int:
    """Return an upper bound of the changes of a route before an instant, without making them."""
    count = 1 + len(_of(table, "steps", direction))
    for kind in ("ramps", "random"):
        count += sum(len(_ticks(item, end_ns)) + 1 for _, item in _of(table, kind, direction))
    return count


def states(
    profile: Profile, written: str, path: str, direction: str, end_ns: int
) -> Iterator[State]:
    """Yield the states of a route before an instant, without repeating: one at 0, then by time.

    Parameters
    ----------
    profile
        How paths are impaired.
    written
        Name of the table that says so: `path`, or `*`.
    path, direction
        The route; its random values depend on them.
    end_ns
        Where to stop.
    """
    table = profile.paths.get(written, {})
    keys: dict[str, Any] = {}
    places: dict[str, Key] = {}
    at_ns = 0
    for change in _in_order(_changes(profile.seed, table, written, path, direction, end_ns)):
        if change.at_ns > at_ns:
            yield State(at_ns, keys, places)
            keys, places, at_ns = keys.copy(), places.copy(), change.at_ns
        if change.reset:
            keys, places = {}, {}
        keys |= change.keys
        places |= {key: (*change.place, key) for key in change.keys}
    yield State(at_ns, keys, places)


def nanoseconds(time_s: float) -> int:
    """Return seconds as nanoseconds."""
    return round(time_s * 1e9)


def _route(
    profile: Profile, path: str, direction: str, duration_ns: int, most: int
) -> Iterator[Step]:
    written = path if path in profile.paths else EVERY_PATH
    cycle_ns = min(profile.repeat_ns or duration_ns, duration_ns)
    cycles = -(-duration_ns // cycle_ns) if cycle_ns > 0 else 1
    table = profile.paths.get(written, {})
    if changes(table, direction, cycle_ns) * cycles > most:
        what = f"in {duration_ns / 1e9:g} s it makes more than {MOST_STEPS:,} steps"
        raise profile.refuse(("paths", written), what)
    cycle = list(states(profile, written, path, direction, cycle_ns))
    if (wrong := _mistake(profile, cycle)) is not None:
        raise profile.refuse(*wrong)
    before = None
    for number in range(cycles):
        for state in cycle:
            at, now = number * cycle_ns + state.at_ns, impairment.complete(state.keys)
            # What is sent again starts netem's model of bursts anew.
            if now != before and (at < duration_ns or at == 0):
                yield Step(at, path, direction, now)
                before = now


def _mistake(profile: Profile, cycle: Sequence[State]) -> tuple[Key, str] | None:
    """What netem cannot keep of a route, and where it is written."""
    before = impairment.complete({})
    again = cycle[:1] if profile.repeat_ns is not None else []
    for state in [*cycle, *again]:
        now = impairment.complete(state.keys)
        for key, what in impairment.mistakes(now, profile.distributions):
            return state.places[key], f"at {state.at_ns / 1e9:g} s: {what}"
        if impairment.keeps_table(before, now):
            place = state.places.get("distribution", state.places["jitter_ms"])
            return place, f"at {state.at_ns / 1e9:g} s: {impairment.KEPT}"
        before = now if now["jitter_ms"] else before
    return None


def _in_order(found: Iterable[Change]) -> list[Change]:
    return sorted(found, key=lambda change: change.at_ns)


def _changes(
    seed: int, table: Mapping[str, Any], written: str, path: str, direction: str, end_ns: int
) -> Iterator[Change]:
    """Yield all changes of a route, those of one instant in the order in which they count."""
    where: Key = ("paths", written)
    for name in ("both", direction):
        yield Change(0, table.get(name, {}), (*where, name))
    for number, step in _of(table, "steps", direction):
        at_ns = nanoseconds(step["at_s"])
        if at_ns < end_ns or at_ns == 0:
            keys = {key: value for key, value in step.items() if key in impairment.rules()}
            yield Change(at_ns, keys, (*where, "steps", number), step.get("reset", False))
    for kind, values in (("ramps", _ramp), ("random", _random)):
        for number, item in _of(table, kind, direction):
            stream = Random(f"{seed}/{path}/{direction}/{number}")  # noqa: S311 - not for secrets
            for at_ns, value in values(item, end_ns, stream):
                yield Change(at_ns, {item["key"]: value}, (*where, kind, number))


def _of(table: Mapping[str, Any], kind: str, direction: str) -> list[tuple[int, Mapping[str, Any]]]:
    return [
        (number, item)
        for number, item in enumerate(table.get(kind, ()))
        if item.get("direction", "both") in ("both", direction)
    ]


def _ticks(item: Mapping[str, Any], end_ns: int) -> range:
    if "to_s" in item:
        end_ns = min(end_ns, nanoseconds(item["to_s"]))
    return range(nanoseconds(item.get("from_s", 0)), end_ns, round(item["every_ms"] * 1e6))


def _ramp(item: Mapping[str, Any], end_ns: int, _: Random) -> Iterator[tuple[int, float]]:
    start, end = item["start"], item["end"]
    from_ns, to_ns = nanoseconds(item["from_s"]), nanoseconds(item["to_s"])
    for at_ns in _ticks(item, end_ns):
        share = (at_ns - from_ns) / (to_ns - from_ns)
        yield at_ns, _rounded(item["key"], start + (end - start) * share)
    if to_ns < end_ns:
        yield to_ns, _rounded(item["key"], end)


def _random(item: Mapping[str, Any], end_ns: int, stream: Random) -> Iterator[tuple[int, float]]:
    for at_ns in _ticks(item, end_ns):
        yield at_ns, _rounded(item["key"], stream.uniform(item["low"], item["high"]))


def _rounded(key: str, value: float) -> float:
    """A value as netem takes it, which is then what a report compares with."""
    return round(value) if impairment.rules()[key]["type"] == "integer" else round(value, 6)
