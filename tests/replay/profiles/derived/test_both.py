from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pathscope.replay.profiles.derived import both
from pathscope.replay.profiles.derived.cautions import cautions
from pathscope.replay.profiles.derived.document import document
from pathscope.replay.profiles.derived.model import DIRECTIONS, Resolution, Series
from pathscope.replay.profiles.profile import parse
from routes import MS, SECOND, every, gilbert, series, through_queue

USUAL = Resolution()


def derived(*found: Series) -> dict[str, Any]:
    whole, _ = document(both.evidence(list(found), USUAL, 0.0), "Of a test.", 1)
    parse(whole)
    return whole


def test_a_link_comes_out_as_it_was_put_in() -> None:
    sent_ns = every(10, 60)
    draw = np.random.default_rng(1)
    delays = draw.normal(40, 4, len(sent_ns)) + np.where(sent_ns < 30 * SECOND, 0, 50)
    lost = gilbert(0.02, 0.4, len(sent_ns), 1)
    lost |= (sent_ns >= 45 * SECOND) & (sent_ns < 50 * SECOND)
    found = derived(series(sent_ns, delays, lost))["paths"]["wlan"]
    first = found["to_server"]
    assert first["delay_ms"] == pytest.approx(40, abs=0.5)
    assert first["jitter_ms"] == pytest.approx(4, rel=0.05)
    assert first["loss_percent"] == pytest.approx(100 * 0.02 / 0.42, rel=0.3)
    assert first["loss_burst_packets"] == pytest.approx(2.5, rel=0.25)
    assert first["distribution"] == "wlan-up"
    delay, down, up = found["steps"]
    assert delay["at_s"] == pytest.approx(30, abs=0.02)
    assert delay["delay_ms"] == pytest.approx(90, abs=0.5)
    assert (down["at_s"], down["loss_percent"]) == (pytest.approx(45, abs=0.05), 100)
    assert up["at_s"] == pytest.approx(50, abs=0.05)
    assert up["loss_percent"] == first["loss_percent"]


def test_a_rate_takes_its_queue_out_of_the_delay() -> None:
    starts = every(100, 20)
    sent_ns = np.repeat(starts, 6) + np.tile(np.arange(6) * 10_000, len(starts))
    sizes = np.random.default_rng(1).integers(100, 1500, len(sent_ns))
    delays = through_queue(sent_ns, sizes, 1e6, 25)
    found = derived(series(sent_ns, delays, wire_bytes=sizes))["paths"]["wlan"]
    assert found["to_server"]["rate_kbit"] == pytest.approx(1000, rel=0.01)
    assert found["to_server"]["delay_ms"] == pytest.approx(25, abs=0.2)
    assert "steps" not in found
    assert "keep_order" not in found["to_server"]


def test_duplicates_and_packets_that_jumped_the_queue_are_shares() -> None:
    sent_ns = every(5, 20)
    delays = np.full(len(sent_ns), 30.0)
    delays[50::50] = 0.1
    found = derived(series(sent_ns, delays, duplicated=40))["paths"]["wlan"]["to_server"]
    assert found["duplicate_percent"] == 1.0
    assert found["reorder_percent"] == pytest.approx(2, abs=0.05)
    assert found["delay_ms"] == 30


def test_what_fails_in_both_directions_is_one_step() -> None:
    to_server, to_client = every(10, 10), every(250, 10)
    down = [(sent >= 4 * SECOND) & (sent < 6 * SECOND) for sent in (to_server, to_client)]
    found = derived(
        series(to_server, 20.0, down[0]),
        series(to_client, 20.0, down[1], direction="to_client"),
    )["paths"]["wlan"]
    assert [(step["direction"], step["loss_percent"]) for step in found["steps"]] == [
        ("both", 100),
        ("both", 0),
    ]
    assert found["steps"][0]["at_s"] == pytest.approx(4, abs=0.01)
    assert found["both"] == {"delay_ms": 20}


def test_a_route_of_which_nothing_arrived_is_down() -> None:
    sent_ns = every(10, 5)
    whole = both.evidence([series(sent_ns, 20.0, np.ones(len(sent_ns), bool))], USUAL, 0.0)
    paths = document(whole, "", 1)[0]["paths"]
    assert paths["wlan"]["to_server"]["loss_percent"] == 100
    assert "wlan to_server: no packet arrived: the delay is not known" in cautions(whole)


@st.composite
def packets(draw: st.DrawFn) -> Series:
    """Rows that no link makes, but a broken clock or a hostile file may."""
    count = draw(st.integers(1, 150))
    far = st.sampled_from((0, 1, 1000, MS, 30 * MS, SECOND, 100_000 * SECOND))
    gaps = draw(st.lists(far, min_size=count, max_size=count))
    sent_ns = np.cumsum(np.array(gaps, np.int64))
    least = draw(st.sampled_from((0.0, -5.0)))
    span = draw(st.sampled_from((1.0, 50.0, 90_000.0)))
    delays = draw(
        st.lists(st.floats(least, span, allow_nan=False), min_size=count, max_size=count).map(
            np.array
        )
    )
    lost = draw(st.lists(st.booleans(), min_size=count, max_size=count).map(np.array))
    direction = draw(st.sampled_from(DIRECTIONS))
    sizes = draw(st.integers(1, 9000))
    return series(sent_ns, delays, lost, sizes, direction, draw(st.sampled_from((None, 0, 5))))


@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(packets(), min_size=1, max_size=2, unique_by=lambda one: one.direction))
def test_any_rows_give_a_profile(found: list[Series]) -> None:
    derived(*found)
