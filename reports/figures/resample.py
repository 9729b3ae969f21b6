"""Fewer points than there are, so that the screen shows the same."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from tsdownsample import MinMaxLTTBDownsampler

if TYPE_CHECKING:
    from .columns import Floats, Ints

FEWEST = 8
"""The resampler needs some points to choose from."""


def line(x: Floats, y: Floats, most: int) -> Ints:
    """Return which points of a line to draw, in order: the first, the last, peaks and valleys.

    Parameters
    ----------
    x, y
        float64, x rising; y is NaN where the line is broken.
    most
        So many points, and the extremes. Beside them, of the breaks between two, one stays.
    """
    if len(x) <= max(most, FEWEST):
        return np.arange(len(x))
    known = np.flatnonzero(~np.isnan(y))
    if len(known) > most:
        known = known[_chosen(x[known], y[known], max(most, FEWEST))]
    return _with_breaks(y, known)


def _chosen(x: Floats, y: Floats, most: int) -> Ints:
    resampler: Any = MinMaxLTTBDownsampler  # published with types, but for this
    found = resampler().downsample(np.ascontiguousarray(x), np.ascontiguousarray(y), n_out=most)
    # It keeps the extremes of most parts, not of all: those of the whole line are promised.
    return np.union1d(found.astype(np.int64), (y.argmin(), y.argmax()))


def _with_breaks(y: Floats, chosen: Ints) -> Ints:
    breaks = np.flatnonzero(np.isnan(y))
    _, first = np.unique(np.searchsorted(chosen, breaks), return_index=True)
    return np.sort(np.concatenate((chosen, breaks[first])))


def events(x: Floats, most: int) -> Ints:
    """Return which of many instants to draw: the first in each of so many equal parts of time.

    Parameters
    ----------
    x
        float64, in any order.
    most
        Parts.
    """
    if len(x) <= most:
        return np.arange(len(x))
    low, high = float(x.min()), float(x.max())
    if high <= low:
        return np.arange(1)
    places = np.minimum((x - low) / (high - low) * most, most - 1).astype(np.int64)
    order = np.lexsort((x, places))
    _, first = np.unique(places[order], return_index=True)
    return np.sort(order[first])


@dataclass(frozen=True, slots=True)
class Stretches:
    """Stretches of time, a row each: start, end, and the sum of the weights in it."""

    start: Floats
    end: Floats
    weight: Ints


def stretches(start: Floats, end: Floats, weight: Ints, gap: float) -> Stretches:
    """Return stretches of which those become one that the screen could not keep apart.

    Parameters
    ----------
    start, end
        In order, none over the other.
    weight
        What is added up of those that become one.
    gap
        The longest that two can be apart and become one.
    """
    if not len(start):
        return Stretches(start, end, weight)
    apart = np.flatnonzero(start[1:] - np.maximum.accumulate(end)[:-1] > gap) + 1
    first = np.concatenate(([0], apart))
    return Stretches(start[first], np.maximum.reduceat(end, first), np.add.reduceat(weight, first))
