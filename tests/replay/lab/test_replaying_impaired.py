"""Impairments of a packet replay, in a kernel that has netem: asked for, and achieved.

One replay with a path for each: its boot and its half minute serve all.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd
import pytest
from pathscope.replay import evidence
from pathscope.replay.lab import events, folder
from pathscope.replay.packets import log
from pathscope.replay.request import Replay
from replaying import Flow, network, orders, replay, write_flows

if TYPE_CHECKING:
    from pathscope.replay.fidelity.model import Row
    from pathscope.replay.run import Outcome

pytestmark = pytest.mark.guest

DURATION_S = 30

PER_S = 150

STEPS, STEP_S = 60, 0.5

RATE_KBIT = 1500

PATHS = {
    "delay": {"delay_ms": 30},
    "jitter": {"delay_ms": 40, "jitter_ms": 5, "distribution": "normal"},
    "loss-1": {"loss_percent": 1},
    "loss-5": {"loss_percent": 5},
    "loss-20": {"loss_percent": 20},
    "burst": {"loss_percent": 5, "loss_burst_packets": 4},
    "rate": {"rate_kbit": RATE_KBIT, "queue_packets": 60},
    "steps": {},
}


def profile() -> dict[str, object]:
    steps = [
        {"at_s": number * STEP_S, "delay_ms": 5 + 10 * (number % 4)} for number in range(1, STEPS)
    ]
    paths: dict[str, object] = {name: {"to_server": given} for name, given in PATHS.items()}
    paths["steps"] = {"to_server": {"delay_ms": 5}, "steps": steps}
    return {"paths": paths}


@pytest.fixture(scope="module")
def outcome(tmp_path_factory: pytest.TempPathFactory) -> Outcome:
    place = tmp_path_factory.mktemp("impaired")
    flows = [
        # Twice as much as the path with a rate takes.
        Flow(number, PER_S, RATE_KBIT * 2000 // 8 // PER_S if name == "rate" else 200)
        for number, name in enumerate(PATHS, 1)
    ]
    trace = write_flows(place / "flows.pcap", flows, DURATION_S)
    labels = {network(number): name for number, name in enumerate(PATHS, 1)}
    return replay(orders(trace, labels), place / "run", profile())


def rows(outcome: Outcome, path: str, quantity: str) -> list[Row]:
    (route,) = (
        one.route
        for one in outcome.fidelity.routes
        if (one.path, one.direction) == (path, "to_server")
    )
    return [row for row in outcome.fidelity.rows if (row.route, row.quantity) == (route, quantity)]


def only(outcome: Outcome, path: str, quantity: str) -> Row:
    (row,) = (row for row in rows(outcome, path, quantity) if row.step is not None)
    return row


def test_no_frame_is_unaccounted_for(outcome: Outcome) -> None:
    for route in outcome.fidelity.routes:
        assert route.sent == route.planned
        assert route.sent == route.arrived + route.lost
        assert (route.copies, route.others, route.corrupted) == (0, 0, 0)
    assert {one.verdict for one in outcome.fidelity.balances} <= {"pass", "no verdict"}


def test_a_constant_delay(outcome: Outcome) -> None:
    row = only(outcome, "delay", "delay_ms")
    assert row.verdict == "pass"
    assert row.achieved == pytest.approx(30, abs=0.5)


@pytest.mark.parametrize(("path", "percent"), [("loss-1", 1), ("loss-5", 5), ("loss-20", 20)])
def test_random_loss(outcome: Outcome, path: str, percent: float) -> None:
    row = only(outcome, path, "loss_percent")
    assert row.verdict == "pass"
    assert (row.asked, row.n) == (percent, DURATION_S * PER_S)


def test_loss_in_bursts(outcome: Outcome) -> None:
    assert only(outcome, "burst", "loss_percent").verdict == "pass"
    row = only(outcome, "burst", "loss_burst_packets")
    assert row.verdict == "pass"
    assert row.low is not None
    assert row.high is not None


def test_a_rate(outcome: Outcome) -> None:
    row = only(outcome, "rate", "rate_kbit")
    assert row.verdict == "pass"
    assert row.achieved == pytest.approx(RATE_KBIT, rel=0.03)


def least_delays_ms(outcome: Outcome, route: int) -> dict[int, float]:
    """The least delay of the frames that were sent within each step, without the report."""
    sent = log.read(outcome.folder / "sent.arrows")
    seen = evidence.received(outcome.folder, Replay.of_run(outcome.folder))[route]
    there = pd.DataFrame({"fingerprint": seen.fingerprint, "time_ns": seen.time_ns})
    frames = sent.table.to_pandas().query("route == @route").merge(there, on="fingerprint")
    sent_at = frames["sent_ns"] + sent.header["base_realtime_ns"]
    frames["delay_ms"] = (frames["time_ns"] - sent_at) / 1e6
    # Without those near a change.
    place = frames["sent_ns"] / (STEP_S * 1e9)
    inside = frames[(place % 1 > 0.2) & (place % 1 < 0.9)]
    return dict(inside["delay_ms"].groupby(place[inside.index].astype(int)).min())


def test_every_step_takes_effect_at_its_time(outcome: Outcome) -> None:
    delays = rows(outcome, "steps", "delay_ms")
    by_step = {row.step: row for row in delays if row.step is not None}
    assert len(by_step) == STEPS
    least = least_delays_ms(outcome, delays[0].route)
    for number, row in by_step.items():
        assert row.asked == 5 + 10 * (number % 4)
        # A guest that waits for its processor delays frames, but not all of them.
        assert row.asked <= least[number] < row.asked + 0.5
        if not folder.too_slow(outcome.folder):
            assert row.achieved == pytest.approx(row.asked, abs=0.5)
    told = [step for step in outcome.fidelity.steps if step.route == delays[0].route]
    assert len(told) == STEPS
    for number, step in enumerate(told):
        assert step.at_ns == round(number * STEP_S * 1e9)
        assert step.before_ns <= step.after_ns
        if number:  # the first is there before anything is sent
            assert step.at_ns <= step.before_ns


def test_the_log_of_events_has_every_step(outcome: Outcome) -> None:
    happened = events.read(outcome.folder / folder.EVENTS)
    steps = [event for event in happened if event["event"] == "impair"]
    assert len(steps) == 2 * (len(PATHS) + STEPS - 1)
    assert all(event["t_before_ns"] <= event["t_ns"] for event in steps)
