"""A profile: how paths are impaired over time, read from TOML.

The format is `profile.schema.json`; what a schema cannot say is checked here. Errors name file,
line and key.
"""

from __future__ import annotations

import json
from copy import deepcopy
from dataclasses import dataclass, field
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...analyzer.lines import line_of
from ..lab import impairment, toml_file
from ..lab.finite import EXPECTED, not_finite
from ..lab.scenario import schema as lab_schema
from ..lab.scenario import shown, told
from ..lab.tables import moments
from .schedule import DIRECTIONS, Key, first_mistake, nanoseconds

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

SCHEMA = "pathscope.profile/1"

STANDARDISED = 0.05
"""By how much a table's mean may be off 0 and its deviation off 1, as far as netem can hold it:
else delays would not be what `delay_ms` and `jitter_ms` say."""


class ProfileError(ValueError):
    """A profile that cannot be used; the message names file, line and key."""


def _refuse(key: Key, what: str) -> ProfileError:
    return ProfileError(f"{shown(key) if key else 'the profile'}: {what}")


@dataclass(frozen=True, slots=True)
class Profile:
    """A profile without mistakes.

    Attributes
    ----------
    name
        What it is called: its file's name without the suffix.
    settings
        The document, by the keys of the schema.
    refuse
        Makes the error for a mistake at a key that only shows later.
    """

    name: str
    settings: dict[str, Any]
    refuse: Callable[[Key, str], ProfileError] = field(default=_refuse, repr=False, compare=False)

    @property
    def description(self) -> str:
        """What it is like, in a sentence; may be empty."""
        return str(self.settings.get("description", ""))

    @property
    def seed(self) -> int:
        """Of the values of `random`."""
        return int(self.settings.get("seed", 1))

    @property
    def repeat_ns(self) -> int | None:
        """After how long it starts over, in nanoseconds; None when it does not."""
        repeat_s = self.settings.get("repeat_s")
        return None if repeat_s is None else nanoseconds(repeat_s)

    @property
    def distributions(self) -> dict[str, list[float]]:
        """Its own tables by name: standard deviations, ascending, evenly spaced in probability."""
        found: dict[str, list[float]] = self.settings.get("distributions", {})
        return found

    @property
    def paths(self) -> dict[str, dict[str, Any]]:
        """What is written of each path, by name; `*` is every other one."""
        found: dict[str, dict[str, Any]] = self.settings.get("paths", {})
        return found

    @property
    def impairs(self) -> bool:
        """Whether it says anything about any path: without, no netem is needed."""
        return any(any(table.values()) for table in self.paths.values())

    def document(self) -> dict[str, Any]:
        """Return the document, which `parse` takes and JSON and TOML can hold."""
        return {"schema": SCHEMA, **deepcopy(self.settings)}


@cache
def schema() -> dict[str, Any]:
    """Return the JSON Schema of profiles."""
    text = Path(__file__).with_name("profile.schema.json").read_text(encoding="utf-8")
    found: dict[str, Any] = json.loads(text)
    return found


def load(path: Path) -> Profile:
    """Read a profile file.

    Raises
    ------
    ProfileError
        When the file is no profile.
    OSError
        When the file cannot be read.
    """
    text, document = toml_file.read(path, ProfileError)

    def refuse(key: Key, what: str) -> ProfileError:
        return ProfileError(f"{path}:{line_of(text, key)}: {_refuse(key, what)}")

    return _checked(document, path.stem, refuse)


def parse(document: Mapping[str, Any], name: str = "profile") -> Profile:
    """Return the profile that a document (as from TOML) describes.

    Raises
    ------
    ProfileError
        When it is none.
    """
    return _checked(document, name, _refuse)


def _checked(
    document: Mapping[str, Any], name: str, refuse: Callable[[Key, str], ProfileError]
) -> Profile:
    for place in not_finite(document):
        raise refuse(place, EXPECTED)
    for error in sorted(
        _validator().iter_errors(document), key=lambda error: list(map(str, error.path))
    ):
        raise refuse(*told(error))
    settings = deepcopy(dict(document))
    settings.pop("schema", None)
    profile = Profile(name, settings, refuse)
    for key, what in _mistakes(profile):
        raise refuse(key, what)
    if (wrong := first_mistake(profile)) is not None:
        raise refuse(*wrong)
    return profile


@cache
def _validator() -> Any:
    import jsonschema

    return jsonschema.Draft202012Validator(_without_references(schema()))


def _without_references(node: Any) -> Any:
    """A schema with what it refers to in place: to look it up takes longer than all else."""
    if isinstance(node, list):
        return [_without_references(item) for item in node]
    if not isinstance(node, dict):
        return node
    rest = {key: _without_references(value) for key, value in node.items() if key != "$ref"}
    if "$ref" not in node:
        return rest
    document, _, pointer = node["$ref"].partition("#/")
    found: Any = lab_schema() if document else schema()
    for part in pointer.split("/"):
        found = found[part]
    return {**_without_references(found), **rest}


def _mistakes(profile: Profile) -> Iterator[tuple[Key, str]]:
    """Yield what a schema cannot say, one table at a time."""
    for name, values in profile.distributions.items():
        if (what := _of_distribution(name, values)) is not None:
            yield ("distributions", name), what
    for name, table in profile.paths.items():
        where: Key = ("paths", name)
        yield from _of_times(table, where, profile.repeat_ns)
        yield from _of_values(table, where)
        yield from _of_pairs(table, where)
        yield from _pointless(table, where)


def _of_distribution(name: str, values: list[float]) -> str | None:
    if name in (impairment.UNIFORM, *impairment.STANDARD):
        return "netem has a distribution of this name"
    if any(later < earlier for earlier, later in pairwise(values)):
        return "its values do not ascend"
    mean, deviation = moments(values)
    if abs(mean) > STANDARDISED or abs(deviation - 1) > STANDARDISED:
        return f"expected mean 0 and deviation 1, found {mean:.3g} and {deviation:.3g}"
    return None


def _of_times(
    table: Mapping[str, Any], where: Key, repeat_ns: int | None
) -> Iterator[tuple[Key, str]]:
    for kind in ("ramps", "random"):
        for number, item in enumerate(table.get(kind, ())):
            if "to_s" in item and item["to_s"] <= item.get("from_s", 0):
                yield (*where, kind, number, "to_s"), "it ends before it begins"
    if repeat_ns is None:
        return
    for kind, key, most_ns in (
        ("steps", "at_s", repeat_ns - 1),
        ("ramps", "to_s", repeat_ns),
        ("random", "to_s", repeat_ns),
        ("random", "from_s", repeat_ns - 1),
    ):
        for number, item in enumerate(table.get(kind, ())):
            if nanoseconds(item.get(key, 0)) > most_ns:
                what = f"the profile starts over after {repeat_ns / 1e9:g} s"
                yield (*where, kind, number, key), what


def _of_values(table: Mapping[str, Any], where: Key) -> Iterator[tuple[Key, str]]:
    """Values of ramps and random numbers keep the bounds of what they are values of."""
    for kind, ends in (("ramps", ("start", "end")), ("random", ("low", "high"))):
        for number, item in enumerate(table.get(kind, ())):
            rule = impairment.rules()[item["key"]]
            for end in ends:
                if (what := _out_of(rule, item[end])) is not None:
                    yield (*where, kind, number, end), f"{item['key']}: {what}"
            if kind == "random" and item["high"] < item["low"]:
                yield (*where, kind, number, "high"), "it is below low"


def _out_of(rule: Mapping[str, Any], value: float) -> str | None:
    least, most = rule["minimum"], rule.get("maximum")
    if value < least or (most is not None and value > most):
        bounds = f"{least:g} or more" if most is None else f"{least:g} to {most:g}"
        return f"expected {bounds}, found {value:g}"
    if rule["type"] == "integer" and value != int(value):
        return f"expected a whole number, found {value:g}"
    return None


def _of_pairs(table: Mapping[str, Any], where: Key) -> Iterator[tuple[Key, str]]:
    """Two that change a key of a route at the same time would take turns."""
    taken: list[tuple[str, str, float, float]] = []
    for kind in ("ramps", "random"):
        for number, item in enumerate(table.get(kind, ())):
            begin, end = item.get("from_s", 0), item.get("to_s", float("inf"))
            for direction in DIRECTIONS:
                if item.get("direction", "both") not in ("both", direction):
                    continue
                for other, key, first, last in taken:
                    if (other, key) == (direction, item["key"]) and begin < last and first < end:
                        what = f"another one changes {key} {direction} at the same time"
                        yield (*where, kind, number), what
                taken.append((direction, item["key"], begin, end))


def _pointless(table: Mapping[str, Any], where: Key) -> Iterator[tuple[Key, str]]:
    """Keys of a path that never change anything, wherever in its table they stand."""
    ever: dict[str, Any] = {}
    places: dict[str, Key] = {}
    for place, keys in _written(table, where):
        for key, value in keys.items():
            places.setdefault(key, (*place, key))
            if not ever.get(key) or ever[key] == impairment.UNIFORM:
                ever[key] = value
    yield from ((places[key], what) for key, what in impairment.pointless(ever))


def _written(table: Mapping[str, Any], where: Key) -> Iterator[tuple[Key, dict[str, Any]]]:
    for name in ("both", *DIRECTIONS):
        yield (*where, name), table.get(name, {})
    for number, step in enumerate(table.get("steps", ())):
        keys = {key: value for key, value in step.items() if key in impairment.rules()}
        yield (*where, "steps", number), keys
    for kind, ends in (("ramps", ("start", "end")), ("random", ("low", "high"))):
        for number, item in enumerate(table.get(kind, ())):
            yield (*where, kind, number), {item["key"]: max(item[end] for end in ends)}
