"""Where the capture was taken."""

from __future__ import annotations

import lab
import pytest
from ladder import HANDSHAKE, Play, steady


def beats(a_rtt: float, b_rtt: float) -> str:
    return f"""
    1.0            a 1  HEARTBEAT 1
    {1.0 + a_rtt}  b 1  HEARTBEAT ACK 1
    2.0            b 1  HEARTBEAT 2
    {2.0 + b_rtt}  a 1  HEARTBEAT ACK 2
    """


@pytest.mark.parametrize(
    ("a_rtt", "b_rtt", "place"),
    [(0.1, 0.0001, "a"), (0.0001, 0.1, "b"), (0.05, 0.05, "between"), (0.08, 0.02, "between")],
)
def test_the_nearer_end_answers_at_once(play: Play, a_rtt: float, b_rtt: float, place: str) -> None:
    assert play(beats(a_rtt, b_rtt)).captured_at == place


def test_one_ends_questions_alone_tell_nothing(play: Play) -> None:
    seen = play(HANDSHAKE, steady(1.0, 2.0, 0.1, 1, tsn=1, rtt=0.01))
    assert seen.captured_at == "unknown"


@pytest.mark.parametrize("capture", lab.CAPTURES)
def test_the_labs_captures(capture: str) -> None:
    """The client sends INIT, so it is a."""
    assert lab.association(capture).captured_at == ("a" if "client" in capture else "b")
