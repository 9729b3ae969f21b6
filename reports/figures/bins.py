"""Time bins of the ledger as lines: rates, with the bins in which nothing happened as zeros."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import count
from typing import TYPE_CHECKING

import numpy as np

from . import columns

if TYPE_CHECKING:
    import pyarrow as pa

    from .columns import Floats, Ints
    from .part import Window


MOST_STEPS = 120
"""Of a rate over a window: as many can be told apart, on a screen in the hand, too."""


LONGEST_GAP = 10.5
"""Time bins that a line of samples leads over, from one to the next."""


@dataclass(frozen=True, slots=True)
class Steps:
    """A line of steps: each value holds from its x, in seconds, to the next one."""

    x: Floats
    y: Floats


def steps(start_ns: Ints, values: Ints, bin_ns: int, origin_ns: int, scale: float = 1.0) -> Steps:
    """Return sums by time bin as steps, 0 where no bin is.

    Parameters
    ----------
    start_ns
        Starts of bins, in any order; those that are the same are added up.
    scale
        What a sum is multiplied by.
    """
    if not len(start_ns):
        return Steps(np.empty(0), np.empty(0))
    starts, places = np.unique(start_ns, return_inverse=True)
    sums = np.bincount(places, values, len(starts))
    # After a bin that no bin follows, nothing.
    ends = starts + bin_ns
    alone = np.flatnonzero(np.append(starts[1:], np.iinfo(np.int64).max) != ends)
    x = np.concatenate((starts, ends[alone]))
    y = np.concatenate((sums * scale, np.zeros(len(alone))))
    order = np.argsort(x, kind="stable")
    return Steps(columns.from_origin(x[order], origin_ns), y[order])


def levels(start_ns: Ints, values: Floats, bin_ns: int, origin_ns: int) -> Steps:
    """Return values of time bins as steps that end with their bin where no other bin follows.

    Parameters
    ----------
    start_ns
        Starts of bins, rising, each once.
    """
    ends_ns = start_ns + bin_ns
    alone = np.flatnonzero(np.append(start_ns[1:], np.iinfo(np.int64).max) != ends_ns)
    # After a bin that no bin follows: its end, and a break.
    places = np.repeat(alone + 1, 2)
    x = np.insert(start_ns, places, np.repeat(ends_ns[alone], 2))
    after = np.stack((values[alone], np.full(len(alone), np.nan)), axis=-1)
    return Steps(columns.from_origin(x, origin_ns), np.insert(values, places, after.reshape(-1)))


def width(bin_ns: int, seen: Window) -> int:
    """Return the width of bins that a window can be read in: a round multiple of the ledger's.

    Narrow bins show when packets fell into them, rather than a rate.
    """
    least = (seen.to_ns - seen.from_ns) / MOST_STEPS / bin_ns
    tens = (int(10**power) for power in count())
    return bin_ns * next(one * ten for ten in tens for one in (1, 2, 5) if one * ten >= least)


def widened(start_ns: Ints, width_ns: int) -> Ints:
    """Return the starts of the wider bins that bins are part of."""
    return start_ns // width_ns * width_ns


def in_window(bins: pa.Table, width_ns: int, seen: Window) -> pa.Table:
    """Return the bins of all wider ones that a window of time touches: none of them in part."""
    start_ns = widened(columns.integers(bins, "start_ns"), width_ns)
    return columns.chosen(bins, (start_ns > seen.from_ns - width_ns) & (start_ns <= seen.to_ns))


def middles(bins: pa.Table, bin_ns: int, origin_ns: int) -> Floats:
    """Return the middle of each bin in seconds from an origin."""
    return columns.from_origin(columns.integers(bins, "start_ns") + bin_ns // 2, origin_ns)


def ordered(bins: pa.Table) -> pa.Table:
    """Return bins in the order of time."""
    return bins.take(np.argsort(columns.integers(bins, "start_ns"), kind="stable"))


def broken(x: Floats, bin_s: float, *columns: Floats) -> tuple[Floats, ...]:
    """Return columns with breaks where a line would lead over a time without samples.

    Parameters
    ----------
    x
        Middles of the bins that have samples, in seconds.
    bin_s
        Width of the bins.
    *columns
        Values of those bins; rows of several values may be one's.
    """
    apart = pauses(x, bin_s)
    return (
        np.insert(x, apart, x[apart]),
        *(np.insert(column, apart, np.nan, axis=0) for column in columns),
    )


def pauses(x: Floats, bin_s: float) -> Ints:
    """Return the places of points before which a line is broken: nothing was seen for long."""
    found: Ints = np.flatnonzero(np.diff(x) > LONGEST_GAP * bin_s) + 1
    return found


def rate_unit(most_bps: float) -> tuple[float, str]:
    """Return what bits per second are multiplied by, and the unit that this makes.

    >>> rate_unit(2_500_000.0)
    (1e-06, 'Mbit/s')
    """
    if most_bps >= 1e6:
        return 1e-6, "Mbit/s"
    return 1e-3, "kbit/s"
