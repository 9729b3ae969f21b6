"""The RTO model (RFC 9260 section 6.3.1) in paths and handovers, and what it says of settings."""

from __future__ import annotations

import pytest
from lab import association
from ladder import HANDSHAKE, Play, failing, steady

BEFORE = HANDSHAKE + steady(1.0, 1.9, 0.1, 1, tsn=1, rtt=0.01)


def test_the_model_of_a_steady_path(play: Play) -> None:
    """Ten samples of 10 ms: SRTT stays, RTTVAR falls by a quarter each."""
    metrics = play(BEFORE).paths[0].directions["a"].metrics
    assert metrics["srtt_ns"].value == 10_000_000
    assert metrics["rttvar_ns"].value == pytest.approx(5e6 * 0.75**9, abs=1)
    assert metrics["rto_model_ns"].value == pytest.approx(1e7 + 2e7 * 0.75**9, abs=1)
    assert metrics["rto_model_max_ns"].value == 30_000_000


def test_a_heartbeat_is_a_sample(play: Play) -> None:
    """Path 2 was probed once, after 40 ms: RTO = 3 x 40 ms."""
    metrics = play(BEFORE).paths[1].directions["a"].metrics
    assert (metrics["srtt_ns"].value, metrics["rto_model_ns"].value) == (40_000_000, 120_000_000)


def test_an_expiry_beside_the_model(play: Play) -> None:
    """RTO.Min = RTO.Max = 1 s: the model of 12 ms doubles, the clamped RTO does not."""
    seen = play(BEFORE, failing(2.0, [1.0, 1.0, 1.0], tsn=11))
    timeouts = seen.handovers[0].timeouts
    model_s = 0.01 + 0.02 * 0.75**9
    models = [timeout.rto_model_s for timeout in timeouts]
    assert models == pytest.approx([model_s, 2 * model_s, 4 * model_s], abs=1e-8)
    assert [timeout.rto_clamped_s for timeout in timeouts] == [1.0, 1.0, 1.0]


def test_without_a_round_trip_there_is_none(play: Play) -> None:
    metrics = play(HANDSHAKE, "1.00 b 1 DATA 1").paths[0].directions["b"].metrics
    assert metrics["srtt_ns"].reason == "no round trip of DATA sent once or of a HEARTBEAT"


def test_at_the_receiver_there_is_none() -> None:
    metrics = association("lab-failover/server.pcapng").paths[0].directions["a"].metrics
    assert metrics["srtt_ns"].value is None
    assert (metrics["srtt_ns"].reason or "").startswith("captured at the receiver")


def test_an_rto_max_below_the_round_trip(play: Play) -> None:
    """Three expiries at 200 ms on paths whose model is 120 ms and less, then one on path 2."""
    seen = play(
        HANDSHAKE,
        steady(1.0, 1.9, 0.1, 1, tsn=1, rtt=0.09),
        """
        2.00  a 1  DATA 11
        2.20  a 2  DATA 11
        2.24  b 2  SACK 11
        3.00  a 1  DATA 12
        3.20  a 2  DATA 12
        3.24  b 2  SACK 12
        4.00  a 1  DATA 13
        4.20  a 2  DATA 13
        4.24  b 2  SACK 13
        """,
    )
    timers = seen.timers["a"]
    assert timers["rto_s"].measure.value == pytest.approx(0.2)
    assert timers["rto_max_s"].measure.value == pytest.approx(0.2)
    assert "sooner than SRTT + 4 RTTVAR" in timers["rto_max_s"].text


def test_a_little_later_than_the_model_is_no_rto_min(play: Play) -> None:
    """The sender's own RTO may be 1.2 times what the capture makes of its round trips."""
    seen = play(HANDSHAKE, "1.0 a 1 DATA 1\n1.1 b 1 SACK 1\n2.0 a 1 DATA 2\n2.36 a 2 DATA 2")
    assert seen.timers["a"]["rto_s"].measure.value == pytest.approx(0.36)
    assert "rto_min_s" not in seen.timers["a"]


def test_fast_recovery_is_no_expiry(play: Play) -> None:
    """Section 7.2.4: the SACK that moves the cumulative TSN indicates 6 missing, though it brings
    nothing new above it. Seen as an expiry, it made an RTO of 42 ms of one of 1 s."""
    seen = play(
        BEFORE,
        """
        2.000  a 1  DATA 11-18
        2.010  b 1  SACK 10 gaps 12-13
        2.011  b 1  SACK 10 gaps 12-14
        2.012  b 1  SACK 10 gaps 12-15
        2.013  a 1  DATA 11
        2.020  b 1  SACK 10 gaps 12-15,17-17
        2.040  b 1  SACK 15 gaps 17-17
        2.041  b 1  SACK 15 gaps 17-18
        2.055  a 1  DATA 16
        2.065  b 1  SACK 18
        """,
    )
    assert seen.timers["a"] == {}
    assert seen.paths[0].directions["a"].metrics["retransmitted_fast_chunks"].value == 2


def test_a_start_in_doubt_is_no_evidence(play: Play) -> None:
    """A gap block on path 2 restarts its timer by the RFC, and does not by some senders."""
    seen = play(
        BEFORE,
        """
        2.000  a 1  DATA 11
        2.050  a 2  DATA 12-13
        2.700  b 2  SACK 10 gaps 12-12
        3.000  a 2  DATA 11
        3.050  a 1  DATA 13
        3.060  b 1  SACK 13
        """,
    )
    rto = seen.timers["a"]["rto_s"]
    assert rto.measure.value == pytest.approx(1.0)
    assert rto.evidence_count == 2


@pytest.mark.parametrize("run", ["lab-failover", "lab-three-paths", "lab-return", "lab-one-way"])
def test_the_labs_rto(run: str) -> None:
    """RTO.Min = RTO.Max = 500 ms in each of them."""
    timers = association(f"{run}/client.pcapng").timers["a"]
    for name in ("rto_s", "rto_min_s", "rto_max_s"):
        assert timers[name].measure.value == pytest.approx(0.5), name
