"""MPTCP connections (RFC 8684): what each subflow carried, and which carried most, when.

New payload is counted by time bins, so a switch from one subflow to another is known only to
within the bins around it: it is inferred, and their borders are its bounds.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from statistics import median
from typing import TYPE_CHECKING

from .context import ENDS, other
from .flow_model import Connection, Subflow, Switch, Timeline
from .flow_rows import intervals
from .flows import NOTHING_SENT, rate, ratio
from .labels import label_of
from .measure import Instant, Measure, elapsed_s
from .moves import BRIEF_NS, CONCURRENT_MOVES

if TYPE_CHECKING:
    from ..dissectors.ledger import Ledger, Row
    from .flow_rows import FlowRows
    from .labels import LabelRule
    from .model import End

VOLUMES = ("packets", "wire_bytes", "payload_bytes", "mapped_bytes", "reinjected_bytes")

Bins = dict["End", dict[int, dict[int, int]]]
"""New payload of a connection: by its sender, start of the bin, and flow."""


def describe_connections(
    ledger: Ledger, rows: FlowRows, rules: tuple[LabelRule, ...]
) -> tuple[Connection, ...]:
    """Describe MPTCP connections, in order of their numbers."""
    bin_ns = ledger.options.bin_ns
    subflows = [flow for flows in rows.connections.values() for flow in flows]
    by_flow: dict[int, list[Row]] = {}
    for row in intervals(ledger, subflows):
        by_flow.setdefault(row["flow"], []).append(row)
    return tuple(
        _connection(number, flows, rows, by_flow, bin_ns, rules)
        for number, flows in sorted(rows.connections.items())
    )


def _connection(
    number: int,
    flows: list[Row],
    rows: FlowRows,
    bins: dict[int, list[Row]],
    bin_ns: int,
    rules: tuple[LabelRule, ...],
) -> Connection:
    sent = {flow["flow"]: _sent(flow, rows.directions[flow["flow"]]) for flow in flows}
    first = min(flows, key=lambda flow: flow["start_ns"])
    last = max(flows, key=lambda flow: flow["end_ns"])
    sums = {end: _sum([ways[end] for ways in sent.values()]) for end in ENDS}
    whole_ns = last["end_ns"] - first["start_ns"]
    carried = _carried(flows, bins)
    return Connection(
        number=number,
        version=next((f["mptcp_version"] for f in flows if f["mptcp_version"] is not None), None),
        start=Instant.seen(first["start_ns"], first["start_frame"]),
        end=Instant.seen(last["end_ns"], last["end_frame"]),
        subflows=tuple(
            Subflow(
                flow=flow["flow"],
                label=label_of(flow, rules),
                kind=flow["subflow"],
                backup=flow["backup"],
                end_a=flow["connection_end"],
                metrics=_setup(flow, first),
                senders={
                    end: _share(sent[flow["flow"]][end], sums[end])
                    | _path(rows.directions[flow["flow"]].get(_of_connection(flow, end)), whole_ns)
                    for end in ENDS
                },
            )
            for flow in flows
        ),
        totals={end: _totals(sums[end], whole_ns) for end in ENDS},
        timelines={end: _timeline(carried[end], flows, bin_ns) for end in ENDS},
    )


def _of_connection(flow: Row, end: End) -> End:
    """Turn an end of a subflow into the end of its connection, or the other way round."""
    return end if flow["connection_end"] == "a" else other(end)


def _sent(flow: Row, directions: dict[End, Row]) -> dict[End, dict[str, int]]:
    """Return what each end of the connection sent on a subflow."""
    found: dict[End, dict[str, int]] = {}
    for end in ENDS:
        row = directions.get(_of_connection(flow, end))
        found[end] = {name: 0 if row is None else row[name] for name in VOLUMES}
    return found


def _sum(ways: list[dict[str, int]]) -> dict[str, int]:
    return {name: sum(way[name] for way in ways) for name in VOLUMES}


def _totals(sums: dict[str, int], whole_ns: int) -> dict[str, Measure]:
    measures = {name: Measure.observed(value) for name, value in sums.items()}
    both = sums["mapped_bytes"] + sums["reinjected_bytes"]
    measures["reinjection_ratio"] = ratio(sums["reinjected_bytes"], both, "no data mapped")
    measures["throughput_bps"] = rate(sums["wire_bytes"], whole_ns)
    return measures


def _share(sent: dict[str, int], sums: dict[str, int]) -> dict[str, Measure]:
    measures = {name: Measure.observed(value) for name, value in sent.items()}
    measures["share_ratio"] = ratio(sent["mapped_bytes"], sums["mapped_bytes"], "no data mapped")
    return measures


def _path(row: Row | None, whole_ns: int) -> dict[str, Measure]:
    """Return what a path of an association would have: of a subflow, by its own ACKs."""
    if row is None:
        return dict.fromkeys(
            ("acked_bytes", "goodput_bps", "retransmission_ratio", "rtt_mean_ns"),
            Measure.absent(NOTHING_SENT),
        )
    return {
        "acked_bytes": Measure.observed(row["acked_bytes"]),
        "goodput_bps": rate(row["acked_bytes"], whole_ns),
        "retransmission_ratio": ratio(
            row["retransmitted_packets"], row["segments"], "no payload, SYN or FIN sent"
        ),
        "rtt_mean_ns": Measure.absent("no segment sent once and acknowledged")
        if row["rtt_mean_ns"] is None
        else Measure.observed(row["rtt_mean_ns"]),
    }


def _setup(flow: Row, first: Row) -> dict[str, Measure]:
    start = Instant.seen(flow["start_ns"], flow["start_frame"])
    joined = Measure.absent("it opened the connection")
    if flow["subflow"] == "join":
        joined = Measure.absent("the subflow that opened the connection is not in the capture")
    if flow["subflow"] == "join" and first["subflow"] == "capable":
        joined = elapsed_s(Instant.seen(first["start_ns"], first["start_frame"]), start)
    established = Measure.absent("its handshake is not in the capture")
    if flow["seen_handshake"] and flow["established_ns"] is not None:
        up = Instant.seen(flow["established_ns"], flow["established_frame"])
        established = elapsed_s(start, up)
    return {"joined_after_s": joined, "establishment_s": established}


def _carried(flows: list[Row], bins: dict[int, list[Row]]) -> Bins:
    carried: Bins = {end: {} for end in ENDS}
    for flow in flows:
        for row in bins.get(flow["flow"], []):
            if row["new_bytes"]:
                sums = carried[_of_connection(flow, row["sender"])].setdefault(row["start_ns"], {})
                sums[flow["flow"]] = sums.get(flow["flow"], 0) + row["new_bytes"]
    return carried


@dataclass(frozen=True, slots=True)
class _Reign:
    """Bins in a row in which one subflow carried most; the last one that it did, with all in it."""

    flow: int
    first_ns: int
    last_ns: int
    last: dict[int, int]


def _timeline(bins: dict[int, dict[int, int]], flows: list[Row], bin_ns: int) -> Timeline:
    reigns = _reigns(bins)
    several = sum(len(sums) > 1 for sums in bins.values())
    shared = ratio(several, len(bins), "no payload sent")
    if not reigns:
        return Timeline(None, shared, concurrent=False, switches=())
    stays = [later.first_ns - reign.first_ns for reign, later in pairwise(reigns)]
    if len(stays) > CONCURRENT_MOVES and median(stays) < BRIEF_NS:
        return Timeline(reigns[0].flow, shared, concurrent=True, switches=())
    by_number = {flow["flow"]: flow for flow in flows}
    return Timeline(
        reigns[0].flow,
        shared,
        concurrent=False,
        switches=tuple(
            Switch(old.flow, new.flow, _border(old, new, by_number[new.flow], bin_ns))
            for old, new in pairwise(reigns)
        ),
    )


def _reigns(bins: dict[int, dict[int, int]]) -> list[_Reign]:
    """Follow which subflow carries more than half; a bin without such a one changes nothing."""
    reigns: list[_Reign] = []
    for start_ns, sums in sorted(bins.items()):
        flow, most = max(sums.items(), key=lambda item: item[1])
        if 2 * most <= sum(sums.values()):
            continue
        if reigns and reigns[-1].flow == flow:
            reigns[-1] = _Reign(flow, reigns[-1].first_ns, start_ns, sums)
        else:
            reigns.append(_Reign(flow, start_ns, start_ns, sums))
    return reigns


def _border(old: _Reign, new: _Reign, flow: Row, bin_ns: int) -> Instant:
    """Bound the moment from which the new subflow carries most.

    Not before the last bin in which the old one did, nor in it where the new one had nothing
    there; within the first bin in which the new one did; and while the new one had packets.
    """
    low_ns = old.last_ns + (0 if new.flow in old.last else bin_ns)
    high_ns = min(new.first_ns + bin_ns, max(flow["end_ns"], new.first_ns))
    return Instant.inferred(min(max(low_ns, flow["start_ns"]), high_ns), high_ns)
