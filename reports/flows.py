"""TCP and UDP flows, MPTCP connections and ICMP errors in the console report."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.console import Group
from rich.text import Text

from ..analyzer.context import ENDS
from .layout import ABSENT, SEVERITY_STYLE, Fitted, grid, number, section, shown, time
from .units import bits_per_second, duration, ratio

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import RenderableType

    from ..analyzer.flow_model import Connection, Flow, IcmpError, Quoted, Socket, Timeline
    from ..analyzer.measure import Measure
    from ..analyzer.model import End

MOST_ROWS = 20
"""Rows of one table; more would not be read."""

KEYS = ("flow", "path", "sender")
PLACES = ("address", "start", "lasted", "end")
NUMBERS = (
    "packets", "payload", "throughput", "goodput", "again", "ratio", "RTT", "lost", "jitter",
)  # fmt: skip


def flows_section(flows: Sequence[Flow], start_ns: int) -> Group:
    """Show the flows with the most bytes, the largest first."""
    largest = sorted(flows, key=_wire_bytes, reverse=True)[:MOST_ROWS]
    rows = [_flow_row(flow, end, start_ns) for flow in largest for end in ENDS]
    used = {name for row in rows for name, cell in row.items() if cell not in ("", ABSENT)}
    keys, places, numbers = (
        tuple(name for name in names if name in used) for names in (KEYS, PLACES, NUMBERS)
    )
    table = Fitted(keys, places, numbers, ("start", "lasted", *numbers), rows)
    return section("TCP and UDP flows", _with_more(table, len(flows), "flows"))


def _with_more(table: Fitted, count: int, name: str) -> Group:
    left = count - MOST_ROWS
    if left <= 0:
        return Group(table)
    return Group(table, f"{left} more: pathscope dissect CAPTURE --table {name}")


def _wire_bytes(flow: Flow) -> int:
    return sum(int(flow.directions[end].metrics["wire_bytes"].value or 0) for end in ENDS)


def _flow_row(flow: Flow, end: End, start_ns: int) -> dict[str, str]:
    metrics = flow.directions[end].metrics
    first = end == "a"
    addresses = "-".join(flow.endpoints[one].address for one in ENDS)
    lasted_s = ((flow.end.ns or 0) - (flow.start.ns or 0)) / 1e9
    return {
        "flow": f"{flow.number} {flow.protocol}" if first else "",
        "path": flow.label if first and flow.label != addresses else "",
        "sender": end,
        "address": _socket(flow.endpoints[end]),
        "start": time(flow.start, start_ns) if first else "",
        "lasted": duration(lasted_s) if first else "",
        "end": _end(flow) if first else "",
        "packets": number(metrics["packets"]),
        "payload": number(metrics["payload_bytes"]),
        "throughput": shown(metrics["throughput_bps"], bits_per_second),
        "goodput": shown(metrics["goodput_bps"], bits_per_second),
        "again": number(metrics["retransmitted_packets"]),
        "ratio": shown(metrics["retransmission_ratio"], ratio),
        "RTT": _nanoseconds(metrics["rtt_mean_ns"]),
        "lost": shown(metrics["loss_ratio"], ratio),
        "jitter": _nanoseconds(metrics["jitter_ns"]),
    }


def _nanoseconds(measure: Measure) -> str:
    return shown(measure, lambda ns: duration(ns / 1e9))


def _socket(socket: Socket) -> str:
    return _place(socket.address, socket.port)


def _place(address: str, port: int | None) -> str:
    if port is None:
        return address
    return f"[{address}]:{port}" if ":" in address else f"{address}:{port}"


def _end(flow: Flow) -> str:
    if flow.protocol == "udp" and flow.how_it_ended == "open":
        return ""  # UDP has no end
    by = f" by {flow.ended_by}" if flow.ended_by is not None else ""
    reason = f": {flow.reset_reason}" if flow.reset_reason is not None else ""
    return f"{flow.how_it_ended}{by}{reason}"


def connection_section(connection: Connection, start_ns: int) -> Group:
    """Show the subflows of an MPTCP connection, and which of them carried most, when."""
    rows = []
    for subflow in connection.subflows:
        for end in ENDS:
            sent = subflow.senders[end]
            first = end == "a"
            kind = f"{subflow.kind}, backup" if subflow.backup else subflow.kind
            rows.append(
                {
                    "flow": str(subflow.flow) if first else "",
                    "path": subflow.label if first else "",
                    "sender": end,
                    "by": kind if first else "",
                    "joined after": _time_s(subflow.metrics["joined_after_s"]) if first else "",
                    "set up in": _time_s(subflow.metrics["establishment_s"]) if first else "",
                    "payload": number(sent["payload_bytes"]),
                    "mapped": number(sent["mapped_bytes"]),
                    "share": shown(sent["share_ratio"], ratio),
                    "reinjected": number(sent["reinjected_bytes"]),
                    "again": shown(sent["retransmission_ratio"], ratio),
                    "RTT": shown(sent["rtt_mean_ns"], lambda ns: duration(ns / 1e9)),
                }
            )
    numbers = ("payload", "mapped", "share", "reinjected", "again", "RTT")
    times = ("joined after", "set up in")
    table = Fitted(KEYS, ("by", *times), numbers, (*times, *numbers), rows)
    lines = [_timeline(end, connection, start_ns) for end in ENDS]
    title = f"MPTCP connection {connection.number}"
    return section(title, Group(table, "", *lines))


def _time_s(measure: Measure) -> str:
    return shown(measure, duration)


def _timeline(end: End, connection: Connection, start_ns: int) -> str:
    timeline: Timeline = connection.timelines[end]
    if timeline.first_flow is None:
        return f"{end} sent no payload"
    labels = {subflow.flow: f"flow {subflow.flow}" for subflow in connection.subflows}
    line = f"{end}: most of its new payload on {labels[timeline.first_flow]}"
    for switch in timeline.switches[:MOST_ROWS]:
        line += f" -> {labels[switch.to_flow]} at {time(switch.at, start_ns)}"
    if len(timeline.switches) > MOST_ROWS:
        line += f" and {len(timeline.switches) - MOST_ROWS} more switches"
    if timeline.concurrent:
        line += ", back and forth all the time"
    shared = timeline.shared_ratio
    if shared.value:
        line += f"; on several at once in {ratio(float(shared.value))} of the bins"
    return line


def findings_section(flows: Sequence[Flow]) -> Group:
    """Show what looks wrong with flows, the worst first."""
    found = [(flow, finding) for flow in flows for finding in flow.findings]
    found.sort(key=lambda one: list(SEVERITY_STYLE).index(one[1].severity))
    table = grid("", "flow", "", "frames")
    for flow, finding in found[:MOST_ROWS]:
        table.add_row(
            Text(finding.severity, style=SEVERITY_STYLE[finding.severity]),
            str(flow.number),
            finding.text,
            ", ".join(map(str, finding.frames)),
        )
    parts: list[RenderableType] = [table]
    if len(found) > MOST_ROWS:
        parts.append(f"{len(found) - MOST_ROWS} more: pathscope analyze --json")
    return section("What looks wrong with flows", Group(*parts))


def icmp_section(errors: Sequence[IcmpError], start_ns: int) -> Group:
    """Show ICMP errors, equal ones as one."""
    groups: dict[tuple[str, ...], list[IcmpError]] = {}
    for error in errors:
        mtu = "" if error.mtu_bytes is None else str(error.mtu_bytes)
        about = "unreadable quote" if error.quoted is None else _about(error.quoted)
        groups.setdefault((error.source, error.name, mtu, about), []).append(error)
    table = grid(
        "first", "frame", "times", "from", "says", "MTU", "of a packet of", right=("frame", "times")
    )
    for (source, name, mtu, about), equal in list(groups.items())[:MOST_ROWS]:
        first = equal[0].at
        table.add_row(
            time(first, start_ns), str(first.frame), str(len(equal)), source, name, mtu, about
        )
    parts: list[RenderableType] = [table]
    if len(groups) > MOST_ROWS:
        parts.append(f"{len(groups) - MOST_ROWS} more: pathscope dissect CAPTURE --table icmp")
    return section("ICMP errors", Group(*parts))


def _about(quoted: Quoted) -> str:
    if quoted.flow is not None:
        return f"flow {quoted.flow}, sent by {quoted.sender}"
    if quoted.association is not None:
        return f"association {quoted.association}, sent by {quoted.sender}"
    source = _place(quoted.source, quoted.source_port)
    destination = _place(quoted.destination, quoted.destination_port)
    return f"{source} to {destination}, protocol {quoted.protocol}"
