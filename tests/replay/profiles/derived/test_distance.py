from __future__ import annotations

import numpy as np
import pytest
from pathscope.replay.profiles.derived.distance import (
    CHANCE,
    closed_loop,
    critical,
    independent,
    ks,
)
from routes import every, gilbert, series
from scipy import stats

RUNS = 200


@pytest.mark.parametrize("seed", range(10))
def test_the_distance_is_scipys(seed: int) -> None:
    draw = np.random.default_rng(seed)
    one, other = draw.normal(0, 1, 300), draw.normal(seed / 10, 1 + seed / 10, 200)
    assert ks(one, other) == pytest.approx(stats.ks_2samp(one, other).statistic)


def test_equal_values_are_no_distance_and_apart_ones_all_of_it() -> None:
    same = np.full(50, 5.0)
    assert ks(same, same) == 0
    assert ks(same, same + 0.1) == 1
    assert ks(same, same + 0.1, shift=0.5) == 0
    assert ks(same, same + 0.6, shift=0.5) == 1


def test_a_shift_is_what_it_allows() -> None:
    draw = np.random.default_rng(1)
    one = draw.normal(20, 3, 5000)
    assert ks(one, one + 0.4, shift=0.5) == 0
    assert ks(one, one + 2.0, shift=0.5) > 0.15


def test_two_samples_of_one_distribution_are_within_as_often_as_it_says() -> None:
    draw = np.random.default_rng(1)
    beyond = sum(
        ks(draw.exponential(3, 400), draw.exponential(3, 250)) > critical(400, 250)
        for _ in range(RUNS)
    )
    assert beyond <= 4 * CHANCE * RUNS


def test_neighbours_that_are_alike_are_worth_less() -> None:
    draw = np.random.default_rng(1).normal(0, 1, 20_000)
    moved = np.zeros(len(draw))
    for at in range(1, len(draw)):
        moved[at] = 0.8 * moved[at - 1] + draw[at]
    assert independent(draw) > 0.9 * len(draw)
    assert independent(moved) == pytest.approx(len(draw) / 9, rel=0.1)
    assert independent(np.ones(5)) == 5


def test_two_runs_of_one_link_are_within_the_tolerance() -> None:
    sent_ns = every(10, 40)
    beyond = 0
    for seed in range(50):
        draw = np.random.default_rng(seed)
        runs = [
            series(
                sent_ns,
                draw.normal(30, 4, len(sent_ns)),
                gilbert(0.02, 0.4, len(sent_ns), 2 * seed + at),
            )
            for at in range(2)
        ]
        beyond += sum(row.within is False for row in closed_loop([runs[0]], [runs[1]]))
    assert beyond <= 4


def test_another_delay_and_another_loss_are_outside() -> None:
    sent_ns = every(10, 60)
    draw = np.random.default_rng(1)
    one = series(sent_ns, draw.normal(30, 4, len(sent_ns)), gilbert(0.02, 0.4, len(sent_ns), 1))
    other = series(sent_ns, draw.normal(33, 4, len(sent_ns)), gilbert(0.06, 0.4, len(sent_ns), 2))
    rows = closed_loop([one], [other])
    assert [(row.what, row.within) for row in rows] == [("delay", False), ("loss", False)]
    assert rows[0].original == pytest.approx(30, abs=0.5)


def test_a_route_without_packets_has_a_reason() -> None:
    sent_ns = every(10, 1)
    one = series(sent_ns, 20.0)
    rows = closed_loop([one], [])
    assert [row.within for row in rows] == [None, None]
    assert [row.reason for row in rows] == [
        "nothing arrived in the replay",
        "nothing was sent in the replay",
    ]
    gone = series(sent_ns, 20.0, np.ones(len(sent_ns), bool))
    assert closed_loop([gone], [one])[0].reason == "nothing had arrived"
