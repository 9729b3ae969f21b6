"""The lossy run: retransmissions on the other path are not handovers."""

from __future__ import annotations

from collections import Counter

import lab
import pytest

RUN = "lossy-v4"
CLIENT, SERVER = f"{RUN}/client.pcapng", f"{RUN}/server.pcapng"
FIRST, SECOND = ("10.0.1.1", "10.0.1.2"), ("10.0.2.1", "10.0.2.2")


@pytest.mark.parametrize("capture", [CLIENT, SERVER])
def test_no_handover_is_invented(capture: str) -> None:
    seen = lab.association(capture)
    assert seen.handovers == ()
    assert seen.excursions == ()
    assert [r["path"] for r in lab.rows(capture, "runs")] == [0]


def test_all_90_of_2090_chunks_went_again_on_the_other_path() -> None:
    sent, seen = lab.sent(CLIENT), lab.association(CLIENT)
    assert (len(sent.new), len(sent.again)) == (2000, 90)
    assert {frame.way for frame in sent.new.values()} == {FIRST}
    assert {later.way for _, _, later in sent.again} == {SECOND}
    one, other = (path.directions["a"].metrics for path in seen.paths)
    assert (one["new_chunks"].value, one["retransmitted_chunks"].value) == (2000, 0)
    assert (other["new_chunks"].value, other["retransmitted_chunks"].value) == (0, 90)
    assert (one["retransmission_ratio"].value, other["retransmission_ratio"].value) == (0.0, 1.0)
    assert seen.totals["a"]["retransmission_ratio"].value == pytest.approx(90 / 2090)


def test_each_retransmission_is_the_one_that_tshark_shows() -> None:
    by_tshark = [(t, before.number, again.number) for t, before, again in lab.sent(CLIENT).again]
    rows = lab.rows(CLIENT, "retransmissions")
    assert sorted(by_tshark) == sorted((r["tsn"], r["first_frame"], r["frame"]) for r in rows)


def test_their_class_is_fast_as_three_misses_were_reported() -> None:
    """RFC 9260, section 7.2.4: the third miss indication, before any timer can expire."""
    for tsn, before, again in lab.sent(CLIENT).again:
        between = [f for f in lab.frames(CLIENT) if before.time_ns < f.time_ns < again.time_ns]
        assert sum(frame.reports_missing(tsn) for frame in between) >= 3
    metrics = lab.association(CLIENT).paths[1].directions["a"].metrics
    classes = {
        name: metrics[f"retransmitted_{name}_chunks"].value
        for name in ("t3", "fast", "after_failover", "unknown", "spurious")
    }
    assert classes == {"t3": 0, "fast": 90, "after_failover": 0, "unknown": 0, "spurious": 0}


def test_how_often_each_was_sent_again() -> None:
    tries = Counter(Counter(tsn for tsn, _, _ in lab.sent(CLIENT).again).values())
    metrics = lab.association(CLIENT).paths[1].directions["a"].metrics
    assert metrics["retransmitted_once_chunks"].value == tries[1] == 90
    assert metrics["retransmitted_twice_chunks"].value == tries[2] == 0
    assert metrics["retransmitted_more_chunks"].value == 0


def test_the_loss_estimate_is_what_did_not_arrive() -> None:
    arrived = sum(len(f.tsns) for f in lab.frames(SERVER) if f.way == FIRST)
    loss = lab.association(CLIENT).paths[0].directions["a"].metrics["loss_ratio"]
    assert loss.value == (2000 - arrived) / 2000
    assert loss.note is not None
    assert "estimate" in loss.note


def test_the_server_sees_no_retransmission_but_says_why() -> None:
    """What was lost never reached it: its late chunks may all be retransmissions."""
    seen = lab.association(SERVER)
    assert lab.sent(SERVER).again == []
    assert seen.totals["a"]["retransmitted_chunks"].value == 0
    assert seen.captured_at == "b"
    (said,) = [f for f in seen.findings if f.rule == "captured-at-receiver"]
    highest = 0
    late = 0
    for frame in lab.frames(SERVER):
        for tsn in frame.tsns:
            late += tsn < highest
            highest = max(highest, tsn)
    assert f" {late} chunks" in said.text
    assert seen.totals["a"]["late_chunks"].value == late


def test_the_client_is_recognized() -> None:
    assert lab.association(CLIENT).captured_at == "a"
