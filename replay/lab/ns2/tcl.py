"""The Tcl script of a scenario, as pure text.

What a scenario gives reaches the script in three forms only: names of letters, digits, `_` and
`-`; finite numbers; and words of the schema's own lists. None of them can end a Tcl word.
"""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING, Any

from .scenario import directions, ends

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from collections.abc import Set as AbstractSet

TRACE = "trace.part"
"""What the script writes; it gets its name when it is found to be complete."""

END = "end"
"""The trace's last line until then: ns-2 says nothing when a disk is full."""

SCTP = {
    "mtu_bytes": "mtu_",
    "chunk_bytes": "dataChunkSize_",
    "streams": "numOutStreams_",
    "receive_window_bytes": "initialRwnd_",
    "initial_cwnd_mtus": "initialCwnd_",
    "initial_ssthresh_bytes": "initialSsthresh_",
    "rto_initial_ms": "initialRto_",
    "rto_min_ms": "minRto_",
    "rto_max_ms": "maxRto_",
    "path_max_retrans": "pathMaxRetrans_",
    "association_max_retrans": "associationMaxRetrans_",
    "change_primary_errors": "changePrimaryThresh_",
    "hb_interval_ms": "heartbeatInterval_",
    "sack_delay_ms": "sackDelay_",
    "delayed_sacks": "useDelayedSacks_",
    "fast_retransmit_sacks": "fastRtxTrigger_",
    "retransmit_on": "rtxToAlt_",
    "ordered": "unordered_",
}
"""Settings of a scenario, and the variables of Agent/SCTP that hold them."""

RETRANSMIT_ON = {"same": 0, "alternate": 1, "time-outs-alternate": 2}

TCP = {
    "tahoe": ("Agent/TCP", "Agent/TCPSink"),
    "reno": ("Agent/TCP/Reno", "Agent/TCPSink"),
    "newreno": ("Agent/TCP/Newreno", "Agent/TCPSink"),
    "sack": ("Agent/TCP/Sack1", "Agent/TCPSink/Sack1"),
    "vegas": ("Agent/TCP/Vegas", "Agent/TCPSink"),
}
"""Variants of TCP, and the agents of their two ends."""


def script(settings: Mapping[str, Any]) -> str:
    """Return the script that makes a scenario's run, from its checked settings."""
    return "\n".join(_lines(settings)) + "\n"


def _lines(settings: Mapping[str, Any]) -> Iterator[str]:
    trace = settings["trace"]
    hosts = settings.get("multihomed", {})
    failing = {pair for action in settings["actions"] for pair in _directions(action)}
    yield "# Written from a scenario of pathscope's lab; see scenario.json beside it."
    yield f"Trace set show_sctphdr_ {trace['sctp_header']:d}"
    yield f"Trace set show_tcphdr_ {trace['tcp_header']:d}"
    if "seed" in settings:
        yield f"$defaultRNG seed {settings['seed']}"
    yield "set ns [new Simulator]"
    yield f"set trace [open {TRACE} w]"
    yield "$ns trace-all $trace"
    yield "\n# Nodes, numbered from 0 in this order."
    for name in settings["nodes"]:
        yield f"set node({name}) [$ns node]"
    for host, interfaces in hosts.items():
        for interface in interfaces:
            yield f"$ns multihome-add-interface $node({host}) $node({interface})"
    yield "\n# Links."
    for link in settings["links"]:
        for one, other in ends(link):
            yield from _link(link, one, other, failing)
    for flow in settings["flows"]:
        yield from _flow(flow, settings.get("sctp", {}) | flow.get("sctp", {}), hosts)
    yield "\n# Actions, and the end."
    for action in settings["actions"]:
        yield from _action(action, settings["links"])
    yield from (
        "proc finish {} {",
        "    global ns trace",
        "    $ns flush-trace",
        f"    puts $trace {END}",
        "    close $trace",
        "    exit 0",
        "}",
    )
    yield f"$ns at {number(settings['duration_s'])} finish"
    yield "$ns run"


def _link(
    link: Mapping[str, Any], one: str, other: str, failing: AbstractSet[tuple[str, str]]
) -> Iterator[str]:
    kind = "duplex-link" if link["duplex"] else "simplex-link"
    rate, delay = f"{number(link['rate_kbit'])}kb", f"{number(link['delay_ms'])}ms"
    yield f"$ns {kind} $node({one}) $node({other}) {rate} {delay} {link['queue']}"
    for start, end in ((one, other), (other, one)) if link["duplex"] else ((one, other),):
        direction, loss = f"$node({start}) $node({end})", f"loss({start}:{end})"
        if "queue_packets" in link:
            yield f"$ns queue-limit {direction} {link['queue_packets']}"
        if "loss_percent" in link or (start, end) in failing:
            yield f"set {loss} [new ErrorModel/Uniform {_share_lost(link)} pkt]"
            yield f"$ns link-lossmodel ${loss} {direction}"
    if "lost_packets" in link:
        yield f"set loss({one}:{other}) [new ErrorModel/List]"
        packets = " ".join(map(str, sorted(link["lost_packets"])))
        yield f"$loss({one}:{other}) droplist {{{packets}}}"
        yield f"$ns link-lossmodel $loss({one}:{other}) $node({one}) $node({other})"


def _share_lost(link: Mapping[str, Any]) -> str:
    return number(link.get("loss_percent", 0) / 100)


def _directions(action: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return the directions of the link that an action changes."""
    if action["do"] == "set-primary":
        return []
    forward = (action["from"], action["to"])
    return [forward] if action["one_way"] else [forward, forward[::-1]]


def _flow(
    flow: Mapping[str, Any], sctp: Mapping[str, Any], hosts: Mapping[str, Any]
) -> Iterator[str]:
    name = flow["name"]
    source, sink, application = f"source({name})", f"sink({name})", f"application({name})"
    yield f"\n# Flow {name}."
    nodes = (flow["from"], flow["to"])
    for end, node, (agent, variables) in zip(
        (source, sink), nodes, _agents(flow, sctp), strict=True
    ):
        yield f"set {end} [new {agent}]"
        if "flow_id" in flow:
            variables["fid_"] = str(flow["flow_id"])
        yield from (f"${end} set {variable} {value}" for variable, value in variables.items())
        attach = "multihome-attach-agent" if node in hosts else "attach-agent"
        yield f"$ns {attach} $node({node}) ${end}"
    yield f"$ns connect ${source} ${sink}"
    if "primary" in flow:
        yield f"${source} set-primary-destination $node({flow['primary']})"
    yield from _application(flow, application)
    yield f"${application} attach-agent ${source}"
    yield f'$ns at {number(flow["start_s"])} "${application} start"'
    if "stop_s" in flow:
        yield f'$ns at {number(flow["stop_s"])} "${application} stop"'


def _agents(flow: Mapping[str, Any], sctp: Mapping[str, Any]) -> list[tuple[str, dict[str, str]]]:
    """Return the agent of either end and the variables that it is given."""
    if flow["protocol"] == "sctp":
        agent = "Agent/SCTP/CMT" if sctp.get("concurrent") else "Agent/SCTP"
        return [(agent, dict(_sctp_variables(sctp))) for _ in range(2)]
    if flow["protocol"] == "tcp":
        tcp = flow.get("tcp", {})
        source, sink = TCP[tcp.get("variant", "tahoe")]
        given = {"packetSize_": tcp.get("packet_bytes"), "window_": tcp.get("window_packets")}
    else:
        source, sink = "Agent/UDP", "Agent/Null"
        # Agent/UDP cuts packets that are larger than its own size, 1000 bytes, into several.
        given = {"packetSize_": flow.get("packet_bytes")}
    variables = {name: str(value) for name, value in given.items() if value is not None}
    return [(source, variables), (sink, {})]


def _application(flow: Mapping[str, Any], application: str) -> Iterator[str]:
    if flow["application"] == "ftp":
        yield f"set {application} [new Application/FTP]"
        return
    yield f"set {application} [new Application/Traffic/CBR]"
    if "packet_bytes" in flow:
        yield f"${application} set packetSize_ {flow['packet_bytes']}"
    if "rate_kbit" in flow:
        yield f"${application} set rate_ {number(flow['rate_kbit'])}kb"
    if "random" in flow:
        yield f"${application} set random_ {flow['random']:d}"


def _sctp_variables(sctp: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for name, variable in SCTP.items():
        if name not in sctp:
            continue
        value = sctp[name]
        if name == "retransmit_on":
            value = RETRANSMIT_ON[value]
        elif name == "ordered":
            value = not value
        elif name.endswith("_ms"):
            value /= 1000
        yield variable, number(value)


def _action(action: Mapping[str, Any], links: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    at = f"$ns at {number(action['at_s'])}"
    if action["do"] == "set-primary":
        flow, to = f"$source({action['flow']})", f"$node({action['to']})"
        yield f'{at} "{flow} set-primary-destination {to}"'
    # A link fails by losing all, behind its queue: of what ns-2's own failing links refuse
    # before the queue, nothing is in the trace.
    for start, end in _directions(action):
        share = "1" if action["do"] == "link-down" else _share_lost(_joining(links, start, end))
        yield f'{at} "$loss({start}:{end}) set rate_ {share}"'


def _joining(links: Sequence[Mapping[str, Any]], start: str, end: str) -> Mapping[str, Any]:
    """Return the link that ns-2 uses from one node to another: the last that was made."""
    return [link for link in links if (start, end) in directions(link)][-1]


def number(value: float) -> str:
    """Return a number as Tcl and ns-2 both read it: without an exponent, and with every digit.

    >>> number(1e9), number(0.0000001), number(10.0), number(True)
    ('1000000000', '0.0000001', '10', '1')
    """
    if value == int(value):
        return str(int(value))
    return f"{Decimal(repr(value)):f}"
