from __future__ import annotations

import numpy as np
import pytest
from pathscope.replay.profiles.derived.model import Outage
from pathscope.replay.profiles.derived.outages import narrowed, outages, shared
from routes import MS, SECOND, every, gilbert


def test_an_outage_is_between_the_packets_around_it() -> None:
    sent_ns = every(10, 10)
    lost = (sent_ns >= 3 * SECOND) & (sent_ns < 5 * SECOND)
    (found,), inside = outages(sent_ns, lost)
    assert found == Outage(3 * SECOND - 10 * MS, 3 * SECOND, 5 * SECOND - 10 * MS, 5 * SECOND, 200)
    assert found.start_ns == 3 * SECOND - 5 * MS
    assert found.end_ns == 5 * SECOND - 5 * MS
    assert (inside == lost).all()


def test_an_outage_can_last_from_the_first_packet_and_to_the_last() -> None:
    sent_ns = every(10, 10)
    early, _ = outages(sent_ns, sent_ns < SECOND)
    late, _ = outages(sent_ns, sent_ns >= 9 * SECOND)
    assert (early[0].last_arrival_ns, early[0].start_ns) == (None, 0)
    assert (late[0].first_arrival_ns, late[0].end_ns) == (None, None)


@pytest.mark.parametrize("seed", range(20))
def test_bursts_of_a_model_are_no_outages(seed: int) -> None:
    sent_ns = every(10, 100)
    assert outages(sent_ns, gilbert(0.02, 0.2, len(sent_ns), seed))[0] == []


@pytest.mark.parametrize("seed", range(20))
def test_an_outage_among_bursts_is_found(seed: int) -> None:
    sent_ns = every(10, 100)
    down = (sent_ns >= 40 * SECOND) & (sent_ns < 42 * SECOND)
    (found,), _ = outages(sent_ns, gilbert(0.02, 0.2, len(sent_ns), seed) | down)
    assert found.start_ns <= 40 * SECOND
    assert found.end_ns is not None
    assert found.end_ns >= 42 * SECOND - 10 * MS
    assert found.packets is not None
    assert found.packets < 240


def test_no_loss_no_packets_no_outage() -> None:
    assert outages(every(10, 1), np.zeros(100, bool))[0] == []
    assert outages(every(10, 0), np.zeros(0, bool))[0] == []


def test_one_loss_of_a_few_packets_is_no_outage() -> None:
    lost = np.zeros(10, bool)
    lost[4] = True
    assert outages(every(1000, 10), lost)[0] == []


def test_a_lone_loss_in_the_outage_of_the_other_direction_is_one() -> None:
    sent_ns = np.array([0, 2, 4, 6], np.int64) * SECOND
    lost = np.array([False, False, True, False])
    down = [Outage(3 * SECOND, 3 * SECOND + 1, 5 * SECOND, 5 * SECOND + 1, 100)]
    (found,), inside = shared(sent_ns, lost, np.zeros(4, bool), down)
    assert (found.last_arrival_ns, found.first_arrival_ns) == (2 * SECOND, 6 * SECOND)
    assert inside.tolist() == lost.tolist()
    (both,) = narrowed([found], down)
    assert (both.last_arrival_ns, both.first_loss_ns) == (3 * SECOND, 3 * SECOND + 1)
    assert (both.last_loss_ns, both.first_arrival_ns) == (5 * SECOND, 5 * SECOND + 1)
    assert both.both
    assert both.packets == 1


def test_where_something_arrived_meanwhile_the_other_direction_failed_alone() -> None:
    sent_ns = np.arange(8, dtype=np.int64) * SECOND
    lost = np.zeros(8, bool)
    lost[4] = True
    down = [Outage(2 * SECOND, 3 * SECOND, 6 * SECOND, 7 * SECOND, 100)]
    assert shared(sent_ns, lost, np.zeros(8, bool), down)[0] == []


def test_outages_at_other_times_stay_as_they_are() -> None:
    one = Outage(SECOND, 2 * SECOND, 3 * SECOND, 4 * SECOND, 10)
    other = Outage(5 * SECOND, 6 * SECOND, 7 * SECOND, 8 * SECOND, 10)
    assert narrowed([one], [other]) == [one]
