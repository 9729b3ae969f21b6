"""TCP and UDP flows: what each end sent, how fast, what was sent again, round trips, the end.

TCP after RFC 9293; retransmissions, DSACK and round trips after RFC 2883, 6298, 7323 and 8985; the
numbers of RTP after RFC 3550.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .context import ENDS
from .flow_findings import find
from .flow_model import Flow, FlowDirection, Numbering, Socket
from .labels import label_of
from .measure import Instant, Measure, seconds

if TYPE_CHECKING:
    from ..dissectors.ledger import Row
    from .flow_rows import FlowRows
    from .labels import LabelRule
    from .model import End, Finding

NOTHING_SENT = "no packet of this end in the capture"
NOT_TCP = "UDP has no such thing"
NOT_NUMBERED = "no RTP or D-ITG was recognised"
NOT_MPTCP = "not a subflow of an MPTCP connection"
TOO_FEW_PACKETS = "fewer than two packets"

VOLUMES = ("packets", "wire_bytes", "payload_bytes", "new_bytes")

TCP_COUNTS = {
    "acked_bytes": "acked_bytes",
    "unseen_bytes": "unseen_bytes",
    "segments": "segments",
    "retransmitted_packets": "retransmitted_packets",
    "retransmitted_bytes": "retransmitted_bytes",
    "retransmitted_fast_packets": "fast_retransmissions",
    "retransmitted_timeout_packets": "timeout_retransmissions",
    "retransmitted_probe_packets": "probe_retransmissions",
    "retransmitted_unknown_packets": "unknown_retransmissions",
    "retransmitted_spurious_packets": "spurious_retransmissions",
    "out_of_order_packets": "out_of_order_packets",
    "out_of_order_bytes": "out_of_order_bytes",
    "keep_alives": "keep_alives",
    "window_probes": "window_probes",
    "duplicate_acks": "duplicate_acks",
    "flight_max_bytes": "flight_max_bytes",
    "zero_windows": "zero_windows",
    "rtt_samples": "rtt_count",
    "timestamp_rtt_samples": "timestamp_rtt_count",
}
"""Counts that every TCP direction has, by their names here; values are the ledger's columns."""

TCP_VALUES = {
    "mss_bytes": ("mss", "no maximum segment size announced in the capture"),
    "window_scale": ("window_scale", "no window scale announced in the capture"),
    "window_min_bytes": ("window_min_bytes", "the window's scale is not in the capture"),
    "window_max_bytes": ("window_max_bytes", "the window's scale is not in the capture"),
    "rtt_min_ns": ("rtt_min_ns", "no segment sent once and acknowledged"),
    "rtt_mean_ns": ("rtt_mean_ns", "no segment sent once and acknowledged"),
    "rtt_sd_ns": ("rtt_sd_ns", "no segment sent once and acknowledged"),
    "rtt_max_ns": ("rtt_max_ns", "no segment sent once and acknowledged"),
    "timestamp_rtt_min_ns": ("timestamp_rtt_min_ns", "no timestamp echoed for new data"),
    "timestamp_rtt_mean_ns": ("timestamp_rtt_mean_ns", "no timestamp echoed for new data"),
    "timestamp_rtt_max_ns": ("timestamp_rtt_max_ns", "no timestamp echoed for new data"),
}
"""Numbers that a TCP direction may lack: the ledger's column, and the reason."""

NUMBERED_COUNTS = ("numbered_packets", "lost_packets", "reordered_packets", "repeated_packets")

HANDSHAKE = ("syn_rtt_ns", "syn_ack_rtt_ns", "handshake_rtt_ns")


def describe_flows(rows: FlowRows, rules: tuple[LabelRule, ...]) -> tuple[Flow, ...]:
    """Describe flows, in order of their numbers."""
    quoting: dict[int, list[Row]] = {}
    for error in rows.icmp:
        if error["flow"] is not None:
            quoting.setdefault(error["flow"], []).append(error)
    return tuple(
        _flow(
            row,
            rows.directions[row["flow"]],
            label_of(row, rules),
            find(
                row,
                rows.directions[row["flow"]],
                rows.retransmissions.get(row["flow"], []),
                quoting.get(row["flow"], []),
            ),
        )
        for row in rows.flows
    )


def _flow(row: Row, directions: dict[End, Row], label: str, findings: tuple[Finding, ...]) -> Flow:
    tcp = row["protocol"] == "tcp"
    return Flow(
        number=row["flow"],
        protocol=row["protocol"],
        endpoints={end: Socket(row[f"{end}_address"], row[f"{end}_port"]) for end in ENDS},
        interface=row["interface"],
        label=label,
        start=Instant.seen(row["start_ns"], row["start_frame"]),
        end=Instant.seen(row["end_ns"], row["end_frame"]),
        established=_instant(
            row, "established", "no ACK of SYN ACK in the capture" if tcp else NOT_TCP
        ),
        seen_handshake=row["seen_handshake"],
        how_it_ended=row["end"],
        ended_by=row["ended_by"],
        closed=_instant(row, "closed", "no FIN or RST in the capture" if tcp else NOT_TCP),
        reset_reason=row["reset_reason"],
        restart_of=row["restart_of"],
        connection=row["connection"],
        subflow=row["subflow"],
        backup=row["backup"],
        duplicate_frames=row["duplicate_frames"],
        truncated_packets=row["truncated_packets"],
        icmp_errors=row["icmp_errors"],
        metrics={
            name: _value(row[name], "not in the capture, or sent again" if tcp else NOT_TCP)
            for name in HANDSHAKE
        },
        directions={end: _direction(row, directions.get(end)) for end in ENDS},
        findings=findings,
    )


def _instant(row: Row, name: str, reason: str) -> Instant:
    ns = row[f"{name}_ns"]
    return Instant.absent(reason) if ns is None else Instant.seen(ns, row[f"{name}_frame"])


def _value(value: int | None, reason: str) -> Measure:
    return Measure.absent(reason) if value is None else Measure.observed(value)


def _direction(flow: Row, row: Row | None) -> FlowDirection:
    if row is None:
        return FlowDirection(_silent(), None, None, None, None)
    tcp = flow["protocol"] == "tcp"
    measures = {name: Measure.observed(row[name]) for name in VOLUMES}
    measures |= _rates(flow, row)
    measures |= _tcp(row) if tcp else _absent(_TCP_NAMES, NOT_TCP)
    measures |= _numbered(row)
    for name in ("mapped_bytes", "reinjected_bytes"):
        joined = flow["connection"] is not None
        measures[name] = Measure.observed(row[name]) if joined else Measure.absent(NOT_MPTCP)
    return FlowDirection(
        metrics=measures,
        sack_permitted=row["sack_permitted"] if tcp else None,
        timestamps=row["timestamps"] if tcp else None,
        numbering=None
        if row["numbered_by"] is None
        else Numbering(row["numbered_by"], row["stream"], row["payload_type"]),
        address_id=row["address_id"],
    )


def _silent() -> dict[str, Measure]:
    """Return the numbers of an end that the capture has nothing of: what it sent is not known."""
    seen = {name: Measure.observed(0) for name in ("packets", "wire_bytes")}
    rest = (*VOLUMES[2:], *_RATE_NAMES, *_TCP_NAMES, *_NUMBERED_NAMES)
    return seen | _absent((*rest, "mapped_bytes", "reinjected_bytes"), NOTHING_SENT)


def _absent(names: tuple[str, ...], reason: str) -> dict[str, Measure]:
    return {name: Measure.absent(reason) for name in names}


_RATE_NAMES = (
    "active_s",
    "throughput_bps",
    "throughput_whole_bps",
    "goodput_bps",
    "gap_mean_ns",
    "gap_sd_ns",
)


def _rates(flow: Row, row: Row) -> dict[str, Measure]:
    active_ns = row["end_ns"] - row["start_ns"]
    whole_ns = flow["end_ns"] - flow["start_ns"]
    tcp = flow["protocol"] == "tcp"
    return {
        "active_s": Measure.observed(seconds(max(active_ns, 0))),
        "throughput_bps": rate(row["wire_bytes"], active_ns),
        "throughput_whole_bps": rate(row["wire_bytes"], whole_ns),
        "goodput_bps": rate(row["acked_bytes"], whole_ns)
        if tcp
        else Measure.absent("UDP does not acknowledge"),
        "gap_mean_ns": _value(row["gap_mean_ns"], TOO_FEW_PACKETS),
        "gap_sd_ns": _value(row["gap_sd_ns"], TOO_FEW_PACKETS),
    }


def rate(size_bytes: int, time_ns: int) -> Measure:
    """Bits per second; absent over no time."""
    if time_ns <= 0:
        return Measure.absent(TOO_FEW_PACKETS)
    return Measure.observed(size_bytes * 8 / seconds(time_ns))


def ratio(part: int, whole: int, reason: str) -> Measure:
    """Share of a whole; absent for a reason where the whole is nothing."""
    return Measure.observed(part / whole) if whole else Measure.absent(reason)


_TCP_NAMES = (
    *TCP_COUNTS,
    *TCP_VALUES,
    "retransmission_ratio",
    "retransmitted_bytes_ratio",
    "zero_window_s",
)


def _tcp(row: Row) -> dict[str, Measure]:
    measures = {name: Measure.observed(row[column]) for name, column in TCP_COUNTS.items()}
    measures |= {name: _value(row[column], why) for name, (column, why) in TCP_VALUES.items()}
    return measures | {
        "retransmission_ratio": ratio(
            row["retransmitted_packets"], row["segments"], "no payload, SYN or FIN sent"
        ),
        "retransmitted_bytes_ratio": ratio(
            row["retransmitted_bytes"], row["payload_bytes"], "no payload sent"
        ),
        "zero_window_s": Measure.observed(seconds(row["zero_window_ns"])),
    }


_NUMBERED_NAMES = (*NUMBERED_COUNTS, "loss_ratio", "jitter_ns", "clock_hz")


def _numbered(row: Row) -> dict[str, Measure]:
    if row["numbered_by"] is None:
        return _absent(_NUMBERED_NAMES, NOT_NUMBERED)
    arrived = row["numbered_packets"] - row["repeated_packets"]
    lost = row["lost_packets"]
    measures = {name: Measure.observed(row[name]) for name in NUMBERED_COUNTS}
    return measures | {
        "loss_ratio": Measure.observed(lost / (arrived + lost), note="lost before the capture")
        if arrived + lost
        else Measure.absent(NOT_NUMBERED),
        "jitter_ns": _value(row["jitter_ns"], "the clock's rate is not known"),
        "clock_hz": _value(
            row["clock_hz"],
            "D-ITG sends times"
            if row["numbered_by"] == "d-itg"
            else "a dynamic payload type, and no common rate fits",
        ),
    }
