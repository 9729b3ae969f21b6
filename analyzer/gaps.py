"""When a capture has no packet of anything."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from .columns import ranked, to_numpy
from .measure import NS_PER_S

if TYPE_CHECKING:
    from ..dissectors.ledger import Ledger

LEAST_NS = NS_PER_S
"""A shorter gap tells nothing."""

MOST_GAPS = 1000
"""The longest ones: a capture that is sparse throughout has very many."""


def capture_gaps(ledger: Ledger) -> tuple[tuple[int, int], ...]:
    """Return stretches without a packet, by the time bins of associations and flows.

    Each is from the end of a bin with packets to the start of the next one, in time order.
    """
    tables = [ledger.tables[name] for name in ("intervals", "flow_intervals")]
    starts, _ = ranked(np.concatenate([to_numpy(table["start_ns"]) for table in tables]))
    if len(starts) < 2:
        return ()
    ends = starts[:-1] + ledger.options.bin_ns
    lengths = starts[1:] - ends
    chosen = np.flatnonzero(lengths >= LEAST_NS)
    longest = chosen[np.argsort(-lengths[chosen], kind="stable")][:MOST_GAPS]
    return tuple((int(ends[n]), int(starts[n + 1])) for n in sorted(longest.tolist()))
