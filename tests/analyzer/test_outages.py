"""Outages: what stayed unanswered on a path, and when it was heard again."""

from __future__ import annotations

import pytest
from lab import RUNS, association
from ladder import HANDSHAKE, Play, failing, second, steady
from truth import committed

WAY_NS = 50_000_000
"""Half a round trip of the lab's paths, and their queues."""

BEFORE = HANDSHAKE + steady(1.0, 1.9, 0.1, 1, tsn=1, rtt=0.01)


def test_a_path_that_fails_and_returns(play: Play) -> None:
    seen = play(
        BEFORE,
        failing(2.0, [1.0, 1.0], tsn=11),
        """
        6.00  a 1  HEARTBEAT 1
        8.00  a 1  HEARTBEAT 2
        8.01  b 1  HEARTBEAT ACK 2
        """,
    )
    (outage,) = seen.paths[0].outages
    assert (outage.sender, second(outage.start.ns)) == ("a", 1.91)
    assert outage.end is not None
    assert second(outage.end.ns) == 8.01
    assert (second(outage.first_lost.ns), second(outage.last_lost.ns)) == (2.0, 6.0)
    assert outage.duration_s.value == pytest.approx(6.1)
    assert (outage.duration_s.low, outage.duration_s.high) == pytest.approx((4.0, 6.1))
    assert seen.paths[0].directions["a"].metrics["outage_s"].value == pytest.approx(6.1)
    assert seen.paths[1].outages == ()


def test_a_path_with_nothing_to_carry(play: Play) -> None:
    """Path 2 is silent for seconds, and nothing on it is unanswered."""
    seen = play(BEFORE, "9.00  a 2  HEARTBEAT 1\n9.04  b 2  HEARTBEAT ACK 1")
    assert [path.outages for path in seen.paths] == [(), ()]
    assert seen.paths[1].directions["a"].metrics["outage_s"].value == 0.0


def test_a_path_that_never_returns(play: Play) -> None:
    seen = play(BEFORE, failing(2.0, [1.0, 1.0], tsn=11))
    (outage,) = seen.paths[0].outages
    assert outage.end is None
    assert outage.duration_s.note == "to the end of the association"


def test_a_needless_retransmission_is_no_outage(play: Play) -> None:
    """The SACK was late by more than the RTO; the receiver reports the copy."""
    seen = play(
        BEFORE,
        """
        2.000  a 1  DATA 11
        3.000  a 2  DATA 11
        3.040  b 2  SACK 11 dup 11
        3.500  b 1  SACK 11
        """,
    )
    assert seen.paths[0].outages == ()


@pytest.mark.parametrize("end", ["client", "server"])
def test_the_labs_link_was_down_in_the_outage(end: str) -> None:
    down, up = committed(RUNS / "lab-return")["links"]
    (outage,) = association(f"lab-return/{end}.pcapng").paths[0].outages
    assert outage.sender == ("a" if end == "client" else "b")
    assert outage.end is not None
    # Some packets were still on the way, or in the link's queue.
    assert outage.start.ns - WAY_NS <= down["to_ns"] <= outage.first_lost.ns + WAY_NS
    assert outage.last_lost.ns <= up["to_ns"] <= outage.end.ns
