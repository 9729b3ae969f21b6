"""Rates from and to traces of mahimahi."""

from __future__ import annotations

from itertools import accumulate
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pathscope.replay.profiles import mahimahi
from pathscope.replay.profiles.profile import Profile, parse

S = 10**9


def rates(document: dict[str, Any]) -> list[tuple[float, float | None]]:
    """Instants and rates; None where the link is down."""
    table = document["paths"]["*"]
    found: list[tuple[float, float | None]] = []
    rate = None
    for step in [{"at_s": 0, **table["both"]}, *table.get("steps", [])]:
        rate = step.get("rate_kbit", rate)
        down = step.get("loss_percent", 0) == 100
        found.append((step["at_s"], None if down else rate))
    return found


def written(profile: Profile, duration_ns: int, direction: str = "to_server") -> list[int]:
    text, _ = mahimahi.write(profile, "wlan", ["wlan"], direction, duration_ns)
    return [int(line) for line in text.splitlines()]


def test_opportunities_are_a_rate_bin_by_bin() -> None:
    # 10 packets in the first 100 ms, 20 in the second.
    lines = [10 * (number + 1) for number in range(10)] + [105 + 5 * n for n in range(20)]
    document, warnings = mahimahi.read("".join(f"{n}\n" for n in lines), "*", "both", 100)
    assert document["repeat_s"] == 0.2
    assert rates(document) == [(0, 1203.2), (0.1, 2406.4)]
    assert len(warnings) == 1


def test_a_bin_without_opportunities_is_an_outage_and_said() -> None:
    document, warnings = mahimahi.read("50\n100\n250\n300\n", "*", "both", 100)
    assert rates(document) == [(0, 240.64), (0.1, None), (0.2, 240.64)]
    assert "1 of 3 bins of 100 ms have no opportunity" in warnings[1]
    parse(document)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", "a trace ends after 0 ms"),
        ("0\n0\n", "a trace ends after 0 ms"),
        ("1\nx\n", "line 2: expected a number of milliseconds, found 'x'"),
        ("1\n\n2\n", "line 2: expected a number of milliseconds, found ''"),
        ("5\n4\n", "line 2: 4 ms are before the line above, 5"),
        ("99999999\n", "line 1: a profile lasts a day at most"),
        ("9" * 500, "line 1: expected a number"),
    ],
)
def test_mistakes(text: str, expected: str) -> None:
    with pytest.raises(mahimahi.MahimahiError, match=expected):
        mahimahi.read(text, "*", "both", 100)


def test_a_rate_is_as_many_opportunities_evenly() -> None:
    profile = parse({"repeat_s": 1, "paths": {"wlan": {"both": {"rate_kbit": 12.032 * 50}}}})
    assert written(profile, S) == [20 * number for number in range(1, 51)]


def test_what_is_lost_is_said() -> None:
    table = {
        "both": {"rate_kbit": 1000, "delay_ms": 5},
        "steps": [{"at_s": 0.5, "loss_percent": 100}],
    }
    _, warnings = mahimahi.write(
        parse({"paths": {"wlan": table}}), "wlan", ["wlan"], "to_client", S
    )
    assert warnings == [
        "a trace of mahimahi has no delay_ms",
        "where the link is down, packets wait in mahimahi and are lost here",
        "an opportunity was added at 1000 ms, as a trace ends with one",
        "mahimahi starts over after 1000 ms, the profile does not",
    ]


def test_a_path_without_a_rate_is_no_trace() -> None:
    with pytest.raises(mahimahi.MahimahiError, match="wlan to_server: at 0 s it has no rate_kbit"):
        written(parse({"paths": {"wlan": {"both": {"delay_ms": 1}}}}), S)


def test_an_endless_trace_is_refused() -> None:
    profile = parse({"paths": {"wlan": {"both": {"rate_kbit": 10_000_000}}}})
    with pytest.raises(mahimahi.MahimahiError, match="more than 10,000,000 lines"):
        written(profile, 86_400 * S)


gaps = st.lists(st.integers(0, 40), min_size=1, max_size=200).filter(any)


@given(gaps, st.sampled_from([10, 50, 100]))
def test_there_and_back_gives_the_same_bins(between_ms: list[int], bin_ms: int) -> None:
    lines = list(accumulate(between_ms))
    text = "".join(f"{line}\n" for line in lines)
    document, _ = mahimahi.read(text, "wlan", "both", bin_ms)
    profile = parse(document)
    assert profile.repeat_ns is not None
    again = written(profile, profile.repeat_ns)
    assert len(again) == len(lines)
    assert again[-1] == lines[-1]
    back, _ = mahimahi.read("".join(f"{line}\n" for line in again), "wlan", "both", bin_ms)
    assert back == document


@given(st.lists(st.integers(100, 50_000), min_size=1, max_size=20))
def test_a_profile_keeps_its_rates_to_an_opportunity(kilobits: list[int]) -> None:
    steps = [{"at_s": at, "rate_kbit": rate} for at, rate in enumerate(kilobits)]
    profile = parse({"repeat_s": len(kilobits), "paths": {"wlan": {"steps": steps}}})
    lines = written(profile, len(kilobits) * S)
    for second, rate in enumerate(kilobits):
        came = sum(1000 * second < line <= 1000 * (second + 1) for line in lines)
        # A part of one may be of the bin before, and the last line is added.
        added = second == len(kilobits) - 1
        assert came == pytest.approx(rate * 1000 / mahimahi.OPPORTUNITY_BITS, abs=1.01 + added)
