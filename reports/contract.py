"""The result contract `pathscope.result/1` (docs/result.md, result.schema.json): model to JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..analyzer.context import ENDS
from ..dissectors import _core
from . import wireshark
from .audit_contract import choice_object, prediction_object, timeline_object
from .ends_contract import capture_objects, transit
from .flow_contract import connection_object, flow_object, icmp_object
from .receivers import outage_object, receiver_object, waiting_object
from .simulation_contract import simulation_object
from .values import finding, instant, measure, measures
from .verdicts_contract import verdict_object

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..analyzer.model import (
        Association,
        Authentication,
        CaptureResult,
        Excursion,
        Handover,
        Path,
        Stream,
        Timer,
    )

SCHEMA = "pathscope.result/1"

NO_EVIDENCE = {
    "rto_s": "no expiry of T3-rtx whose start is in the capture",
    "rto_min_s": "no expiry of T3-rtx came later than SRTT + 4 RTTVAR explains",
    "rto_max_s": "no expiry of T3-rtx that failed to double, or came sooner than SRTT + 4 RTTVAR",
    "path_max_retrans": "no path was given up after expiries of T3-rtx in a row",
    "heartbeat_period_s": "fewer than two pairs of HEARTBEATs on idle paths",
    "hb_interval_s": "needs the HEARTBEAT period on an idle path, and the RTO",
}
"""Every timer setting, with the reason why it is absent when it was not inferred."""


def result(captures: Sequence[CaptureResult]) -> dict[str, Any]:
    """Return captures as one JSON document."""
    files, places = capture_objects(captures)
    document = {
        "schema": SCHEMA,
        "tool": {"version": _core.__version__, "build_profile": _core.build_profile},
        "captures": files,
        "associations": [
            _association(association, index)
            for index, capture in zip(places, captures, strict=True)
            for association in capture.associations
        ],
        "flows": [
            flow_object(flow, index)
            for index, capture in zip(places, captures, strict=True)
            for flow in capture.flows
        ],
        "connections": [
            connection_object(connection, index)
            for index, capture in zip(places, captures, strict=True)
            for connection in capture.connections
        ],
        "icmp_errors": [
            icmp_object(error, index)
            for index, capture in zip(places, captures, strict=True)
            for error in capture.icmp
        ],
        "simulations": [
            simulation_object(capture.simulation, index)
            for index, capture in zip(places, captures, strict=True)
            if capture.simulation is not None
        ],
        "verdicts": [
            verdict_object(verdict, index)
            for index, capture in zip(places, captures, strict=True)
            for verdict in capture.verdicts
        ],
        "warnings": [
            {"capture": index, "text": text}
            for index, capture in zip(places, captures, strict=True)
            for text in capture.warnings
        ],
    }
    return wireshark.annotated(document)


def _association(association: Association, capture: int) -> dict[str, Any]:
    return {
        "capture": capture,
        "id": association.number,
        "endpoints": {
            end: {
                "addresses": list(endpoint.addresses),
                "port": endpoint.port,
                "vtag": endpoint.vtag,
            }
            for end, endpoint in association.endpoints.items()
        },
        "start_ns": association.start.ns,
        "start_frame": association.start.frame,
        "end_ns": association.end.ns,
        "end_frame": association.end.frame,
        "established": instant(association.established),
        "end": association.how_it_ended,
        "restart_of": association.restart_of,
        "seen_handshake": association.seen_handshake,
        "captured_at": association.captured_at,
        "packets": association.packets,
        "duplicate_frames": association.duplicate_frames,
        "totals": {end: measures(totals) for end, totals in association.totals.items()},
        "streams": [_stream(stream) for stream in association.streams],
        "receivers": {end: receiver_object(association.receivers[end]) for end in ENDS},
        "authentication": {end: _auth(association.authentication[end]) for end in ENDS},
        "zero_checksum": {"packets": association.zero_checksums, **_zero_checksum(association)},
        "paths": [_path(path) for path in association.paths],
        "handovers": [_handover(handover) for handover in association.handovers],
        "excursions": [_excursion(excursion) for excursion in association.excursions],
        "asconf": [
            {
                "sender": exchange.sender,
                "request": exchange.request,
                "address": exchange.address,
                "path": exchange.path,
                "at": instant(exchange.at),
                "ack": instant(exchange.ack),
                "transmissions": exchange.transmissions,
                "outcome": exchange.outcome,
                "cause": exchange.cause,
                "delay_s": measure(exchange.delay_s),
            }
            for exchange in association.asconf
        ],
        "handoff_regions": [
            {
                "sender": region.sender,
                "start": instant(region.start),
                "end": instant(region.end),
                "metrics": measures(region.metrics),
            }
            for region in association.handoff_regions
        ],
        "handoff": measures(association.handoff),
        "timeline": timeline_object(association.timeline),
        "path_choice": {end: choice_object(association.path_choice[end]) for end in ENDS},
        "timers": {
            end: {
                name: _timer(association.timers[end].get(name), reason)
                for name, reason in NO_EVIDENCE.items()
            }
            for end in ENDS
        },
        "findings": [finding(found) for found in association.findings],
    }


def _stream(stream: Stream) -> dict[str, Any]:
    return {
        "sender": stream.sender,
        "stream": stream.number,
        "protocols": [
            {
                "ppid": protocol.ppid,
                "name": protocol.name,
                "messages": protocol.messages,
                "user_bytes": protocol.user_bytes,
            }
            for protocol in stream.protocols
        ],
        "messages": stream.messages,
        "ordered": stream.ordered,
        "fragmented": stream.fragmented,
        "complete": stream.complete,
        "abandoned": stream.abandoned,
        "partial": stream.partial,
        "open": stream.open,
        "chunks": stream.chunks,
        "user_bytes": stream.user_bytes,
        "largest_message_bytes": measure(stream.largest_message_bytes),
        "first": instant(stream.first),
        "last": instant(stream.last),
        "waiting": waiting_object(stream.waiting),
    }


def _auth(one: Authentication | None) -> dict[str, Any] | None:
    if one is None:
        return None
    return {
        "random_bytes": one.random_bytes,
        "hmacs": list(one.hmacs),
        "chunks": list(one.chunks),
        "auth_chunks": one.auth_chunks,
        "used_hmacs": list(one.used_hmacs),
        "used_keys": list(one.used_keys),
        "unauthenticated_chunks": one.unauthenticated_chunks,
        "unauthenticated_types": list(one.unauthenticated_types),
    }


def _zero_checksum(association: Association) -> dict[str, Any]:
    return {
        end: {
            "accepted_method": one.accepted_method,
            "uncovered_packets": one.uncovered_packets,
        }
        for end, one in association.zero_checksum.items()
    }


def _path(path: Path) -> dict[str, Any]:
    return {
        "id": path.number,
        "label": path.label,
        "interface": path.interface,
        "a_address": path.a_address,
        "b_address": path.b_address,
        "a_to_b": measures(path.directions["a"].metrics),
        "b_to_a": measures(path.directions["b"].metrics),
        "transit": transit(path),
        "states": [
            {
                "sender": end,
                "state": state.state,
                "at": instant(state.at),
                "evidence": state.evidence,
            }
            for end in ENDS
            for state in path.directions[end].states
        ],
        "heartbeats": {end: measures(path.directions[end].heartbeats) for end in ENDS},
        "outages": [outage_object(outage) for outage in path.outages],
    }


def _handover(handover: Handover) -> dict[str, Any]:
    return {
        "sender": handover.sender,
        "from_path": handover.from_path,
        "to_path": handover.to_path,
        "cause": handover.cause,
        "cause_text": handover.cause_text,
        "cause_frames": list(handover.cause_frames),
        "explanation": list(handover.explanation),
        "instants": {name: instant(point) for name, point in handover.instants.items()},
        "metrics": measures(handover.metrics),
        "timeouts": [
            {
                "at": instant(timeout.at),
                "elapsed_s": timeout.elapsed_s,
                "consecutive": timeout.consecutive,
                "retransmission_path": timeout.retransmission_path,
                "rto_model_s": timeout.rto_model_s,
                "rto_clamped_s": timeout.rto_clamped_s,
            }
            for timeout in handover.timeouts
        ],
        "prediction": prediction_object(handover.prediction),
    }


def _excursion(excursion: Excursion) -> dict[str, Any]:
    return {
        "sender": excursion.sender,
        "from_path": excursion.from_path,
        "to_path": excursion.to_path,
        "cause": excursion.cause,
        "cause_text": excursion.cause_text,
        "start": instant(excursion.start),
        "end": instant(excursion.end),
        "chunks": excursion.chunks,
    }


def _timer(timer: Timer | None, reason: str) -> dict[str, Any]:
    if timer is None:
        return {"value": None, "reason": reason}
    return {
        **measure(timer.measure),
        "evidence_count": timer.evidence_count,
        "frames": list(timer.frames),
        "text": timer.text,
    }
