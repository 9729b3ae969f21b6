"""When a sender could have used a path: it was ACTIVE, and both its addresses were there."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from .context import ENDS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .columns import Column
    from .context import Context
    from .model import State


def usable(context: Context, path: int, states: Sequence[State], times_ns: Column) -> Column:
    """Tell at which times a path could be used.

    Parameters
    ----------
    context
        The association.
    path
        Its number.
    states
        The path's states as the sender must see them, in time order.
    times_ns
        The times, shape (n,).
    """
    known = [state for state in states if state.at.ns is not None]
    flags = np.array([False, *(state.state == "ACTIVE" for state in known)])
    starts = np.array([state.at.ns for state in known], np.int64)
    found: Column = flags[np.searchsorted(starts, times_ns, side="right")]
    for end, address in zip(ENDS, context.path_addresses(path), strict=True):
        found &= _there(context, end, address, times_ns)
    return found


def _there(context: Context, end: str, address: str, times_ns: Column) -> Column:
    """Tell at which times an address belonged to the association; before it was known, it did."""
    stays = [
        (row["first_ns"], row["left_ns"])
        for row in context.addresses
        if row["endpoint"] == end and row["address"] == address
    ]
    found = np.ones(len(times_ns), bool)
    for number, (_, left_ns) in enumerate(stays):
        if left_ns is None:
            continue
        again = [first_ns for first_ns, _ in stays[number + 1 :] if first_ns >= left_ns]
        gone = times_ns >= left_ns
        if again:
            gone &= times_ns < min(again)
        found &= ~gone
    return found
