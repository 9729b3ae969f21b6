"""Packets that overtook others: by netem's reordering, by jitter, or not although jitter would.

Netem reorders in two ways. `reorder` sends a share of the packets at once, without their delay.
Jitter turns packets around that follow each other more closely than their delays differ, unless
the queue behind it keeps their order.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from .model import NS_PER_MS, Order

if TYPE_CHECKING:
    from ....analyzer.columns import Column

EARLY = 0.2
"""What took less than this share of the delay of a packet that it overtook was not delayed."""

LEAST_EXPECTED = 5
"""So many pairs turned around are to be expected before it says anything that there are none."""

KEPT = 0.1
"""Where fewer than this share of the expected are turned around, something keeps the order."""

SEED = 1


def early(sent_ns: Column, delay_ms: Column) -> Column:
    """Say which packets, of those that arrived in sending order, were not delayed as the others."""
    if not len(sent_ns):
        return np.zeros(0, bool)
    arrived_ns = sent_ns + delay_ms * NS_PER_MS
    latest_ns = np.maximum.accumulate(arrived_ns)
    # The last packet so far of those that arrive latest.
    slowest = np.maximum.accumulate(np.where(arrived_ns == latest_ns, np.arange(len(sent_ns)), 0))
    found: Column = (arrived_ns < latest_ns) & (delay_ms < EARLY * delay_ms[slowest])
    return found


def order(sent_ns: Column, delay_ms: Column, residual_ms: Column, early_packets: int) -> Order:
    """Say whether delays that vary keep the order of their packets.

    Parameters
    ----------
    sent_ns, delay_ms
        Of packets that arrived and were delayed, in sending order.
    residual_ms
        The delay of each less that of its step; all 0 where there is no jitter.
    early_packets
        How many others were not delayed at all (`early`).
    """
    gaps_ms = np.diff(sent_ns) / NS_PER_MS
    turned = int((gaps_ms + np.diff(delay_ms) < 0).sum())
    # Neighbours of a random order are independent.
    drawn = np.random.default_rng(SEED).permutation(residual_ms)
    expected = int((gaps_ms + np.diff(drawn) < 0).sum())
    keep = expected >= LEAST_EXPECTED and turned < KEPT * expected
    return Order(early_packets, turned, expected, keep)
