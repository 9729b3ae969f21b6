from __future__ import annotations

from itertools import pairwise

import numpy as np
from pathscope.replay.profiles.derived.model import Resolution
from pathscope.replay.profiles.derived.stretches import lone, stretches
from routes import every

USUAL = Resolution()


def test_stretches_follow_each_other_without_a_gap() -> None:
    sent_ns = every(13, 30)
    delays = np.random.default_rng(7).gamma(2, 10, len(sent_ns)) + (sent_ns // 4_000_000_000) * 15
    found = stretches(sent_ns, delays, USUAL)
    assert found[0].first == 0
    assert found[-1].end == len(sent_ns)
    assert all(one.end == other.first for one, other in pairwise(found))
    for one in found:
        part = delays[one.first : one.end]
        assert np.isclose(one.mean_ms, part.mean())
        assert one.packets == 1 or np.isclose(one.deviation_ms, part.std(ddof=1))


def test_a_packet_that_stands_alone_is_told_and_makes_no_step() -> None:
    sent_ns = every(50, 20)
    delays = np.full(len(sent_ns), 5.0)
    delays[200] = 90
    found = lone(sent_ns, delays, USUAL)
    assert found[200]
    assert found.sum() <= 2  # its cell has two packets
    assert len(stretches(sent_ns[~found], delays[~found], USUAL)) == 1


def test_where_many_packets_stand_alone_none_does() -> None:
    sent_ns = every(100, 10)
    delays = np.full(len(sent_ns), 5.0)
    delays[::9] = 90
    assert not lone(sent_ns, delays, USUAL).any()
    assert len(lone(sent_ns[:0], delays[:0], USUAL)) == 0
