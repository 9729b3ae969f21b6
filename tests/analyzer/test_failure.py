"""When a link failed and came back: given by the user, or bounded."""

from __future__ import annotations

import json

import pytest
from ladder import HANDSHAKE, Play, failing, nanoseconds, second, steady

BEFORE = HANDSHAKE + steady(1.0, 1.9, 0.1, 1, tsn=1, rtt=0.01)
AWAY = BEFORE + failing(2.5, [1.0, 1.0], tsn=11) + steady(4.6, 8.0, 0.1, 2, tsn=14, rtt=0.04)
BACK = """
    9.0    a 1  HEARTBEAT 1
    12.0   a 1  HEARTBEAT 2
    14.0   a 1  HEARTBEAT 3
    14.01  b 1  HEARTBEAT ACK 3
""" + steady(14.1, 15.0, 0.1, 1, tsn=49, rtt=0.01)


def event(at: float, note: str, link: int | str = 1) -> str:
    """Write the lab's line; `link` counts interfaces from 1, or is a label."""
    ns = nanoseconds(at)
    time = f"{ns // 10**9}.{ns % 10**9:09d}"
    return f'{{"t": {time}, "event": "link", "link": {json.dumps(link)}, "note": "{note}"}}\n'


def test_the_truth_lies_between_the_bounds(play: Play) -> None:
    """The link may have failed at any time after 1.91 s (last sign of life) and up to 3.01 s.

    That is when the chunk of 2.5 s was answered at the latest, had its SACK not been lost: it may
    have arrived.
    """
    away, back = play(AWAY, BACK).handovers
    fail, returned = away.instants["t_fail"], back.instants["t_return_link"]
    assert (fail.basis, returned.basis) == ("inferred", "inferred")
    low, high = second(fail.low_ns), second(fail.high_ns)
    assert low is not None
    assert high is not None
    assert low <= 1.91
    assert high >= 2.5
    assert high <= 3.01  # a round trip, and the longest delay of a SACK
    # HEARTBEAT 2 was lost at 12.0 s, HEARTBEAT 3 answered at 14.01 s.
    assert (second(returned.low_ns), second(returned.high_ns)) == (12.0, 14.01)


def test_metrics_from_bounds_have_bounds(play: Play) -> None:
    away, back = play(AWAY, BACK).handovers
    # New DATA on path 2 at 4.502 s; failure between 1.9 s and 3.01 s.
    recovery = away.metrics["link_failure_recovery_s"]
    assert [recovery.low, recovery.high] == pytest.approx([1.492, 2.602])
    recognition = back.metrics["link_recognition_s"]
    assert [recognition.low, recognition.high] == pytest.approx([0.09, 2.1])


def test_the_users_word_counts(play: Play) -> None:
    away, back = play(AWAY, BACK, events=event(2.3, "down") + event(13.0, "up")).handovers
    fail, returned = away.instants["t_fail"], back.instants["t_return_link"]
    assert (fail.basis, second(fail.ns)) == ("annotated", 2.3)
    assert (returned.basis, second(returned.ns)) == ("annotated", 13.0)
    for metric, expected in (
        ("link_failure_recovery_s", 4.502 - 2.3),
        ("failure_detection_s", 4.501 - 2.3),
        ("recovery_completion_s", 4.541 - 2.3),
    ):
        measure = away.metrics[metric]
        assert measure.basis == "annotated"
        assert measure.value == pytest.approx(expected)
        assert measure.low is None
    assert back.metrics["link_recognition_s"].value == pytest.approx(1.1)


@pytest.mark.parametrize("link", [1, "1", "path 1", "wlan"])
def test_a_link_is_named_by_number_interface_or_label(play: Play, link: int | str) -> None:
    labels = ("10.0.1.0/24=wlan",) if link == "wlan" else ()
    away = play(AWAY, events=event(2.3, "down", link), labels=labels).handovers[0]
    assert away.instants["t_fail"].basis == "annotated"


def test_another_links_event_does_not_count(play: Play) -> None:
    away = play(AWAY, events=event(2.3, "down", 2)).handovers[0]
    assert away.instants["t_fail"].basis == "inferred"


def test_a_link_that_came_back_before_the_move_did_not_fail_then(play: Play) -> None:
    """The last word before the move is `up`: the user's `down` is about an earlier failure."""
    away = play(AWAY, events=event(1.2, "down") + event(1.4, "up")).handovers[0]
    assert away.instants["t_fail"].basis == "inferred"


def test_a_return_without_a_lost_heartbeat_has_no_lower_bound(play: Play) -> None:
    away, back = play(
        AWAY,
        "9.0 a 1 HEARTBEAT 1\n9.01 b 1 HEARTBEAT ACK 1",
        steady(9.1, 10.0, 0.1, 1, tsn=49, rtt=0.01),
    ).handovers
    assert away.cause == "timeout"
    assert back.cause == "path-returned"
    assert back.instants["t_return_link"].ns is None
    assert back.instants["t_return_link"].reason
    assert back.metrics["link_recognition_s"].reason
