"""Corrupted frames and what they were: rules, what holds for any input, and a sequence in truth."""

from __future__ import annotations

import time

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from matched import EVENTS, HORIZON_NS, MS, conserved, frames
from pathscope.replay.fidelity.corrupted import find_corrupted
from pathscope.replay.fidelity.matching import ABSENT, Frames, match
from pathscope.replay.fidelity.syndrome import of_single_bits


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


def test_two_that_may_be_one_are_both_given_what_they_can_be() -> None:
    """The first is one bit from both that are missing, the second from one only."""
    one, other, third = (int(of_single_bits(100)[place]) for place in (9, 90, 400))
    sent = frames((0, 1000), (1, 1000 ^ one ^ other))
    came = frames((5, 1000 ^ one), (5.5, 1000 ^ third))
    found = find_corrupted(sent, came, match(sent, came, HORIZON_NS), HORIZON_NS, copies=False)
    assert found.arrival.tolist() == [1, 0]


def test_one_that_was_taken_for_another_makes_way() -> None:
    """A bit made the first the second, which has come, too, with another bit changed."""
    one, other = (int(of_single_bits(100)[place]) for place in (9, 400))
    sent = frames((0, 1000), (1, 1000 ^ one))
    came = frames((5, 1000 ^ one), (6, 1000 ^ one ^ other))
    found = find_corrupted(sent, came, match(sent, came, HORIZON_NS), HORIZON_NS, copies=False)
    assert found.arrival.tolist() == [0, 1]
    assert found.is_corrupted.all()
    assert not found.is_copy.any()


@given(st.integers(0, 2**32))
def test_of_a_sequence_as_many_are_lost_as_were(seed: int) -> None:
    """A counter in every frame, so that most are one bit apart from some others."""
    rng = np.random.default_rng(seed)
    n, bits = 1000, of_single_bits(200)
    prints = np.zeros(n, np.uint64)
    for place, bit in enumerate(rng.choice(bits, 10, replace=False)):
        prints ^= np.where(np.arange(n) >> place & 1, bit, np.uint64(0))
    flips = np.where(rng.random(n) < 0.1, rng.choice(bits, n), np.uint64(0))
    kept = rng.random(n) > 0.05
    times, sizes = np.arange(n) * MS, np.full(n, 200)
    sent = Frames(times, sizes, prints)
    came = Frames(times[kept] + 10 * MS, sizes[kept], (prints ^ flips)[kept])
    found = find_corrupted(sent, came, match(sent, came, HORIZON_NS), HORIZON_NS, copies=False)
    conserved(sent, came, found)
    assert np.count_nonzero(found.arrival == ABSENT) == np.count_nonzero(~kept)
    # One that became another which was lost cannot be told from that one.
    corrupted = np.count_nonzero(flips[kept])
    assert 0 <= corrupted - np.count_nonzero(found.is_corrupted) <= 0.1 * corrupted


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
