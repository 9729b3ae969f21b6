"""Predictions against sums made by hand, and against runs of the lab at other settings."""

from __future__ import annotations

import pytest
from ladder import HANDSHAKE, Play, failing, steady
from pathscope.analyzer.circumstances import circumstances, settings_of
from pathscope.analyzer.model import Association
from pathscope.analyzer.whatif import Prediction, predict
from running import CAPTURES, ROOT
from whatif.compare import METRICS, pairs, runs_in

GOOD = HANDSHAKE + steady(1.0, 1.9, 0.1, 1, tsn=1, rtt=0.01)
GONE = '{"event": "link", "t": 1700000001.95, "link": "path 1", "note": "down"}\n'
"""50 ms before the DATA of 2.0 s, which nothing answers."""


def foretold(seen: Association, **given: float | None) -> Prediction:
    handover = seen.handovers[0]
    base = settings_of(seen, handover)
    return predict(circumstances(seen, handover), base.changed(given))


def value(prediction: Prediction, name: str = "failure_detection_s") -> float:
    measure = prediction.metrics[name]
    assert measure.value is not None
    assert measure.low is not None
    assert measure.high is not None
    assert measure.low <= measure.value <= measure.high
    return float(measure.value)


@pytest.fixture
def doubling(play: Play) -> Association:
    """RTO 1 s, which doubles; given up at the third expiry; DATA goes 1 ms after each."""
    return play(GOOD, failing(2.0, [1.0, 2.0, 4.0], tsn=11), events=GONE)


@pytest.fixture
def held(play: Play) -> Association:
    """RTO 1 s = RTO.Max, given up at the third expiry."""
    return play(GOOD, failing(2.0, [1.0, 1.0, 1.0], tsn=11), events=GONE)


def test_settings_are_those_of_the_ladder(doubling: Association, held: Association) -> None:
    first, second = (settings_of(seen, seen.handovers[0]) for seen in (doubling, held))
    assert (first.pmr.value, first.pmr.source) == (2, "inferred")
    assert first.pf.value is None
    assert (first.rto_min.value, first.rto_min.source) == (1.0, "inferred")
    assert (first.rto_max.value, first.rto_max.source) == (60.0, "assumed")
    assert (second.rto_max.value, second.rto_max.source) == (1.0, "inferred")
    assert (first.hb_interval.value, first.hb_interval.source) == (30.0, "assumed")


def test_as_it_was(doubling: Association, held: Association) -> None:
    """0.05 s until the DATA that nothing answers, the time-outs, 1 ms after each but the last."""
    assert value(foretold(doubling)) == pytest.approx(0.05 + 1 + 2 + 4 + 2 * 0.001)
    assert value(foretold(held)) == pytest.approx(0.05 + 3 * 1 + 2 * 0.001)
    for seen in (doubling, held):
        measured = seen.handovers[0].metrics
        for name in ("failure_detection_s", "link_failure_recovery_s"):
            assert value(foretold(seen), name) == pytest.approx(measured[name].value, abs=2e-3)


def test_fewer_and_more_expiries(doubling: Association) -> None:
    assert value(foretold(doubling, pmr=0)) == pytest.approx(1.05)
    assert value(foretold(doubling, pmr=1)) == pytest.approx(1.05 + 2.001)
    seven = 0.05 + sum(min(2**n, 60) for n in range(7)) + 6 * 0.001
    assert value(foretold(doubling, pmr=6)) == pytest.approx(seven)
    assert foretold(doubling, pmr=6).time_outs_s == (1, 2, 4, 8, 16, 32, 60)


def test_the_floor_and_the_ceiling(doubling: Association, held: Association) -> None:
    assert foretold(doubling, rto_min=0.5).time_outs_s == pytest.approx((0.5, 1.0, 2.0))
    assert foretold(doubling, rto_max=1.5).time_outs_s == pytest.approx((1.0, 1.5, 1.5))
    assert foretold(held, rto_max=60).time_outs_s == pytest.approx((1.0, 2.0, 4.0))
    assert foretold(held, rto_max=0.3).time_outs_s == pytest.approx((0.3, 0.3, 0.3))


def test_potentially_failed(doubling: Association) -> None:
    assert value(foretold(doubling, pf=0)) == pytest.approx(1.05)
    assert value(foretold(doubling, pf=1)) == pytest.approx(1.05 + 2.001)
    # It is given up before it would be potentially failed.
    assert foretold(doubling, pf=7).time_outs_s == foretold(doubling).time_outs_s


def test_rto_initial_counts_only_without_a_round_trip(doubling: Association) -> None:
    assert foretold(doubling, rto_initial=3).metrics == foretold(doubling).metrics


def test_the_return_is_between_two_heartbeats(held: Association) -> None:
    """HB.interval 5 s and RTO 1 s +- half: at most 6.5 s apart, and timers are late by 10 %."""
    found = foretold(held, hb_interval=5).metrics["link_recognition_s"]
    assert found.low == pytest.approx(0.01)
    assert found.high == pytest.approx(6.5 * 1.1 + 0.01, abs=0.01)
    # The RTO has doubled three times by then where RTO.Max lets it.
    wide = foretold(held, hb_interval=5, rto_max=60).metrics["link_recognition_s"]
    assert wide.high == pytest.approx((5 + 1.5 * 8) * 1.1 + 0.01, rel=0.1, abs=0.01)


def test_an_rto_below_the_other_paths_round_trip_is_doubtful(held: Association) -> None:
    """39 ms and a SACK delay of 200 ms."""
    assert foretold(held, rto_max=0.24).caveats == ()
    (caveat,) = foretold(held, rto_max=0.238).caveats
    assert "0.239 s" in caveat


def test_a_failure_that_no_log_tells_widens_the_bounds(play: Play) -> None:
    seen = play(GOOD, failing(2.0, [1.0, 1.0, 1.0], tsn=11))
    found = foretold(seen).metrics["failure_detection_s"]
    assert found.low is not None
    assert found.high is not None
    assert found.low < 3.05 < found.high


def test_a_handover_without_time_outs_is_not_predicted(play: Play) -> None:
    seen = play(
        GOOD,
        "2.0 b 1 ASCONF 1 SET-PRIMARY 10.0.2.2\n2.01 a 1 ASCONF-ACK 1\n2.1 a 2 DATA 11\n"
        "2.14 b 2 SACK 11\n2.2 a 2 DATA 12\n2.24 b 2 SACK 12",
    )
    with pytest.raises(ValueError, match="no time-out led to this handover, but set-primary"):
        circumstances(seen, seen.handovers[0])


def test_every_run_of_the_sweep_predicts_the_others() -> None:
    """Within 10 % or one RTO; where a HEARTBEAT took DATA with it, the interruption is bounded."""
    runs = list(runs_in(ROOT / "fixtures" / "sweep"))
    assert len(runs) == 3
    found = list(pairs(runs))
    assert {one.metric for one in found} == set(METRICS[:3])
    assert len(found) == 18
    assert not any(one.is_doubtful for one in found)
    for one in found:
        if one.metric != "data_interruption_s":
            assert one.is_near, one


def test_the_labs_failovers_predict_themselves() -> None:
    for run in ("lab-failover", "lab-return", "lab-three-paths", "lab-potentially-failed"):
        import pathscope

        place = CAPTURES / run
        (seen,) = pathscope.analyze(
            place / "client.pcapng", events=place / "events.jsonl"
        ).associations
        handover = seen.handovers[0]
        prediction = foretold(seen)
        measured = handover.metrics["link_failure_recovery_s"].value
        found = prediction.metrics["link_failure_recovery_s"]
        assert measured is not None
        assert found.low is not None
        assert found.high is not None
        assert found.low <= measured <= found.high, run
