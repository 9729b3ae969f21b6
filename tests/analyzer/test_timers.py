"""Timers: the studies' formulas, the round setting behind a late timer, what is inferred."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from ladder import HANDSHAKE, Play, failing, steady
from pathscope.analyzer.timers import failover_s, nominal_s

RTO_S = st.floats(0.01, 100)
COUNT = st.integers(0, 12)
BEFORE = HANDSHAKE + steady(1.0, 1.9, 0.1, 1, tsn=1, rtt=0.01)


@given(RTO_S, COUNT)
def test_chens_sum_at_a_doubling_rto(rto_s: float, retrans: int) -> None:
    """Chen 2010 and RFC 9260: the sum over i = 1..PMR+1 of 2^(i-1) x RTO."""
    formula = sum(2 ** (i - 1) * rto_s for i in range(1, retrans + 2))
    assert failover_s(rto_s, None, retrans + 1) == pytest.approx(formula)


@given(RTO_S, COUNT)
def test_bokors_sum_at_a_doubling_rto(rto_s: float, retrans: int) -> None:
    """Bokor 2010: the sum over i = 0..PMR-1 of 2^i x RTO."""
    formula = sum(2**i * rto_s for i in range(retrans))
    assert failover_s(rto_s, None, retrans) == pytest.approx(formula)


@given(RTO_S, COUNT)
def test_bokors_product_at_a_constant_rto(rto_s: float, retrans: int) -> None:
    """Bokor 2010, RTO.Min = RTO.Max: PMR x RTO."""
    assert failover_s(rto_s, rto_s, retrans) == pytest.approx(retrans * rto_s)


@given(RTO_S, st.floats(1, 64), COUNT)
def test_chens_sum_with_rto_max(rto_s: float, factor: float, retrans: int) -> None:
    """Each term is clamped to RTO.Max."""
    most_s = rto_s * factor
    formula = sum(min(2 ** (i - 1) * rto_s, most_s) for i in range(1, retrans + 2))
    assert failover_s(rto_s, most_s, retrans + 1) == pytest.approx(formula)


def test_the_defaults_of_the_rfc() -> None:
    """RTO.Initial 1 s, RTO.Max 60 s, Path.Max.Retrans 5: 1 + 2 + 4 + 8 + 16 + 32."""
    assert failover_s(1.0, 60.0, 6) == 63.0
    # RFC 4960's RTO.Initial of 3 s: 3 + 6 + 12 + 24 + 48 + 60.
    assert failover_s(3.0, 60.0, 6) == 153.0


@given(st.floats(1e-6, 1e5))
@example(1.0)
@example(0.99999999999)
def test_nominal_is_a_round_number_close_below(measured_s: float) -> None:
    nominal = nominal_s(measured_s)
    assert nominal <= measured_s * (1 + 1e-8) + 1e-9
    assert nominal >= measured_s * 0.9 - 1e-9
    if measured_s > 1e-4:  # results are rounded to nanoseconds
        digits = f"{nominal:.8e}".partition("e")[0].replace(".", "").rstrip("0")
        assert len(digits) <= 2


@given(st.integers(1, 9), st.integers(-3, 2), st.floats(0, 0.099))
def test_nominal_finds_a_round_setting_behind_a_late_timer(
    digit: int, exponent: int, late: float
) -> None:
    setting_s = digit * 10.0**exponent
    assert nominal_s(setting_s * (1 + late)) == pytest.approx(setting_s)


def test_nominal_of_nothing() -> None:
    assert nominal_s(0.0) == 0.0


@pytest.mark.parametrize(("rto_s", "late_s"), [(1.0, 0.04), (0.3, 0.01), (2.0, 0.1), (4.0, 0.0)])
def test_the_rto_lies_within_its_bounds(play: Play, rto_s: float, late_s: float) -> None:
    seen = play(BEFORE, failing(2.0, [rto_s + late_s] * 3, tsn=11))
    timers = seen.timers["a"]
    for name in ("rto_s", "rto_min_s", "rto_max_s"):
        measure = timers[name].measure
        assert measure.value == rto_s
        assert measure.basis == "inferred"
        assert measure.low is not None
        assert measure.high is not None
        assert measure.low <= rto_s <= measure.high
    assert timers["rto_s"].evidence_count == 3
    assert timers["path_max_retrans"].measure.value == 2


def test_doubling_time_outs_betray_no_rto_max(play: Play) -> None:
    seen = play(BEFORE, failing(2.0, [1.0, 2.0, 4.0], tsn=11))
    assert "rto_max_s" not in seen.timers["a"]


def test_rto_max_is_found_where_doubling_stops(play: Play) -> None:
    seen = play(BEFORE, failing(2.0, [1.0, 2.0, 2.5, 2.5], tsn=11))
    assert seen.timers["a"]["rto_max_s"].measure.value == 2.5
    assert seen.timers["a"]["rto_s"].measure.value == 1.0


def test_an_expiry_much_later_than_another_betrays_no_rto_min(play: Play) -> None:
    """The first wait was two: the capture lacks what the sender sent again in between."""
    seen = play(BEFORE, failing(2.0, [2.0, 1.0, 1.0], tsn=11))
    assert seen.timers["a"]["rto_s"].measure.value == 1.0
    rto_min = seen.timers["a"].get("rto_min_s")
    assert rto_min is None or rto_min.measure.value == 1.0


def beats(*seconds: float) -> str:
    """HEARTBEATs of a on path 2, each answered after 40 ms."""
    lines = []
    for number, at in enumerate(seconds):
        lines += [f"{at:.3f} a 2 HEARTBEAT {number}", f"{at + 0.04:.3f} b 2 HEARTBEAT ACK {number}"]
    return "\n".join(lines)


def test_heartbeats_are_an_rto_and_an_interval_apart(play: Play) -> None:
    """RFC 9260 8.3: RTO + HB.Interval, varied by up to half an RTO. Here: 1 s + 5 s."""
    seen = play(
        BEFORE,
        failing(2.0, [1.0, 1.0], tsn=11),
        beats(10.0, 15.6, 22.0, 27.9, 33.8),  # 5.6, 6.4, 5.9 and 5.9 s apart
    )
    interval = seen.timers["a"]["hb_interval_s"]
    assert interval.measure.value == 4.9  # the median, 5.9 s, less the RTO
    assert interval.measure.low is not None
    assert interval.measure.high is not None
    assert interval.measure.low <= 5.0 <= interval.measure.high


def test_what_may_probe_a_path_in_pf_is_not_the_period(play: Play) -> None:
    """RFC 7829 3.2: such a path is probed once an RTO, here 1 s, whatever HB.Interval is."""
    probes = "\n".join(f"{4.5 + 1.2 * n:.1f} a 1 HEARTBEAT {50 + n}" for n in range(4))
    seen = play(
        BEFORE,
        failing(2.0, [1.0, 1.0], tsn=11),
        probes,
        beats(10.0, 15.6, 22.0, 27.9, 33.8),
    )
    assert seen.timers["a"]["hb_interval_s"].measure.value == 4.9
    assert seen.timers["a"]["heartbeat_period_s"].measure.low == pytest.approx(5.6)


def test_the_period_may_begin_with_the_heartbeat_ack(play: Play) -> None:
    """As with Linux: of periods of 7 s, a round trip of 0.04 s may be none of HB.Interval."""
    seen = play(BEFORE, failing(2.0, [1.0, 1.0], tsn=11), beats(10.0, 17.0, 24.0, 31.0))
    interval = seen.timers["a"]["hb_interval_s"].measure
    assert (interval.low, interval.high) == pytest.approx((7.0 - 0.04 - 1.5, 7.0 - 0.5))


def test_without_an_rto_only_the_period_is_known(play: Play) -> None:
    timers = play(HANDSHAKE, beats(10.0, 15.6, 22.0, 27.9)).timers["a"]
    period = timers["heartbeat_period_s"].measure
    # The first HEARTBEAT of the handshake counts too: 0.1 s to 10.0 s.
    assert [period.low, period.high] == pytest.approx([5.6, 9.9])
    assert period.value is not None
    assert 5.6 <= period.value <= 6.4
    assert "hb_interval_s" not in timers


def test_a_missing_heartbeat_does_not_double_the_interval(play: Play) -> None:
    seen = play(
        BEFORE,
        failing(2.0, [1.0, 1.0], tsn=11),
        beats(10.0, 16.0, 22.0, 34.0, 40.0),
    )
    interval = seen.timers["a"]["hb_interval_s"].measure
    assert interval.value == 5.0
    assert interval.high is not None
    assert interval.high < 6.0


def test_the_period_is_within_its_bounds_however_far_apart_the_heartbeats(play: Play) -> None:
    """0.1 s and 10.5 s: half of them cannot be told from those after a lost one."""
    alone = "".join(HANDSHAKE.splitlines(keepends=True)[:5])
    period = play(alone, beats(1.0, 1.1, 11.6)).timers["a"]["heartbeat_period_s"].measure
    assert (period.value, period.low, period.high) == pytest.approx((5.3, 0.1, 5.3))


def test_no_time_out_no_timer(play: Play) -> None:
    assert play(BEFORE).timers == {"a": {}, "b": {}}


def test_expiries_that_sent_nothing_are_counted(play: Play) -> None:
    """The RTO does not fall in a row: a wait of twice the next one was two expiries."""
    seen = play(BEFORE, failing(2.0, [1.02, 0.51], tsn=11))
    timer = seen.timers["a"]["path_max_retrans"]
    assert (timer.measure.value, timer.measure.low, timer.measure.high) == (2, 1, 2)
    assert "1 of them sent nothing" in timer.text
    plain = play(BEFORE, failing(2.0, [0.5, 0.51], tsn=11)).timers["a"]["path_max_retrans"]
    assert (plain.measure.value, plain.measure.high) == (1, 1)
    assert "sent nothing" not in plain.text
