"""An analysis as qlog: what each end of an association did on its paths, as events in time order.

The container is that of draft-ietf-quic-qlog-main-schema (`urn:ietf:params:qlog:file:contained`);
the events are this project's own, in the namespace `sctp`, with the names that
draft-ietf-quic-qlog-quic-events gives to what means the same. docs/exports.md has the mapping,
qlog.schema.json the form. A trace is what one end did: qlog has one point of view a trace.
"""

from __future__ import annotations

from datetime import UTC, datetime
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from ..analyzer.context import ENDS, other
from ..dissectors import _core
from .units import file_name

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ..analyzer.measure import Instant
    from ..analyzer.model import Association, End, Excursion, Handover, Path
    from ..api import Analysis
    from ..dissectors.ledger import Row

FILE_SCHEMA = "urn:ietf:params:qlog:file:contained"
EVENT_SCHEMA = "urn:pathscope:qlog:events:sctp-1"

NS_PER_S = 1_000_000_000
NS_PER_MS = 1_000_000

CLOSED_BY = {"shutdown": "clean", "abort": "aborted", "restart": "restarted", "no-answer": "error"}
"""Ends of an association that are in the capture, by qlog's trigger; of others nothing is said."""

LOST_BY = {"t3": "t3_expired", "fast": "miss_indications", "unknown": "unspecified"}
"""What made the sender send a chunk again, by qlog's trigger."""

MIGRATION_STATES = {
    "t_fail": "link_failed",
    "t_decision": "migration_decided",
    "t_first_new": "migration_started",
    "t_first_ack": "migration_complete",
    "t_recovered": "recovered",
    "t_return_link": "link_returned",
}
"""Instants of a handover that begin a state of it."""

Event = tuple[int, str, int | None, dict[str, Any]]
"""When (ns), what, on which path, and what is known of it."""

Tables = dict[str, list["Row"]]


def document(analyses: Sequence[Analysis]) -> dict[str, Any]:
    """Return analyses as one qlog file: a trace for each end of each association.

    TCP and UDP flows are not in it.
    """
    return {
        "file_schema": FILE_SCHEMA,
        "serialization_format": "application/qlog+json",
        "title": ", ".join(file_name(analysis.ledger.path) for analysis in analyses),
        "description": f"Made by pathscope {_core.__version__} from packet captures.",
        "traces": [
            _trace(association, end, tables, f"capture {number} association {association.number}")
            for number, analysis in enumerate(analyses)
            for association, tables in _with_rows(analysis)
            for end in ENDS
        ],
    }


def _with_rows(analysis: Analysis) -> Iterator[tuple[Association, Tables]]:
    ledger = analysis.ledger
    rows = {
        name: ledger.by_association(name)
        for name in ("paths", "retransmissions", "timeouts", "control")
    }
    for association in analysis.associations:
        yield association, {name: rows[name].get(association.number, []) for name in rows}


def _trace(association: Association, end: End, tables: Tables, group: str) -> dict[str, Any]:
    reference_ns = association.start.ns or 0
    found = sorted(_events(association, end, tables), key=lambda event: event[0])
    return {
        "title": f"{group}: end {end}",
        "event_schemas": [EVENT_SCHEMA],
        "vantage_point": {
            "name": f"captured at {association.captured_at}",
            "type": "network",
            # Only the handshake says who is the client.
            "flow": {"a": "client", "b": "server"}[end]
            if association.seen_handshake
            else "unknown",
        },
        "common_fields": {
            "time_format": "relative_to_epoch",
            "reference_time": {"clock_type": "system", "epoch": _utc(reference_ns)},
            "protocol_types": ["SCTP"],
            "group_id": group,
        },
        "events": [_event(event, reference_ns) for event in found],
    }


def _event(event: Event, reference_ns: int) -> dict[str, Any]:
    ns, name, path, data = event
    found: dict[str, Any] = {"time": (ns - reference_ns) / NS_PER_MS, "name": f"sctp:{name}"}
    if path is not None:
        found["path"] = str(path)
    bounds = {
        f"time_{side}": (data.pop(f"{side}_ns") - reference_ns) / NS_PER_MS
        for side in ("low", "high")
        if f"{side}_ns" in data
    }
    return {**found, "data": {**data, **bounds}}


def _utc(ns: int) -> str:
    """Date and time by RFC 3339, to the nanosecond."""
    seconds, rest = divmod(ns, NS_PER_S)
    return f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%dT%H:%M:%S}.{rest:09}Z"


def _events(association: Association, end: End, tables: Tables) -> Iterator[Event]:
    yield from _lifetime(association, end, tables["control"])
    for path, row in zip(association.paths, tables["paths"], strict=True):
        yield from _path(path, row, end)
    for timeout in tables["timeouts"]:
        if timeout["sender"] == end:
            yield _expiry(timeout)
    for chunk in tables["retransmissions"]:
        if chunk["sender"] == end:
            yield _loss(chunk)
    for number, handover in enumerate(association.handovers):
        if handover.sender == end:
            yield from _handover(handover, number)
    for excursion in association.excursions:
        if excursion.sender == end:
            yield from _excursion(excursion)


def _lifetime(association: Association, end: End, control: list[Row]) -> Iterator[Event]:
    start, stop = association.start, association.end
    sides = {
        side: {
            "addresses": list(association.endpoints[one].addresses),
            "port": association.endpoints[one].port,
            "verification_tag": association.endpoints[one].vtag,
        }
        for side, one in (("local", end), ("remote", other(end)))
    }
    yield start.ns or 0, "connection_started", None, {**sides, **_seen(start)}
    if association.how_it_ended in CLOSED_BY:
        closing = [row["sender"] for row in control if row["chunk"] in ("SHUTDOWN", "ABORT")]
        data = {"trigger": CLOSED_BY[association.how_it_ended], **_seen(stop)}
        if closing:
            data["initiator"] = "local" if closing[0] == end else "remote"
        yield stop.ns or 0, "connection_closed", None, data


def _path(path: Path, row: Row, end: End) -> Iterator[Event]:
    addresses = {"a": path.a_address, "b": path.b_address}
    assigned = {
        "path_id": str(path.number),
        "path_local": {"ip": addresses[end]},
        "path_remote": {"ip": addresses[other(end)]},
        "label": path.label,
        "basis": "observed",
        "frame": row["first_frame"],
    }
    yield row["first_ns"], "path_assigned", path.number, assigned
    states = path.directions[end].states
    for old, new in pairwise((None, *states)):
        if new is not None and new.at.ns is not None:
            data = {"new": new.state, "evidence": new.evidence, **_seen(new.at, "inferred")}
            data |= {} if old is None else {"old": old.state}
            yield new.at.ns, "path_state_updated", path.number, data


def _expiry(timeout: Row) -> Event:
    """An expiry is not on the wire: the retransmission that it caused is."""
    data = {
        "timer_type": "t3_rtx",
        "event_type": "expired",
        "consecutive": timeout["consecutive"],
        "basis": "inferred",
        "frame": timeout["frame"],
    }
    if timeout["elapsed_ns"] is not None:
        data["elapsed_ms"] = timeout["elapsed_ns"] / NS_PER_MS
    return timeout["time_ns"], "loss_timer_updated", timeout["path"], data


def _loss(chunk: Row) -> Event:
    """The sender deemed a chunk lost, at the latest when it sent it again.

    Whether it was lost is another question, which `needless` answers.
    """
    data = {
        "tsn": chunk["tsn"],
        "transmission": chunk["transmission"],
        "trigger": LOST_BY[chunk["cause"]],
        "sent_again_on": str(chunk["path"]),
        "needless": chunk["spurious"] is not None,
        "basis": "inferred",
        "frame": chunk["frame"],
    }
    return chunk["time_ns"], "packet_lost", chunk["previous_path"], data


def _handover(handover: Handover, number: int) -> Iterator[Event]:
    for name, state in MIGRATION_STATES.items():
        instant = handover.instants[name]
        if instant.ns is not None:
            data = {
                "new": state,
                "handover": number,
                "from_path": str(handover.from_path),
                "to_path": str(handover.to_path),
                "cause": handover.cause,
                "instant": name,
                **_seen(instant),
            }
            path = handover.from_path if name == "t_fail" else handover.to_path
            yield instant.ns, "migration_state_updated", path, data


def _excursion(excursion: Excursion) -> Iterator[Event]:
    ends = (("migration_started", excursion.start), ("migration_abandoned", excursion.end))
    for state, instant in ends:
        data = {
            "new": state,
            "from_path": str(excursion.from_path),
            "to_path": str(excursion.to_path),
            "cause": excursion.cause,
            **_seen(instant),
        }
        yield instant.ns or 0, "migration_state_updated", excursion.to_path, data


def _seen(instant: Instant, basis: str | None = None) -> dict[str, Any]:
    """How an event is known: its basis, its frame, and the bounds of what is inferred."""
    found: dict[str, Any] = {"basis": basis or instant.basis}
    if instant.frame is not None:
        found["frame"] = instant.frame
    if instant.low_ns is not None and instant.high_ns is not None:
        found |= {"low_ns": instant.low_ns, "high_ns": instant.high_ns}
    return found
