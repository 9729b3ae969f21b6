"""Numbers held against limits, wherever they stand."""

from __future__ import annotations

from dataclasses import replace

import pathscope
import pytest
from hypothesis import given
from hypothesis import strategies as st
from ladder import HANDSHAKE, Play, steady
from pathscope.analyzer.measure import Measure
from pathscope.analyzer.model import CaptureResult
from pathscope.analyzer.thresholds import Limit, Thresholds
from pathscope.analyzer.verdicts import Verdict, judge, unmet
from pathscope.reports import names
from running import ASCONF, FAILOVER, MIXED, ROOT

MS = 1_000_000


def judged(result: CaptureResult, *limits: Limit) -> tuple[Verdict, ...]:
    return judge(result, Thresholds("mine", limits))


@pytest.fixture
def result(play: Play) -> CaptureResult:
    """A sender on path 1, whose round trip is 10 ms, then on path 2, 40 ms."""
    association = play(
        HANDSHAKE,
        steady(1.0, 1.9, 0.1, 1, tsn=1, rtt=0.01),
        steady(2.0, 2.9, 0.1, 2, tsn=11, rtt=0.04),
        labels=("10.0.1.0/24=wlan", "10.0.2.0/24=cellular"),
    )
    return CaptureResult("ladder", {}, (association,))


def told(verdicts: tuple[Verdict, ...]) -> list[tuple[str | None, str | None, str]]:
    return [
        (one.place.path, one.place.sender, one.outcome) for one in verdicts if one.place is not None
    ]


def test_every_path_and_sender_has_its_verdict(result: CaptureResult) -> None:
    found = judged(result, Limit("rtt_max_ns", high=20 * MS, within="paths"))
    assert told(found) == [
        ("wlan", "a", "pass"),
        ("wlan", "b", "absent"),
        ("cellular", "a", "fail"),
        ("cellular", "b", "absent"),
    ]
    assert found[0].measure.value == 10 * MS
    assert found[1].measure.reason == "no DATA sent once and acknowledged"
    assert found[0].certain
    assert found[1].certain is None
    assert [one.place.path for one in unmet(found) if one.place] == ["cellular"]


def test_a_limit_is_met_at_its_very_value(result: CaptureResult) -> None:
    only_wlan = Limit("rtt_max_ns", low=10 * MS, high=10 * MS, within="paths", path="wlan",
                      sender="a")  # fmt: skip
    assert [one.outcome for one in judged(result, only_wlan)] == ["pass"]
    assert [one.outcome for one in judged(result, replace(only_wlan, low=10 * MS + 1))] == ["fail"]


def test_in_is_the_key_right_above(result: CaptureResult) -> None:
    """The HEARTBEAT of the handshake stands under `heartbeats`, in `paths` though that be."""
    beats = judged(result, Limit("rtt_max_ns", high=20 * MS, within="heartbeats"))
    assert ("cellular", "a", "fail") in told(beats)
    both = judged(result, Limit("rtt_max_ns", high=20 * MS))
    assert len(both) == 8


def test_what_is_not_measured_is_told_once(result: CaptureResult) -> None:
    (found,) = judged(result, Limit("handshake_rtt_ns", high=1))
    assert (found.place, found.outcome) == (None, "absent")
    assert found.measure.reason == "handshake_rtt_ns is not measured in this capture"
    assert unmet((found,)) == [found]
    (found,) = judged(result, Limit("rtt_max_ns", high=1, path="satellite"))
    assert found.measure.reason == "rtt_max_ns is not measured where the limit applies"


def test_a_limit_that_some_numbers_keep_does_not_fail_for_those_that_are_absent(
    result: CaptureResult,
) -> None:
    found = judged(result, Limit("rtt_max_ns", high=50 * MS, within="paths"))
    assert {one.outcome for one in found} == {"pass", "absent"}
    assert unmet(found) == []


INFERRED = st.tuples(*[st.integers(0, 100)] * 3).map(sorted)


@given(INFERRED, st.integers(0, 100), st.integers(0, 100))
def test_certain_is_what_holds_for_all_within_the_bounds(
    number: list[int], one: int, other: int
) -> None:
    low, value, high = number
    at_least, at_most = sorted((one, other))
    analysis = pathscope.analyze(ASCONF)
    association = analysis.associations[0]
    measure = Measure(value, "inferred", low, high)
    result = replace(analysis.result, associations=(replace(association, handoff={"x": measure}),))
    (found,) = judged(result, Limit("x", at_least, at_most))
    outcomes = {at_least <= each <= at_most for each in range(low, high + 1)}
    assert (found.outcome == "pass") == (at_least <= value <= at_most)
    if found.certain and found.outcome == "pass":
        assert outcomes == {True}
    if not found.certain:
        assert outcomes == {True, False}


TRACE = ROOT / "dissectors" / "wire" / "fuzz" / "seeds" / "trace" / "sctp"


@pytest.mark.parametrize(
    "capture", [FAILOVER, ASCONF, MIXED, TRACE], ids=lambda path: path.parent.name
)
def test_every_number_of_a_result_can_be_limited(capture: str) -> None:
    """Names and keys that the walk finds are those of the contract: nothing is out of reach."""
    result = pathscope.analyze(capture).result
    limits = [Limit(name, low=-1e30) for name in sorted(names.metrics())]
    found = [one for one in judged(result, *limits) if one.place is not None]
    assert {one.place.within for one in found if one.place} <= names.places()
    document = pathscope.analyze(capture).to_dict()
    parts = ("associations", "flows", "connections", "simulations")
    numbers = sum(_numbers(document[part]) for part in parts)
    # Timers that were not inferred are only in the document, where they say why.
    timers = sum(
        timer["value"] is None
        for association in document["associations"]
        for end in association["timers"].values()
        for timer in end.values()
    )
    assert len(found) == numbers - timers


def _numbers(node: object) -> int:
    if isinstance(node, dict):
        return ("value" in node) + sum(map(_numbers, node.values()))
    return sum(map(_numbers, node)) if isinstance(node, list) else 0
