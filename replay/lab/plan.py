"""From a scenario to what is done: pure lists of commands, which the lab runs inside a kernel.

Three hosts, each a network namespace: client, middle, server. Every path is a bridge of its own in
the middle. Netem sits on the middle's ports, one per direction and never on an end's own egress:
what a sender's own qdisc drops, its capture does not show, and its socket is told of.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from ipaddress import ip_address
from typing import TYPE_CHECKING, Any

from . import impairment, messages, neighbours, netem
from .scenario import ENDS, at_start

if TYPE_CHECKING:
    from .scenario import Scenario

HOSTS = ("client", "middle", "server")
"""Of every run; neighbours are a fourth where there are some."""

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
    """A link's impairment that changes: `at_s` after the association is up.

    `ports` are devices with netem's arguments from now on; `note` is what the log says of it.
    """

    at_s: float
    ports: tuple[tuple[str, tuple[str, ...]], ...]
    note: dict[str, str]


@dataclass(frozen=True, slots=True)
class Request:
    """Something that the application of a host is to do: `at_s` after the association is up."""

    at_s: float
    host: str
    what: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Restart:
    """A host that forgets its association and sets it up again, `at_s` after it was up first."""

    at_s: float
    host: str


Step = Change | Request | Restart


@dataclass(slots=True)
class Plan:
    """All that a run does, in the order in which it is done.

    Attributes
    ----------
    hosts
        Namespaces.
    links
        Lines for `ip -batch`, with the host in whose namespace they are for.
    sysctls
        Files under /proc/sys and what to write, by host.
    devices
        Interfaces of the hosts around the middle: host and name.
    ports
        Where netem sits.
    orders
        What the application of each end is told.
    traffic
        Flows of background traffic, as each end is told of them; no end without flows.
    timeline
        What happens while the application runs, by time.
    """

    hosts: list[str] = field(default_factory=lambda: list(HOSTS))
    links: list[tuple[str, list[str]]] = field(default_factory=list)
    devices: list[tuple[str, str]] = field(default_factory=list)
    sysctls: dict[str, dict[str, str]] = field(default_factory=dict)
    ports: list[Port] = field(default_factory=list)
    orders: dict[str, dict[str, Any]] = field(default_factory=dict)
    traffic: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    timeline: list[Step] = field(default_factory=list)

    @property
    def impairments(self) -> list[tuple[str, tuple[str, ...]]]:
        """Devices with netem's arguments at the start."""
        return [(port.device, port.arguments) for port in self.ports]


def plan(scenario: Scenario) -> Plan:
    """Return what a run of the scenario does."""
    made = Plan()
    for number, (name, path) in enumerate(scenario.paths.items(), 1):
        _link(made, number, name, path)
    if neighbours.paths(scenario):
        _neighbours(made, scenario)
    for host in ENDS:
        made.sysctls[host] = _sysctls(scenario.sctp(host))
        made.orders[host] = _orders(scenario, host)
    made.sysctls["middle"] = {"net/ipv6/conf/all/disable_ipv6": "1"}
    made.traffic = _traffic(scenario)
    made.timeline = [_step(scenario, made.ports, action) for action in scenario["actions"]]
    made.timeline.sort(key=lambda step: step.at_s)
    return made


def _link(made: Plan, number: int, name: str, path: dict[str, Any]) -> None:
    """Two cables and a bridge between them."""
    mtu = path["mtu_bytes"]
    bridge = f"bridge{number}"
    middle = [
        f"link add name {bridge} mtu {mtu} type bridge stp_state 0 forward_delay 0 mcast_snooping 0"
    ]
    for host in ENDS:
        port = f"{host}{number}"
        middle.append(
            f"link add name {port} mtu {mtu} type veth peer name {name} mtu {mtu} netns {host}"
        )
        middle.append(f"link set dev {port} master {bridge} up")
        address = [address_line(name, path[host])] if at_start(path, host) else []
        made.links.append((host, [f"link set dev {name} up", *address]))
        made.devices.append((host, name))
    middle.append(f"link set dev {bridge} up")
    # The middle's cables first: they bring the ends' interfaces.
    made.links.insert(number - 1, ("middle", middle))
    for direction, host in TOWARDS.items():
        made.ports.append(
            Port(name, direction, f"{host}{number}", netem.arguments(path[direction]))
        )


def _neighbours(made: Plan, scenario: Scenario) -> None:
    """A host more, with a cable to the bridge of every path that it is on."""
    made.hosts.append(neighbours.HOST)
    made.sysctls[neighbours.HOST] = _sysctls(scenario.sctp("client"))
    wanted = neighbours.paths(scenario)
    for number, (name, path) in enumerate(scenario.paths.items(), 1):
        if name not in wanted:
            continue
        port, mtu = neighbours.port(number), path["mtu_bytes"]
        veth = f"type veth peer name {name} mtu {mtu} netns {neighbours.HOST}"
        cable = [
            f"link add name {port} mtu {mtu} {veth}",
            f"link set dev {port} master bridge{number} up",
        ]
        own = [f"link set dev {name} up", address_line(name, neighbours.address(path))]
        made.links += [("middle", cable), (neighbours.HOST, own)]
        made.devices.append((neighbours.HOST, name))
        made.ports.append(Port(name, "to_client", port, netem.arguments(path["to_client"])))


def address_line(device: str, text: str) -> str:
    """Return the line for `ip -batch` that gives a device its address."""
    address = ip_address(text)
    nodad = " nodad" if address.version == 6 else ""
    length = neighbours.PREFIX_LENGTH[address.version]
    return f"address add {address}/{length} dev {device}{nodad}"


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


def _orders(scenario: Scenario, host: str) -> dict[str, Any]:
    application: dict[str, Any] = scenario["application"]
    sctp = scenario.sctp(host)
    primary = application.get("primary")
    # An association is set up on the first path, and TCP and UDP have no other.
    names = sorted(
        scenario.paths,
        key=lambda name: (scenario.paths[name]["at_start"] is not True, name != primary),
    )
    paths = [scenario.paths[name] for name in names]
    other = "server" if host == "client" else "client"
    peers = [path[other] for path in paths if at_start(path, other)]
    recorded = {}
    if application["kind"] == "recorded":
        recorded["messages"] = str(scenario.folder / messages.file_name(host))
    buffers = {name: sctp[name] for name in sctp if name.endswith("_buffer_bytes")}
    return (
        application
        | buffers
        | recorded
        | {
            "role": host,
            "own": [path[host] for path in paths if at_start(path, host)],
            "peer": peers,
            "primary": peers[0] if primary is not None else None,
            "port": PORT,
            "bind_port": PORT if host == "server" else 0,
            "interleaving": sctp["interleaving"],
            "duration_s": scenario["duration_s"],
        }
    )


def _traffic(scenario: Scenario) -> dict[str, list[dict[str, Any]]]:
    """Every flow of the background, twice: as each end sees it."""
    found: dict[str, list[dict[str, Any]]] = {}
    port = PORT
    for flow in scenario["background"]:
        path = scenario.paths[flow["path"]]
        near = (
            (neighbours.HOST, neighbours.address(path))
            if flow["neighbour"]
            else ("client", path["client"])
        )
        hosts = {"client": near, "server": ("server", path["server"])}
        for _ in range(flow["flows"]):
            port += 1
            for role, other in (ENDS, ENDS[::-1]):
                host, own = hosts[role]
                orders = flow | {"role": role, "sends": flow["sender"] == role, "port": port}
                orders |= {"own": own, "peer": hosts[other][1]}
                orders.setdefault("stop_s", scenario["duration_s"])
                found.setdefault(host, []).append(orders)
    return found


def _step(scenario: Scenario, ports: list[Port], action: dict[str, Any]) -> Step:
    does, at_s = action["do"], float(action["at_s"])
    if does in ("link-down", "link-up", "impair"):
        return _change(scenario, ports, action)
    if does == "restart":
        return Restart(at_s, action["host"])
    path = scenario.paths[action["path"]]
    what = {"do": does, "path": action["path"], "client": path["client"], "server": path["server"]}
    return Request(at_s, action["host"], what)


def _change(scenario: Scenario, ports: list[Port], action: dict[str, Any]) -> Change:
    name, direction, does = action["path"], action["direction"], action["do"]
    own = scenario.paths[name]
    changed = []
    for port in ports:
        if port.path != name or direction not in ("both", port.direction):
            continue
        base = impairment.complete({}) if action["reset"] else own[port.direction]
        arguments = netem.arguments(base | action.get("impairment", {}))
        changed.append((port.device, netem.DOWN if does == "link-down" else arguments))
    # Only a link that goes or comes is one to the analyzer (docs/events.md).
    note = {"event": "impair", "link": name, "direction": direction}
    if does != "impair":
        note |= {"event": "link", "note": does.removeprefix("link-")}
    note["netem"] = " / ".join(" ".join(arguments) for _, arguments in changed)
    return Change(float(action["at_s"]), tuple(changed), note)
