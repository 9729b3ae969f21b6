"""Per path and direction: volumes, rates, round-trip times, retransmissions, HEARTBEATs."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from .bins import Totals
from .context import ENDS
from .heartbeat_intervals import heartbeat_intervals
from .measure import Measure, seconds
from .model import Direction, Path
from .outages import outage_s, path_outages
from .rto import rto_metrics
from .states import path_states

if TYPE_CHECKING:
    from ..dissectors.ledger import Row
    from .context import Context
    from .model import End, Excursion, Handover, Timer

RETRANSMISSION_CAUSES = ("t3", "fast", "after_failover", "unknown")


def describe_paths(
    context: Context,
    handovers: tuple[Handover, ...],
    excursions: tuple[Excursion, ...],
    timers: dict[End, dict[str, Timer]],
    vantage: str,
) -> tuple[Path, ...]:
    """Describe every path of an association; `vantage` is where the capture was taken."""
    outages = {row["path"]: path_outages(context, row["path"]) for row in context.paths}
    return tuple(
        Path(
            number=row["path"],
            label=context.labels[row["path"]],
            a_address=row["a_address"],
            b_address=row["b_address"],
            interface=row["interface"],
            directions={
                end: Direction(
                    metrics=_metrics(context, end, row["path"], handovers)
                    | rto_metrics(end, vantage, _totals(context, end, row["path"]))
                    | {"outage_s": outage_s(outages[row["path"]], end)},
                    states=path_states(context, end, row["path"], handovers, excursions),
                    heartbeats=_heartbeats(context, end, row["path"])
                    | heartbeat_intervals(context, end, row["path"], timers[end]),
                )
                for end in ENDS
            },
            outages=outages[row["path"]],
        )
        for row in context.paths
    )


def association_totals(context: Context, sender: End) -> dict[str, Measure]:
    """Sum a sender's numbers over all its paths; rates over the association's whole time."""
    ways = [totals for (_, end), totals in context.bins.totals.items() if end == sender]
    whole_s = seconds(context.row["end_ns"] - context.row["start_ns"])
    sums = {name: sum(way.sums[name] for way in ways) for name in _COUNTS}
    measures = {name: Measure.observed(value) for name, value in sums.items()}
    measures["throughput_bps"] = _rate(sums["wire_bytes"], whole_s)
    measures["goodput_bps"] = _rate(sums["acked_bytes"], whole_s)
    measures["retransmission_ratio"] = _ratio(sums["retransmitted_chunks"], sums["data_chunks"])
    acked_chunks = sum(way.sums["acked_chunks"] for way in ways)
    measures["acked_chunks"] = Measure.observed(acked_chunks)
    measures["acked_chunks_hz"] = (
        Measure.observed(acked_chunks / whole_s)
        if whole_s > 0
        else Measure.absent("fewer than two packets")
    )
    return measures


_COUNTS = (
    "packets",
    "wire_bytes",
    "data_chunks",
    "new_chunks",
    "retransmitted_chunks",
    "late_chunks",
    "new_bytes",
    "acked_bytes",
)

_NOTHING = Totals(dict.fromkeys(_COUNTS, 0), None, None, 0, None, None, None, None, None)
"""Of a sender that sent nothing on a path and had nothing acknowledged there."""


def _totals(context: Context, sender: End, path: int) -> Totals:
    return context.bins.totals.get((path, sender), _NOTHING)


def _metrics(
    context: Context, sender: End, path: int, handovers: tuple[Handover, ...]
) -> dict[str, Measure]:
    totals = _totals(context, sender, path)
    sums = totals.sums
    whole_s = seconds(context.row["end_ns"] - context.row["start_ns"])
    measures = {name: Measure.observed(sums[name]) for name in _COUNTS}
    measures |= {
        "active_s": Measure.observed(seconds(totals.active_ns)),
        "throughput_bps": _rate(sums["wire_bytes"], seconds(totals.active_ns)),
        "throughput_whole_bps": _rate(sums["wire_bytes"], whole_s),
        "goodput_bps": _rate(sums["acked_bytes"], whole_s),
        "retransmission_ratio": _ratio(sums["retransmitted_chunks"], sums["data_chunks"]),
        "loss_ratio": _loss(context, sender, path, totals),
        "flight_max_bytes": Measure.observed(totals.flight_max_bytes),
        "a_rwnd_min_bytes": Measure.absent("the sender sent no SACK on this path")
        if totals.a_rwnd_min_bytes is None
        else Measure.observed(totals.a_rwnd_min_bytes),
    }
    measures |= _retransmissions(context, sender, path, handovers)
    measures |= _rtt(context, sender, path, "sack", "rtt")
    return measures


def _rate(size_bytes: int, time_s: float) -> Measure:
    if time_s <= 0:
        return Measure.absent("fewer than two packets")
    return Measure.observed(size_bytes * 8 / time_s)


def _ratio(part: int, whole: int) -> Measure:
    return Measure.absent("no DATA sent") if whole == 0 else Measure.observed(part / whole)


def _loss(context: Context, sender: End, path: int, totals: Totals) -> Measure:
    """Estimate loss from one capture: chunks sent on the path and sent again later."""
    sent = totals.sums["data_chunks"]
    if sent == 0:
        return Measure.absent("no DATA sent")
    rows = context.sent(context.retransmissions, sender)
    again = [row for row in rows if row["previous_path"] == path]
    # Of a chunk sent several times, the last sending may be the one that was lost.
    last = {row["tsn"]: row for row in rows}
    in_doubt = sum(row["path"] == path for row in last.values())
    needed = sum(row["spurious"] is None for row in again)
    return Measure(
        needed / sent,
        "inferred",
        0.0,
        (len(again) + in_doubt) / sent,
        note="estimated from retransmissions: one capture does not show losses",
    )


def _retransmissions(
    context: Context, sender: End, path: int, handovers: tuple[Handover, ...]
) -> dict[str, Measure]:
    """Count the retransmissions sent on a path by cause, by being spurious, by number."""
    rows = context.sent(context.retransmissions, sender, path)
    causes = Counter(retransmission_cause(row, handovers) for row in rows)
    tries = Counter(min(row["transmission"], 4) for row in rows if row["transmission"])
    measures = {
        f"retransmitted_{cause}_chunks": Measure.observed(causes[cause])
        for cause in RETRANSMISSION_CAUSES
    }
    measures["retransmitted_spurious_chunks"] = Measure.observed(
        sum(row["spurious"] is not None for row in rows)
    )
    measures["retransmitted_once_chunks"] = Measure.observed(tries[2])
    measures["retransmitted_twice_chunks"] = Measure.observed(tries[3])
    measures["retransmitted_more_chunks"] = Measure.observed(tries[4])
    return measures


def retransmission_cause(row: Row, handovers: tuple[Handover, ...]) -> str:
    """Return t3, fast, after_failover or unknown.

    after_failover: neither a timer nor miss indications, but the chunk was last sent on a path
    that a handover had left.
    """
    if row["cause"] != "unknown":
        return str(row["cause"])
    for handover in handovers:
        moved_ns = handover.instants["t_first_new"].ns
        if (
            handover.sender == row["sender"]
            and handover.from_path == row["previous_path"]
            and moved_ns is not None
            and row["previous_ns"] is not None
            and row["previous_ns"] <= moved_ns <= row["time_ns"]
        ):
            return "after_failover"
    return "unknown"


def _rtt(context: Context, sender: End, path: int, kind: str, name: str) -> dict[str, Measure]:
    found = [row for row in context.sent(context.rtt, sender, path) if row["kind"] == kind]
    keys = ("min", "mean", "sd", "p50", "p95", "p99", "max")
    if not found:
        reason = "no DATA sent once and acknowledged" if kind == "sack" else "no HEARTBEAT answered"
        absent = {f"{name}_{key}_ns": Measure.absent(reason) for key in keys}
        return absent | {f"{name}_samples": Measure.observed(0)}
    row = found[0]
    measures = {f"{name}_{key}_ns": Measure.observed(row[f"{key}_ns"]) for key in keys}
    measures[f"{name}_samples"] = Measure.observed(row["count"])
    return measures


def _heartbeats(context: Context, sender: End, path: int) -> dict[str, Measure]:
    rows = context.sent(context.heartbeats, sender, path)
    answered = sum(row["ack_ns"] is not None for row in rows)
    measures = {
        "sent": Measure.observed(len(rows)),
        "acknowledged": Measure.observed(answered),
        "unanswered": Measure.observed(len(rows) - answered),
    }
    return measures | _rtt(context, sender, path, "heartbeat", "rtt")
