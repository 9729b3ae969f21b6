"""The paths used against those of the least predicted delay, worked out by hand."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from ladder import HANDSHAKE, Play, second, steady
from pathscope.analyzer.averages import KEPT
from pathscope.analyzer.model import Alternates, Association, PathChoice
from running import CAPTURES
from truth import only

MS = 1_000_000
ALIVE = "0.20 a 3 HEARTBEAT 3\n0.28 b 3 HEARTBEAT ACK 3\n"
"""Confirms path 3, with a round trip of 80 ms."""


def values(choice: PathChoice) -> dict[str, float | int | None]:
    return {name: measure.value for name, measure in choice.metrics.items()}


def choice(seen: Association) -> PathChoice:
    return seen.path_choice["a"]


def test_half_of_the_time_on_a_worse_path(play: Play) -> None:
    """Path 1 takes 10 ms and path 2, to which the application moves at 2 s, 40 ms."""
    seen = play(
        HANDSHAKE,
        steady(1.0, 1.9, 0.1, 1, tsn=1, rtt=0.01),
        steady(2.0, 2.9, 0.1, 2, tsn=11, rtt=0.04),
    )
    found = values(choice(seen))
    # Of the bin at 1.0 s nothing was known of path 1; the last SACK ends the last bin at 2.94 s.
    assert found["active_s"] == pytest.approx(1.94)
    assert found["judged_s"] == pytest.approx(1.84)
    assert found["worse_s"] == pytest.approx(0.94)
    assert (found["worse_chunks"], found["worse_bytes"]) == (10, 1000)
    assert found["excess_rtt_mean_ns"] == 30 * MS
    assert found["excess_rtt_s"] == pytest.approx(0.3)
    # Both carried a chunk each 100 ms.
    assert (found["slower_s"], found["slower_bytes"]) == (0, 0)
    one, two = choice(seen).forecasts
    assert (one.rtt_ns.value, two.rtt_ns.value) == (10 * MS, 40 * MS)
    assert one.rate_bps.value == two.rate_bps.value == 8000


def test_the_average_follows_the_samples(play: Play) -> None:
    """tau(n+1) = 7/8 tau(n) + 1/8 T(n); HEARTBEATs count like SACKs, in the bin of their ACK."""
    seen = play(
        HANDSHAKE,
        steady(1.0, 1.0, 0.1, 1, tsn=1, rtt=0.010),
        steady(1.1, 1.1, 0.1, 1, tsn=2, rtt=0.050),
        "1.20 a 2 HEARTBEAT 1\n1.29 b 2 HEARTBEAT ACK 1\n",
        "1.30 a 2 HEARTBEAT 2\n1.31 b 2 HEARTBEAT ACK 2\n1.33 a 2 HEARTBEAT 3\n"
        "1.36 b 2 HEARTBEAT ACK 3\n",
    )
    one, two = choice(seen).forecasts
    assert one.rtt_ns.value == (7 * 10 + 50) / 8 * MS
    # 40 ms in the handshake, then 90, then the mean of 10 and 30.
    assert two.rtt_ns.value == pytest.approx((7 * ((7 * 40 + 90) / 8) + 20) / 8 * MS)
    assert two.rate_bps.reason == "no DATA acknowledged on this path"
    assert choice(seen).kept == KEPT == 0.875


def test_a_slower_path(play: Play) -> None:
    """Path 1 carried three chunks by 100 ms, path 2 one: 16 kbit/s less, as long as both known."""
    lines = "".join(
        f"{at / 10:.2f} a 1 DATA {tsn}-{tsn + 2}\n{at / 10 + 0.01:.2f} b 1 SACK {tsn + 2}\n"
        for at, tsn in zip(range(10, 20), range(1, 31, 3), strict=True)
    )
    seen = play(HANDSHAKE, lines, steady(2.0, 2.9, 0.1, 2, tsn=31, rtt=0.04))
    found = values(choice(seen))
    # The rate of path 2 is known from 2.1 s on, until 2.94 s.
    assert found["slower_s"] == pytest.approx(0.84)
    assert found["slower_bytes"] == pytest.approx(16_000 * 0.84 / 8)


def test_a_path_that_could_not_be_used_is_no_better_one(play: Play) -> None:
    """Path 1 has the least delay, but its address was deleted."""
    seen = play(
        HANDSHAKE,
        steady(1.0, 1.9, 0.1, 1, tsn=1, rtt=0.01),
        "1.95 a 2 ASCONF 1 DELETE 10.0.1.1\n1.99 b 2 ASCONF-ACK 1\n",
        steady(2.0, 2.9, 0.1, 2, tsn=11, rtt=0.04),
    )
    found = values(choice(seen))
    assert (found["worse_s"], found["worse_chunks"]) == (0, 0)
    assert found["judged_s"] == pytest.approx(0.9)
    assert choice(seen).metrics["excess_rtt_mean_ns"].reason == "no DATA on a worse path"


def test_an_address_that_came_back_can_be_used_again(play: Play) -> None:
    seen = play(
        HANDSHAKE,
        steady(1.0, 1.9, 0.1, 1, tsn=1, rtt=0.01),
        "1.95 a 2 ASCONF 1 DELETE 10.0.1.1\n1.99 b 2 ASCONF-ACK 1\n",
        steady(2.0, 2.4, 0.1, 2, tsn=11, rtt=0.04),
        "2.45 a 2 ASCONF 2 ADD 10.0.1.1\n2.49 b 2 ASCONF-ACK 2\n",
        steady(2.5, 2.9, 0.1, 2, tsn=16, rtt=0.04),
    )
    assert values(choice(seen))["worse_chunks"] == 5


def test_three_alternates(play: Play) -> None:
    """Path 1-2 shares an address with path 1, so path 2 differs more, though it takes longer."""
    seen = play(
        HANDSHAKE,
        "0.16 a 1-2 HEARTBEAT 2\n0.18 b 1-2 HEARTBEAT ACK 2\n",
        ALIVE,
        steady(1.0, 1.9, 0.1, 1, tsn=1, rtt=0.01),
        steady(2.0, 2.9, 0.1, 3, tsn=11, rtt=0.08),
        paths=3,
    )
    numbers = {(path.a_address, path.b_address): path.number for path in seen.paths}
    two, cross, three = (
        numbers[f"10.0.{near}.1", f"10.0.{far}.2"] for near, far in ((2, 2), (1, 2), (3, 3))
    )
    (found,) = choice(seen).alternates
    assert second(found.at_ns) == 2.0
    assert found.forecast == (cross, two, three)
    assert found.divergent == (two, three, cross)
    assert (found.unknown, found.chosen) == ((), three)
    assert found.excess_rtt_ns.value == 60 * MS


def test_without_a_sample_of_an_alternate(play: Play) -> None:
    """No HEARTBEAT confirmed path 2: what it would have taken is not known."""
    seen = play(
        "".join(HANDSHAKE.splitlines(keepends=True)[:5]),
        steady(1.0, 1.9, 0.1, 1, tsn=1, rtt=0.01),
        steady(2.0, 2.9, 0.1, 2, tsn=11, rtt=0.04),
    )
    (found,) = choice(seen).alternates
    assert (found.forecast, found.unknown, found.divergent) == ((), (1,), (1,))
    assert found.excess_rtt_ns.reason == "the chosen path had no samples before the decision"


def test_one_path_leaves_no_choice(play: Play) -> None:
    seen = play(
        "".join(HANDSHAKE.splitlines(keepends=True)[:5]),
        steady(1.0, 1.9, 0.1, 1, tsn=1, rtt=0.01),
    )
    assert {one.reason for one in choice(seen).metrics.values()} == {"there is one path"}
    assert seen.path_choice["b"].metrics["worse_s"].reason == "the sender sent no DATA"


def test_samples_of_one_path_leave_nothing_to_compare(play: Play) -> None:
    seen = play(
        "".join(HANDSHAKE.splitlines(keepends=True)[:5]),
        "0.10 a 2 HEARTBEAT 9\n",
        steady(1.0, 1.9, 0.1, 1, tsn=1, rtt=0.01),
    )
    found = choice(seen).metrics
    assert found["active_s"].value == pytest.approx(0.91)
    assert found["worse_s"].reason == "fewer than two paths have samples"


@pytest.mark.parametrize("run", ["lab-failover", "lab-three-paths"])
def test_the_receiver_does_not_see_round_trips(run: str) -> None:
    found = only(CAPTURES / run, "server").path_choice["a"]
    assert found.metrics["active_s"].value
    assert "captured at the receiver" in (found.metrics["worse_s"].reason or "")
    assert all(one.rtt_ns.value is None for one in found.forecasts)


def test_the_kernel_took_the_path_of_more_delay() -> None:
    """Of cellular (80 ms) and satellite (240 ms) it chose the latter."""
    seen = only(CAPTURES / "lab-three-paths")
    label = {path.number: path.a_address for path in seen.paths}
    found: Alternates
    (found,) = choice(seen).alternates
    assert [label[path] for path in found.forecast] == ["10.0.2.1", "10.0.3.1"]
    assert label[found.chosen] == "10.0.3.1"
    excess_ns = found.excess_rtt_ns.value
    assert excess_ns == pytest.approx(160 * MS, rel=0.05)
    # Until the end, beside the second in which wlan's samples were the only ones.
    assert (choice(seen).metrics["worse_bytes"].value or 0) > 0


Bins = list[tuple[int, int]]


def expected(bins: Bins) -> tuple[int, int]:
    """Count judged and worse bins as a reader of the definition would: one by one."""
    tau: dict[int, float] = {2: 40.0}  # of the handshake
    judged = worse = 0
    for path, rtt_ms in bins:
        if len(tau) == 2:
            judged += 1
            worse += tau[path] > tau[3 - path]
        before = tau.get(path)
        tau[path] = rtt_ms if before is None else (7 * before + rtt_ms) / 8
    return judged, worse


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=25)
@given(st.lists(st.tuples(st.integers(1, 2), st.integers(1, 90)), min_size=1, max_size=15))
@example([(2, 90), (1, 40), (2, 1), (1, 90)])
def test_as_the_definition_says(play: Play, bins: Bins) -> None:
    """A chunk at the beginning of each bin, and its SACK in the same bin."""
    lines = "".join(
        f"{1 + n / 10:.3f} a {path} DATA {n + 1}\n"
        f"{1 + n / 10 + rtt_ms / 1000:.3f} b {path} SACK {n + 1}\n"
        for n, (path, rtt_ms) in enumerate(bins)
    )
    end = f"{1 + len(bins) / 10:.3f} a 1 HEARTBEAT 5\n"  # the association ends with the last bin
    found = values(choice(play(HANDSHAKE, lines, end)))
    judged, worse = expected(bins)
    if {path for path, _ in bins} == {2}:
        assert found["judged_s"] is None  # path 1 never had a sample
        return
    assert found["active_s"] == pytest.approx(len(bins) / 10)
    assert found["judged_s"] == pytest.approx(judged / 10)
    if judged:
        assert found["worse_chunks"] == worse
        assert found["worse_s"] == pytest.approx(worse / 10)
