"""What time-outs took, beside what three formulas say."""

from __future__ import annotations

import pytest
from ladder import HANDSHAKE, Play, failing, second, steady
from pathscope.analyzer.model import Prediction, PredictionForm
from running import CAPTURES
from truth import committed, only

BEFORE = HANDSHAKE + steady(1.0, 1.9, 0.1, 1, tsn=1, rtt=0.01)


def predicted(play: Play, waits: list[float]) -> Prediction:
    end = 2.0 + sum(waits)
    (handover,) = play(
        BEFORE,
        failing(2.0, waits, tsn=11),
        steady(end + 0.1, end + 1, 0.1, 2, tsn=12 + len(waits), rtt=0.04),
    ).handovers
    assert handover.prediction is not None
    return handover.prediction


def forms(found: Prediction) -> dict[str, PredictionForm]:
    return {form.name: form for form in found.forms}


@pytest.mark.parametrize(
    ("waits", "bokor_s", "rfc_s"),
    [
        ([1.0, 1.0], 1.0, 2.0),
        ([1.0, 2.0, 4.0], 3.0, 7.0),
        ([1.0, 2.0, 2.0, 2.0], 5.0, 7.0),
    ],
    ids=["constant", "doubling", "held by RTO.Max"],
)
def test_three_forms(play: Play, waits: list[float], bokor_s: float, rfc_s: float) -> None:
    found = predicted(play, waits)
    assert second(found.timer_start.ns) == 2.0
    # Between one expiry and the next chunk on the path the ladder leaves a millisecond.
    measured_s = sum(waits) + (len(waits) - 1) * 0.001
    assert found.measured_s.value == pytest.approx(measured_s)
    expected = {"bokor-2010": bokor_s, "chen-2010": rfc_s, "rfc-9260": rfc_s}
    for name, value_s in expected.items():
        form = forms(found)[name]
        assert form.predicted_s.value == value_s
        assert form.difference_s.value == pytest.approx(measured_s - value_s)
        assert form.granularity_s.value == pytest.approx(value_s / 10)
        assert form.within_granularity == (name != "bokor-2010")


def test_without_time_outs_there_is_nothing_to_predict(play: Play) -> None:
    (handover,) = play(
        BEFORE,
        steady(2.1, 4.0, 0.1, 2, tsn=11, rtt=0.04),
        "4.2 a 1 HEARTBEAT 1\n4.21 b 1 HEARTBEAT ACK 1",
    ).handovers
    assert handover.prediction is None


def test_a_potentially_failed_path_is_left_sooner_than_any_form_says(play: Play) -> None:
    """PF needs one expiry (RFC 7829); Path.Max.Retrans is not seen, so nothing is predicted."""
    found = predicted(play, [1.0])
    assert found.measured_s.value == 1.0
    for form in found.forms:
        assert form.predicted_s.reason
        assert form.difference_s.reason == form.predicted_s.reason
        assert form.within_granularity is None


@pytest.mark.parametrize("run", ["lab-failover", "lab-one-way", "lab-return", "lab-udp-encap"])
def test_the_lab_agrees_with_the_rfc(run: str) -> None:
    """Against the settings that the kernel had, not those inferred."""
    sctp = committed(CAPTURES / run)["sctp"]
    assert sctp["rto_min_ms"] == sctp["rto_max_ms"]
    expected_s = (sctp["path_max_retrans"] + 1) * sctp["rto_min_ms"] / 1000
    association = only(CAPTURES / run)
    (found,) = (one.prediction for one in association.handovers if one.cause == "timeout")
    assert found is not None
    assert found.measured_s.value == pytest.approx(expected_s, rel=0.1)
    assert forms(found)["rfc-9260"].predicted_s.value == pytest.approx(expected_s)
    within = {name: form.within_granularity for name, form in forms(found).items()}
    assert within == {"bokor-2010": False, "chen-2010": True, "rfc-9260": True}
