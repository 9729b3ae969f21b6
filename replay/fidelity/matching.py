"""Which received frame was which sent one, by fingerprints: equal bytes are matched in time order.

Where a frame was sent again, byte by byte the same, while the one before may still have been on its
way, which of them arrived cannot be known. There the k-th received is the k-th sent when
as many came as went, else the latest one sent before it that is not taken yet.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import numpy.typing as npt

    from .model import Fingerprints, Sizes, Times

    Indices = npt.NDArray[np.int64]
    Flags = npt.NDArray[np.bool_]

ABSENT = -1

EARLY_NS = 200_000
"""A frame may seem captured before it was sent, by so much: two clocks are not read at once."""


@dataclass(frozen=True, slots=True)
class Frames:
    """Frames of one side: when, how long, and which."""

    time_ns: Times
    bytes: Sizes
    fingerprint: Fingerprints


@dataclass(frozen=True, slots=True)
class Matching:
    """What belongs to what.

    `arrival`: of every sent frame, the received one that it came as, else -1. `source`: of every
    received frame, the sent one that it is, or a copy or a corrupted form of, else -1. `is_copy`,
    `is_corrupted`: of every received frame. `is_certain`: of every sent frame, whether no other of
    the same bytes was on its way then.
    """

    arrival: Indices
    source: Indices
    is_copy: Flags
    is_corrupted: Flags
    is_certain: Flags


def match(sent: Frames, received: Frames, horizon_ns: int) -> Matching:
    """Match received frames to sent ones.

    Parameters
    ----------
    sent, received
        Both with times on one clock, in any order.
    horizon_ns
        Longer than this no frame is on its way.
    """
    events = _Events.of(sent, received, horizon_ns)
    arrival = np.full(sent.time_ns.size, ABSENT, dtype=np.int64)
    source = np.full(received.time_ns.size, ABSENT, dtype=np.int64)
    for going, coming in (events.in_order(), events.latest_first()):
        arrival[going] = coming
        source[coming] = going
    is_copy = np.zeros(source.size, dtype=np.bool_)
    of, copies = events.copies(source)
    source[copies] = of
    is_copy[copies] = True
    is_corrupted = np.zeros(source.size, dtype=np.bool_)
    return Matching(arrival, source, is_copy, is_corrupted, events.is_certain())


@dataclass(frozen=True, slots=True)
class _Events:
    """Sent and received frames in one list: by bytes, then by time.

    `index` is the place in the input. `group` numbers frames of the same bytes of which one may be
    taken for the other; `is_even` says that as many came as went in it, and none before it went,
    `is_single` that one went.
    """

    index: Indices
    is_sent: Flags
    group: Indices
    is_even: Flags
    is_single: Flags

    @classmethod
    def of(cls, sent: Frames, received: Frames, horizon_ns: int) -> _Events:
        """Put the two lists into one."""
        print_ = np.concatenate((sent.fingerprint, received.fingerprint))
        time_ns = np.concatenate((sent.time_ns, received.time_ns + EARLY_NS))
        index = np.concatenate((np.arange(sent.time_ns.size), np.arange(received.time_ns.size)))
        is_sent = np.arange(print_.size) < sent.time_ns.size
        order = np.lexsort((~is_sent, time_ns, print_))
        print_, time_ns, is_sent = print_[order], time_ns[order], is_sent[order]
        group = np.cumsum(_starts(print_, time_ns, is_sent, horizon_ns)) - 1
        groups = int(group[-1]) + 1 if group.size else 0
        went = np.bincount(group[is_sent], minlength=groups)
        even = went == np.bincount(group[~is_sent], minlength=groups)
        going = np.flatnonzero(is_sent & even[group])
        coming = np.flatnonzero(~is_sent & even[group])
        even[group[going[time_ns[coming] < time_ns[going]]]] = False
        return cls(index[order], is_sent, group, even[group], (went == 1)[group])

    def in_order(self) -> tuple[Indices, Indices]:
        """Pairs of groups where as many came as went: sent, received, by place in the input."""
        return self.index[self.is_even & self.is_sent], self.index[self.is_even & ~self.is_sent]

    def latest_first(self) -> tuple[Indices, Indices]:
        """Pairs of the other groups: each received with the latest sent before it that is free.

        It is as with brackets: a closing one belongs to the nearest opening one on its level.
        """
        rest = np.flatnonzero(~self.is_even)
        opens = self.is_sent[rest]
        depth = np.cumsum(np.where(opens, 1, -1))
        level = np.where(opens, depth, depth + 1)
        order = np.lexsort((rest, level, self.group[rest]))
        rest, opens, level = rest[order], opens[order], level[order]
        group = self.group[rest]
        together = (group[1:] == group[:-1]) & (level[1:] == level[:-1])
        pairs = np.flatnonzero(together & opens[:-1] & ~opens[1:])
        return self.index[rest[pairs]], self.index[rest[pairs + 1]]

    def copies(self, source: Indices) -> tuple[Indices, Indices]:
        """Received frames that no sent one is left for, after the latest sent that they repeat."""
        places = np.where(self.is_sent, np.arange(self.index.size), ABSENT)
        latest = np.maximum.accumulate(places) if places.size else places
        free = np.flatnonzero(~self.is_sent)
        free = free[source[self.index[free]] == ABSENT]
        of = latest[free]
        known = (of != ABSENT) & (self.group[of] == self.group[free])
        return self.index[of[known]], self.index[free[known]]

    def is_certain(self) -> Flags:
        """Of every sent frame, by place in the input: it is the only one of its group."""
        found = np.zeros(int(self.is_sent.sum()), dtype=np.bool_)
        found[self.index[self.is_sent]] = self.is_single[self.is_sent]
        return found


def _starts(print_: Fingerprints, time_ns: Times, is_sent: Flags, horizon_ns: int) -> Flags:
    """Where a group begins: with other bytes, or a frame sent when none was on its way any more."""
    other = np.ones(print_.size, dtype=np.bool_)
    other[1:] = print_[1:] != print_[:-1]
    places = np.flatnonzero(is_sent)
    gap_ns = np.diff(time_ns[places], prepend=time_ns[places[:1]])
    other[places[gap_ns > horizon_ns]] = True
    return other
