"""What a simulator's trace tells beyond a capture: every packet from end to end, and every link.

Delay of a packet is the time from its first queue at its source to its arrival at its destination;
it is made of waiting in queues, transmission (its bits at the link's rate), propagation, and
processing in the nodes between (study P). The rate of a link and its propagation delay follow from
the times that its smallest and its largest packets spent on it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from .columns import Column, filled, to_bools, to_numpy
from .measure import NS_PER_S, Measure
from .transit import ABSENT_NS, Packets, describe

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ..dissectors.ledger import Ledger, Row

W_BYTES = 1000
"""Study W counts packets of at least so many bytes, in multiples of it."""


TICK_NS = 1000
"""ns-2 writes times to a microsecond, so that a difference of two is off by as much at most."""


@dataclass(frozen=True, slots=True)
class Loss:
    """Packets of a route that one link dropped."""

    from_node: str
    to_node: str
    packets: int


@dataclass(frozen=True, slots=True)
class Route:
    """Packets of one protocol from one node and port to another.

    `data` is of its packets with user data, `packets` of all, from end to end (`transit.Transit`);
    what was on its way when the trace ended is `outside_packets`, and in no other number of these.
    `metrics` has the parts of the mean delay of packets with user data, what became of those, and
    study W's throughput.
    """

    number: int
    protocol: str | None
    packet_type: str
    source: str
    source_port: int
    destination: str
    destination_port: int
    flow_id: int
    hops: int
    packets: dict[str, Measure]
    data: dict[str, Measure]
    metrics: dict[str, Measure]
    losses: tuple[Loss, ...]


@dataclass(frozen=True, slots=True)
class Link:
    """One direction of a link."""

    from_node: str
    to_node: str
    metrics: dict[str, Measure]


@dataclass(frozen=True, slots=True)
class Simulation:
    """A simulated network: its routes in order of first sight, and its links.

    `unlisted_packets` are beyond the table of transits: in no number of a route, but in those of
    links. Of `unsent_packets` the trace has no sending.
    """

    routes: tuple[Route, ...]
    links: tuple[Link, ...]
    unlisted_packets: int
    unsent_packets: int


def describe_simulation(ledger: Ledger) -> tuple[Simulation, dict[int, Packets]]:
    """Measure every route and link of a simulator's trace; also return each route's packets."""
    facts = ledger.capture["simulated"]
    links = {(row["from"], row["to"]): row for row in ledger.rows("links")}
    hops: dict[int, list[Row]] = {}
    for row in ledger.rows("hops"):
        hops.setdefault(row["route"], []).append(row)
    transits = _Transits.of(ledger)
    found = Simulation(
        routes=tuple(
            _route(row, hops.get(row["route"], []), links, transits)
            for row in ledger.rows("routes")
        ),
        links=tuple(Link(row["from"], row["to"], _link(row)) for row in links.values()),
        unlisted_packets=facts["unlisted_transits"],
        unsent_packets=facts["unsent"],
    )
    return found, {route: transits.packets(rows) for route, rows in transits.rows.items()}


@dataclass(frozen=True, slots=True)
class _Transits:
    """The table as columns, and its rows by route."""

    columns: dict[str, Column]
    has_data: Column
    rows: dict[int, Column]

    @classmethod
    def of(cls, ledger: Ledger) -> _Transits:
        table = ledger.tables["transits"]
        names = ("wire_bytes", "frame", "sent_ns", "hops")
        columns = {name: to_numpy(table[name]).astype(np.int64) for name in names}
        for name in ("queueing_ns", "link_ns", "processing_ns"):
            columns[name] = to_numpy(table[name])
        for name in ("arrived_ns", "dropped_ns"):
            columns[name] = filled(table[name], ABSENT_NS)
        columns["arrival_frame"] = filled(table["arrival_frame"], 0)
        route = to_numpy(table["route"])
        order = np.argsort(route, kind="stable")
        borders = np.flatnonzero(np.diff(route[order])) + 1
        groups = np.split(order, borders) if len(order) else []
        rows = {int(route[group[0]]): group for group in groups}
        return cls(columns, to_bools(table["has_data"]), rows)

    def packets(self, rows: Column) -> Packets:
        columns = self.columns
        return Packets(
            sent_ns=columns["sent_ns"][rows],
            arrived_ns=columns["arrived_ns"][rows],
            wire_bytes=columns["wire_bytes"][rows],
            frame=columns["frame"][rows],
            arrival_frame=columns["arrival_frame"][rows],
        )


def _route(
    row: Row, hops: list[Row], links: dict[tuple[str, str], Row], transits: _Transits
) -> Route:
    rows = transits.rows.get(row["route"], np.empty(0, np.int64))
    with_data = rows[transits.has_data[rows]]
    return Route(
        number=row["route"],
        protocol=row["protocol"],
        packet_type=row["packet_type"],
        source=row["source"],
        source_port=row["source_port"],
        destination=row["destination"],
        destination_port=row["destination_port"],
        flow_id=row["flow_id"],
        hops=len(hops),
        packets=_from_end_to_end(transits, rows),
        data=_from_end_to_end(transits, with_data),
        metrics={
            **_parts(transits, with_data, [links[hop["from"], hop["to"]] for hop in hops]),
            **_fates(transits, with_data),
            "throughput_w_bps": _throughput_w(transits, rows),
        },
        losses=tuple(
            Loss(hop["from"], hop["to"], hop["dropped"]) for hop in hops if hop["dropped"]
        ),
    )


def _from_end_to_end(transits: _Transits, rows: Column) -> dict[str, Measure]:
    columns = transits.columns
    unfinished = (columns["arrived_ns"][rows] == ABSENT_NS) & (
        columns["dropped_ns"][rows] == ABSENT_NS
    )
    return describe(transits.packets(rows[~unfinished])).measures() | {
        "outside_packets": Measure.observed(int(unfinished.sum())),
        "unsent_packets": Measure.observed(0),
    }


PARTS = ("queueing_mean_ns", "transmission_mean_ns", "propagation_mean_ns", "processing_mean_ns")
"""Of the mean delay: their sum is it."""


def _parts(transits: _Transits, rows: Column, links: Iterable[Row]) -> dict[str, Measure]:
    """Split the mean delay of the packets that arrived (study P)."""
    columns = transits.columns
    rows = rows[columns["arrived_ns"][rows] != ABSENT_NS]
    if not len(rows):
        return dict.fromkeys((*PARTS, "queueing_ratio"), Measure.absent("no packet arrived"))
    if not columns["hops"][rows].any():
        reason = "the trace of a wireless network tells of no links"
        return dict.fromkeys((*PARTS, "queueing_ratio"), Measure.absent(reason))
    mean_ns = {
        name: float(columns[f"{name}_ns"][rows].mean())
        for name in ("queueing", "link", "processing")
    }
    delay_ns = float((columns["arrived_ns"][rows] - columns["sent_ns"][rows]).mean())
    return {
        "queueing_mean_ns": Measure.observed(mean_ns["queueing"]),
        **_on_links(columns["wire_bytes"][rows], columns["hops"][rows], mean_ns["link"], links),
        "processing_mean_ns": Measure.observed(mean_ns["processing"]),
        "queueing_ratio": Measure.observed(mean_ns["queueing"] / delay_ns)
        if delay_ns
        else Measure.absent("no delay"),
    }


def _fates(transits: _Transits, rows: Column) -> dict[str, Measure]:
    """Tell packets that were dropped from those that were on their way when the trace ended."""
    dropped = int((transits.columns["dropped_ns"][rows] != ABSENT_NS).sum())
    arrived = int((transits.columns["arrived_ns"][rows] != ABSENT_NS).sum())
    return {
        "dropped_packets": Measure.observed(dropped),
        "dropped_ratio": Measure.observed(dropped / len(rows))
        if len(rows)
        else Measure.absent("no packet was sent"),
        "unfinished_packets": Measure.observed(len(rows) - dropped - arrived),
    }


def _on_links(
    wire_bytes: Column, hops: Column, link_ns: float, links: Iterable[Row]
) -> dict[str, Measure]:
    names = ("transmission_mean_ns", "propagation_mean_ns")
    rates = [link_rate(row) for row in links]
    known = [rate for rate in rates if rate is not None]
    if len(known) < len(rates):
        reason = "a link carried packets of one size only, which does not tell its rate"
        return dict.fromkeys(names, Measure.absent(reason))
    if (hops != len(rates)).any():
        return dict.fromkeys(names, Measure.absent("packets took different ways"))
    bits = float(wire_bytes.mean()) * 8 * NS_PER_S
    sending_ns, least_ns, most_ns = (
        bits * sum(1 / rate for rate in one)
        for one in zip(*((rate.bps, rate.high_bps, rate.low_bps) for rate in known), strict=True)
    )
    off_ns = TICK_NS * len(known)
    left_ns = [max(link_ns - one, 0) for one in (sending_ns, most_ns + off_ns, least_ns - off_ns)]
    return {
        "transmission_mean_ns": Measure(sending_ns, "inferred", least_ns, most_ns),
        "propagation_mean_ns": Measure(left_ns[0], "inferred", left_ns[1], left_ns[2]),
    }


@dataclass(frozen=True, slots=True)
class _Rate:
    bps: float
    low_bps: float
    high_bps: float


def link_rate(row: Row) -> _Rate | None:
    """Infer the rate of a link; None where all its packets have one size, or nearly so.

    Of what its largest packets took longer than its smallest ones: the means, as times in a trace
    are rounded, each to within a tick.
    """
    more_bits = 8 * (row["largest_bytes"] - row["smallest_bytes"])
    if not more_bits or not row["smallest_count"] or not row["largest_count"]:
        return None
    more_ns = (
        row["largest_sum_ns"] / row["largest_count"]
        - row["smallest_sum_ns"] / row["smallest_count"]
    )
    off_ns = 2 * TICK_NS
    if more_ns <= off_ns:
        return None
    return _Rate(*(more_bits * NS_PER_S / (more_ns + off) for off in (0, off_ns, -off_ns)))


def _link(row: Row) -> dict[str, Measure]:
    rate = link_rate(row)
    one_size = Measure.absent("its packets have one size, or nearly so")
    found = {
        "packets": Measure.observed(row["packets"]),
        "dropped_packets": Measure.observed(row["dropped"]),
        "loss_ratio": Measure.observed(row["dropped"] / row["packets"])
        if row["packets"]
        else Measure.absent("no packet"),
        "rate_bps": one_size,
        "propagation_ns": one_size,
    }
    if rate is not None:
        on_link_ns = row["smallest_sum_ns"] / row["smallest_count"]
        bits = row["smallest_bytes"] * 8 * NS_PER_S
        at_ns = [
            max(on_link_ns - bits / bps + off_ns, 0)
            for bps, off_ns in ((rate.bps, 0), (rate.low_bps, -TICK_NS), (rate.high_bps, TICK_NS))
        ]
        found |= {
            "rate_bps": Measure(rate.bps, "inferred", rate.low_bps, rate.high_bps),
            "propagation_ns": Measure(at_ns[0], "inferred", at_ns[1], at_ns[2]),
        }
    return found


def _throughput_w(transits: _Transits, rows: Column) -> Measure:
    """Study W: bytes received, each packet's rounded down to a multiple of 1000, over the time."""
    columns = transits.columns
    counted = rows[columns["wire_bytes"][rows] >= W_BYTES]
    arrived = counted[columns["arrived_ns"][counted] != ABSENT_NS]
    if not len(arrived):
        return Measure.absent(f"no packet of {W_BYTES} bytes arrived")
    took_ns = int(columns["arrived_ns"][arrived].max() - columns["sent_ns"][counted].min())
    if took_ns <= 0:
        return Measure.absent("no time passed")
    received = int((columns["wire_bytes"][arrived] // W_BYTES * W_BYTES).sum())
    return Measure.observed(received * 8 * NS_PER_S / took_ns)
