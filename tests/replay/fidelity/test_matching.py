"""Sent and received frames brought together: rules, and what holds for any input."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from matched import EVENTS, HORIZON_NS, MS, conserved, frames
from pathscope.replay.fidelity.matching import ABSENT, EARLY_NS, match


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


@given(EVENTS, EVENTS)
def test_every_frame_is_accounted_for(
    going: list[tuple[int, int]], coming: list[tuple[int, int]]
) -> None:
    sent, came = frames(*going), frames(*coming)
    found = match(sent, came, HORIZON_NS)
    conserved(sent, came, found)


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
