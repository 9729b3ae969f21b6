from __future__ import annotations

from pathscope.replay.profiles.derived.model import Outage
from pathscope.replay.profiles.derived.single import joined
from routes import SECOND


def test_outages_that_overlap_are_one_with_the_narrower_bounds() -> None:
    by_a = Outage(1 * SECOND, 3 * SECOND, 6 * SECOND, 9 * SECOND, None)
    by_b = Outage(2 * SECOND, 4 * SECOND, 7 * SECOND, 8 * SECOND, None)
    (found,) = joined([by_b, by_a])
    assert (found.last_arrival_ns, found.first_loss_ns) == (2 * SECOND, 3 * SECOND)
    assert (found.last_loss_ns, found.first_arrival_ns) == (7 * SECOND, 8 * SECOND)


def test_an_outage_that_does_not_end_holds_what_follows() -> None:
    to_the_end = Outage(1 * SECOND, 2 * SECOND, 3 * SECOND, None, None)
    later = Outage(4 * SECOND, 5 * SECOND, 6 * SECOND, None, None)
    (found,) = joined([to_the_end, later])
    assert found.end_ns is None
    assert found.last_loss_ns == 6 * SECOND


def test_outages_apart_stay_apart() -> None:
    one = Outage(1 * SECOND, 2 * SECOND, 3 * SECOND, 4 * SECOND, None)
    other = Outage(5 * SECOND, 6 * SECOND, 7 * SECOND, 8 * SECOND, None)
    assert joined([other, one]) == [one, other]
    assert joined([]) == []
