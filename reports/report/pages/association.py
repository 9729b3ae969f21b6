"""Association: its paths over time, and their numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .. import filters
from ..blocks import Choices, Column, Facts, Figure, Link, Number, Table
from . import common

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ..blocks import Block, Cell
    from ..data import Case
    from ..view import View

Node = dict[str, Any]
Row = tuple["Cell", ...]

FIGURES = ("swimlane", "tsn", "throughput", "rtt", "window", "heartbeats")

OF_PATHS = {
    "packets": "packets",
    "new_chunks": "new DATA",
    "retransmitted_chunks": "again",
    "retransmission_ratio": "ratio",
    "goodput_bps": "goodput",
    "loss_ratio": "loss",
    "rtt_min_ns": "RTT min",
    "rtt_p50_ns": "RTT p50",
    "rtt_p95_ns": "RTT p95",
    "rto_model_ns": "RTO model",
    "outage_s": "outage",
}
OF_HANDOVERS = {
    "link_failure_recovery_s": "failure to new path",
    "data_interruption_s": "without DATA",
    "delivery_gap_s": "longest stop of delivery",
    "recovery_completion_s": "failure to full recovery",
    "link_recognition_s": "link's return to DATA",
}
TIMER_WORDS = {
    "rto_s": "RTO in force",
    "rto_min_s": "RTO.Min",
    "rto_max_s": "RTO.Max",
    "path_max_retrans": "Path.Max.Retrans",
    "heartbeat_period_s": "RTO + HB.Interval",
    "hb_interval_s": "HB.Interval",
}


def blocks(view: View) -> Iterator[Block]:
    """Yield what the page is made of."""
    case, one = view.case, view.association
    if case is None or one is None:
        yield common.nothing(
            "No SCTP association was seen", "The page Flows has the TCP and UDP flows."
        )
        return
    yield from choices(view, case)
    yield _facts(case, one)
    for name in FIGURES:
        yield Figure(name)
    yield _paths(one, view)
    yield _handovers(view, case, one)
    yield _timers(one)
    yield common.findings(one["findings"], view.state, one["wireshark"])
    yield from common.warnings(case.document)


def choices(view: View, case: Case) -> Iterator[Block]:
    """Offer the other associations, where there are any."""
    if len(case.associations) > 1:
        here = view.state
        options = tuple(
            Link(f"{number}", here.to(here.page, association=number, path=None))
            for number in case.associations
        )
        yield Choices("Association", options, here.to(here.page, path=None))


def _facts(case: Case, one: Node) -> Facts:
    a, b = (one["endpoints"][end] for end in "ab")
    established = one["established"]
    setup = common.since(case, established["ns"])
    return Facts(
        f"Association {one['id']}",
        (
            ("capture", common.case_name(case)),
            ("end a", f"{', '.join(a['addresses'])} port {a['port']}"),
            ("end b", f"{', '.join(b['addresses'])} port {b['port']}"),
            ("set up", f"at {setup} s" if setup is not None else established["reason"]),
            ("lasted", f"{(one['end_ns'] - one['start_ns']) / 1e9:.6f} s"),
            ("how it ended", one["end"]),
            ("captured at", one["captured_at"]),
            ("packets", one["packets"]),
        ),
        one["wireshark"],
    )


def _paths(one: Node, view: View) -> Table:
    columns = tuple(common.metric("paths", key, title) for key, title in OF_PATHS.items())
    rows: list[Row] = [
        (
            path["label"],
            end,
            path[f"{end}_address"],
            *(common.number(path[direction], column) for column in columns),
            path["wireshark"],
        )
        for path in one["paths"]
        if view.state.path in (None, path["id"])
        for end, direction in common.SENDERS.items()
        if view.state.sender in (None, end)
    ]
    source = Column("address", "from address", "", "Where the end sends from on this path.")
    head = (common.PATH, common.SENDER, source)
    return Table(
        "paths",
        "Paths",
        (*head, *columns, common.FILTER),
        rows,
        "What did each end send on each path, over the whole capture?",
        filters.of_association(view),
    )


def _handovers(view: View, case: Case, one: Node) -> Table:
    columns = tuple(common.metric("handovers", key, title) for key, title in OF_HANDOVERS.items())
    rows: list[Row] = []
    for number, found in enumerate(one["handovers"], start=1):
        there = view.state.to("handover", handover=number, from_ns=None, to_ns=None)
        old, new = (one["paths"][found[key]]["label"] for key in ("from_path", "to_path"))
        rows.append(
            (
                Link(str(number), there),
                found["sender"],
                f"{old} \N{RIGHTWARDS ARROW} {new}",
                found["cause"],
                common.since(case, found["instants"]["t_first_new"]["ns"]),
                *(common.number(found["metrics"], column) for column in columns),
                found["wireshark"],
            )
        )
    head = (
        Column("handover", "handover", "", "Number in its association, from 1."),
        common.SENDER,
        Column("paths", "paths", "", "From which path new DATA moved to which."),
        Column("cause", "cause", "", "Of the move: docs/metrics.md."),
        common.WHEN,
    )
    return Table(
        "handovers",
        "Handovers",
        (*head, *columns, common.FILTER),
        rows,
        "When did new DATA move, and what did that cost?",
        one["wireshark"],
        empty="New DATA of neither end moved to another path and stayed.",
    )


def _timers(one: Node) -> Table:
    columns = (
        common.SENDER,
        Column("setting", "setting", "", "RFC 9260 section 16; inferred from behaviour."),
        Column("value", "value", "", "Its bounds stand beside it."),
        Column("evidence", "evidence", "", "What it was inferred from."),
    )
    rows: list[Row] = [
        (
            end,
            TIMER_WORDS.get(name, name),
            Number(found, "s" if name.endswith("_s") else ""),
            found.get("text"),
        )
        for end in "ab"
        for name, found in one["timers"][end].items()
    ]
    return Table(
        "timers",
        "Timers, inferred",
        columns,
        rows,
        wireshark=one["wireshark"],
        empty="Nothing happened that a timer could be inferred from.",
    )
