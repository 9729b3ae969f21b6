"""Times that a receiver's window was closed (RFC 9260 section 6.1, A)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .measure import Instant, Measure, seconds

if TYPE_CHECKING:
    from ..dissectors.ledger import Row
    from .context import Context
    from .model import End

NO_SACK = "it sent no SACK"


def window_metrics(context: Context, receiver: End) -> dict[str, Measure]:
    """Count and add up the times that a receiver advertised a window of 0 bytes.

    A time that no SACK with more ends counts up to the last SACK with 0: a lower bound.
    """
    rows = context.sent(context.zero_windows, receiver)
    if not context.sent(context.acknowledgements, receiver):
        names = ("zero_windows", "zero_window_s", "zero_window_max_s", "window_probes")
        return dict.fromkeys(names, Measure.absent(NO_SACK))
    closed_ns = [_closed_ns(row) for row in rows]
    note = None if all(row["end_ns"] is not None for row in rows) else "still closed at the end"
    return {
        "zero_windows": Measure.observed(len(rows)),
        "zero_window_s": Measure.observed(seconds(sum(closed_ns)), note),
        "zero_window_max_s": Measure.observed(seconds(max(closed_ns, default=0)), note),
        "window_probes": Measure.observed(sum(row["probes"] for row in rows)),
    }


def longest_zero_window(context: Context, receiver: End) -> tuple[Instant, Instant]:
    """Return begin and end of the longest time; absent where there was none."""
    rows = context.sent(context.zero_windows, receiver)
    if not rows:
        reason = "it never advertised a window of 0 bytes"
        return Instant.absent(reason), Instant.absent(reason)
    row = max(rows, key=_closed_ns)
    start = Instant.seen(row["start_ns"], row["start_frame"])
    if row["end_ns"] is None:
        return start, Instant.absent("no SACK with more in the capture")
    return start, Instant.seen(row["end_ns"], row["end_frame"])


def _closed_ns(row: Row) -> int:
    end_ns = row["last_ns"] if row["end_ns"] is None else row["end_ns"]
    return max(0, int(end_ns - row["start_ns"]))
