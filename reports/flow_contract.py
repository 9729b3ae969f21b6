"""Flows, MPTCP connections and ICMP errors in the result contract (docs/result.md)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..analyzer.context import ENDS
from .values import finding, instant, measure, measures

if TYPE_CHECKING:
    from ..analyzer.flow_model import (
        Connection,
        Flow,
        FlowDirection,
        IcmpError,
        Quoted,
        Subflow,
        Timeline,
    )


def flow_object(flow: Flow, capture: int) -> dict[str, Any]:
    """Return a flow; `capture` is the index of its capture."""
    return {
        "capture": capture,
        "id": flow.number,
        "protocol": flow.protocol,
        "endpoints": {
            end: {"address": socket.address, "port": socket.port}
            for end, socket in flow.endpoints.items()
        },
        "interface": flow.interface,
        "label": flow.label,
        "start_ns": flow.start.ns,
        "start_frame": flow.start.frame,
        "end_ns": flow.end.ns,
        "end_frame": flow.end.frame,
        "established": instant(flow.established),
        "seen_handshake": flow.seen_handshake,
        "end": flow.how_it_ended,
        "ended_by": flow.ended_by,
        "closed": instant(flow.closed),
        "reset_reason": flow.reset_reason,
        "restart_of": flow.restart_of,
        "connection": flow.connection,
        "subflow": flow.subflow,
        "backup": flow.backup,
        "duplicate_frames": flow.duplicate_frames,
        "truncated_packets": flow.truncated_packets,
        "icmp_errors": flow.icmp_errors,
        "metrics": measures(flow.metrics),
        "a_to_b": _direction(flow.directions["a"]),
        "b_to_a": _direction(flow.directions["b"]),
        "findings": [finding(found) for found in flow.findings],
    }


def _direction(direction: FlowDirection) -> dict[str, Any]:
    numbering = direction.numbering
    return {
        "sack_permitted": direction.sack_permitted,
        "timestamps": direction.timestamps,
        "address_id": direction.address_id,
        "numbering": None
        if numbering is None
        else {
            "protocol": numbering.protocol,
            "stream": numbering.stream,
            "payload_type": numbering.payload_type,
        },
        "metrics": measures(direction.metrics),
        "transit": None if direction.transit is None else measures(direction.transit),
    }


def connection_object(connection: Connection, capture: int) -> dict[str, Any]:
    """Return an MPTCP connection; `capture` is the index of its capture."""
    return {
        "capture": capture,
        "id": connection.number,
        "version": connection.version,
        "start_ns": connection.start.ns,
        "start_frame": connection.start.frame,
        "end_ns": connection.end.ns,
        "end_frame": connection.end.frame,
        "subflows": [_subflow(subflow) for subflow in connection.subflows],
        "totals": {end: measures(connection.totals[end]) for end in ENDS},
        "timelines": {end: _timeline(connection.timelines[end]) for end in ENDS},
    }


def _subflow(subflow: Subflow) -> dict[str, Any]:
    return {
        "flow": subflow.flow,
        "label": subflow.label,
        "kind": subflow.kind,
        "backup": subflow.backup,
        "end_a": subflow.end_a,
        "metrics": measures(subflow.metrics),
        "a_to_b": measures(subflow.senders["a"]),
        "b_to_a": measures(subflow.senders["b"]),
    }


def _timeline(timeline: Timeline) -> dict[str, Any]:
    return {
        "first_flow": timeline.first_flow,
        "shared_ratio": measure(timeline.shared_ratio),
        "concurrent": timeline.concurrent,
        "switches": [
            {
                "from_flow": switch.from_flow,
                "to_flow": switch.to_flow,
                "at": instant(switch.at),
            }
            for switch in timeline.switches
        ],
    }


def icmp_object(error: IcmpError, capture: int) -> dict[str, Any]:
    """Return an ICMP error; `capture` is the index of its capture."""
    return {
        "capture": capture,
        "name": error.name,
        "at": instant(error.at),
        "source": error.source,
        "destination": error.destination,
        "version": error.version,
        "icmp_type": error.icmp_type,
        "code": error.code,
        "mtu_bytes": error.mtu_bytes,
        "quoted": None if error.quoted is None else _quoted(error.quoted),
    }


def _quoted(quoted: Quoted) -> dict[str, Any]:
    return {
        "source": quoted.source,
        "destination": quoted.destination,
        "protocol": quoted.protocol,
        "source_port": quoted.source_port,
        "destination_port": quoted.destination_port,
        "tag": quoted.tag,
        "flow": quoted.flow,
        "association": quoted.association,
        "sender": quoted.sender,
    }
