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

EARLY = 0.5
"""What overtook the packet before and took less than this share of the usual was not delayed."""

LEAST_EXPECTED = 5
"""So many pairs turned around are to be expected before it says anything that there are none."""

KEPT = 0.1
"""Where fewer than this share of the expected are turned around, something keeps the order."""

SEED = 1


def early(sent_ns: Column, delay_ms: Column) -> Column:
    """Say which packets, of those that arrived in sending order, were not delayed as the others."""
    arrived = sent_ns + delay_ms * NS_PER_MS
    latest = np.maximum.accumulate(arrived)
    overtook = np.zeros(len(sent_ns), bool)
    overtook[1:] = arrived[1:] < latest[:-1]
    found: Column = (
        overtook & (delay_ms < EARLY * np.median(delay_ms)) if len(sent_ns) else overtook
    )
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
