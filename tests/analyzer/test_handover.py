"""Handovers drawn as ladders: cause, instants and metrics, worked out by hand."""

from __future__ import annotations

import pytest
from ladder import HANDSHAKE, Play, failing, second, steady
from pathscope.analyzer.model import Handover

BEFORE = HANDSHAKE + steady(1.0, 1.9, 0.1, 1, tsn=1, rtt=0.01)
"""TSN 1 to 10 on path 1; the last is sent at 1.9 s and acknowledged at 1.91 s."""


def times(handover: Handover) -> dict[str, float]:
    """Seconds of the instants that are there."""
    return {
        name: at for name, one in handover.instants.items() if (at := second(one.ns)) is not None
    }


def value(handover: Handover, metric: str) -> float | None:
    found = handover.metrics[metric].value
    return None if found is None else round(found, 9)


def test_a_failover_by_hand(play: Play) -> None:
    """Path.Max.Retrans 1, RTO 1 s: two expiries, then new DATA on path 2."""
    (handover,) = play(
        BEFORE,
        """
        2.000  a 1  DATA 11             # lost, and whatever follows on path 1
        2.500  a 1  DATA 12
        3.000  a 2  DATA 11; DATA 12    # T3 (started at 2.0) expires
        3.001  a 1  DATA 13
        3.040  b 2  SACK 12
        4.001  a 2  DATA 13             # T3 (started at 3.001) expires: path 1 is given up
        4.002  a 2  DATA 14
        4.041  b 2  SACK 13
        4.042  b 2  SACK 14
        """,
        steady(4.1, 5.0, 0.1, 2, tsn=15, rtt=0.04),
    ).handovers
    assert (handover.sender, handover.from_path, handover.to_path) == ("a", 0, 1)
    assert handover.cause == "timeout"
    found = times(handover)
    fail = handover.instants["t_fail"]
    # The chunk of 1.9 s was delivered; the SACK of that of 2.0 s may have been lost, 0.51 s later.
    assert (second(fail.low_ns), second(fail.high_ns)) == (1.9, 2.51)
    assert found.pop("t_fail") == 2.205
    assert found == {
        "t_last_ok": 1.9,
        "t_last_sack": 1.91,
        "t_first_timeout": 3.0,
        "t_last_data_old": 3.001,
        "t_decision": 4.001,
        "t_first_new": 4.002,
        "t_recovered": 4.041,
        "t_first_ack": 4.042,
    }
    assert value(handover, "handover_delay_s") == 0.001
    assert value(handover, "data_interruption_s") == 1.001
    # Stops of the cumulative TSN: 2.0 (first outstanding again) to 3.04, 3.04 to 4.041.
    assert value(handover, "delivery_gap_s") == 1.04
    assert value(handover, "timeouts_before_move") == 2
    assert [expiry.elapsed_s for expiry in handover.timeouts] == [1.0, 1.0]
    recovery = handover.metrics["link_failure_recovery_s"]
    assert (recovery.low, recovery.high) == (1.492, 2.102)


@pytest.mark.parametrize(
    ("waits", "retrans", "rfc_s", "bokor_s"),
    [
        ([1.0] * 2, 1, 2.0, 1.0),
        ([1.0] * 3, 2, 3.0, 2.0),
        ([1.0] * 6, 5, 6.0, 5.0),
        ([0.2] * 3, 2, 0.6, 0.4),
        ([1.0, 2.0], 1, 3.0, 1.0),
        ([1.0, 2.0, 4.0], 2, 7.0, 3.0),
        # RFC 9260's defaults: RTO.Min 1 s, Path.Max.Retrans 5.
        ([1.0, 2.0, 4.0, 8.0, 16.0, 32.0], 5, 63.0, 31.0),
        # RTO.Max 3 s holds the third time-out down, and those after it.
        ([1.0, 2.0, 3.0, 3.0], 3, 9.0, 6.0),
    ],
)
def test_time_outs_and_what_they_predict(
    play: Play, waits: list[float], retrans: int, rfc_s: float, bokor_s: float
) -> None:
    seen = play(BEFORE, failing(2.0, waits, tsn=11))
    (handover,) = seen.handovers
    assert handover.cause == "timeout"
    # A millisecond passes between an expiry and the next chunk, which starts the timer again.
    decision_s = round(2.0 + sum(waits) + 0.001 * (len(waits) - 1), 6)
    assert times(handover)["t_decision"] == decision_s
    assert times(handover)["t_first_new"] == round(decision_s + 0.001, 6)
    assert [expiry.elapsed_s for expiry in handover.timeouts] == pytest.approx(waits)
    retrans_timer = seen.timers["a"]["path_max_retrans"].measure
    assert retrans_timer.value == retrans
    assert value(handover, "predicted_failover_s") == pytest.approx(rfc_s)
    assert value(handover, "predicted_failover_bokor_s") == pytest.approx(bokor_s)


def test_path_max_retrans_0_is_not_pf(play: Play) -> None:
    """One expiry, and no HEARTBEAT within the RTO after it: nothing probes the path as in PF."""
    seen = play(
        BEFORE,
        failing(2.0, [1.0], tsn=11),
        steady(3.1, 20.0, 0.1, 2, tsn=13, rtt=0.04),
        "33.0 a 1 HEARTBEAT 1",  # HB.Interval 30 s
    )
    (handover,) = seen.handovers
    assert handover.cause == "timeout"
    assert seen.timers["a"]["path_max_retrans"].measure.value == 0
    assert value(handover, "predicted_failover_s") == 1.0
    assert value(handover, "predicted_failover_bokor_s") == 0.0


def test_pf_that_stays_is_a_handover(play: Play) -> None:
    """One expiry, HEARTBEATs at each (doubled) RTO, none answered."""
    seen = play(
        BEFORE,
        failing(2.0, [1.0], tsn=11),
        """
        4.0  a 1  HEARTBEAT 1
        6.0  a 1  HEARTBEAT 2
        """,
        steady(6.1, 8.0, 0.1, 2, tsn=13, rtt=0.04),
    )
    (handover,) = seen.handovers
    assert handover.cause == "potentially-failed"
    assert "path_max_retrans" not in seen.timers["a"]
    states = [state.state for state in seen.paths[0].directions["a"].states]
    assert states == ["ACTIVE", "PF"]


def test_pf_after_two_expiries_is_no_path_max_retrans(play: Play) -> None:
    """Potentially.Failed.Max.Retrans 1: the time-outs double, then the HEARTBEATs' do."""
    seen = play(
        BEFORE,
        failing(2.0, [1.0, 2.0], tsn=11),
        """
        9.0   a 1  HEARTBEAT 1
        17.0  a 1  HEARTBEAT 2
        """,
        steady(17.1, 18.0, 0.1, 2, tsn=14, rtt=0.04),
    )
    (handover,) = seen.handovers
    assert handover.cause == "potentially-failed"
    assert "path_max_retrans" not in seen.timers["a"]


def test_a_single_expiry_before_the_return_is_not_its_cause(play: Play) -> None:
    """T3-rtx of path 2 fires too early; that gives no path up, but path 1 was found to be back."""
    seen = play(
        BEFORE,
        failing(2.0, [1.0, 1.0], tsn=11),
        steady(4.1, 5.9, 0.1, 2, tsn=14, rtt=0.04),
        """
        6.00   a 2  DATA 33
        7.00   a 2  DATA 33              # its timer expires
        7.04   b 2  SACK 33
        7.05   a 2  DATA 34
        8.05   a 2  DATA 34              # and again, alone
        8.06   a 1  HEARTBEAT 3
        8.07   b 1  HEARTBEAT ACK 3
        8.08   a 1  DATA 35
        8.09   b 1  SACK 35
        """,
        steady(8.1, 9.0, 0.1, 1, tsn=36, rtt=0.01),
    )
    away, back = seen.handovers
    assert (away.cause, back.cause) == ("timeout", "path-returned")
    assert times(back)["t_decision"] == 8.07
    assert value(back, "timeouts_before_move") == 0
    assert back.prediction is None
    # Nor does it tell how many expiries give a path up.
    assert seen.timers["a"]["path_max_retrans"].measure.value == 1


def test_return_after_heartbeat_ack(play: Play) -> None:
    seen = play(
        BEFORE,
        failing(2.0, [1.0, 1.0], tsn=11),
        steady(4.1, 8.0, 0.1, 2, tsn=14, rtt=0.04),
        """
        8.2    a 1  HEARTBEAT 1          # not answered
        8.3    a 2  DATA 54
        8.34   b 2  SACK 54
        12.0   b 1  HEARTBEAT 2
        12.001 a 1  HEARTBEAT ACK 2
        12.3   a 1  HEARTBEAT 3
        12.31  b 1  HEARTBEAT ACK 3
        12.4   a 1  DATA 55
        12.41  b 1  SACK 55
        """,
        steady(12.5, 14.0, 0.1, 1, tsn=56, rtt=0.01),
    )
    away, back = seen.handovers
    assert away.cause == "timeout"
    assert back.cause == "path-returned"
    found = times(back)
    assert found["t_decision"] == 12.31
    assert found["t_return_packet"] == 12.0
    assert found["t_first_new"] == found["t_return_data"] == 12.4
    returned = back.instants["t_return_link"]
    assert (second(returned.low_ns), second(returned.high_ns)) == (8.2, 12.0)
    recognition = back.metrics["link_recognition_s"]
    assert recognition.low == pytest.approx(0.4)
    assert recognition.high == pytest.approx(4.2)
    assert value(back, "handover_delay_s") == 0.09
    assert back.metrics["predicted_failover_s"].value is None
    states = [(s.state, second(s.at.ns)) for s in seen.paths[0].directions["a"].states]
    assert states == [("ACTIVE", 0.03), ("INACTIVE", 4.001), ("ACTIVE", 12.31)]


@pytest.mark.parametrize("asker", ["a", "b"])
def test_set_primary_by_either_end(play: Play, asker: str) -> None:
    """RFC 5061, section 4.2.4: asks the peer to send to that address; here the asker follows."""
    answerer = "b" if asker == "a" else "a"
    subject = "10.0.2.1" if asker == "a" else "10.0.2.2"
    (handover,) = play(
        BEFORE,
        f"""
        2.00  {asker} 1     ASCONF 1 SET-PRIMARY {subject}
        2.01  {answerer} 1  ASCONF-ACK 1
        2.05  a 2  DATA 11
        2.09  b 2  SACK 11
        """,
        steady(2.1, 4.0, 0.1, 2, tsn=12, rtt=0.04),
    ).handovers
    assert handover.cause == "set-primary"
    assert times(handover)["t_decision"] == 2.0
    assert value(handover, "handover_delay_s") == 0.05
    assert handover.instants["t_fail"].ns is None
    # Nothing was outstanding, so nothing had to recover.
    assert handover.instants["t_recovered"].reason == "nothing was outstanding at the move"
    # TSN 10 was acknowledged at 1.91 s, TSN 11 at 2.09 s.
    assert value(handover, "delivery_gap_s") == 0.18
    assert value(handover, "data_interruption_s") == 0.15


def test_the_address_is_deleted(play: Play) -> None:
    (handover,) = play(
        BEFORE,
        """
        2.00  a 2  ASCONF 1 DELETE 10.0.1.1
        2.04  b 2  ASCONF-ACK 1
        2.05  a 2  DATA 11
        2.09  b 2  SACK 11
        """,
        steady(2.1, 4.0, 0.1, 2, tsn=12, rtt=0.04),
    ).handovers
    assert handover.cause == "address-deleted"
    assert times(handover)["t_decision"] == 2.0


ASKED_FOR_2 = "2.00 a 1 ASCONF 1 SET-PRIMARY 10.0.2.1\n2.01 b 1 ASCONF-ACK 1\n"
DELETED_1 = "2.50 a 2 ASCONF 3 DELETE 10.0.1.1\n2.54 b 2 ASCONF-ACK 3\n"
ON_2 = "2.55 a 2 DATA 11\n2.59 b 2 SACK 11\n" + steady(2.6, 4.0, 0.1, 2, tsn=12, rtt=0.04)


@pytest.mark.parametrize(
    ("requests", "cause", "decision_s"),
    [
        (ASKED_FOR_2, "set-primary", 2.0),
        (ASKED_FOR_2 + "2.2 a 1 ASCONF 2 SET-PRIMARY 10.0.2.1\n2.21 b 1 ASCONF-ACK 2\n",
         "set-primary", 2.0),
        # Refused, or taken back: then the deletion decided.
        (ASKED_FOR_2.replace("ACK 1", "ACK 1 error 0xA4"), "address-deleted", 2.5),
        (ASKED_FOR_2 + "2.2 a 1 ASCONF 2 SET-PRIMARY 10.0.1.1\n2.21 b 1 ASCONF-ACK 2\n",
         "address-deleted", 2.5),
        (ASKED_FOR_2.replace("10.0.2.1", "10.0.3.1"), "address-deleted", 2.5),
    ],
)  # fmt: skip
def test_who_decided_when_the_address_was_deleted_before_data_moved(
    play: Play, requests: str, cause: str, decision_s: float
) -> None:
    """The handover delay of study N begins where the second path was decided for."""
    (handover,) = play(BEFORE, requests, DELETED_1, ON_2).handovers
    assert handover.cause == cause
    assert times(handover)["t_decision"] == decision_s
    assert value(handover, "handover_delay_s") == pytest.approx(2.55 - decision_s)


def test_a_request_that_was_ignored_decided_nothing(play: Play) -> None:
    """DATA went on for two seconds on the old path, until its address was deleted."""
    (handover,) = play(
        BEFORE,
        ASKED_FOR_2,
        steady(2.05, 4.0, 0.1, 1, tsn=11, rtt=0.01),
        "4.1 a 2 ASCONF 3 DELETE 10.0.1.1\n4.14 b 2 ASCONF-ACK 3\n",
        steady(4.2, 5.0, 0.1, 2, tsn=31, rtt=0.04),
    ).handovers
    assert (handover.cause, times(handover)["t_decision"]) == ("address-deleted", 4.1)


def test_a_rejected_request_explains_nothing(play: Play) -> None:
    seen = play(
        BEFORE,
        """
        2.00  a 1  ASCONF 1 SET-PRIMARY 10.0.2.1
        2.01  b 1  ASCONF-ACK 1 error 0xA4
        2.05  a 2  DATA 11
        2.09  b 2  SACK 11
        """,
        steady(2.1, 4.0, 0.1, 2, tsn=12, rtt=0.04),
        "4.2 a 1 HEARTBEAT 1\n4.21 b 1 HEARTBEAT ACK 1",
    )
    (handover,) = seen.handovers
    assert handover.cause == "user-change"


def test_the_user_changes_the_primary_path(play: Play) -> None:
    """The old path goes on working, and nobody asked on the wire."""
    (handover,) = play(
        BEFORE,
        steady(2.1, 4.0, 0.1, 2, tsn=11, rtt=0.04),
        "4.2 a 1 HEARTBEAT 1\n4.21 b 1 HEARTBEAT ACK 1",
    ).handovers
    assert handover.cause == "user-change"
    assert handover.instants["t_decision"].ns is None
    assert handover.metrics["handover_delay_s"].value is None
    assert value(handover, "data_interruption_s") == 0.2


def test_a_path_that_falls_silent_is_no_users_change(play: Play) -> None:
    (handover,) = play(
        BEFORE,
        steady(2.1, 4.0, 0.1, 2, tsn=11, rtt=0.04),
        "4.2 a 1 HEARTBEAT 1",
        steady(4.3, 6.0, 0.1, 2, tsn=31, rtt=0.04),
        "6.2 a 1 HEARTBEAT 2\n6.21 b 1 HEARTBEAT ACK 2",
    ).handovers
    assert handover.cause == "unknown"


def test_two_failures_in_a_row_over_three_paths(play: Play) -> None:
    seen = play(
        HANDSHAKE,
        "0.2 a 3 HEARTBEAT 3\n0.28 b 3 HEARTBEAT ACK 3",
        steady(1.0, 1.9, 0.1, 1, tsn=1, rtt=0.01),
        failing(2.0, [1.0, 1.0], tsn=11),  # TSN 11, 12 lost; 13 is new on path 2 at 4.002
        steady(4.1, 4.9, 0.1, 2, tsn=14, rtt=0.04),
        failing(5.0, [1.0, 1.0], tsn=23, path=2, other=3),
        steady(7.1, 8.0, 0.1, 3, tsn=26, rtt=0.08),
        paths=3,
    )
    first, then = seen.handovers
    assert [(h.from_path, h.to_path, h.cause) for h in (first, then)] == [
        (0, 1, "timeout"),
        (1, 2, "timeout"),
    ]
    assert times(first)["t_first_new"] == 4.002
    assert times(then)["t_first_new"] == 7.002
    assert times(then)["t_last_ok"] == 4.9
    assert seen.timers["a"]["path_max_retrans"].evidence_count == 2


def test_b_is_the_sender(play: Play) -> None:
    (handover,) = play(
        HANDSHAKE.replace("a 2", "b 2", 1).replace("b 2  HEARTBEAT ACK", "a 2  HEARTBEAT ACK"),
        steady(1.0, 1.9, 0.1, 1, tsn=1, rtt=0.001, sender="b"),
        """
        2.000  b 1  DATA 11
        3.000  b 2  DATA 11
        3.001  b 1  DATA 12
        3.041  a 2  SACK 11
        4.001  b 2  DATA 12
        4.002  b 2  DATA 13
        4.042  a 2  SACK 13
        """,
    ).handovers
    assert (handover.sender, handover.cause) == ("b", "timeout")
    assert times(handover)["t_decision"] == 4.001


def test_a_capture_that_starts_in_the_middle(play: Play) -> None:
    seen = play(
        steady(1.0, 1.9, 0.1, 1, tsn=1, rtt=0.01),
        failing(2.0, [1.0, 1.0], tsn=11),
        steady(4.1, 5.0, 0.1, 2, tsn=14, rtt=0.04),
    )
    assert not seen.seen_handshake
    assert seen.established.reason
    (handover,) = seen.handovers
    assert handover.cause == "timeout"
    assert times(handover)["t_first_new"] == 4.002


def test_a_capture_that_starts_after_the_failure(play: Play) -> None:
    """Nothing was seen to work on path 1: no t_last_ok, no bounds of the failure."""
    (handover,) = play(
        failing(2.0, [1.0, 1.0], tsn=11),
        steady(4.1, 5.0, 0.1, 2, tsn=14, rtt=0.04),
    ).handovers
    assert handover.cause == "timeout"
    for name in ("t_last_ok", "t_last_sack", "t_fail"):
        assert handover.instants[name].ns is None
        assert handover.instants[name].reason
    for name in ("link_failure_recovery_s", "failure_detection_s", "recovery_completion_s"):
        assert handover.metrics[name].value is None
        assert handover.metrics[name].reason


def test_no_data_no_handover(play: Play) -> None:
    seen = play(HANDSHAKE, "1.0 a 1 SHUTDOWN 0\n1.01 b 1 SHUTDOWN ACK\n1.02 a 1 SHUTDOWN COMPLETE")
    assert seen.handovers == ()
    assert seen.how_it_ended == "shutdown"
    assert seen.totals["a"]["retransmission_ratio"].reason == "no DATA sent"


def test_a_capture_at_the_receiver(play: Play) -> None:
    """Its answers leave at once; its HEARTBEAT takes the round trip: the tap is at b."""
    seen = play(
        """
        0.00   a 1  INIT
        0.0001 b 1  INIT ACK
        0.02   a 1  COOKIE ECHO
        0.0201 b 1  COOKIE ACK
        0.10   a 2  HEARTBEAT 1
        0.1001 b 2  HEARTBEAT ACK 1
        0.20   a 1  HEARTBEAT 2
        0.2001 b 1  HEARTBEAT ACK 2
        0.30   b 1  HEARTBEAT 3
        0.31   a 1  HEARTBEAT ACK 3
        0.40   b 2  HEARTBEAT 4
        0.44   a 2  HEARTBEAT ACK 4
        """,
        steady(1.0, 1.9, 0.1, 1, tsn=1, rtt=0.0001),
        """
        4.01   a 2  DATA 11              # 11 and 12 were lost on path 1: only their copies come
        4.0101 b 2  SACK 11
        4.02   a 2  DATA 12; DATA 13
        4.0201 b 2  SACK 13
        """,
        steady(4.1, 5.0, 0.1, 2, tsn=14, rtt=0.0001),
    )
    assert seen.captured_at == "b"
    (handover,) = seen.handovers
    assert handover.cause == "unknown"
    assert "capture at the sender" in handover.cause_text
    assert times(handover)["t_first_arrival"] == times(handover)["t_first_new"] == 4.01
    # From the last arrival on path 1, at 1.9 s.
    assert value(handover, "data_interruption_s") == 2.11
    assert seen.totals["a"]["retransmitted_chunks"].value == 0
