"""The pace of a sender, from made-up times."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest
from pathscope.replay.fidelity.model import Pacing
from pathscope.replay.fidelity.pacing import histogram, pacing
from pathscope.replay.fidelity.ways import Rows

LATE_NS = 1_000_000
US = 1000


def rows(due_ns: npt.ArrayLike, sent_ns: npt.ArrayLike, route: int | list[int] = 0) -> Rows:
    due, went = np.asarray(due_ns, np.int64), np.asarray(sent_ns, np.int64)
    zeros = np.zeros(due.size, np.int64)
    return Rows(
        zeros + np.asarray(route, np.int64), due, went, zeros + 100, zeros, zeros.astype(np.uint64)
    )


def paced(one: Rows) -> Pacing:
    return pacing(one, np.full(one.route.size, np.nan), LATE_NS)


def test_lateness_is_sent_minus_due() -> None:
    due = np.arange(1000) * 1000 * US
    late = np.where(np.arange(1000) % 100 == 0, 2000 * US, 3 * US)
    found = paced(rows(due, due + late))
    assert found.lateness is not None
    assert (found.lateness.p50_ns, found.lateness.max_ns) == (3 * US, 2000 * US)
    assert (found.late, found.early) == (10, 0)
    assert found.captured_gap_error is None


def test_a_gap_is_of_one_route() -> None:
    due = np.array([0, 10, 1000, 1010]) * US
    went = np.array([0, 10, 1001, 1010]) * US
    found = paced(rows(due, went, [0, 1, 0, 1]))
    assert found.gap_error is not None
    assert (found.gap_error.n, found.gap_error.max_ns) == (2, 1 * US)


def test_a_capture_gives_the_gaps_by_another_clock() -> None:
    due = np.arange(100) * 1000 * US
    seen = (due + 7 * US).astype(float)
    seen[50] = np.nan
    seen[99] += 40 * US
    found = pacing(rows(due, due), seen, LATE_NS)
    assert found.captured_gap_error is not None
    assert found.captured_gap_error.n == 98
    assert found.captured_gap_error.max_ns == 40 * US


@pytest.mark.parametrize("ppm", [-50, 0, 20])
def test_drift_is_told_apart_from_some_late_frames(ppm: float) -> None:
    rng = np.random.default_rng(1)
    due = np.arange(100_000) * 100 * US
    late = rng.exponential(2 * US, due.size) + due * ppm / 1e6
    late[50_000:51_000] += 5_000 * US
    found = paced(rows(due, due + late))
    assert found.drift_ns == pytest.approx(10e9 * ppm / 1e6, abs=1000)
    assert found.last_minus_first_ns == pytest.approx(9e9 * ppm / 1e6, abs=1000)


def test_order() -> None:
    assert paced(rows([0, 10, 20, 30], [0, 25, 21, 30])).out_of_order == 1
    assert paced(rows([0, 10, 10, 30], [0, 10, 11, 30])).out_of_order == 0


def test_bins_are_fixed_and_hold_every_value() -> None:
    values = np.array([-5, 0, 99, 100, 1999, 2000, 7_000_000_000])
    found = histogram(values)
    assert sum(one.count for one in found) == values.size
    assert [(one.low_ns, one.high_ns) for one in found if one.count] == [
        (None, 0), (0, 100), (100, 200), (1000, 2000), (2000, 5000), (5_000_000_000, None),
    ]  # fmt: skip
    assert histogram(np.array([150])) == (found[2],)


def test_nothing_sent_is_nothing_to_measure() -> None:
    found = paced(rows([], []))
    assert (found.lateness, found.gap_error, found.drift_ns, found.histogram) == (None,) * 3 + ((),)
