"""Counts, rates, round-trip times and retransmissions of a path, worked out by hand."""

from __future__ import annotations

import pytest
from ladder import HANDSHAKE, USER_BYTES, Play, failing, steady
from pathscope.analyzer.measure import Measure
from pathscope.analyzer.model import Association, End

TRAFFIC = steady(1.0, 1.9, 0.1, 1, tsn=1, rtt=0.01)
GOOD = HANDSHAKE + TRAFFIC

# Ethernet 14, IPv4 20, SCTP 12; DATA 16 + 100 user bytes; SACK 16.
DATA_FRAME = 14 + 20 + 12 + 16 + USER_BYTES
SACK_FRAME = 14 + 20 + 12 + 16


def metrics(seen: Association, path: int, end: End = "a") -> dict[str, Measure]:
    return seen.paths[path - 1].directions[end].metrics


def values(seen: Association, path: int, *names: str) -> tuple[float | None, ...]:
    return tuple(metrics(seen, path)[name].value for name in names)


def test_volumes(play: Play) -> None:
    seen = play(TRAFFIC)
    assert values(seen, 1, "packets", "wire_bytes", "data_chunks", "new_bytes") == (
        10,
        10 * DATA_FRAME,
        10,
        10 * USER_BYTES,
    )
    assert metrics(seen, 1, "b")["wire_bytes"].value == 10 * SACK_FRAME


def test_rates(play: Play) -> None:
    """a is active from 1.0 to 1.9 s; the association lasts from 1.0 to 1.91 s."""
    found = metrics(play(TRAFFIC), 1)
    assert found["active_s"].value == 0.9
    assert found["throughput_bps"].value == pytest.approx(10 * DATA_FRAME * 8 / 0.9)
    assert found["throughput_whole_bps"].value == pytest.approx(10 * DATA_FRAME * 8 / 0.91)
    assert found["goodput_bps"].value == pytest.approx(10 * USER_BYTES * 8 / 0.91)


def test_goodput_counts_what_was_acknowledged_once(play: Play) -> None:
    """Neither a chunk that no SACK covers nor the second sight of one that a SACK does."""
    seen = play(TRAFFIC, "2.0 a 1 DATA 10\n2.01 b 1 SACK 10\n2.91 a 1 DATA 11")
    assert seen.totals["a"]["acked_bytes"].value == 10 * USER_BYTES
    assert seen.totals["a"]["goodput_bps"].value == pytest.approx(10 * USER_BYTES * 8 / 1.91)


def test_one_packet_has_no_rate(play: Play) -> None:
    found = metrics(play("1.0 a 1 DATA 1"), 1)
    assert found["throughput_bps"].value is None
    assert found["throughput_bps"].reason


def test_rtt_by_karn(play: Play) -> None:
    """10, 20, 30 and 60 ms; the chunk that was sent twice gives no sample."""
    found = metrics(
        play("""
        1.00  a 1  DATA 1
        1.01  b 1  SACK 1
        2.00  a 1  DATA 2
        2.02  b 1  SACK 2
        3.00  a 1  DATA 3
        3.03  b 1  SACK 3
        4.00  a 1  DATA 4
        4.06  b 1  SACK 4
        5.00  a 1  DATA 5
        6.00  a 1  DATA 5
        6.50  b 1  SACK 5
        """),
        1,
    )
    assert found["rtt_samples"].value == 4
    assert found["rtt_min_ns"].value == 10_000_000
    assert found["rtt_max_ns"].value == 60_000_000
    assert found["rtt_mean_ns"].value == pytest.approx(30_000_000)
    # Deviations -20, -10, 0, 30 ms: squares 1400 ms2, by n - 1 = 3.
    assert found["rtt_sd_ns"].value == pytest.approx((1400 / 3) ** 0.5 * 1e6)
    assert found["rtt_p50_ns"].value == pytest.approx(20_000_000, rel=0.01)


def test_heartbeats_have_their_own_rtt(play: Play) -> None:
    seen = play(GOOD, "3.0 a 2 HEARTBEAT 1\n3.06 b 2 HEARTBEAT ACK 1\n4.0 a 2 HEARTBEAT 2")
    beats = seen.paths[1].directions["a"].heartbeats
    assert (beats["sent"].value, beats["acknowledged"].value, beats["unanswered"].value) == (
        3,
        2,
        1,
    )
    assert beats["rtt_min_ns"].value == 40_000_000
    assert beats["rtt_max_ns"].value == 60_000_000
    assert beats["rtt_mean_ns"].value == pytest.approx(50_000_000)
    assert metrics(seen, 2)["rtt_mean_ns"].reason


def test_retransmission_ratio_by_path_sent_on(play: Play) -> None:
    """Bokor: retransmitted DATA chunks / all DATA chunks sent on the path."""
    seen = play(GOOD, failing(2.0, [1.0, 1.0], tsn=11))
    # Path 1: TSN 1 to 10, 11, 12 new. Path 2: 11 and 12 again, 13 new.
    assert values(seen, 1, "data_chunks", "new_chunks", "retransmitted_chunks") == (12, 12, 0)
    assert values(seen, 2, "data_chunks", "new_chunks", "retransmitted_chunks") == (3, 1, 2)
    assert values(seen, 1, "retransmission_ratio") == (0.0,)
    assert metrics(seen, 2)["retransmission_ratio"].value == pytest.approx(2 / 3)
    assert seen.totals["a"]["retransmission_ratio"].value == pytest.approx(2 / 15)
    assert values(seen, 2, "retransmitted_t3_chunks") == (2,)


def test_the_loss_estimate_blames_the_path_that_lost(play: Play) -> None:
    seen = play(GOOD, failing(2.0, [1.0, 1.0], tsn=11))
    loss = metrics(seen, 1)["loss_ratio"]
    assert loss.value == pytest.approx(2 / 12)
    assert loss.basis == "inferred"
    assert metrics(seen, 2)["loss_ratio"].value == 0


def test_a_fast_retransmission(play: Play) -> None:
    """RFC 9260 7.2.4: three SACKs in a row report TSN 11 missing."""
    seen = play(
        GOOD,
        """
        2.00  a 1  DATA 11
        2.01  a 1  DATA 12
        2.02  b 1  SACK 10 gaps 12-12
        2.03  a 1  DATA 13
        2.04  b 1  SACK 10 gaps 12-13
        2.05  a 1  DATA 14
        2.06  b 1  SACK 10 gaps 12-14
        2.07  a 1  DATA 11
        2.08  b 1  SACK 14
        """,
    )
    assert values(seen, 1, "retransmitted_fast_chunks", "retransmitted_t3_chunks") == (1, 0)


def test_what_a_handover_left_behind(play: Play) -> None:
    """Sent again after the move, too soon for a timer (RTO >= SRTT = 10 ms), without misses."""
    seen = play(
        GOOD,
        """
        2.050  a 1  ASCONF 1 DELETE 10.0.1.1
        2.065  a 1  DATA 11
        2.069  b 1  ASCONF-ACK 1
        2.070  a 2  DATA 12
        2.071  a 2  DATA 11
        2.111  b 2  SACK 12
        """,
        steady(2.2, 4.0, 0.1, 2, tsn=13, rtt=0.04),
    )
    assert [h.cause for h in seen.handovers] == ["address-deleted"]
    assert values(seen, 2, "retransmitted_after_failover_chunks") == (1,)
    assert values(seen, 2, "retransmitted_t3_chunks", "retransmitted_unknown_chunks") == (0, 0)


def test_how_often_a_chunk_was_sent_again(play: Play) -> None:
    seen = play(
        GOOD,
        """
        2.0   a 1  DATA 11
        3.0   a 2  DATA 11
        5.0   a 2  DATA 11
        9.0   a 2  DATA 11
        17.0  a 2  DATA 11
        17.1  b 2  SACK 11
        """,
    )
    names = ("once", "twice", "more")
    found = values(seen, 2, *(f"retransmitted_{name}_chunks" for name in names))
    assert found == (1, 1, 2)


def test_flight_and_window(play: Play) -> None:
    seen = play(
        "1.0 a 1 DATA 1-3\n1.1 a 1 DATA 4\n1.2 b 1 SACK 2 window 700\n1.3 b 1 SACK 4 window 900"
    )
    assert values(seen, 1, "flight_max_bytes") == (4 * USER_BYTES,)
    assert metrics(seen, 1, "b")["a_rwnd_min_bytes"].value == 700


def test_a_direction_without_packets_says_so(play: Play) -> None:
    found = metrics(play("1.0 a 1 DATA 1\n1.1 a 1 DATA 2"), 1, "b")
    assert found["packets"].value == 0
