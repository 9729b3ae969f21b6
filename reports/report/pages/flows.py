"""Flows: TCP and UDP, MPTCP connections, ICMP errors."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .. import filters
from ..blocks import Column, Facts, Figure, Link, Table
from . import common

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ..blocks import Block, Cell
    from ..data import Case
    from ..view import View

Node = dict[str, Any]
Row = tuple["Cell", ...]

NUMBERS = {
    "packets": "packets",
    "payload_bytes": "payload",
    "throughput_bps": "throughput",
    "goodput_bps": "goodput",
    "retransmitted_packets": "again",
    "retransmission_ratio": "ratio",
    "rtt_mean_ns": "RTT mean",
    "loss_ratio": "loss",
    "jitter_ns": "jitter",
}


def blocks(view: View) -> Iterator[Block]:
    """Yield what the page is made of."""
    case = view.case
    if case is None or not (case.flows or case.document["icmp_errors"]):
        yield common.nothing(
            "No TCP or UDP flow was seen", "With --no-flows they are not looked for."
        )
        return
    if view.flow is not None:
        yield _facts(case, view.flow)
        yield Figure("flows")
        yield common.findings(view.flow["findings"], view.state, view.flow["wireshark"])
    yield _flows(view, case)
    yield from _connections(case)
    yield from _icmp(view, case)
    yield from common.warnings(case.document)


def _socket(end: Node) -> str:
    return f"{end['address']} port {end['port']}"


def _facts(case: Case, flow: Node) -> Facts:
    return Facts(
        f"Flow {flow['id']}",
        (
            ("capture", common.case_name(case)),
            ("protocol", flow["protocol"]),
            ("end a", _socket(flow["endpoints"]["a"])),
            ("end b", _socket(flow["endpoints"]["b"])),
            ("lasted", f"{(flow['end_ns'] - flow['start_ns']) / 1e9:.6f} s"),
            ("how it ended", flow["end"]),
        ),
        flow["wireshark"],
    )


def _flows(view: View, case: Case) -> Table:
    columns = tuple(common.metric("flows", key, title) for key, title in NUMBERS.items())
    rows: list[Row] = [
        (
            Link(str(flow["id"]), view.state.to("flows", flow=flow["id"])),
            flow["protocol"],
            flow["label"],
            end,
            _socket(flow["endpoints"][end]),
            common.since(case, flow["start_ns"]),
            *(common.number(flow[direction]["metrics"], column) for column in columns),
            flow["wireshark"],
        )
        for flow in case.flows.values()
        for end, direction in common.SENDERS.items()
    ]
    head = (
        Column("flow", "flow", "", "Number of the flow, in the order of first sight."),
        Column("protocol", "protocol", "", "tcp or udp."),
        Column("label", "path", "", common.PATH.definition),
        common.SENDER,
        Column("address", "from", "", "Address and port of the end."),
        common.WHEN,
    )
    return Table(
        "flows",
        "TCP and UDP flows",
        (*head, *columns, common.FILTER),
        rows,
        "What did each end of each flow send?",
        is_long=len(rows) > FEW,
    )


FEW = 40
"""More rows get filters and sorting of their own."""


def _connections(case: Case) -> Iterator[Block]:
    columns = (
        Column("connection", "connection", "", "Number of the MPTCP connection."),
        Column("subflow", "subflow", "", "Number in its connection, from 0."),
        Column("flow", "flow", "", "Number of the TCP flow that it is."),
        Column("backup", "backup", "", "Whether it was joined as a backup (RFC 8684 section 3.2)."),
        common.FILTER,
    )

    def filter_of(subflow: Node) -> str | None:
        flow = case.flows.get(subflow.get("flow", -1))
        return None if flow is None else flow["wireshark"]

    rows: list[Row] = [
        (one["id"], number, subflow.get("flow"), subflow.get("backup"), filter_of(subflow))
        for one in case.document["connections"]
        for number, subflow in enumerate(one["subflows"])
    ]
    if rows:
        yield Table("connections", "MPTCP connections", columns, rows)


def _icmp(view: View, case: Case) -> Iterator[Block]:
    errors = case.document["icmp_errors"]
    if not errors:
        return
    columns = (
        common.WHEN,
        common.FRAME,
        Column("name", "what", "", "Type and code of the ICMP error."),
        Column("source", "from", "", "Who reports it."),
        Column("destination", "to", "", "Who sent the packet that it is about."),
    )
    rows: list[Row] = [
        (
            common.since(case, one["at"]["ns"]),
            common.frame(view.state, one["at"]["frame"]),
            one["name"],
            one["source"],
            one["destination"],
        )
        for one in errors
    ]
    found = filters.of_frames(view, (one["at"]["frame"] for one in errors))
    yield Table("icmp", "ICMP errors", columns, rows, wireshark=found, is_long=len(rows) > FEW)
