"""Sent and received frames brought together: rules, and what holds for any input."""

from __future__ import annotations

import time

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from pathscope.replay.fidelity.matching import (
    ABSENT,
    EARLY_NS,
    Frames,
    Matching,
    find_corrupted,
    match,
)
from pathscope.replay.fidelity.syndrome import of_single_bits

MS = 1_000_000
HORIZON_NS = 100 * MS


def frames(*pairs: tuple[float, int], size: int = 100) -> Frames:
    """Frames by time in ms and fingerprint."""
    times = np.array([round(at * MS) for at, _ in pairs], np.int64)
    prints = np.array([one for _, one in pairs], np.uint64)
    return Frames(times, np.full(len(pairs), size, np.int64), prints)


def test_frames_that_differ_are_matched_whenever_they_come() -> None:
    found = match(frames((0, 7), (1, 8), (2, 9)), frames((900, 9), (5, 7)), HORIZON_NS)
    assert found.arrival.tolist() == [1, ABSENT, 0]
    assert found.source.tolist() == [2, 0]
    assert found.is_certain.all()


def test_equal_frames_are_matched_in_order_when_as_many_came() -> None:
    found = match(frames((0, 7), (1, 7), (2, 7)), frames((50, 7), (51, 7), (52, 7)), HORIZON_NS)
    assert found.arrival.tolist() == [0, 1, 2]
    assert not found.is_certain.any()


def test_else_each_is_the_latest_sent_before_it() -> None:
    found = match(frames((0, 7), (1, 7), (2, 7)), frames((1.5, 7), (2.5, 7)), HORIZON_NS)
    assert found.arrival.tolist() == [ABSENT, 0, 1]


def test_a_loop_later_is_another_frame() -> None:
    """The first was lost and the second came twice: as many as were sent, and not the same."""
    found = match(frames((0, 7), (500, 7)), frames((510, 7), (511, 7)), HORIZON_NS)
    assert found.arrival.tolist() == [ABSENT, 0]
    assert found.is_copy.tolist() == [False, True]
    assert found.is_certain.all()


def test_nothing_comes_before_it_was_sent() -> None:
    found = match(frames((10, 7)), frames((1, 7), (20, 7)), HORIZON_NS)
    assert found.source.tolist() == [ABSENT, 0]
    early = match(frames((10, 7)), frames((10 - EARLY_NS / 2 / MS, 7)), HORIZON_NS)
    assert early.arrival.tolist() == [0]


def test_one_bit_off_is_the_same_frame_corrupted() -> None:
    bits = of_single_bits(100)
    first, second = int(bits[3]), int(bits[500])
    sent = frames((0, 1000), (1, 2000), (2, 3000))
    came = frames(
        (5, 1000 ^ first), (6, 2000), (6.5, 2000 ^ second), (7, 3000 ^ first ^ second), (8, 99)
    )
    found = find_corrupted(sent, came, match(sent, came, HORIZON_NS), HORIZON_NS, copies=True)
    assert found.arrival.tolist() == [0, 1, ABSENT]
    assert found.source.tolist() == [0, 1, 1, ABSENT, ABSENT]
    assert found.is_corrupted.tolist() == [True, False, True, False, False]
    assert found.is_copy.tolist() == [False, False, True, False, False]


def test_a_corrupted_frame_has_the_length_and_the_time_of_the_one_sent() -> None:
    flipped = 1000 ^ int(of_single_bits(60)[3])
    for came in (frames((5, flipped), size=99), frames((5000, flipped)), frames((-5, flipped))):
        sent = frames((0, 1000))
        found = find_corrupted(sent, came, match(sent, came, HORIZON_NS), HORIZON_NS, copies=True)
        assert found.source.tolist() == [ABSENT]


def test_a_changed_bit_can_make_a_frame_the_next_of_its_sequence() -> None:
    """Unless copies were asked for, a frame that was not sent twice did not come twice."""
    apart = int(of_single_bits(100)[9])
    sent, came = frames((0, 1000), (1, 1000 ^ apart)), frames((5, 1000 ^ apart), (6, 1000 ^ apart))
    found = match(sent, came, HORIZON_NS)
    assert (found.arrival.tolist(), found.is_copy.tolist()) == ([ABSENT, 0], [False, True])
    one = find_corrupted(sent, came, found, HORIZON_NS, copies=False)
    assert one.arrival.tolist() == [1, 0]
    assert one.is_corrupted.tolist() == [False, True]
    assert not one.is_copy.any()
    other = find_corrupted(sent, came, found, HORIZON_NS, copies=True)
    assert other.is_copy.tolist() == [False, True]


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


@given(EVENTS, EVENTS)
def test_every_frame_is_accounted_for(
    going: list[tuple[int, int]], coming: list[tuple[int, int]]
) -> None:
    sent, came = frames(*going), frames(*coming)
    found = match(sent, came, HORIZON_NS)
    conserved(sent, came, found)


@given(EVENTS, EVENTS, st.integers(0, 799), st.booleans())
def test_and_so_it_is_with_corrupted_ones(
    going: list[tuple[int, int]], coming: list[tuple[int, int]], bit: int, copies: bool
) -> None:
    flip = int(of_single_bits(100)[bit])
    sent = frames(*((at, one * 977) for at, one in going))
    came = frames(*((at, one * 977 ^ (flip if at % 3 == 0 else 0)) for at, one in coming))
    matching = match(sent, came, HORIZON_NS)
    found = find_corrupted(sent, came, matching, HORIZON_NS, copies=copies)
    conserved(sent, came, found)
    assert (found.arrival != ABSENT).sum() >= (matching.arrival != ABSENT).sum()


@given(st.lists(st.booleans(), max_size=40).filter(lambda ones: 2 * sum(ones) != len(ones)))
def test_the_latest_that_is_free_is_on_top_of_a_stack(is_sent: list[bool]) -> None:
    """One group of equal frames, an event a millisecond: sent, or captured."""
    going = [at for at, one in enumerate(is_sent) if one]
    coming = [at for at, one in enumerate(is_sent) if not one]
    expected, stack = [], []
    for at, one in enumerate(is_sent):
        if one:
            stack.append(going.index(at))
        else:
            expected.append(stack.pop() if stack else ABSENT)
    sent, came = frames(*((at, 7) for at in going)), frames(*((at, 7) for at in coming))
    found = match(sent, came, HORIZON_NS)
    assert np.where(found.is_copy, ABSENT, found.source).tolist() == expected


def test_a_million_frames_take_seconds() -> None:
    rng = np.random.default_rng(1)
    n = 1_000_000
    prints = rng.integers(0, 2**64, n, np.uint64)
    prints[::10] = 5
    times = np.arange(n) * 100_000
    sent = Frames(times, np.full(n, 1000, np.int64), prints)
    kept = rng.random(n) > 0.05
    flips = np.where(rng.random(n) < 0.01, of_single_bits(1000)[7], np.uint64(0))
    came_as = np.asarray(prints ^ flips, np.uint64)
    came = Frames(times[kept] + 40 * MS, sent.bytes[kept], came_as[kept])
    began = time.process_time()
    found = find_corrupted(sent, came, match(sent, came, HORIZON_NS), HORIZON_NS, copies=True)
    assert time.process_time() - began < 30
    conserved(sent, came, found)
    assert 0.008 < found.is_corrupted.mean() < 0.012
