"""A scenario: what the lab is to build and do, read from TOML.

The format is `scenario.schema.json`; what a schema cannot say (that a path exists, that addresses
of a path are of one family) is checked here. Errors name file, line and key.
"""

from __future__ import annotations

import json
import tomllib
from copy import deepcopy
from difflib import get_close_matches
from functools import cache
from ipaddress import ip_address
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...analyzer.lines import line_of
from . import impairment, impairments, shorthand, toml_file
from .finite import EXPECTED, not_finite

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

SCHEMA = "pathscope.scenario/1"

DIRECTIONS = ("to_server", "to_client")
ENDS = ("client", "server")

NEEDS_PATH = frozenset(
    (
        "link-down",
        "link-up",
        "impair",
        "address-add",
        "address-delete",
        "heartbeat",
        "set-primary",
        "set-peer-primary",
    )
)

LINK_ACTIONS = frozenset(("link-down", "link-up", "impair"))

IMPAIRING = frozenset(("impair", "link-up"))
"""Actions that may say what a link is like from now on."""

RESERVED = frozenset(("all", "any", "default", "lo"))
"""Names that an interface cannot have."""

MOST_FLOWS = 10_000
"""Of background traffic: each has a port of its own, and processes that speak for it."""

Key = tuple[str | int, ...]
"""Where in a document: names of tables and keys, and numbers of items."""


class ScenarioError(ValueError):
    """A scenario that cannot be run; the message names file, line and key."""


@cache
def schema() -> dict[str, Any]:
    """Return the JSON Schema of scenarios."""
    text = Path(__file__).with_name("scenario.schema.json").read_text(encoding="utf-8")
    found: dict[str, Any] = json.loads(text)
    return found


class Scenario:
    """A scenario that can be run: every default filled in.

    Attributes
    ----------
    name
        What it is called: its file's name without the suffix.
    settings
        The whole document, by the keys of the schema, every default filled in. Impairments stand
        under each path's `to_server` and `to_client`, those of SCTP under `client` and `server`,
        each complete; `both`, and `sctp` of both, are gone.
    folder
        Where the run's files are; that of no run is the current one.
    """

    def __init__(self, name: str, settings: dict[str, Any], folder: Path = Path()) -> None:
        self.name = name
        self.settings = settings
        self.folder = folder

    def __getitem__(self, key: str) -> Any:
        return self.settings[key]

    @property
    def paths(self) -> dict[str, dict[str, Any]]:
        """Paths by name, in the order of the file."""
        found: dict[str, dict[str, Any]] = self.settings["paths"]
        return found

    def sctp(self, host: str) -> dict[str, Any]:
        """Return the SCTP settings of `client` or `server`."""
        found: dict[str, Any] = self.settings[host]["sctp"]
        return found

    def document(self) -> dict[str, Any]:
        """Return what `scenario.json` of a run's folder holds."""
        return {"schema": SCHEMA, "name": self.name, **self.settings}

    @classmethod
    def of_run(cls, folder: Path) -> Scenario:
        """Read the scenario of a run from its folder."""
        settings = json.loads((folder / "scenario.json").read_text(encoding="utf-8"))
        del settings["schema"]
        return cls(settings.pop("name"), settings, folder)


def at_start(path: dict[str, Any], host: str) -> bool:
    """Whether an end has its address of a path from the beginning."""
    return path["at_start"] in (True, host)


def load(path: Path, changes: Sequence[str] = ()) -> Scenario:
    """Read a scenario file.

    Parameters
    ----------
    path
        A TOML file.
    changes
        Settings that replace those of the file, as `sctp.rto_min_ms=500`; the value is TOML.

    Raises
    ------
    ScenarioError
        When the file is no scenario, or a change fits nowhere.
    OSError
        When the file cannot be read.
    """
    text, document = toml_file.read(path, ScenarioError)
    for change in changes:
        _apply(document, change)

    def refuse(key: Key, what: str) -> ScenarioError:
        line = line_of(text, key)
        return ScenarioError(f"{path}:{line}: {shown(key)}: {what}")

    return Scenario(path.stem, _checked(document, refuse))


def parse(document: Mapping[str, Any], name: str = "scenario") -> Scenario:
    """Return the scenario that a document (as from TOML) describes.

    Raises
    ------
    ScenarioError
        When it is none.
    """
    return Scenario(
        name, _checked(document, lambda key, what: ScenarioError(f"{shown(key)}: {what}"))
    )


def shown(key: Key) -> str:
    """Return a key as people write it: dots between names, numbers of items from 1."""
    text = ""
    for part in key:
        if isinstance(part, int):
            text += f"[{part + 1}]"
        else:
            text += ("." if text else "") + (part if part.isprintable() else repr(part))
    return text or "the scenario"


def _apply(document: dict[str, Any], change: str) -> None:
    name, equals, value = change.partition("=")
    if not equals or not name.strip():
        raise ScenarioError(f"--set {change}: expected KEY=VALUE")
    try:
        parsed = tomllib.loads(f"value = {value}")["value"]
    except tomllib.TOMLDecodeError:
        parsed = value  # a bare word is a string
    *tables, last = name.strip().split(".")
    place: Any = document
    for table in tables:
        if isinstance(place, list):
            index = int(table) - 1 if table.isdigit() else -1
            if not 0 <= index < len(place):
                raise ScenarioError(f"--set {change}: there is no item {table} to change")
            place = place[index]
        else:
            place = place.setdefault(table, {})
        if not isinstance(place, dict | list):
            raise ScenarioError(f"--set {change}: {table} is no table")
    if isinstance(place, list):
        raise ScenarioError(f"--set {change}: expected the key of an item")
    place[last] = parsed


def _checked(document: Mapping[str, Any], refuse: Any) -> dict[str, Any]:
    if document.get("engine") == "ns2":
        from .ns2.scenario import checked

        return checked(document, refuse)
    for place in not_finite(document):
        raise refuse(place, EXPECTED)
    import jsonschema

    validator = jsonschema.Draft202012Validator(schema())
    errors = sorted(validator.iter_errors(document), key=lambda error: list(map(str, error.path)))
    for error in errors:
        raise refuse(*told(error))
    settings: dict[str, Any] = deepcopy(dict(document))
    both_ends = settings.pop("sctp", {})
    for host in ENDS:
        end = settings.setdefault(host, {})
        end["sctp"] = both_ends | end.get("sctp", {})
    settings = _filled(schema(), settings)
    del settings["sctp"]
    for place, what in shorthand.mistakes(settings):
        raise refuse(place, what)
    settings = _filled(schema(), shorthand.expand(settings))
    del settings["sctp"]
    for key, what in _mistakes(settings):
        raise refuse(key, what)
    for path in settings["paths"].values():
        both = path.pop("both", {})
        for direction in DIRECTIONS:
            path[direction] = impairment.complete(both | path.get(direction, {}))
    return settings


def told(error: Any) -> tuple[Key, str]:
    """Return where a document breaks the schema, and how, in the words of a reader of TOML."""
    key = tuple(error.absolute_path)
    if error.validator == "additionalProperties":
        known = [*error.schema.get("properties", {}), *error.schema.get("patternProperties", {})]
        unknown = next(name for name in error.instance if name not in known)
        if "patternProperties" in error.schema:
            return (*key, unknown), f"a name is {error.schema['x-names']}"
        close = get_close_matches(unknown, known, 1)
        hint = f", did you mean {close[0]}?" if close else ""
        return (*key, unknown), f"there is no such key{hint}"
    if error.validator == "required":
        missing = next(name for name in error.validator_value if name not in error.instance)
        return key, f"{missing} is missing"
    if error.validator == "enum":
        words = ", ".join(map(str, error.validator_value))
        return key, f"expected one of {words}; found {error.instance!r}"
    return key, error.message


def _filled(rule: dict[str, Any], value: Any) -> Any:
    """Put the schema's defaults where nothing stands; impairments wait for `both`."""
    if "$ref" in rule:
        rule = schema()["$defs"][rule["$ref"].rpartition("/")[2]]
    if "then" in rule and isinstance(value, dict):
        rule = schema()["$defs"]["crowd"]
    if isinstance(value, list):
        return [_filled(rule.get("items", {}), item) for item in value]
    if not isinstance(value, dict):
        return value
    for name, inner in rule.get("properties", {}).items():
        if inner.get("$ref", "").endswith("impairment"):
            continue
        if name not in value:
            if "default" in inner:
                value[name] = deepcopy(inner["default"])
                continue
            reference = inner.get("$ref", "")
            if reference.endswith(("sctp", "end", "application", "capture")):
                value[name] = {}
            elif inner.get("type") == "array":
                value[name] = []
            else:
                continue
        value[name] = _filled(inner, value[name])
    for inner in rule.get("patternProperties", {}).values():
        value = {name: _filled(inner, item) for name, item in value.items()}
    return value


def _mistakes(settings: dict[str, Any]) -> Iterator[tuple[Key, str]]:
    """Yield what a schema cannot say, in the order of the document."""
    paths = settings["paths"]
    taken: dict[str, Key] = {}
    for name, path in paths.items():
        if name in RESERVED:
            yield ("paths", name), "this name is the kernel's or tcpdump's own"
        families = set()
        for host in ENDS:
            key: Key = ("paths", name, host)
            try:
                address = ip_address(path[host])
            except ValueError:
                yield key, f"expected an IPv4 or IPv6 address, found {path[host]!r}"
                continue
            if getattr(address, "scope_id", None) is not None:
                # Python takes any text for one, spaces and newlines too: `ip -batch` would read it.
                yield key, f"expected an address without a zone, found {path[host]!r}"
            if str(address) in taken:
                yield key, f"{address} is taken by {shown(taken[str(address)])}"
            taken[str(address)] = key
            families.add(address.version)
        if len(families) == 2:
            yield ("paths", name), "client and server have addresses of different families"
    yield from _mistakes_of_application(settings)
    for number, action in enumerate(settings["actions"]):
        yield from _mistakes_of_action(settings, number, action)
    own = settings["distributions"]
    yield from impairments.mistakes_of(paths, settings["actions"], own)
    yield from _mistakes_of_background(settings)


def _mistakes_of_background(settings: dict[str, Any]) -> Iterator[tuple[Key, str]]:
    if sum(flow["flows"] for flow in settings["background"]) > MOST_FLOWS:
        yield ("background",), f"expected {MOST_FLOWS} flows at most, all together"
    for number, flow in enumerate(settings["background"]):
        if flow["path"] not in settings["paths"]:
            yield ("background", number, "path"), f"there is no path {flow['path']!r}"
        if flow["protocol"] == "udp" and "rate_kbit" not in flow:
            yield ("background", number), "a flow of udp needs rate_kbit"
        if flow.get("stop_s", settings["duration_s"]) <= flow["start_s"]:
            yield ("background", number, "start_s"), "it stops before it starts"


def _mistakes_of_application(settings: dict[str, Any]) -> Iterator[tuple[Key, str]]:
    paths, application = settings["paths"], settings["application"]
    there = {host: [name for name in paths if at_start(paths[name], host)] for host in ENDS}
    if not set(there["client"]) & set(there["server"]):
        yield ("paths",), "no path is there at the start"
    if len({":" in paths[name]["client"] for name in (*there["client"], *there["server"])}) == 2:
        yield ("paths",), "the addresses at the start are not all of IPv4, nor all of IPv6"
    primary = application.get("primary")
    if primary is not None and primary not in paths:
        yield ("application", "primary"), f"there is no path {primary!r}"
    elif primary is not None and paths[primary]["at_start"] is not True:
        yield ("application", "primary"), f"{primary} is not there at the start"
    if application["protocol"] == "udp" and application["kind"] in ("bulk", "upload"):
        yield ("application", "kind"), "udp knows no congestion: fixed-rate or request-response"


def _mistakes_of_action(
    settings: dict[str, Any], number: int, action: dict[str, Any]
) -> Iterator[tuple[Key, str]]:
    key: Key = ("actions", number)
    does = action["do"]
    if action["at_s"] >= settings["duration_s"]:
        yield (*key, "at_s"), f"the run is over after {settings['duration_s']} s"
    if does in NEEDS_PATH:
        if "path" not in action:
            yield key, f"{does} needs a path"
        elif action["path"] not in settings["paths"]:
            yield (*key, "path"), f"there is no path {action['path']!r}"
    if does == "impair" and "impairment" not in action:
        yield key, "impair needs an impairment"
    if does not in IMPAIRING and "impairment" in action:
        yield (*key, "impairment"), f"{does} takes none"
    if action["reset"] and "impairment" not in action:
        yield (*key, "reset"), "there is no impairment to begin anew with"
    if does not in LINK_ACTIONS and settings["application"]["protocol"] != "sctp":
        yield (*key, "do"), f"{does} is of SCTP, the application speaks another protocol"
    if does == "restart" and settings["application"]["kind"] == "recorded":
        yield (*key, "do"), "what was recorded is of one association"
    if does == "restart" and action["host"] != "client":
        yield (*key, "host"), "only the client can set the association up again"
    if does in ("address-add", "address-delete", "set-peer-primary"):
        host = action["host"]
        if not settings[host]["sctp"]["asconf"]:
            yield (*key, "do"), f"{does} needs sctp.asconf = true"
