"""A study: experiments of the lab, and the published figures that they stand beside, from TOML.

The format is `study.schema.json`; what a schema cannot say (that a quantity, an axis, a scenario
exists) is checked here. Errors name file, line and key.
"""

from __future__ import annotations

import json
from copy import deepcopy
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...analyzer.lines import line_of
from ...analyzer.quantities import QUANTITIES, ROUTE
from ...analyzer.units import SHOWN
from . import catalog, toml_file
from .derived import NUMBERS
from .finite import EXPECTED, not_finite
from .scenario import ScenarioError, shown, told

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from .scenario import Key

FOLDER = Path(__file__).parents[2] / "fixtures" / "studies"


class StudyError(ScenarioError):
    """A study that cannot be reproduced; the message names file, line and key."""


@dataclass(frozen=True, slots=True)
class Study:
    """A study that can be reproduced.

    Attributes
    ----------
    name
        Its file's name without the suffix.
    settings
        The whole document, by the keys of the schema, every default filled in; of each experiment
        also the `engine` of its scenario.
    """

    name: str
    settings: dict[str, Any]

    @property
    def experiments(self) -> dict[str, dict[str, Any]]:
        """Experiments by name, in the order of the file."""
        found: dict[str, dict[str, Any]] = self.settings["experiments"]
        return found


@cache
def schema() -> dict[str, Any]:
    """Return the JSON Schema of studies."""
    text = Path(__file__).with_name("study.schema.json").read_text(encoding="utf-8")
    found: dict[str, Any] = json.loads(text)
    return found


def names() -> list[str]:
    """Return the names of the studies that come with pathscope."""
    return sorted(path.stem for path in FOLDER.glob("*.toml"))


def find(name: str) -> Path:
    """Return the file of a study: a path, or one of `names()`.

    Raises
    ------
    StudyError
        When there is none.
    """
    path = Path(name)
    if path.suffix == ".toml":
        return path
    if name in names():
        return FOLDER / f"{name}.toml"
    raise StudyError(f"{name}: no file, and none of pathscope's studies: `pathscope lab studies`")


def load(path: Path) -> Study:
    """Read a study's file.

    Raises
    ------
    StudyError
        When the file is no study.
    OSError
        When the file cannot be read.
    """
    text, document = toml_file.read(path, StudyError)

    def refuse(key: Key, what: str) -> StudyError:
        where = shown(key) if key else "the study"
        return StudyError(f"{path}:{line_of(text, key)}: {where}: {what}")

    return Study(path.stem, _checked(document, refuse))


def _checked(
    document: Mapping[str, Any], refuse: Callable[[Key, str], StudyError]
) -> dict[str, Any]:
    for place in not_finite(document):
        raise refuse(place, EXPECTED)
    import jsonschema

    validator = jsonschema.Draft202012Validator(schema())
    for error in sorted(validator.iter_errors(document), key=lambda one: list(map(str, one.path))):
        raise refuse(*told(error))
    settings: dict[str, Any] = _filled(schema(), deepcopy(dict(document)))
    for name, experiment in settings["experiments"].items():
        for key, what in _mistakes(experiment):
            raise refuse(("experiments", name, *key), what)
        experiment["engine"] = _engine(catalog.document(experiment["scenario"]))
    return settings


def _filled(rule: Mapping[str, Any], value: Any) -> Any:
    """Put the schema's defaults where nothing stands."""
    if "$ref" in rule:
        rule = schema()["$defs"][rule["$ref"].rpartition("/")[2]]
    if isinstance(value, list):
        return [_filled(rule.get("items", {}), item) for item in value]
    if not isinstance(value, dict):
        return value
    inner = rule.get("properties", {})
    named: Mapping[str, Any] = next(iter(rule.get("patternProperties", {}).values()), {})
    missing = {
        key: deepcopy(of["default"])
        for key, of in inner.items()
        if key not in value and "default" in of
    }
    return {key: _filled(inner.get(key, named), item) for key, item in (value | missing).items()}


def _mistakes(experiment: dict[str, Any]) -> Iterator[tuple[Key, str]]:
    """Yield what a schema cannot say of an experiment."""
    if experiment["scenario"] not in catalog.names():
        yield ("scenario",), _unknown("scenario", experiment["scenario"], catalog.names())
        return
    scenario = catalog.document(experiment["scenario"])
    axes = [axis["name"] for axis in experiment["axes"]]
    for number, name in enumerate(axes):
        if name in (*axes[:number], *NUMBERS, ROUTE):
            yield ("axes", number, "name"), f"{name} is taken"
    for holder, place in ((experiment, ()), (experiment.get("quick", {}), ("quick",))):
        of = holder.get("duration", {}).get("of")
        seconds = [name for name, unit in _numbers(scenario).items() if unit == "s"]
        if of is not None and of not in seconds:
            yield (*place, "duration", "of"), _unknown("number in seconds", of, seconds)
    yield from _mistakes_of_routes(experiment.get("routes", []), scenario)
    values = {axis["name"]: axis["values"] for axis in experiment["axes"]}
    if "routes" in experiment:
        values[ROUTE] = experiment["routes"]
    for name, figure in experiment["figures"].items():
        if figure["end"] == "server" and _engine(scenario) == "ns2":
            yield ("figures", name, "end"), "the trace of a simulation is of both ends"
        for key, what in _mistakes_of_figure(figure, values, _numbers(scenario)):
            yield ("figures", name, *key), what


def _numbers(scenario: dict[str, Any]) -> dict[str, str]:
    """The numbers that follow from such a scenario's settings, with their units."""
    if _engine(scenario) == "ns2":
        return {}
    return {name: number.unit for name, number in NUMBERS.items()}


def _engine(scenario: dict[str, Any]) -> str:
    return str(scenario.get("engine", "kernel"))


def _mistakes_of_routes(routes: list[str], scenario: dict[str, Any]) -> Iterator[tuple[Key, str]]:
    if routes and _engine(scenario) != "ns2":
        yield ("routes",), "the scenario is none of ns-2, whose traces show every flow"
        return
    flows = [flow["name"] for flow in scenario["flows"]] if routes else []
    for number, name in enumerate(routes):
        if name not in flows:
            yield ("routes", number), _unknown("flow", name, flows)


def _mistakes_of_figure(
    figure: dict[str, Any], values: dict[str, list[Any]], numbers: dict[str, str]
) -> Iterator[tuple[Key, str]]:
    """Yield what is wrong in a figure, given the values of every axis and the numbers there are."""
    quantity = figure["quantity"]
    if quantity not in QUANTITIES:
        yield ("quantity",), _unknown("quantity", quantity, QUANTITIES)
    elif "shown_in" in figure and figure["shown_in"] not in SHOWN.get(
        QUANTITIES[quantity].unit, ()
    ):
        what = f"{quantity} is in {QUANTITIES[quantity].unit}, not to be shown in this"
        yield ("shown_in",), what
    if figure["x"] not in values and figure["x"] not in numbers:
        yield ("x",), _unknown("axis or number", figure["x"], [*values, *numbers])
        return
    series = figure.get("series")
    if series is not None and series not in values:
        yield ("series",), _unknown("axis", series, values)
        return
    if series == figure["x"]:
        yield ("series",), "x has this axis already"
    is_words = figure["x"] in values and not all(map(_is_number, values[figure["x"]]))
    if is_words and (figure["fit"] or "line" in figure):
        yield ("x",), "a line needs numbers"
    for number, point in enumerate(figure["points"]):
        if is_words == _is_number(point["x"]):
            yield ("points", number, "x"), f"expected {'a word' if is_words else 'a number'}"
        if "series" in point and (series is None or point["series"] not in values[series]):
            yield ("points", number, "series"), "there is no such series in this figure"


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _unknown(kind: str, word: str, known: Iterable[str]) -> str:
    close = get_close_matches(word, list(known), 1)
    return f"there is no {kind} {word!r}" + (f", did you mean {close[0]}?" if close else "")
