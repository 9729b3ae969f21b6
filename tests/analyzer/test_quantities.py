"""Quantities of committed runs, beside frames as tshark reads them and the lab's own log."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import lab
import pytest
from pathscope import api
from pathscope.analyzer import quantities
from pathscope.analyzer.measure import Measure
from pathscope.analyzer.quantities import QUANTITIES
from running import CAPTURES, MIXED

FAILOVER, RETURN, LOSSY, ASCONF = (
    f"lab-{run}/client.pcapng" for run in ("failover", "return", "lossy", "asconf")
)
NS = 1_000_000_000


def of(name: str, capture: str) -> Measure:
    return quantities.measure(name, lab.analysis(capture, events=True).result)


def link_ns(capture: str, note: str) -> int:
    return lab.logged_ns(lab.run_of(capture), event="link", note=note)


def new_data(capture: str) -> list[lab.Frame]:
    """Frames with new DATA, each once, in time order."""
    found = {frame.number: frame for frame in lab.sent(capture).new.values()}
    return sorted(found.values(), key=lambda frame: frame.time_ns)


def moves(capture: str) -> list[tuple[lab.Frame, lab.Frame]]:
    """Frames of new DATA before and after each change of the way."""
    found = new_data(capture)
    return [(one, next_) for one, next_ in pairwise(found) if one.way != next_.way]


@pytest.mark.parametrize("capture", [FAILOVER, RETURN])
def test_recovery_of_a_failed_link(capture: str) -> None:
    (_, first), *_ = moves(capture)
    expected_s = (first.time_ns - link_ns(capture, "down")) / NS
    found = of("link_failure_recovery_s", capture)
    assert found.value == pytest.approx(expected_s, abs=1e-9)
    assert found.basis == "annotated"


@pytest.mark.parametrize("capture", [FAILOVER, RETURN])
def test_interruption_of_data(capture: str) -> None:
    (last_new, first), *_ = moves(capture)
    on_old = [frame for frame in lab.frames(capture) if frame.tsns and frame.way == last_new.way]
    last_ns = max(frame.time_ns for frame in on_old if frame.time_ns < first.time_ns)
    found = of("data_interruption_s", capture)
    assert found.value == pytest.approx((first.time_ns - last_ns) / NS, abs=1e-9)


def test_recognition_of_a_link_that_returns() -> None:
    _, (_, back) = moves(RETURN)
    expected_s = (back.time_ns - link_ns(RETURN, "up")) / NS
    assert of("link_recognition_s", RETURN).value == pytest.approx(expected_s, abs=1e-9)


def test_handovers_are_counted() -> None:
    counts = {capture: of("handovers", capture).value for capture in (FAILOVER, RETURN, LOSSY)}
    assert counts == {FAILOVER: 1, RETURN: 2, LOSSY: 0}
    assert counts == {capture: len(moves(capture)) for capture in counts}


def test_retransmission_ratio() -> None:
    sent = lab.sent(LOSSY)
    again = len(sent.again)
    assert again > 0
    expected = again / (again + len(sent.new))
    assert of("retransmission_ratio", LOSSY).value == pytest.approx(expected)


def test_handover_delay_by_asconf() -> None:
    (_, first), *_ = moves(ASCONF)
    asked = [frame for frame in lab.frames(ASCONF) if lab.ASCONF in frame.types]
    set_primary = 0xC004
    (decision,) = [frame for frame in asked if set_primary in frame.parameters]
    expected_s = (first.time_ns - decision.time_ns) / NS
    assert of("handover_delay_s", ASCONF).value == pytest.approx(expected_s, abs=1e-9)


def test_the_handoff_region() -> None:
    """ASCONF-ACK of the ADD to that of the DELETE; 100 bytes each 25 ms all the time."""
    answers = [frame for frame in lab.frames(ASCONF) if lab.ASCONF_ACK in frame.types]
    added, _, deleted = answers
    assert of("handoff_region_s", ASCONF).value == (deleted.time_ns - added.time_ns) / NS
    assert of("handoff_region_s", FAILOVER).reason == "no handoff region"
    for where in ("inside", "outside"):
        found = of(f"goodput_{where}_bps", ASCONF).value
        assert found == pytest.approx(100 * 8 / 0.025, rel=0.1)


def test_chunks_that_arrived() -> None:
    frames = lab.frames(FAILOVER)
    lasted_s = (frames[-1].time_ns - frames[0].time_ns) / NS
    arrived = len(lab.sent(FAILOVER).new)  # all of them, the lab says
    assert of("acked_chunks_hz", FAILOVER).value == pytest.approx(arrived / lasted_s)


def test_setting_up() -> None:
    cookie_ack = 11
    frames = lab.frames(FAILOVER)
    up = next(frame for frame in frames if cookie_ack in frame.types)
    assert of("association_setup_s", FAILOVER).value == (up.time_ns - frames[0].time_ns) / NS


def test_what_takes_both_ends() -> None:
    for name in ("one_way_delay_s", "jitter_s"):
        assert "both ends' captures" in (of(name, FAILOVER).reason or "")


def test_delay_and_jitter_of_a_run_whose_ends_are_both_known() -> None:
    """5 ms on the WLAN, which carries most."""
    both = [CAPTURES / f"lab-return/{end}.pcapng" for end in ("client", "server")]
    (analysis,) = api.analyze_two(*both)
    delay, jitter = (
        quantities.measure(name, analysis.result) for name in ("one_way_delay_s", "jitter_s")
    )
    assert delay.value == pytest.approx(0.005, abs=0.001)
    assert jitter.value is not None
    assert 0 < jitter.value < 0.001


def test_what_is_measured_of_a_path_elsewhere_is_found_by_its_name() -> None:
    result = lab.analysis(FAILOVER).result
    (association,) = result.associations
    wlan = association.paths[0]
    a = wlan.directions["a"]
    known = a.metrics | {"one_way_delay_mean_ns": Measure.observed(5_000_000)}
    directions = wlan.directions | {"a": replace(a, metrics=known)}
    paths = (replace(wlan, directions=directions), *association.paths[1:])
    told = replace(result, associations=(replace(association, paths=paths),))
    assert quantities.measure("one_way_delay_s", told).value == 0.005


def test_what_a_run_does_not_have_is_absent_with_its_reason() -> None:
    assert of("link_recognition_s", FAILOVER) == Measure.absent(
        "no handover with the cause path-returned"
    )
    at_receiver = lab.analysis("lab-return/server.pcapng", events=True).result
    found = quantities.measure("rtt_mean_s", at_receiver)
    assert found.value is None
    assert "captured at the receiver" in (found.reason or "")


def test_every_quantity_of_flows_alone_is_a_number_or_has_a_reason() -> None:
    result = api.analyze(MIXED).result
    assert result.associations == ()
    for name in QUANTITIES:
        found = quantities.measure(name, result)
        assert (found.value is None) == bool(found.reason), name
    # 32000 bytes acknowledged in the time of the flow, and a round trip of 20 ms (mixed.py).
    assert quantities.measure("rtt_mean_s", result).value == pytest.approx(0.02, rel=0.01)


def test_there_is_no_such_quantity() -> None:
    with pytest.raises(KeyError):
        quantities.measure("speed", api.analyze(MIXED).result)
