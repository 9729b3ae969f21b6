"""What is a handover, what an excursion, and what neither."""

from __future__ import annotations

from ladder import HANDSHAKE, Play, failing, second, steady

BEFORE = HANDSHAKE + steady(1.0, 1.9, 0.1, 1, tsn=1, rtt=0.01)
"""TSN 1 to 10 on path 1."""


def test_a_pf_excursion_comes_back_after_a_heartbeat_ack(play: Play) -> None:
    """RFC 7829: one expiry sends new DATA elsewhere, one answered HEARTBEAT brings it back."""
    seen = play(
        BEFORE,
        failing(2.0, [1.0], tsn=11),  # 12 is new on path 2 at 3.001
        steady(3.1, 4.9, 0.1, 2, tsn=13, rtt=0.04),
        """
        5.00  a 1  HEARTBEAT 1
        5.01  b 1  HEARTBEAT ACK 1
        """,
        steady(5.1, 6.0, 0.1, 1, tsn=32, rtt=0.01),
    )
    assert seen.handovers == ()
    (excursion,) = seen.excursions
    assert (excursion.sender, excursion.from_path, excursion.to_path) == ("a", 0, 1)
    assert excursion.cause == "potentially-failed"
    assert (second(excursion.start.ns), second(excursion.end.ns)) == (3.001, 5.1)
    assert excursion.chunks == 20  # TSN 12 to 31


def test_after_an_unanswered_probe_it_is_a_handover(play: Play) -> None:
    """The probe's failure gave the path up; that DATA came back is another handover."""
    seen = play(
        BEFORE,
        failing(2.0, [1.0], tsn=11),
        steady(3.1, 4.9, 0.1, 2, tsn=13, rtt=0.04),
        "5.0 a 1 HEARTBEAT 1",
        steady(5.1, 6.9, 0.1, 2, tsn=32, rtt=0.04),
        "7.0 a 1 HEARTBEAT 2\n7.01 b 1 HEARTBEAT ACK 2",
        steady(7.1, 8.0, 0.1, 1, tsn=51, rtt=0.01),
    )
    assert [h.cause for h in seen.handovers] == ["potentially-failed", "path-returned"]
    assert seen.excursions == ()


def test_retransmissions_on_the_other_path_are_no_handover(play: Play) -> None:
    """A T3 expiry sends the old chunk elsewhere (RFC 9260 6.4.1); new DATA stays."""
    seen = play(
        BEFORE,
        """
        2.00  a 1  DATA 11
        3.00  a 2  DATA 11
        3.04  b 2  SACK 11
        """,
        steady(3.1, 5.0, 0.1, 1, tsn=12, rtt=0.01),
    )
    assert seen.handovers == ()
    assert seen.excursions == ()
    assert seen.paths[1].directions["a"].metrics["retransmitted_t3_chunks"].value == 1


def test_concurrent_transfer_has_no_handovers(play: Play) -> None:
    """New DATA on two paths in turn, all the time (CMT)."""
    lines = []
    for number in range(60):
        path, rtt = (1, 0.01) if number % 2 else (2, 0.04)
        at = 1.0 + number * 0.05
        lines += [f"{at:.3f} a {path} DATA {number + 1}"]
        lines += [f"{at + rtt:.3f} b {path} SACK {number + 1}"]
    seen = play(HANDSHAKE, "\n".join(lines))
    assert seen.handovers == ()
    assert seen.excursions == ()
    assert "concurrent-paths" in {finding.rule for finding in seen.findings}


def test_a_brief_stay_without_an_expiry_is_an_excursion(play: Play) -> None:
    seen = play(
        BEFORE,
        steady(2.1, 2.5, 0.1, 2, tsn=11, rtt=0.04),
        steady(2.6, 4.0, 0.1, 1, tsn=16, rtt=0.01),
    )
    assert seen.handovers == ()
    (excursion,) = seen.excursions
    assert excursion.chunks == 5
    assert (second(excursion.start.ns), second(excursion.end.ns)) == (2.1, 2.6)


def test_a_long_stay_without_an_expiry_is_two_handovers(play: Play) -> None:
    seen = play(
        BEFORE,
        steady(2.1, 5.0, 0.1, 2, tsn=11, rtt=0.04),
        steady(5.1, 7.0, 0.1, 1, tsn=41, rtt=0.01),
    )
    assert [(h.from_path, h.to_path) for h in seen.handovers] == [(0, 1), (1, 0)]


def test_after_an_excursion_the_next_move_starts_from_the_old_path(play: Play) -> None:
    seen = play(
        BEFORE,
        steady(2.1, 2.5, 0.1, 2, tsn=11, rtt=0.04),
        steady(2.6, 3.9, 0.1, 1, tsn=16, rtt=0.01),  # to TSN 29
        failing(4.0, [1.0, 1.0], tsn=30),
        steady(6.1, 7.0, 0.1, 2, tsn=33, rtt=0.04),
    )
    (excursion,) = seen.excursions
    (handover,) = seen.handovers
    assert (excursion.from_path, excursion.to_path) == (0, 1)
    assert (handover.from_path, handover.to_path, handover.cause) == (0, 1, "timeout")


def test_set_primary_there_and_back_soon_are_two_handovers(play: Play) -> None:
    """What was asked for is no excursion, however short."""
    seen = play(
        BEFORE,
        "2.00 a 1 ASCONF 1 SET-PRIMARY 10.0.2.1\n2.01 b 1 ASCONF-ACK 1",
        steady(2.1, 2.5, 0.1, 2, tsn=11, rtt=0.04),
        "2.55 a 2 ASCONF 2 SET-PRIMARY 10.0.1.1\n2.59 b 2 ASCONF-ACK 2",
        steady(2.6, 4.0, 0.1, 1, tsn=16, rtt=0.01),
    )
    assert [h.cause for h in seen.handovers] == ["set-primary", "set-primary"]
    assert seen.excursions == ()


def test_expiries_that_the_path_survived_do_not_count(play: Play) -> None:
    """Path.Max.Retrans counts errors in a row (RFC 9260 8.2): an acknowledgement clears them."""
    seen = play(
        BEFORE,
        """
        2.00  a 1  DATA 11
        3.00  a 2  DATA 11
        3.04  b 2  SACK 11
        """,
        steady(3.1, 3.9, 0.1, 1, tsn=12, rtt=0.01),  # to TSN 20
        failing(4.0, [1.0, 1.0], tsn=21),
        steady(6.1, 7.0, 0.1, 2, tsn=24, rtt=0.04),
    )
    (handover,) = seen.handovers
    assert [second(expiry.at.ns) for expiry in handover.timeouts] == [5.0, 6.001]
    assert seen.timers["a"]["path_max_retrans"].measure.value == 1


def test_an_expiry_before_what_the_path_delivered_does_not_explain_a_move(play: Play) -> None:
    """The last SACK of the old path comes after the move; the DATA that it is for came before."""
    seen = play(
        BEFORE,
        """
        2.00  a 1  DATA 11
        3.00  a 2  DATA 11
        3.04  b 2  SACK 11
        3.90  a 1  DATA 12
        4.00  a 2  DATA 13
        4.01  b 1  SACK 12
        4.04  b 2  SACK 13
        """,
        steady(4.1, 7.0, 0.1, 2, tsn=14, rtt=0.04),
    )
    (handover,) = seen.handovers
    assert (handover.cause, handover.timeouts) == ("user-change", ())


def test_an_old_request_does_not_explain_a_later_move(play: Play) -> None:
    """DATA stayed on path 1 for seconds after SET-PRIMARY took effect."""
    seen = play(
        BEFORE,
        "2.00 a 1 ASCONF 1 SET-PRIMARY 10.0.2.1\n2.01 b 1 ASCONF-ACK 1",
        steady(2.1, 5.9, 0.1, 1, tsn=11, rtt=0.01),  # to TSN 49
        failing(6.0, [1.0, 1.0], tsn=50),
        steady(8.1, 9.0, 0.1, 2, tsn=53, rtt=0.04),
    )
    assert [h.cause for h in seen.handovers] == ["timeout"]
