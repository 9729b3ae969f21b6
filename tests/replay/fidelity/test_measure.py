"""The measurement as a whole: routes, what leaves beside what arrives, what is not known."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from impaired import BASE_NS, Netem, Sent, log, sent, step
from pathscope.replay.fidelity.counts import Counters
from pathscope.replay.fidelity.measure import measure
from pathscope.replay.fidelity.model import Fidelity, Received
from pathscope.replay.fidelity.tolerances import Tolerances

BOTH = (("wlan", "to_server"), ("wlan", "to_client"))


def joined(*parts: Received) -> Received:
    return Received(
        np.concatenate([one.time_ns for one in parts]),
        np.concatenate([one.bytes for one in parts]),
        np.concatenate([one.fingerprint for one in parts]),
    )


def leaving(frames: Sent) -> Received:
    """What a capture at the sender sees of what it sends."""
    went = frames.outcome == 0
    return Received(
        BASE_NS + frames.sent_ns[went] + 2000, frames.bytes[went], frames.fingerprint[went]
    )


def two_ways(counters: dict[int, Counters] | None = None) -> Fidelity:
    rng = np.random.default_rng(1)
    there, back = sent(rng, 5000), sent(rng, 3000, per_s=6000)
    steps = [step(delay_ms=10), step(delay_ms=30, loss_percent=10, route=BOTH[1])]
    at_server = joined(Netem(rng, steps[:1]).run(there), leaving(back))
    at_client = joined(Netem(rng, steps[1:]).run(back), leaving(there))
    return measure(log(there, back, names=BOTH), {0: at_server, 1: at_client}, steps, counters)


def test_an_interface_shows_both_directions() -> None:
    found = two_ways()
    there, back = found.routes
    assert (there.arrived, there.lost, there.others, there.departures) == (5000, 0, 0, 3000)
    assert (back.departures, back.others, back.copies) == (5000, 0, 0)
    assert back.arrived + back.lost == back.sent == 3000
    assert not found.failed
    assert found.pacing.captured_gap_error is not None
    assert found.pacing.captured_gap_error.n == 4999 + 2999


def test_counters_are_held_against_the_counts_of_their_route() -> None:
    right = two_ways({0: Counters(tx_packets=5000, rx_packets=5000)})
    assert [one.verdict for one in right.balances] == ["pass", "pass"]
    wrong = two_ways({0: Counters(tx_packets=5000, rx_packets=5001)})
    assert [one.verdict for one in wrong.balances] == ["pass", "fail"]
    assert wrong.failed


def test_what_else_a_given_interface_sends_is_in_the_capture_there() -> None:
    rng = np.random.default_rng(11)
    frames = sent(rng, 1000)
    came = Netem(rng, [step()]).run(frames)
    stranger = Received(came.time_ns[:3], came.bytes[:3], came.fingerprint[:3] + np.uint64(1))
    seen = joined(came, stranger)
    counters = {0: Counters(tx_packets=1003, tx_dropped=0)}
    far = measure(log(frames), {0: seen}, [], counters)
    assert [one.verdict for one in far.balances] == ["fail", "pass"]
    near = measure(log(frames), {0: replace(seen, is_near=True)}, [], counters)
    assert [one.verdict for one in near.balances] == ["pass", "pass"]


def test_frames_that_nobody_sent_are_counted_apart() -> None:
    rng = np.random.default_rng(2)
    frames = sent(rng, 1000)
    came = Netem(rng, [step()]).run(frames)
    stranger = Received(came.time_ns[:3], came.bytes[:3], came.fingerprint[:3] + np.uint64(1))
    (route,) = measure(log(frames), {0: joined(came, stranger)}, []).routes
    assert (route.received, route.arrived, route.others) == (1003, 1000, 3)


def test_a_route_of_which_nothing_is_asked_does_nothing() -> None:
    rng = np.random.default_rng(3)
    frames = sent(rng, 2000)
    assert not measure(log(frames), {0: Netem(rng, [step()]).run(frames)}, []).failed
    lossy = measure(log(frames), {0: Netem(rng, [step(loss_percent=1)]).run(frames)}, [])
    assert [row.quantity for row in lossy.rows if row.verdict == "fail"] == ["loss_percent"]


def test_a_route_that_was_not_recorded_gives_no_verdict() -> None:
    found = measure(log(sent(np.random.default_rng(4), 100)), {}, [step(delay_ms=10)])
    assert not found.rows
    (check,) = [one for one in found.checks if one.quantity == "recorded"]
    assert (check.verdict, check.route) == ("no verdict", 0)
    assert not found.failed


def test_a_step_of_no_route_is_refused() -> None:
    frames = sent(np.random.default_rng(5), 10)
    with pytest.raises(ValueError, match="a step of lte to_server: no route of the log"):
        measure(log(frames), {}, [step(route=("lte", "to_server"))])


def test_what_the_sender_did_not_do() -> None:
    rng = np.random.default_rng(6)
    frames = sent(rng, 1000)
    frames.outcome[:5], frames.outcome[5:8], frames.outcome[8:9] = 1, 2, 3
    found = measure(log(frames), {0: Netem(rng, [step()]).run(frames)}, [])
    (route,) = found.routes
    assert (route.planned, route.sent) == (1000, 991)
    assert (route.refused, route.dropped_late, route.errors, route.lost) == (5, 3, 1, 0)
    failing = {one.quantity for one in found.checks if one.verdict == "fail"}
    assert failing == {"refused_share", "dropped_share", "error_frames"}
    allowed = Tolerances(refused_share=0.01, dropped_share=0.01)
    again = measure(log(frames), {0: Netem(rng, [step()]).run(frames)}, [], tolerances=allowed)
    assert {one.quantity for one in again.checks if one.verdict == "fail"} == {"error_frames"}


def test_lateness_fails_a_sender_that_had_times() -> None:
    rng = np.random.default_rng(7)
    frames = sent(rng, 1000)
    frames.sent_ns += 2_000_000
    came = {0: Netem(rng, [step()]).run(frames)}
    found = measure(log(frames), came, [])
    failing = {one.quantity for one in found.checks if one.verdict == "fail"}
    assert failing == {"late_share", "lateness_p99_us"}
    assert not measure(log(frames), came, [], paced=False).failed


def test_a_step_that_came_late() -> None:
    rng = np.random.default_rng(8)
    frames = sent(rng, 1000)
    late = [step(), step(30_000_000, delay_ms=1)]
    late[1] = type(late[1])(30_000_000, 89_000_000, 90_000_000, *BOTH[0], late[1].impairment)
    found = measure(log(frames), {0: Netem(rng, late).run(frames)}, late)
    (check,) = [one for one in found.checks if one.quantity == "step_late_ms"]
    assert (check.value, check.limit, check.verdict) == (60, 50, "fail")


def test_a_table_that_nobody_knows_gives_no_verdict_of_delays() -> None:
    rng = np.random.default_rng(9)
    frames = sent(rng, 2000)
    asked = [step(delay_ms=20, jitter_ms=3, distribution="mine")]
    came = {0: Netem(rng, [step(delay_ms=20, jitter_ms=3)]).run(frames)}
    (unknown,) = [
        one for one in measure(log(frames), came, asked).rows if one.quantity == "delay_ms"
    ]
    assert (unknown.verdict, unknown.why) == ("no verdict", "the table mine is not known")
    tables = {"mine": np.linspace(-1, 1, 1000).tolist()}
    found = measure(log(frames), came, asked, tables=tables)
    assert {one.verdict for one in found.rows} == {"pass"}


def test_frames_that_are_all_the_same() -> None:
    rng = np.random.default_rng(10)
    frames = sent(rng, 2000, size=100)
    frames.fingerprint[:] = 5
    steps = [step(delay_ms=20, loss_percent=10)]
    found = measure(log(frames), {0: Netem(rng, steps).run(frames)}, steps)
    (route,) = found.routes
    assert (route.ambiguous, route.arrived + route.lost) == (2000, 2000)
    by_quantity = {one.quantity: one for one in found.rows}
    assert by_quantity["delay_ms"].verdict == "no verdict"
    assert by_quantity["loss_percent"].verdict == "pass"
