"""Exponential averages of what a sender saw of its paths: tau(n+1) = a tau(n) + (1 - a) T(n).

After Chen 2010. T(n) is the mean of what came in time bin n: round-trip times of SACKs and
HEARTBEAT ACKs, or the rate at which DATA was acknowledged. A bin without samples changes nothing.
What came in a bin counts from its end on, so that no choice is held against what was not known yet.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import accumulate
from typing import TYPE_CHECKING

import numpy as np

from .columns import ranked
from .measure import NS_PER_S

if TYPE_CHECKING:
    from .columns import Column
    from .context import Context
    from .model import End

KEPT = 7 / 8
"""a, the share of the old average that is kept. The study names none; this is what RFC 9260 section
6.3.1 keeps of SRTT (RTO.Alpha is 1/8)."""


@dataclass(frozen=True, slots=True)
class Average:
    """An average over time: `values[i]` holds from `known_ns[i]` on."""

    known_ns: Column
    values: Column

    @classmethod
    def of(cls, samples: dict[int, float], bin_ns: int) -> Average:
        """Average samples by the start of their bin."""
        bins = sorted(samples)
        values = list(accumulate((samples[start] for start in bins), _next))
        return cls(np.array(bins, np.int64) + bin_ns, np.array(values, float))

    def at(self, times_ns: Column) -> Column:
        """Return the average at each time; NaN before the first sample."""
        places = np.searchsorted(self.known_ns, times_ns, side="right")
        return np.concatenate(([np.nan], self.values))[places]

    @property
    def last(self) -> float | None:
        """The average at the end; None without samples."""
        return float(self.values[-1]) if len(self.values) else None


def _next(tau: float, sample: float) -> float:
    return KEPT * tau + (1 - KEPT) * sample


def round_trips(context: Context, sender: End) -> dict[int, Average]:
    """Average the round-trip times of a sender in nanoseconds, by path; those with samples only."""
    bin_ns = context.bins.bin_ns
    path, start_ns, count, sum_ns = _columns(context, sender, "rtt_count", "rtt_sum_ns")
    beats = [
        (row["path"], row["ack_ns"] // bin_ns * bin_ns, 1, row["rtt_ns"])
        for row in context.sent(context.heartbeats, sender)
        if row["ack_ns"] is not None and row["rtt_ns"] >= 0  # a clock can be set back
    ]
    if beats:
        added = np.array(beats, np.int64).T
        path, start_ns, count, sum_ns = (
            np.concatenate(both)
            for both in zip((path, start_ns, count, sum_ns), added, strict=True)
        )
    found = {}
    for one in sorted(set(path[count > 0].tolist())):
        own = (path == one) & (count > 0)
        bins, places = ranked(start_ns[own])
        counts, sums = (np.bincount(places, column[own]) for column in (count, sum_ns))
        found[one] = Average.of(
            dict(zip(bins.tolist(), (sums / counts).tolist(), strict=True)), bin_ns
        )
    return found


def rates(context: Context, sender: End) -> dict[int, Average]:
    """Average the rates in bit/s at which a sender's DATA was acknowledged, by path."""
    bin_ns = context.bins.bin_ns
    path, start_ns, acked_bytes = _columns(context, sender, "acked_bytes")
    rate_bps = acked_bytes * (8 * NS_PER_S / bin_ns)
    found = {}
    for one in sorted(set(path[acked_bytes > 0].tolist())):
        own = (path == one) & (acked_bytes > 0)
        samples = dict(zip(start_ns[own].tolist(), rate_bps[own].tolist(), strict=True))
        found[one] = Average.of(samples, bin_ns)
    return found


def _columns(context: Context, sender: End, *names: str) -> tuple[Column, ...]:
    columns = context.bins.columns
    own = columns["is_b"] == (sender == "b")
    return tuple(columns[name][own].astype(np.int64) for name in ("path", "start_ns", *names))
