"""How well the sender kept the times it was given, by its own clock."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
from scipy import stats

from .model import Bin, Pacing, Spread
from .ways import SENT

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

    from .model import Times
    from .ways import Rows

NS_PER_S = 1_000_000_000

EDGES_NS = tuple(step * 10**power for power in range(2, 10) for step in (1, 2, 5))
"""Bins of lateness: from 100 ns to 5 s, three a decade, the same for every replay."""

BLOCKS = 200
"""Stretches of equal time whose medians a line is laid through."""

LEAST_BLOCKS = 3

MINUTE_NS = 60 * NS_PER_S


def pacing(rows: Rows, seen_ns: npt.NDArray[np.float64], late_ns: int) -> Pacing:
    """Measure the pace of the frames that were handed over.

    Parameters
    ----------
    rows
        Of the log.
    seen_ns
        Of each row, when a capture at the sending side saw it, NaN where none did.
    late_ns
        A frame sent later than this after it was due is late.
    """
    sent = rows.outcome == SENT
    due_ns, sent_ns = rows.due_ns[sent], rows.sent_ns[sent]
    lateness = sent_ns - due_ns
    drift_ns, last_minus_first_ns = _trend(due_ns, lateness)
    by_route = [np.flatnonzero(sent & (rows.route == one)) for one in np.unique(rows.route)]
    captured = [own[~np.isnan(seen_ns[own])] for own in by_route]
    return Pacing(
        int(sent_ns.max() - sent_ns.min()) if sent_ns.size else 0,
        spread(lateness),
        histogram(lateness),
        int((lateness < 0).sum()),
        int((lateness > late_ns).sum()),
        _gap_error([(rows.due_ns[own], rows.sent_ns[own]) for own in by_route]),
        _gap_error([(rows.due_ns[own], seen_ns[own].astype(np.int64)) for own in captured]),
        drift_ns,
        last_minus_first_ns,
        sum(_out_of_order(rows.due_ns[own], rows.sent_ns[own]) for own in by_route),
    )


def spread(values_ns: npt.NDArray[np.int64]) -> Spread | None:
    """Return the quantiles of a sample; None of none."""
    if not values_ns.size:
        return None
    p50, p95, p99 = (float(one) for one in np.quantile(values_ns, (0.5, 0.95, 0.99)))
    return Spread(int(values_ns.size), p50, p95, p99, float(values_ns.max()))


def histogram(values_ns: npt.NDArray[np.int64]) -> tuple[Bin, ...]:
    """Count values by bin: below 0, then the fixed ones, then all beyond; without empty ends."""
    edges = (None, 0, *EDGES_NS, None)
    places = np.searchsorted(np.array([0, *EDGES_NS]), values_ns, "right")
    counts = np.bincount(places, minlength=len(edges) - 1)
    bins = [Bin(*ends, int(count)) for ends, count in zip(pairwise(edges), counts, strict=True)]
    used = np.flatnonzero(counts)
    return tuple(bins[used[0] : used[-1] + 1]) if used.size else ()


def _gap_error(by_route: Sequence[tuple[Times, Times]]) -> Spread | None:
    """How far each gap between two frames of a route is from what it was to be, in size."""
    errors = [np.abs(np.diff(sent_ns) - np.diff(due_ns)) for due_ns, sent_ns in by_route]
    return spread(np.concatenate(errors)) if errors else None


def _out_of_order(due_ns: Times, sent_ns: Times) -> int:
    """How many frames of a route went before one that was due before."""
    order = np.argsort(sent_ns, kind="stable")
    return int((np.diff(due_ns[order]) < 0).sum())


def _trend(due_ns: Times, lateness: Times) -> tuple[float | None, float | None]:
    """By how much lateness grows over the run: by a line, and from its beginning to its end."""
    if due_ns.size < 2 or due_ns.max() == due_ns.min():
        return None, None
    start, end = int(due_ns.min()), int(due_ns.max())
    block = np.minimum((due_ns - start) * BLOCKS // (end - start), BLOCKS - 1)
    order = np.argsort(block, kind="stable")
    cuts = np.flatnonzero(np.diff(block[order])) + 1
    medians = [float(np.median(part)) for part in np.split(lateness[order], cuts)]
    middles = [float(np.median(part)) for part in np.split(due_ns[order], cuts)]
    drift_ns = None
    if len(medians) >= LEAST_BLOCKS:
        # Theil and Sen's: the median of all slopes; a few frames that were late do not move it.
        drift_ns = float(stats.theilslopes(medians, middles).slope) * (end - start)
    length = min(MINUTE_NS, (end - start) // 10)
    first, last = lateness[due_ns <= start + length], lateness[due_ns >= end - length]
    return drift_ns, float(np.median(last) - np.median(first))
