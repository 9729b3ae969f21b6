"""Which sent frame a received one was before netem flipped one of its bits.

Frames of a sequence are often only a bit or two apart, so that a corrupted one may stem from
several of them, or equal another. As many of the received as can be are given a sent one each; of
all ways to do that, the one with the fewest changed bits and the most usual delays is taken.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import min_weight_full_bipartite_matching

from .matching import ABSENT, EARLY_NS, Matching
from .syndrome import is_single_bit

if TYPE_CHECKING:
    import numpy.typing as npt

    from .matching import Frames, Indices

MOST_PAIRS = 4_000_000
"""That are looked at in one go, so that memory stays flat."""

UNCHANGED, CHANGED, NONE = 1.0, 3.0, 1e6
"""What a pair costs, and a frame without one; a delay adds up to 1 (costs may not be 0)."""


def find_corrupted(
    sent: Frames, received: Frames, matching: Matching, horizon_ns: int, *, copies: bool
) -> Matching:
    """Match what is left of the received to sent frames that differ from them in one bit.

    Frames that did not arrive are tried first; a corrupted copy belongs to one that did. Where no
    `copies` were to be made, what seems to be one may be another frame that a changed bit made the
    same: then a frame that was matched may change over to one that did not arrive.
    """
    found = _Search(sent, received, matching, horizon_ns)
    if copies:
        found.seat(np.flatnonzero(matching.source == ABSENT), found.missing())
        return found.with_copies()
    found.seat(found.unseated(), found.missing())
    left, missing = found.unseated(), found.missing()
    wanted = np.setdiff1d(found.pairs(left, np.arange(found.arrival.size))[0], missing)
    found.seat(np.union1d(left, found.arrival[wanted]), np.union1d(wanted, missing))
    return found.with_copies()


class _Search:
    """Sent frames beside received ones, of which some have found each other."""

    def __init__(self, sent: Frames, received: Frames, matching: Matching, horizon_ns: int) -> None:
        self._sent, self._received, self._matching = sent, received, matching
        self._horizon_ns = horizon_ns
        self.arrival = matching.arrival.copy()
        known = np.flatnonzero(self.arrival != ABSENT)
        delays_ns = received.time_ns[self.arrival[known]] - sent.time_ns[known]
        self._usual_ns = float(np.median(delays_ns)) if known.size else 0.0

    def missing(self) -> Indices:
        """Sent frames that no received one was."""
        return np.flatnonzero(self.arrival == ABSENT)

    def unseated(self) -> Indices:
        """Received frames that no sent one arrived as."""
        return np.setdiff1d(np.arange(self._received.time_ns.size), self.arrival)

    def seat(self, coming: Indices, going: Indices) -> None:
        """Give received frames a sent one each, of some that are theirs or nobody's."""
        goes, comes = self.pairs(coming, going)
        if not goes.size:
            return
        self.arrival[going[np.isin(self.arrival[going], coming)]] = ABSENT
        rows, row = np.unique(comes, return_inverse=True)
        columns, column = np.unique(goes, return_inverse=True)
        # Every received frame may also stay alone, in a column of its own.
        alone = np.arange(rows.size)
        costs = coo_array(
            (
                np.concatenate((self._costs(goes, comes), np.full(rows.size, NONE))),
                (np.concatenate((row, alone)), np.concatenate((column, columns.size + alone))),
            )
        )
        own, taken = min_weight_full_bipartite_matching(costs.tocsr())
        has = taken < columns.size
        self.arrival[columns[taken[has]]] = rows[own[has]]

    def _costs(self, goes: Indices, comes: Indices) -> npt.NDArray[np.float64]:
        same = self._sent.fingerprint[goes] == self._received.fingerprint[comes]
        delays_ns = self._received.time_ns[comes] - self._sent.time_ns[goes]
        unusual = np.abs(delays_ns - self._usual_ns) / (self._horizon_ns + self._usual_ns + 1)
        found: npt.NDArray[np.float64] = np.where(same, UNCHANGED, CHANGED)
        found += np.minimum(unusual, 1.0)
        return found

    def with_copies(self) -> Matching:
        """Say what was found: received frames that are left repeat what arrived, or are others."""
        sent, received = self._sent, self._received
        source = self._matching.source.copy()
        known = np.flatnonzero(self.arrival != ABSENT)
        source[self.arrival[known]] = known
        goes, comes = self.pairs(np.flatnonzero(source == ABSENT), known)
        comes, first = np.unique(comes, return_index=True)
        source[comes] = goes[first]
        is_copy = source != ABSENT
        is_copy[self.arrival[known]] = False
        is_corrupted = source != ABSENT
        is_corrupted[is_corrupted] = (
            received.fingerprint[is_corrupted] != sent.fingerprint[source[is_corrupted]]
        )
        return Matching(self.arrival, source, is_copy, is_corrupted, self._matching.is_certain)

    def pairs(self, coming: Indices, going: Indices) -> tuple[Indices, Indices]:
        """Sent and received frames of one length, in time, and apart by no more than one bit."""
        sent, received = self._sent, self._received
        going = going[np.argsort(sent.time_ns[going], kind="stable")]
        coming = coming[np.argsort(received.time_ns[coming], kind="stable")]
        sent_ns, arrived_ns = sent.time_ns[going], received.time_ns[coming]
        first = np.searchsorted(sent_ns, arrived_ns - self._horizon_ns)
        counts = np.searchsorted(sent_ns, arrived_ns + EARLY_NS) - first
        longest = int(received.bytes[coming].max(initial=0))
        found = [(going[:0], coming[:0])]
        for part in _parts(counts):
            own = np.repeat(part, counts[part])
            within = np.arange(own.size) - np.repeat(_offsets(counts[part]), counts[part])
            goes, comes = going[first[own] + within], coming[own]
            fits = sent.bytes[goes] == received.bytes[comes]
            goes, comes = goes[fits], comes[fits]
            apart = sent.fingerprint[goes] ^ received.fingerprint[comes]
            near = (apart == 0) | is_single_bit(apart, longest)
            found.append((goes[near], comes[near]))
        goes, comes = (np.concatenate(one) for one in zip(*found, strict=True))
        return goes, comes


def _offsets(counts: Indices) -> Indices:
    found: Indices = np.cumsum(counts) - counts
    return found


def _parts(counts: Indices) -> list[Indices]:
    """Cut a list into parts that each have few pairs enough; an item has its own at least."""
    number = np.cumsum(counts) // MOST_PAIRS
    changes = np.flatnonzero(np.diff(number)) + 1
    return [part for part in np.split(np.arange(counts.size), changes) if part.size]
