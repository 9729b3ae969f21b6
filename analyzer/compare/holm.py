"""Holm's correction: with many tests some p-values are small by chance alone.

The chance of any false alarm in the whole table stays below the level, however the rows depend on
each other (Holm 1979).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt


def holm(p_values: Sequence[float]) -> list[float]:
    """Return p-values as they are after correction over all of them, in the same order."""
    p = np.asarray(p_values, dtype=np.float64)
    order = np.argsort(p, kind="stable")
    corrected = np.empty_like(p)
    corrected[order] = _stepped(p[order])
    return [float(one) for one in corrected]


def at_best(p_values: Sequence[float], least: Sequence[float]) -> list[float]:
    """Return what the correction would make of each p-value had it alone been its least."""
    p = np.sort(np.asarray(p_values, dtype=np.float64))
    floors = np.asarray(least, dtype=np.float64)
    # What is below a row's least is not the row itself, and stands before it as it does now.
    before = np.searchsorted(p, floors)
    stepped = np.concatenate(([0.0], _stepped(p)))
    found = np.minimum(np.maximum(stepped[before], floors * (len(p) - before)), 1)
    return [float(one) for one in found]


def _stepped(ordered: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    steps = ordered * np.arange(len(ordered), 0, -1)
    stepped: npt.NDArray[np.float64] = np.minimum(np.maximum.accumulate(steps), 1)
    return stepped
