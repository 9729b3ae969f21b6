"""Delay, loss and order of one path, held against loops that follow the definitions."""

from __future__ import annotations

from itertools import pairwise
from statistics import mean, stdev

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pathscope.analyzer.transit import ABSENT_NS, ClockError, Packets, describe

LOST = None
WAYS = st.lists(
    st.tuples(st.integers(0, 1000), st.one_of(st.none(), st.integers(0, 5000))), max_size=60
)
"""Gap to the sending before, and delay; none for a lost packet."""


def packets(way: list[tuple[int, int | None]], duplicated: int | None = 0) -> Packets:
    sent = np.cumsum([gap for gap, _ in way], dtype=np.int64)
    arrived = [
        ABSENT_NS if delay is None else at + delay
        for at, (_, delay) in zip(sent.tolist(), way, strict=True)
    ]
    count = len(way)
    return Packets(
        sent,
        np.array(arrived, np.int64),
        np.full(count, 100, np.uint32),
        np.arange(1, count + 1),
        np.arange(1, count + 1),
        duplicated,
    )


def figures(way: list[tuple[int, int | None]]) -> dict[str, object]:
    return {name: one.value for name, one in describe(packets(way)).measures().items()}


@given(WAYS)
def test_loss_counts_packets_and_stretches(way: list[tuple[int, int | None]]) -> None:
    found = figures(way)
    lost = [delay is LOST for _, delay in way]
    assert found["sent_packets"] == len(way)
    assert found["lost_packets"] == sum(lost)
    assert found["arrived_packets"] == len(way) - sum(lost)
    bursts, before = 0, False
    for one in lost:
        bursts += one and not before
        before = one
    assert found["loss_bursts"] == bursts
    assert found["loss_burst_mean_packets"] == (sum(lost) / bursts if bursts else None)
    assert found["loss_ratio"] == (sum(lost) / len(way) if way else None)


@given(WAYS)
def test_delays_and_jitter_in_packet_order(way: list[tuple[int, int | None]]) -> None:
    found, delays = figures(way), [delay for _, delay in way if delay is not LOST]
    if not delays:
        assert found["one_way_delay_mean_ns"] is None
        return
    assert found["one_way_delay_min_ns"] == min(delays)
    assert found["one_way_delay_max_ns"] == max(delays)
    assert found["one_way_delay_mean_ns"] == pytest.approx(mean(delays))
    for percent in (50, 95, 99):
        # The least that is not below so many of a hundred.
        least = next(
            one for one in sorted(delays)
            if 100 * sum(other <= one for other in delays) >= percent * len(delays)
        )  # fmt: skip
        assert found[f"one_way_delay_p{percent}_ns"] == least
        if len(delays) > 1:
            assert found[f"pdv_p{percent}_ns"] == least - min(delays)
    if len(delays) > 1:
        assert found["one_way_delay_sd_ns"] == pytest.approx(stdev(delays))
        steps = [abs(b - a) for a, b in pairwise(delays)]
        assert found["jitter_w_ns"] == pytest.approx(mean(steps))


@given(WAYS)
def test_jitter_of_rfc_3550_and_order_of_rfc_4737(way: list[tuple[int, int | None]]) -> None:
    found, sent = figures(way), 0
    arrivals = []
    for number, (gap, delay) in enumerate(way):
        sent += gap
        if delay is not LOST:
            arrivals.append((sent + delay, number, delay))
    arrivals.sort()
    jitter, expected, late = 0.0, -1, 0
    for place, (_, number, delay) in enumerate(arrivals):
        if place:
            jitter += (abs(delay - arrivals[place - 1][2]) - jitter) / 16
        late += number < expected
        expected = max(expected, number)
    if arrivals:
        assert found["reordered_packets"] == late
        assert found["reordered_ratio"] == late / len(arrivals)
    if len(arrivals) > 1:
        assert found["jitter_ns"] == pytest.approx(jitter, abs=1e-6)


def test_jitter_does_not_forget_what_counts() -> None:
    """Of 3000 differences the first two thousand have no weight left that a double can hold."""
    rng = np.random.default_rng(7)
    way: list[tuple[int, int | None]] = [
        (10_000, int(delay)) for delay in rng.integers(0, 5000, 3000)
    ]
    jitter, delays = 0.0, [delay for _, delay in way if delay is not None]
    for a, b in pairwise(delays):
        jitter += (abs(b - a) - jitter) / 16
    assert figures(way)["jitter_ns"] == pytest.approx(jitter, rel=1e-12)


def test_one_clock_observes_and_two_infer() -> None:
    way = packets([(100, 50), (100, 60), (100, None)])
    assert describe(way).one_way_delay_min_ns.basis == "observed"
    found = describe(way, ClockError(offset_ns=20.0, drift_ns=5.0))
    least = found.one_way_delay_min_ns
    assert (least.basis, least.value, least.low, least.high) == ("inferred", 50, 25, 75)
    # A constant that is off does not change how delays are spread; a drift does.
    spread = found.pdv_p50_ns
    assert (spread.basis, spread.low, spread.high) == ("inferred", 0, 5)
    assert found.jitter_w_ns.basis == found.loss_ratio.basis == "observed"


def test_without_an_offset_delays_are_absent_and_their_variation_is_not() -> None:
    way = packets([(100, 50), (100, 60)])
    found = describe(way, ClockError(None, 0.0, "one direction"))
    assert found.one_way_delay_p50_ns.reason == "one direction"
    assert (found.jitter_w_ns.value, found.pdv_p99_ns.value) == (10.0, 10)


def test_nothing_sent_and_nothing_arrived_say_so() -> None:
    nothing = describe(packets([]))
    assert nothing.loss_ratio.reason == "no packet was sent this way"
    assert nothing.reordered_ratio.reason == "no packet was sent this way"
    lost = describe(packets([(1, None)]))
    assert (lost.loss_ratio.value, lost.one_way_delay_p50_ns.reason) == (1.0, "no packet arrived")
    assert lost.jitter_ns.reason == "fewer than two packets arrived"
    unknown = describe(packets([(1, 1)], duplicated=None))
    assert unknown.duplicated_packets.value is None
