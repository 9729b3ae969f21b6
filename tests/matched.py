"""Sent and received frames for tests of how they are matched."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st
from pathscope.replay.fidelity.matching import ABSENT, EARLY_NS, Frames, Matching

MS = 1_000_000
HORIZON_NS = 100 * MS


def frames(*pairs: tuple[float, int], size: int = 100) -> Frames:
    """Frames by time in ms and fingerprint."""
    times = np.array([round(at * MS) for at, _ in pairs], np.int64)
    prints = np.array([one for _, one in pairs], np.uint64)
    return Frames(times, np.full(len(pairs), size, np.int64), prints)


EVENTS = st.lists(st.tuples(st.integers(0, 400), st.integers(0, 4)), max_size=60)


def conserved(sent: Frames, came: Frames, found: Matching) -> None:
    arrived = found.arrival != ABSENT
    others = found.source == ABSENT
    assert arrived.sum() + found.is_copy.sum() + others.sum() == came.time_ns.size
    places = np.flatnonzero(arrived)
    assert (found.source[found.arrival[places]] == places).all()
    assert np.unique(found.arrival[places]).size == places.size
    assert not (others & (found.is_copy | found.is_corrupted)).any()
    known = np.flatnonzero(~others)
    origin = found.source[known]
    assert (came.time_ns[known] + EARLY_NS >= sent.time_ns[origin]).all()
    same = came.fingerprint[known] == sent.fingerprint[origin]
    assert (same == ~found.is_corrupted[known]).all()
