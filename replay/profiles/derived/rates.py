"""The rate of a link, where a queue shows it, and what of a delay is that queue.

A queue of a constant rate is first in, first out: a packet leaves it bytes / rate after the later
of its own arrival there and the leaving of the packet before. So packets that were sent closer
together than they arrived came out of it one after the other, and the time between them is that of
their bytes. Jitter parts packets, too, but not in proportion to their bytes. What the queue makes
of a delay is known once the rate is (Lindley's recursion), and must explain it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from .losses import DEVIATIONS
from .model import NS_PER_MS, Interval, Rate

if TYPE_CHECKING:
    from ....analyzer.columns import Column

NS_PER_S = 1_000_000_000

LEAST_PAIRS = 20
SPREAD_OUT = 1.5
"""A pair that arrives with so much more between it than it was sent with has waited in a queue."""

LEAST_GAP_NS = 10_000
"""Below, the gap between two packets is that of interrupts and clocks rather than of a link."""

WIDEST = 0.2
"""Of a rate, half of the pairs are within this share of the median."""

LEAST_EXPLAINED = 0.5
"""Of the delay's variance."""

_TOO_FAST = "packets that were sent close together arrived so: no queue held them"


def rate(sent_ns: Column, arrived_ns: Column, wire_bytes: Column) -> Rate:
    """Look for a queue of a constant rate.

    Parameters
    ----------
    sent_ns, arrived_ns, wire_bytes
        Of the packets that arrived, in sending order.
    """
    sent_gap, gap = np.diff(sent_ns), np.diff(arrived_ns)
    waited = (gap > SPREAD_OUT * sent_gap) & (gap >= LEAST_GAP_NS)
    pairs = int(waited.sum())
    if pairs < LEAST_PAIRS:
        few = f"{pairs} packets arrived further apart than they were sent, fewer than {LEAST_PAIRS}"
        return Rate(None, pairs, None, _TOO_FAST if pairs == 0 else few)
    each_bps = 8 * NS_PER_S * wire_bytes[1:][waited] / gap[waited]
    low, middle, high = np.quantile(each_bps, (0.25, 0.5, 0.75))
    if max(high - middle, middle - low) > WIDEST * middle:
        reason = "the time between packets that were parted on the way does not follow their bytes"
        return Rate(None, pairs, None, reason)
    near = np.abs(each_bps / middle - 1) <= WIDEST
    gaps, sizes = gap[waited][near], wire_bytes[1:][waited][near]
    bps = float(8 * NS_PER_S * sizes.sum() / gaps.sum())
    error = float(DEVIATIONS * each_bps[near].std() / np.sqrt(len(gaps)))
    explained = _explained(sent_ns, arrived_ns, wire_bytes, bps)
    if explained < LEAST_EXPLAINED:
        reason = f"a queue of {bps / 1000:.0f} kbit/s explains {100 * explained:.0f} % of the delay"
        return Rate(None, pairs, explained, reason)
    return Rate(Interval(bps, bps - error, bps + error), pairs, explained)


def queueing_ns(sent_ns: Column, wire_bytes: Column, bps: float) -> Column:
    """Return how long each packet waits in a queue of a rate and is sent, in ns.

    Each leaves at max over j <= i of (sent j + the time of all bytes from j to i).
    """
    own_ns = wire_bytes * (8 * NS_PER_S / bps)
    done_ns = np.cumsum(own_ns)
    begun_ns = np.maximum.accumulate(sent_ns - sent_ns[0] - (done_ns - own_ns))
    found: Column = begun_ns + done_ns - (sent_ns - sent_ns[0])
    return found


def _explained(sent_ns: Column, arrived_ns: Column, wire_bytes: Column, bps: float) -> float:
    delay_ms = (arrived_ns - sent_ns) / NS_PER_MS
    left_ms = delay_ms - queueing_ns(sent_ns, wire_bytes, bps) / NS_PER_MS
    variance = float(delay_ms.var())
    return 1 - float(left_ms.var()) / variance if variance > 0 else 0.0
