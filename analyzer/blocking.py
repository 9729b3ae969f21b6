"""Head-of-line blocking by stream, and what it would have been in a single one.

In a capture taken at the receiver the DATA themselves tell when a message arrived; in any other
the SACKs do, which come later, each by a way back and perhaps a delay of its own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .context import other
from .measure import Instant, Measure, seconds
from .receiver_model import Waiting

if TYPE_CHECKING:
    from ..dissectors.ledger import Row
    from .context import Context
    from .model import End

BY_DATA = "arrivals told by the DATA in the receiver's capture"
BY_SACK = "arrivals told by the SACKs that cover them first"
NOTHING = "no message waited"


def describe_waiting(
    context: Context, sender: End, stream: int | None, vantage: str, *, sacked: bool
) -> Waiting:
    """Describe how long ordered messages of a stream waited for earlier ones (RFC 9260 6.6).

    Parameters
    ----------
    context, sender, stream
        The stream; None for those beyond the ledger's limit.
    vantage
        Where the capture was taken.
    sacked
        Whether the capture has SACKs for this sender's DATA.
    """
    if stream is None:
        return _absent("streams beyond the ledger's limit are not told apart")
    if not sacked:
        return _absent("no SACK for this sender's DATA in the capture")
    at_receiver = vantage == other(sender)
    rows = [
        row
        for row in context.sent(context.blocking, sender)
        if row["stream"] == stream and row["seen_by"] == ("data" if at_receiver else "sack")
    ]
    spread_s = 0.0 if at_receiver else _spread_s(context, sender)
    metrics = _metrics(rows, spread_s, at_receiver=at_receiver)
    if not any(row["waited"] for row in rows):
        absent = Instant.absent(NOTHING)
        return Waiting(metrics, None, absent, absent)
    longest = max(rows, key=lambda row: row["wait_max_ns"])
    return Waiting(
        metrics,
        longest["longest_tsn"],
        Instant.seen(longest["longest_start_ns"], longest["longest_start_frame"]),
        Instant.seen(longest["longest_end_ns"], longest["longest_end_frame"]),
    )


def _metrics(rows: list[Row], spread_s: float, *, at_receiver: bool) -> dict[str, Measure]:
    def total(name: str) -> int:
        return sum(row[name] for row in rows)

    def longest(name: str) -> int:
        return max((row[name] for row in rows), default=0)

    def time(ns: int, messages: int) -> Measure:
        value = seconds(ns)
        if at_receiver:
            return Measure.observed(value, BY_DATA)
        doubt_s = messages * spread_s
        low = max(0.0, value - doubt_s)
        return Measure(value, "inferred", low, value + doubt_s, note=BY_SACK)

    waited, single_waited = total("waited"), total("single_waited")
    wait_ns, single_ns = total("wait_sum_ns"), total("single_wait_sum_ns")
    return {
        "waited_messages": Measure.observed(waited),
        "wait_s": time(wait_ns, waited),
        "wait_max_s": time(longest("wait_max_ns"), min(waited, 1)),
        "single_stream_waited_messages": Measure.observed(single_waited),
        "single_stream_wait_s": time(single_ns, single_waited),
        "single_stream_wait_max_s": time(longest("single_wait_max_ns"), min(single_waited, 1)),
        "saved_by_streams_s": time(single_ns - wait_ns, single_waited),
    }


def _spread_s(context: Context, sender: End) -> float:
    """How much later one SACK can come than another, by the round trips seen."""
    rows = [row for row in context.sent(context.rtt, sender) if row["kind"] == "sack"]
    if not rows:
        return 0.0
    return seconds(max(row["max_ns"] for row in rows) - min(row["min_ns"] for row in rows))


def _absent(reason: str) -> Waiting:
    names = _metrics([], 0.0, at_receiver=True)
    absent = Instant.absent(reason)
    return Waiting(dict.fromkeys(names, Measure.absent(reason)), None, absent, absent)
