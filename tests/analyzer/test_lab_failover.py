"""The failover run: what the lab did, what tshark sees in the frames, what the analysis says."""

from __future__ import annotations

import lab
import pytest
from lab import DATA, HEARTBEAT, HEARTBEAT_ACK, SACK, Frame
from pathscope.analyzer.model import Association, Handover

RUN = "failover-v6"
CLIENT, SERVER = f"{RUN}/client.pcapng", f"{RUN}/server.pcapng"
WLAN = ("2001:db8:1::1", "2001:db8:1::2")
CELLULAR = ("2001:db8:2::1", "2001:db8:2::2")
MS = 1_000_000

LOG_TO_LINK_NS = 50 * MS
"""The log is written before tc runs, and packets on the link still arrive after it ran."""


@pytest.fixture(scope="module")
def annotated() -> Association:
    return lab.association(CLIENT, events=True)


@pytest.fixture(scope="module")
def away(annotated: Association) -> Handover:
    return annotated.handovers[0]


@pytest.fixture(scope="module")
def back(annotated: Association) -> Handover:
    return annotated.handovers[1]


@pytest.fixture(scope="module")
def frame() -> dict[int, Frame]:
    return {frame.number: frame for frame in lab.frames(CLIENT)}


def way(association: Association, path: int) -> tuple[str, str]:
    return association.paths[path].a_address, association.paths[path].b_address


def at(handover: Handover, name: str, frames: dict[int, Frame]) -> Frame:
    """Return tshark's frame of an instant, whose time must be the instant's."""
    instant = handover.instants[name]
    assert instant.frame is not None, (name, instant.reason)
    found = frames[instant.frame]
    assert found.time_ns == instant.ns
    assert instant.basis == "observed"
    return found


def test_there_are_two_handovers(annotated: Association) -> None:
    first, second = annotated.handovers
    assert (first.sender, first.cause) == ("a", "timeout")
    assert (way(annotated, first.from_path), way(annotated, first.to_path)) == (WLAN, CELLULAR)
    assert (second.sender, second.cause) == ("a", "path-returned")
    assert (way(annotated, second.from_path), way(annotated, second.to_path)) == (CELLULAR, WLAN)
    assert annotated.excursions == ()


def test_data_left_3_19_s_after_the_cut(away: Handover) -> None:
    cut_ns = lab.logged_ns(RUN, event="link", note="down")
    new = lab.sent(CLIENT).new
    first_new_ns = min(one.time_ns for one in new.values() if one.way == CELLULAR)
    recovery = away.metrics["link_failure_recovery_s"]
    assert recovery.value == (first_new_ns - cut_ns) / 1e9
    assert recovery.value == pytest.approx(3.19, abs=0.005)
    assert recovery.basis == "annotated"


def test_data_came_back_1_70_s_after_the_link(back: Handover) -> None:
    up_ns = lab.logged_ns(RUN, event="link", note="up")
    new = lab.sent(CLIENT).new.values()
    back_ns = min(one.time_ns for one in new if one.way == WLAN and one.time_ns > up_ns)
    recognition = back.metrics["link_recognition_s"]
    assert recognition.value == (back_ns - up_ns) / 1e9
    assert recognition.value == pytest.approx(1.70, abs=0.005)


def test_the_last_delivery_on_the_old_path(away: Handover, frame: dict[int, Frame]) -> None:
    """It was sent once, on the WLAN, and acknowledged; nothing later on the WLAN was, before."""
    last_ok, sack = at(away, "t_last_ok", frame), at(away, "t_last_sack", frame)
    assert last_ok.way == WLAN
    assert SACK in sack.types
    assert all(sack.acknowledges(tsn) for tsn in last_ok.tsns)
    again = {tsn for tsn, _, _ in lab.sent(CLIENT).again}
    first_new_ns = away.instants["t_first_new"].ns
    assert first_new_ns is not None
    once = [
        one
        for tsn, one in lab.sent(CLIENT).new.items()
        if one.way == WLAN and one.time_ns < first_new_ns and tsn not in again
    ]
    assert max(once, key=lambda one: one.time_ns) == last_ok


def test_the_last_data_on_the_old_path(away: Handover, frame: dict[int, Frame]) -> None:
    first_new = at(away, "t_first_new", frame)
    before = [
        one
        for one in lab.frames(CLIENT)
        if one.tsns and one.way == WLAN and one.time_ns < first_new.time_ns
    ]
    assert at(away, "t_last_data_old", frame) == before[-1]


def test_the_time_outs(away: Handover, frame: dict[int, Frame]) -> None:
    """Three bursts of retransmissions, each a second or more after what it waited for."""
    starts = [frame[one.at.frame or 0] for one in away.timeouts]
    assert starts[0] == at(away, "t_first_timeout", frame)
    assert starts[-1] == at(away, "t_decision", frame)
    retransmitted = {one.number for _, _, one in lab.sent(CLIENT).again}
    assert all(one.number in retransmitted and one.way == CELLULAR for one in starts)
    assert [one.consecutive for one in away.timeouts] == [1, 2, 3]
    # RFC 9260 6.3.2: the timer runs from the SACK for what was earliest outstanding (frame 418),
    # then from the first DATA on the path after each expiry.
    waited_from = [418, 427, 438]
    for expiry, number in zip(away.timeouts, waited_from, strict=True):
        assert expiry.elapsed_s == pytest.approx(
            (expiry.at.ns or 0) / 1e9 - frame[number].time_ns / 1e9, abs=1e-4
        )


def test_the_first_new_data(away: Handover, back: Handover, frame: dict[int, Frame]) -> None:
    new = lab.sent(CLIENT).new
    for handover, new_way, old_way in ((away, CELLULAR, WLAN), (back, WLAN, CELLULAR)):
        first = at(handover, "t_first_new", frame)
        assert first.way == new_way
        # A packet can carry the last retransmission and the first new chunk.
        assert any(new[tsn] == first for tsn in first.tsns)
        last_old = max(
            (tsn for tsn, one in new.items() if one.way == old_way and one.time_ns < first.time_ns)
        )
        assert new[last_old + 1] == first


def test_the_recovery(away: Handover, back: Handover, frame: dict[int, Frame]) -> None:
    """First SACK for the new path's DATA; first cumulative TSN at what was outstanding."""
    new = lab.sent(CLIENT).new
    for handover in (away, back):
        first = at(handover, "t_first_new", frame)
        tsn = min(tsn for tsn in first.tsns if new[tsn] == first)
        later = [one for one in lab.frames(CLIENT) if one.time_ns > first.time_ns]
        first_ack = next(one for one in later if one.acknowledges(tsn))
        assert at(handover, "t_first_ack", frame) == first_ack
        recovered = next(one for one in later if any(c >= tsn - 1 for c in one.cumulative))
        assert at(handover, "t_recovered", frame) == recovered


def test_the_return_begins_with_a_heartbeat(back: Handover, frame: dict[int, Frame]) -> None:
    up_ns = lab.logged_ns(RUN, event="link", note="up")
    first = at(back, "t_return_packet", frame)
    assert first == next(
        one for one in lab.frames(CLIENT) if one.source == WLAN[1] and one.time_ns > up_ns
    )
    assert first.types == (HEARTBEAT,)
    decision = at(back, "t_decision", frame)
    assert decision.types == (HEARTBEAT_ACK,)
    assert decision == next(
        one
        for one in lab.frames(CLIENT)
        if one.way == WLAN[::-1] and one.types == (HEARTBEAT_ACK,) and one.time_ns > up_ns
    )
    data = at(back, "t_return_data", frame)
    assert DATA in data.types
    assert data == at(back, "t_first_new", frame)


def test_without_the_log_the_link_changes_are_bounded() -> None:
    away, back = lab.association(CLIENT).handovers
    for handover, name, note in ((away, "t_fail", "down"), (back, "t_return_link", "up")):
        instant = handover.instants[name]
        logged_ns = lab.logged_ns(RUN, event="link", note=note)
        assert instant.basis == "inferred"
        assert instant.low_ns is not None
        assert instant.high_ns is not None
        # The link itself changed between the log's word and LOG_TO_LINK_NS after it.
        assert instant.low_ns <= logged_ns + LOG_TO_LINK_NS
        assert instant.high_ns >= logged_ns
        assert instant.low_ns <= (instant.ns or 0) <= instant.high_ns


@pytest.mark.parametrize(
    ("timer", "setting", "unit"),
    [
        ("rto_s", "rto_initial", 1000),
        ("rto_min_s", "rto_min", 1000),
        ("rto_max_s", "rto_max", 1000),
        ("path_max_retrans", "path_max_retrans", 1),
    ],
)
def test_the_timers_are_the_settings(
    annotated: Association, timer: str, setting: str, unit: int
) -> None:
    measure = annotated.timers["a"][timer].measure
    truth = lab.settings(RUN)["sysctl"][setting] / unit
    assert measure.value == truth
    assert measure.low is not None
    assert measure.high is not None
    assert measure.low <= truth <= measure.high
    assert measure.basis == "inferred"


@pytest.mark.parametrize("run", ["failover-v6", "lossy-v4", "asconf-handover-v4"])
@pytest.mark.parametrize("tap", ["client", "server"])
def test_the_heartbeat_interval_is_within_its_bounds(run: str, tap: str) -> None:
    truth = lab.settings(run)["sysctl"]["hb_interval"] / 1000
    for timers in lab.association(f"{run}/{tap}.pcapng").timers.values():
        timer = timers.get("hb_interval_s")
        if timer is not None:
            assert timer.measure.low is not None
            assert timer.measure.high is not None
            assert timer.measure.low <= truth <= timer.measure.high


def test_the_prediction_stands_beside_the_measurement(away: Handover) -> None:
    """(PMR + 1) x RTO = 3 s in the RFC's and Chen's form, PMR x RTO = 2 s in Bokor's."""
    assert away.metrics["timeouts_before_move"].value == 3
    assert away.metrics["predicted_failover_s"].value == 3.0
    assert away.metrics["predicted_failover_bokor_s"].value == 2.0
    measured = away.metrics["link_failure_recovery_s"].value
    assert measured is not None
    # The last DATA before the cut armed the timer; each of three timers may be a tick late.
    assert 3.0 < measured < 3.3


def test_every_retransmission_is_on_the_other_path_after_a_time_out(
    annotated: Association,
) -> None:
    sent = lab.sent(CLIENT)
    assert (len(sent.new), len(sent.again)) == (1500, 15)
    assert {one.way for _, _, one in sent.again} == {CELLULAR}
    totals = annotated.totals["a"]
    assert totals["data_chunks"].value == 1515
    assert totals["retransmitted_chunks"].value == 15
    cellular = annotated.paths[1].directions["a"].metrics
    assert cellular["retransmitted_chunks"].value == 15
    # No SACK came between first transmission and retransmission: no miss indication, so timers.
    for tsn, earlier, later in sent.again:
        between = [f for f in lab.frames(CLIENT) if earlier.time_ns < f.time_ns < later.time_ns]
        assert not any(one.reports_missing(tsn) for one in between)
    assert cellular["retransmitted_t3_chunks"].value == 15


def test_spurious_retransmissions_are_those_that_had_reached_the_server(
    annotated: Association,
) -> None:
    arrived = {tsn for f in lab.frames(SERVER) if f.way == WLAN for tsn in f.tsns}
    needless = {tsn for tsn, _, _ in lab.sent(CLIENT).again if tsn in arrived}
    found = {r["tsn"] for r in lab.rows(CLIENT, "retransmissions") if r["spurious"] is not None}
    assert found == needless
    spurious = annotated.paths[1].directions["a"].metrics["retransmitted_spurious_chunks"]
    assert spurious.value == len(needless) == 9


def test_the_loss_estimate_holds_the_loss_that_both_captures_show(annotated: Association) -> None:
    left = sum(len(one.tsns) for one in lab.frames(CLIENT) if one.way == WLAN)
    arrived = sum(len(one.tsns) for one in lab.frames(SERVER) if one.way == WLAN)
    loss = annotated.paths[0].directions["a"].metrics["loss_ratio"]
    truth = (left - arrived) / left
    assert loss.value == pytest.approx(truth)
    assert loss.low is not None
    assert loss.high is not None
    assert loss.low <= truth <= loss.high
    assert loss.basis == "inferred"


def test_the_wlan_is_active_inactive_active(annotated: Association) -> None:
    states = annotated.paths[0].directions["a"].states
    assert [state.state for state in states] == ["ACTIVE", "INACTIVE", "ACTIVE"]


def test_from_the_server_nothing_is_claimed_of_the_sender() -> None:
    """Both moves are seen, but neither time-outs nor a wish of the user's can be."""
    seen = lab.association(SERVER)
    away, back = seen.handovers
    assert seen.captured_at == "b"
    assert [(way(seen, h.from_path), way(seen, h.to_path)) for h in (away, back)] == [
        (WLAN, CELLULAR),
        (CELLULAR, WLAN),
    ]
    assert away.cause == "unknown"
    assert back.cause == "path-returned"
    assert away.metrics["predicted_failover_s"].value is None
    assert "captured-at-receiver" in {finding.rule for finding in seen.findings}


def test_from_the_server_the_first_new_data_is_an_arrival() -> None:
    seen = lab.association(SERVER)
    on_cellular = [one for one in lab.sent(SERVER).new.values() if one.way == CELLULAR]
    away = seen.handovers[0]
    arrival = away.instants["t_first_arrival"]
    # The server has every TSN: the first that it got on the cellular path only, and after which
    # the WLAN is silent, begins the run there.
    assert arrival.frame in {one.number for one in on_cellular}
    assert arrival.ns == away.instants["t_first_new"].ns
    interruption = away.metrics["data_interruption_s"]
    last_old = max(
        one.time_ns
        for one in lab.frames(SERVER)
        if one.tsns and one.way == WLAN and one.time_ns < (arrival.ns or 0)
    )
    assert interruption.value == ((arrival.ns or 0) - last_old) / 1e9
