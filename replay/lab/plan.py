"""From a scenario to what is done: pure lists of commands, which the lab runs inside a kernel.

Three hosts, each a network namespace: client, middle, server. Every path is a bridge of its own in
the middle. Netem sits on the middle's ports, one per direction and never on an end's own egress:
what a sender's own qdisc drops, its capture does not show, and its socket is told of.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from ipaddress import ip_address
from typing import TYPE_CHECKING, Any

from . import netem

if TYPE_CHECKING:
    from .scenario import Scenario

HOSTS = ("client", "middle", "server")

PREFIX_LENGTH = {4: 24, 6: 64}

PORT = 5000
"""Of the application's server; background flows take the ports after it."""

TOWARDS = {"to_server": "server", "to_client": "client"}

SYSCTLS = {
    "rto_initial_ms": "rto_initial",
    "rto_min_ms": "rto_min",
    "rto_max_ms": "rto_max",
    "path_max_retrans": "path_max_retrans",
    "association_max_retrans": "association_max_retrans",
    "hb_interval_ms": "hb_interval",
    "sack_delay_ms": "sack_timeout",
    "potentially_failed": "pf_enable",
    "pf_max_retrans": "pf_retrans",
    "partial_reliability": "prsctp_enable",
    "interleaving": "intl_enable",
}
"""Settings of a scenario, and the files under /proc/sys/net/sctp that hold them."""


@dataclass(frozen=True, slots=True)
class Port:
    """The middle's end of a link: where one direction of a path is impaired.

    `direction` is `to_server` or `to_client`; `arguments` are netem's at the start.
    """

    path: str
    direction: str
    device: str
    arguments: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Change:
    """A link's impairment that changes: `at_s` after the association is up."""

    at_s: float
    note: str
    path: str
    ports: tuple[tuple[str, tuple[str, ...]], ...]
    """Device and netem's arguments from now on."""
    direction: str


@dataclass(frozen=True, slots=True)
class Request:
    """Something that the application of a host is to do: `at_s` after the association is up."""

    at_s: float
    host: str
    what: dict[str, Any]


@dataclass(slots=True)
class Plan:
    """All that a run does, in the order in which it is done.

    Attributes
    ----------
    links
        Lines for `ip -batch`, in the namespace named.
    sysctls
        Files under /proc/sys and what to write, by host.
    ports
        Where netem sits.
    timeline
        What happens while the application runs, by time.
    """

    links: list[tuple[str, list[str]]] = field(default_factory=list)
    sysctls: dict[str, dict[str, str]] = field(default_factory=dict)
    ports: list[Port] = field(default_factory=list)
    timeline: list[Change | Request] = field(default_factory=list)


def plan(scenario: Scenario) -> Plan:
    """Return what a run of the scenario does."""
    made = Plan()
    for number, (name, path) in enumerate(scenario.paths.items(), 1):
        _link(made, number, name, path)
    for host in ("client", "server"):
        made.sysctls[host] = _sysctls(scenario.sctp(host))
    made.sysctls["middle"] = {"net/ipv6/conf/all/disable_ipv6": "1"}
    made.timeline = sorted(_timeline(scenario, made.ports), key=lambda step: step.at_s)
    return made


def _link(made: Plan, number: int, name: str, path: dict[str, Any]) -> None:
    """Two cables and a bridge between them."""
    mtu = path["mtu_bytes"]
    bridge = f"bridge{number}"
    middle = [
        f"link add {bridge} mtu {mtu} type bridge stp_state 0 forward_delay 0 mcast_snooping 0"
    ]
    for host in ("client", "server"):
        port = f"{host}{number}"
        middle.append(
            f"link add {port} mtu {mtu} type veth peer name {name} mtu {mtu} netns {{{host}}}"
        )
        middle.append(f"link set {port} master {bridge} up")
        address = ip_address(path[host])
        nodad = " nodad" if address.version == 6 else ""
        ends = [f"address add {address}/{PREFIX_LENGTH[address.version]} dev {name}{nodad}"]
        made.links.append((host, [f"link set {name} up", *ends]))
    middle.append(f"link set {bridge} up")
    # The middle's cables first: they bring the ends' interfaces.
    made.links.insert(number - 1, ("middle", middle))
    for direction, host in TOWARDS.items():
        made.ports.append(
            Port(name, direction, f"{host}{number}", netem.arguments(path[direction]))
        )


def _sysctls(sctp: dict[str, Any]) -> dict[str, str]:
    found = {f"net/sctp/{file}": str(int(sctp[name])) for name, file in SYSCTLS.items()}
    # pf_retrans above path_max_retrans means: no potentially failed state.
    if not sctp["potentially_failed"]:
        found["net/sctp/pf_retrans"] = "65535"
    asconf = str(int(sctp["asconf"]))
    found |= {"net/sctp/addip_enable": asconf, "net/sctp/addip_noauth_enable": asconf}
    if sctp["udp_port"]:
        found |= {f"net/sctp/{file}": str(sctp["udp_port"]) for file in ("udp_port", "encap_port")}
    return found


def _timeline(scenario: Scenario, ports: list[Port]) -> list[Change | Request]:
    found: list[Change | Request] = []
    for action in sorted(scenario["actions"], key=lambda action: action["at_s"]):
        does, at_s = action["do"], float(action["at_s"])
        if does in ("link-down", "link-up", "impair"):
            found.append(_change(scenario, ports, action))
        elif does == "restart":
            found.append(Request(at_s, action["host"], {"do": "restart"}))
        else:
            path = scenario.paths[action["path"]]
            addresses = {"client": path["client"], "server": path["server"]}
            found.append(
                Request(at_s, action["host"], {"do": does, "path": action["path"]} | addresses)
            )
    return found


def _change(scenario: Scenario, ports: list[Port], action: dict[str, Any]) -> Change:
    name, direction = action["path"], action["direction"]
    own = scenario.paths[name]
    changed = []
    for port in ports:
        if port.path != name or direction not in ("both", port.direction):
            continue
        if action["do"] == "link-down":
            changed.append((port.device, netem.DOWN))
        else:
            given = action.get("impairment", {}) if action["do"] == "impair" else {}
            changed.append((port.device, netem.arguments(own[port.direction] | given)))
    note = {"link-down": "down", "link-up": "up"}.get(action["do"], "impaired")
    return Change(float(action["at_s"]), note, name, tuple(changed), direction)
