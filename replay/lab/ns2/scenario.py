"""The settings of a scenario for ns-2: checked, and completed.

The format is `ns2.schema.json`; what a schema cannot say (that a node exists, that an interface
belongs to its host) is checked here, because ns-2 either stops in the middle of a run or, worse,
goes on without a word. Names are letters, digits, `_` and `-`, so that none of them is Tcl.
"""

from __future__ import annotations

import json
from copy import deepcopy
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..finite import EXPECTED, not_finite

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from ..scenario import Key

HEADERS_BYTES = 32
"""IP's header and SCTP's common header, as ns-2 counts them."""


@cache
def schema() -> dict[str, Any]:
    """Return the JSON Schema of scenarios for ns-2."""
    text = Path(__file__).with_name("ns2.schema.json").read_text(encoding="utf-8")
    found: dict[str, Any] = json.loads(text)
    return found


def checked(document: Mapping[str, Any], refuse: Callable[[Key, str], Exception]) -> dict[str, Any]:
    """Return the settings of a scenario, with the schema's defaults filled in.

    Parameters
    ----------
    document
        As from TOML.
    refuse
        Makes the error for a key and what is wrong with it.
    """
    import jsonschema

    for key in not_finite(document):
        raise refuse(key, EXPECTED)
    validator = jsonschema.Draft202012Validator(schema())
    errors = sorted(validator.iter_errors(document), key=lambda error: list(map(str, error.path)))
    for error in errors:
        raise refuse(tuple(error.absolute_path), error.message)
    settings: dict[str, Any] = _filled(schema(), deepcopy(dict(document)))
    for key, what in _mistakes(settings):
        raise refuse(key, what)
    return settings


def ends(link: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return the pairs of nodes that a link's statement joins, in their order."""
    given = link["from"]
    return [(node, link["to"]) for node in ([given] if isinstance(given, str) else given)]


def directions(link: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return the pairs of nodes that a link takes packets from and to."""
    forward = ends(link)
    return forward + [pair[::-1] for pair in forward] if link["duplex"] else forward


def _filled(rule: Mapping[str, Any], value: Any) -> Any:
    if "$ref" in rule:
        rule = schema()["$defs"][rule["$ref"].rpartition("/")[2]]
    if isinstance(value, list):
        return [_filled(rule.get("items", {}), item) for item in value]
    if not isinstance(value, dict):
        return value
    inner = rule.get("properties", {})
    missing = {
        name: deepcopy(rule["default"])
        for name, rule in inner.items()
        if name not in value and "default" in rule
    }
    return {name: _filled(inner.get(name, {}), item) for name, item in (value | missing).items()}


def _mistakes(settings: dict[str, Any]) -> Iterator[tuple[Key, str]]:
    """Yield what a schema cannot say."""
    yield from _mistakes_of_hosts(settings)
    for number, link in enumerate(settings["links"]):
        yield from _mistakes_of_link(settings, link, ("links", number))
    names = [flow["name"] for flow in settings["flows"]]
    for number, flow in enumerate(settings["flows"]):
        if flow["name"] in names[:number]:
            yield ("flows", number, "name"), f"{flow['name']} is the name of another flow"
        yield from _mistakes_of_flow(settings, flow, ("flows", number))
    for number, action in enumerate(settings["actions"]):
        yield from _mistakes_of_action(settings, action, ("actions", number))


def _mistakes_of_hosts(settings: dict[str, Any]) -> Iterator[tuple[Key, str]]:
    hosts = settings.get("multihomed", {})
    taken: set[str] = set()
    for host, interfaces in hosts.items():
        key: Key = ("multihomed", host)
        for node in (host, *interfaces):
            if node not in settings["nodes"]:
                yield key, f"there is no node {node!r}"
        for node in interfaces:
            if node in hosts or node in taken:
                yield key, f"{node} cannot be an interface of {host}: it is taken"
            taken.add(node)


def _mistakes_of_link(
    settings: dict[str, Any], link: dict[str, Any], key: Key
) -> Iterator[tuple[Key, str]]:
    for pair in ends(link):
        for side, node in zip(("from", "to"), pair, strict=True):
            if node not in settings["nodes"]:
                yield (*key, side), f"there is no node {node!r}"
            if node in settings.get("multihomed", {}):
                yield (*key, side), f"{node} is a multihomed host: its interfaces have the links"
        if pair[0] == pair[1]:
            yield (*key, "to"), f"{pair[0]} cannot be linked to itself"
    if "lost_packets" in link and "loss_percent" in link:
        yield (*key, "lost_packets"), "a link has this or loss_percent, not both"


def _mistakes_of_flow(
    settings: dict[str, Any], flow: dict[str, Any], key: Key
) -> Iterator[tuple[Key, str]]:
    hosts = settings.get("multihomed", {})
    protocol = flow["protocol"]
    for side in ("from", "to"):
        if flow[side] not in settings["nodes"]:
            yield (*key, side), f"there is no node {flow[side]!r}"
        if flow[side] in hosts and protocol != "sctp":
            yield (*key, side), f"{flow[side]} is a multihomed host, which {protocol} cannot use"
    if flow["from"] == flow["to"]:
        yield (*key, "to"), "the flow ends where it begins"
    if protocol == "udp" and flow["application"] != "cbr":
        yield (*key, "application"), "over udp there is only cbr"
    for name in ("packet_bytes", "rate_kbit", "random"):
        if flow["application"] != "cbr" and name in flow:
            yield (*key, name), "only cbr has this"
    for other in ("sctp", "tcp"):
        if other in flow and protocol != other:
            yield (*key, other), f"the flow is {protocol}"
    if "primary" in flow:
        yield from _mistakes_of_primary(hosts, flow, flow["primary"], (*key, "primary"))
    yield from _mistakes_of_times(settings, flow, key)
    if protocol == "sctp":
        yield from _mistakes_of_sctp(settings, flow, key)


def _mistakes_of_times(
    settings: dict[str, Any], flow: dict[str, Any], key: Key
) -> Iterator[tuple[Key, str]]:
    duration_s = settings["duration_s"]
    if flow["start_s"] >= duration_s:
        yield (*key, "start_s"), f"the run is over after {duration_s} s"
    if flow.get("stop_s", duration_s) <= flow["start_s"]:
        yield (*key, "stop_s"), "it stops before it starts"


def _mistakes_of_sctp(
    settings: dict[str, Any], flow: dict[str, Any], key: Key
) -> Iterator[tuple[Key, str]]:
    own = flow.get("sctp", {})
    given = settings.get("sctp", {}) | own
    place: Key = (*key, "sctp") if own else ("sctp",) if given else key
    rules = schema()["$defs"]["sctp"]["properties"]
    sctp = {name: rule.get("x-ns2") for name, rule in rules.items()} | given
    mtu, chunk = sctp["mtu_bytes"], sctp["chunk_bytes"]
    if chunk + HEADERS_BYTES > mtu:
        what = f"a chunk of {chunk} bytes, with headers of {HEADERS_BYTES}, is above the MTU, {mtu}"
        yield (*place, "chunk_bytes"), what
    if sctp["rto_min_ms"] > sctp["rto_max_ms"]:
        yield (*place, "rto_min_ms"), "it is above rto_max_ms"


def _mistakes_of_primary(
    hosts: Mapping[str, list[str]], flow: dict[str, Any], node: str, key: Key
) -> Iterator[tuple[Key, str]]:
    if flow["protocol"] != "sctp":
        yield key, f"{flow['name']} is {flow['protocol']}: only sctp has a primary destination"
    elif node not in hosts.get(flow["to"], ()):
        yield key, f"{node} is no interface of {flow['to']}"


def _mistakes_of_action(
    settings: dict[str, Any], action: dict[str, Any], key: Key
) -> Iterator[tuple[Key, str]]:
    does = action["do"]
    if action["at_s"] >= settings["duration_s"]:
        yield (*key, "at_s"), f"the run is over after {settings['duration_s']} s"
    needed = ("flow", "to") if does == "set-primary" else ("from", "to")
    for name in ("flow", "from", "to"):
        if name in needed and name not in action:
            yield key, f"{does} needs {' and '.join(needed)}"
            return
        if name not in needed and name in action:
            yield (*key, name), f"{does} has no use for it"
    if does == "set-primary":
        flows = {flow["name"]: flow for flow in settings["flows"]}
        if action["flow"] not in flows:
            yield (*key, "flow"), f"there is no flow {action['flow']!r}"
            return
        hosts = settings.get("multihomed", {})
        flow = flows[action["flow"]]
        yield from _mistakes_of_primary(hosts, flow, action["to"], (*key, "to"))
        return
    pair = (action["from"], action["to"])
    for one, other in (pair,) if action["one_way"] else (pair, pair[::-1]):
        joining = [link for link in settings["links"] if (one, other) in directions(link)]
        if not joining:
            yield key, f"there is no link from {one} to {other}"
        elif any("lost_packets" in link and (one, other) in ends(link) for link in joining):
            yield key, f"the link from {one} to {other} has lost_packets, and cannot fail too"
