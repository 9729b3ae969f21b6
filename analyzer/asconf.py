"""Dynamic address reconfiguration (RFC 5061): exchanges, and the handoff regions of cSCTP."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .context import ENDS
from .measure import Instant, Measure, elapsed_s, seconds
from .model import AsconfExchange, HandoffRegion

if TYPE_CHECKING:
    from ..dissectors.ledger import Row
    from .context import Context
    from .model import End


def exchanges(context: Context) -> tuple[AsconfExchange, ...]:
    """Describe every ASCONF request, in time order."""
    return tuple(_exchange(row) for row in context.asconf)


def _exchange(row: Row) -> AsconfExchange:
    asked = Instant.seen(row["time_ns"], row["frame"])
    answered = _answer(row)
    return AsconfExchange(
        sender=row["sender"],
        request=row["request"],
        address=row["address"],
        path=row["path"],
        at=asked,
        ack=answered,
        transmissions=row["transmissions"],
        outcome=row["outcome"],
        cause=row["cause_name"],
        delay_s=elapsed_s(asked, answered),
    )


def _answer(row: Row) -> Instant:
    if row["ack_ns"] is None:
        return Instant.absent("no ASCONF-ACK in the capture")
    return Instant.seen(row["ack_ns"], row["ack_frame"])


def handoff_regions(context: Context) -> tuple[HandoffRegion, ...]:
    """Find the handoff regions: an ADD acknowledged to the next DELETE acknowledged, per asker.

    Throughput in a region is that of the end that sent most new DATA, by chunks acknowledged,
    over the time bins that begin in it; before and after are as long as the region, as far as
    the association lasts.
    """
    regions = []
    sender = _main_sender(context)
    for end in ENDS:
        added: Row | None = None
        for row in context.asconf:
            if row["sender"] != end or row["outcome"] != "success":
                continue
            if row["request"] == "add":
                added = row
            elif row["request"] == "delete" and added is not None:
                regions.append(_region(context, end, sender, added, row))
                added = None
    return tuple(regions)


def _main_sender(context: Context) -> End:
    new = {
        end: sum(t.sums["new_chunks"] for (_, who), t in context.bins.totals.items() if who == end)
        for end in ENDS
    }
    return "a" if new["a"] >= new["b"] else "b"


def _region(context: Context, asker: End, sender: End, added: Row, deleted: Row) -> HandoffRegion:
    start_ns, end_ns = added["ack_ns"], deleted["ack_ns"]
    length_ns = end_ns - start_ns
    before_ns = max(start_ns - length_ns, context.row["start_ns"])
    after_ns = min(end_ns + length_ns, context.row["end_ns"])
    windows = {
        "inside": (start_ns, end_ns),
        "before": (before_ns, start_ns),
        "after": (end_ns, after_ns),
    }
    metrics = {"duration_s": Measure.observed(seconds(length_ns))}
    for name, (first_ns, last_ns) in windows.items():
        metrics[f"goodput_{name}_bps"] = _goodput(context, sender, first_ns, last_ns)
    return HandoffRegion(
        sender=asker,
        start=Instant.seen(start_ns, added["ack_frame"]),
        end=Instant.seen(end_ns, deleted["ack_frame"]),
        metrics=metrics,
    )


def _goodput(context: Context, sender: End, start_ns: int, end_ns: int) -> Measure:
    bin_ns = context.bins.bin_ns
    # The bins that begin in the window: their time, not the window's, is what they measure.
    bins = max(0, -(-end_ns // bin_ns) - -(-start_ns // bin_ns))
    if bins == 0:
        return Measure.absent("shorter than a time bin")
    acked_bytes = context.bins.window(sender, start_ns, end_ns)["acked_bytes"]
    return Measure.observed(acked_bytes * 8 / seconds(bins * bin_ns))
