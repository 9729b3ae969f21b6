"""Handoff regions (cSCTP, study A): ADD acknowledged to DELETE acknowledged; rates in them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .context import ENDS
from .cuts import NOTHING, Cuts
from .measure import Instant, Measure, seconds
from .model import HandoffRegion

if TYPE_CHECKING:
    from ..dissectors.ledger import Row
    from .context import Context
    from .cuts import Sum
    from .model import End

RATES = {"throughput": "wire_bytes", "goodput": "acked_bytes"}

OVERALL = (
    "inside_s",
    "outside_s",
    *(f"{rate}_{where}_bps" for rate in RATES for where in ("inside", "outside")),
)


def handoff(context: Context) -> tuple[tuple[HandoffRegion, ...], dict[str, Measure]]:
    """Find the handoff regions, and measure inside and outside of all of them together.

    A region is an ADD acknowledged to the next DELETE acknowledged of the same asker. Rates are
    those of the end that sent most new DATA; before and after a region are as long as the region,
    as far as the association lasts.
    """
    found = [
        (end, added, deleted)
        for end in ENDS
        for added, deleted in _pairs([row for row in context.asconf if row["sender"] == end])
    ]
    if not found:
        return (), dict.fromkeys(OVERALL, Measure.absent("no handoff region"))
    cuts = Cuts.of(context, main_sender(context))
    regions = tuple(_region(cuts, *one) for one in found)
    inside = _union([(added["ack_ns"], deleted["ack_ns"]) for _, added, deleted in found])
    return regions, _overall(cuts, inside)


def _pairs(rows: list[Row]) -> list[tuple[Row, Row]]:
    pairs = []
    added: Row | None = None
    for row in rows:
        if row["outcome"] != "success":
            continue
        if row["request"] == "add":
            added = row
        elif row["request"] == "delete" and added is not None:
            if row["ack_ns"] >= added["ack_ns"]:  # a clock can be set back
                pairs.append((added, row))
            added = None
    return pairs


def main_sender(context: Context) -> End:
    """Return the end that sent most new DATA."""
    new = {
        end: sum(t.sums["new_chunks"] for (_, who), t in context.bins.totals.items() if who == end)
        for end in ENDS
    }
    return "a" if new["a"] >= new["b"] else "b"


def _region(cuts: Cuts, asker: End, added: Row, deleted: Row) -> HandoffRegion:
    start_ns, end_ns = added["ack_ns"], deleted["ack_ns"]
    length_ns = end_ns - start_ns
    windows = {
        "inside": (start_ns, end_ns),
        "before": (max(start_ns - length_ns, cuts.first_ns), start_ns),
        "after": (end_ns, min(end_ns + length_ns, cuts.last_ns)),
    }
    metrics = {"duration_s": Measure.observed(seconds(length_ns))}
    for where, (first_ns, last_ns) in windows.items():
        for rate, name in RATES.items():
            total = cuts.between(name, first_ns, last_ns)
            metrics[f"{rate}_{where}_bps"] = total.rate(last_ns - first_ns, 8)
    return HandoffRegion(
        sender=asker,
        start=Instant.seen(start_ns, added["ack_frame"]),
        end=Instant.seen(end_ns, deleted["ack_frame"]),
        metrics=metrics,
    )


def _union(windows: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Join windows that overlap: both ends can hand over at once."""
    joined: list[tuple[int, int]] = []
    for start_ns, end_ns in sorted(windows):
        if joined and start_ns <= joined[-1][1]:
            joined[-1] = (joined[-1][0], max(end_ns, joined[-1][1]))
        else:
            joined.append((start_ns, end_ns))
    return joined


def _overall(cuts: Cuts, inside: list[tuple[int, int]]) -> dict[str, Measure]:
    inside_ns = sum(end_ns - start_ns for start_ns, end_ns in inside)
    outside_ns = max(0, cuts.last_ns - cuts.first_ns - inside_ns)
    metrics = {
        "inside_s": Measure.observed(seconds(inside_ns)),
        "outside_s": Measure.observed(seconds(outside_ns)),
    }
    for rate, name in RATES.items():
        within, without = _parted(cuts, name, inside)
        metrics[f"{rate}_inside_bps"] = within.rate(inside_ns, 8)
        metrics[f"{rate}_outside_bps"] = without.rate(outside_ns, 8)
    return metrics


def _parted(cuts: Cuts, name: str, inside: list[tuple[int, int]]) -> tuple[Sum, Sum]:
    """Return what happened inside and outside of windows: together the whole."""
    within = sum((cuts.between(name, *window) for window in inside), NOTHING)
    return within, cuts.whole(name).without(within)
