"""Ledger in, associations with their paths, handovers and findings out."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .asconf import exchanges
from .choice import audit
from .connections import describe_connections
from .context import ENDS, contexts
from .events import assign_events, comment_events
from .findings import Analysed, find
from .flow_rows import select
from .flows import describe_flows
from .gaps import capture_gaps
from .handover import describe_move, find_cause
from .icmp import describe_icmp
from .labels import path_labels
from .limits import capture_warnings
from .measure import Instant
from .model import Association, CaptureResult, Endpoint, Excursion, Handover
from .moves import find_moves
from .paths import association_totals, describe_paths
from .protection import authentication, zero_checksum
from .receivers import describe_receivers
from .regions import handoff
from .streams import describe_streams
from .timeline import handoff_timeline
from .timers import infer_timers
from .vantage import captured_at

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..dissectors.ledger import Ledger
    from .context import Context
    from .labels import LabelRule
    from .model import End, LinkEvent, Timer, Vantage


def analyze_ledger(
    ledger: Ledger,
    events: Sequence[LinkEvent] = (),
    rules: tuple[LabelRule, ...] = (),
) -> CaptureResult:
    """Analyze one capture's ledger.

    Parameters
    ----------
    ledger
        What a pass over the capture found.
    events
        Link changes known to the user; those in the capture's own comments are added.
    rules
        Names for paths.
    """
    labels = path_labels(ledger, rules)
    link_events, warnings = assign_events([*events, *comment_events(ledger)], ledger, labels)
    # Of a simulator's trace the view of the end that sent first was taken.
    vantage: Vantage | None = "a" if "simulated" in ledger.capture else None
    gaps = capture_gaps(ledger)
    associations = tuple(
        _association(context, vantage or captured_at(context), gaps)
        for context in contexts(ledger, labels, link_events)
    )
    rows = select(ledger)
    result = CaptureResult(
        ledger.path,
        ledger.capture,
        associations,
        warnings=(*capture_warnings(ledger, rows), *warnings),
        flows=describe_flows(rows, rules),
        connections=describe_connections(ledger, rows, rules),
        icmp=describe_icmp(rows.icmp),
    )
    if "simulated" not in ledger.capture:
        return result
    from .simulated import complete  # what no capture needs
    from .simulation import describe_simulation

    return complete(result, *describe_simulation(ledger))


def _association(
    context: Context, vantage: Vantage, gaps: tuple[tuple[int, int], ...]
) -> Association:
    row = context.row
    handovers: list[Handover] = []
    excursions: list[Excursion] = []
    timers: dict[End, dict[str, Timer]] = {}
    for end in ENDS:
        moves = find_moves(context, end)
        earlier = [[m for m in moves[:index] if m.is_handover] for index in range(len(moves))]
        given_up_after = [
            move.expiries
            for move, before in zip(moves, earlier, strict=True)
            if move.is_handover and find_cause(context, end, move, before).cause == "timeout"
        ]
        timers[end] = infer_timers(context, end, given_up_after, vantage)
        for move, before in zip(moves, earlier, strict=True):
            described = describe_move(context, end, move, before, timers[end])
            if isinstance(described, Handover):
                handovers.append(described)
            else:
                excursions.append(described)
    ordered = tuple(sorted(handovers, key=lambda h: h.instants["t_first_new"].ns or 0))
    paths = describe_paths(context, ordered, tuple(excursions), vantage)
    regions, inside_and_outside = handoff(context)
    return Association(
        number=row["association"],
        endpoints={end: _endpoint(context, end) for end in ENDS},
        start=Instant.seen(row["start_ns"], row["start_frame"]),
        end=Instant.seen(row["end_ns"], row["end_frame"]),
        established=Instant.seen(row["established_ns"], row["established_frame"])
        if row["established_ns"] is not None
        else Instant.absent("no COOKIE ACK in the capture"),
        how_it_ended=row["end"],
        restart_of=row["restart_of"],
        seen_handshake=row["seen_handshake"],
        captured_at=vantage,
        packets=row["packets"],
        duplicate_frames=row["duplicate_frames"],
        zero_checksums=row["zero_checksums"],
        zero_checksum=zero_checksum(context),
        authentication=authentication(context),
        totals={end: association_totals(context, end) for end in ENDS},
        streams=describe_streams(context, vantage),
        receivers=describe_receivers(context, vantage),
        paths=paths,
        handovers=ordered,
        excursions=tuple(excursions),
        asconf=exchanges(context),
        handoff_regions=regions,
        handoff=inside_and_outside,
        timeline=handoff_timeline(context, ordered),
        path_choice={end: audit(context, end, paths, ordered, vantage) for end in ENDS},
        timers=timers,
        findings=find(context, Analysed(ordered, vantage, gaps)),
    )


def _endpoint(context: Context, end: End) -> Endpoint:
    return Endpoint(
        addresses=tuple(row["address"] for row in context.addresses if row["endpoint"] == end),
        port=context.row[f"{end}_port"],
        vtag=context.row[f"{end}_tag"],
    )
