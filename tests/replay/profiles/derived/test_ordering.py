from __future__ import annotations

import numpy as np
from pathscope.replay.profiles.derived.ordering import early, order
from routes import every


def test_packets_without_delay_that_overtake_are_early() -> None:
    sent_ns = every(5, 10)
    delays = np.full(len(sent_ns), 30.0)
    delays[100::40] = 0.2
    found = early(sent_ns, delays)
    assert np.flatnonzero(found).tolist() == list(range(100, len(sent_ns), 40))


def test_jitter_makes_no_packet_early() -> None:
    sent_ns = every(2, 20)
    delays = np.random.default_rng(1).normal(30, 5, len(sent_ns))
    assert not early(sent_ns, delays).any()
    assert len(early(sent_ns[:0], delays[:0])) == 0


def test_a_delay_that_falls_for_good_makes_none_early_that_overtook_nothing() -> None:
    sent_ns = every(100, 10)
    delays = np.where(np.arange(len(sent_ns)) < 50, 90.0, 5.0)
    assert not early(sent_ns, delays).any()


def test_independent_jitter_turns_packets_around() -> None:
    sent_ns = every(2, 20)
    noise = np.random.default_rng(1).normal(0, 5, len(sent_ns))
    found = order(sent_ns, 30 + noise, noise, 0)
    assert not found.keep_order
    assert abs(found.turned - found.expected) < 0.1 * found.expected


def test_jitter_that_turns_nothing_around_keeps_the_order() -> None:
    sent_ns = every(2, 20)
    noise = np.random.default_rng(1).normal(0, 5, len(sent_ns))
    arrived_ms = np.maximum.accumulate(sent_ns / 1e6 + 30 + noise)
    delays = arrived_ms - sent_ns / 1e6
    assert order(sent_ns, delays, delays - delays.mean(), 0).keep_order


def test_packets_far_apart_say_nothing_of_their_order() -> None:
    sent_ns = every(100, 20)
    noise = np.random.default_rng(1).normal(0, 5, len(sent_ns))
    assert not order(sent_ns, 30 + noise, noise, 0).keep_order
