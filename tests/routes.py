"""Packets of a route, as a link with known settings makes them of numbers from a seed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from pathscope.analyzer.transit import ABSENT_NS
from pathscope.replay.profiles.derived.model import Series

if TYPE_CHECKING:
    from pathscope.replay.profiles.derived.model import Direction

    Column = np.ndarray[Any, np.dtype[Any]]

MS = 1_000_000
SECOND = 1000 * MS


def series(
    sent_ns: Column,
    delay_ms: Column | float,
    lost: Column | None = None,
    wire_bytes: Column | int = 200,
    direction: Direction = "to_server",
    duplicated: int | None = 0,
) -> Series:
    """Return what crossed a route: packets, each with its delay, of which some are lost."""
    delays = np.broadcast_to(np.asarray(delay_ms, float), sent_ns.shape)
    arrived_ns = sent_ns + np.round(delays * MS).astype(np.int64)
    if lost is not None:
        arrived_ns[lost] = ABSENT_NS
    sizes = np.broadcast_to(np.asarray(wire_bytes, np.int64), sent_ns.shape)
    return Series("wlan", direction, sent_ns, arrived_ns, sizes, duplicated)


def every(interval_ms: float, seconds: float) -> Column:
    """Return the times of packets at a constant interval, in ns."""
    count = int(seconds * 1000 / interval_ms)
    return (np.arange(count) * interval_ms * MS).astype(np.int64)


def gilbert(p: float, r: float, count: int, seed: int) -> Column:
    """Return which of some packets Gilbert's model loses: all of those in its bad state."""
    draws = np.random.default_rng(seed).random(count)
    lost, bad = np.zeros(count, bool), False
    for at, draw in enumerate(draws.tolist()):
        bad = draw >= r if bad else draw < p
        lost[at] = bad
    return lost


def through_queue(sent_ns: Column, wire_bytes: Column, bps: float, delay_ms: float) -> Column:
    """Return delays in ms of packets that wait for each other in a queue of a rate."""
    free_ns, delays = 0.0, []
    for at_ns, size in zip(sent_ns.tolist(), wire_bytes.tolist(), strict=True):
        free_ns = max(free_ns, at_ns + delay_ms * MS) + size * 8 * SECOND / bps
        delays.append((free_ns - at_ns) / MS)
    return np.array(delays)
