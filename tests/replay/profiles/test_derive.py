from __future__ import annotations

import tomllib
from functools import cache
from math import sqrt
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import truth
from pathscope import api
from pathscope.replay.lab import folder
from pathscope.replay.lab import run as lab
from pathscope.replay.lab.scenario import parse as scenario
from pathscope.replay.profiles.derive import Derived, derive, summary, write
from pathscope.replay.profiles.derived.distance import closed_loop
from pathscope.replay.profiles.derived.model import DelayStep, Interval, RouteEvidence
from pathscope.replay.profiles.profile import load, parse
from running import CAPTURES
from twoends import READ, crossed

pytestmark = pytest.mark.guest

SECOND = 1_000_000_000

CUT = ("lab-failover", "lab-one-way", "lab-return", "lab-three-paths", "lab-potentially-failed")


def analysis(place: Path) -> api.Analysis:
    (found,) = api.analyze_two(place / "client.pcapng", place / "server.pcapng", options=READ)
    return found


@cache
def derived(run: str, *, one_clock: bool = False) -> Derived:
    return derive(analysis(CAPTURES / run), one_clock=one_clock)


@cache
def derived_alone(run: str, end: str = "client") -> Derived:
    return derive(api.analyze(CAPTURES / run / f"{end}.pcapng"))


def base_ns(run: str, end: str = "client") -> int:
    return int(api.read(CAPTURES / run / f"{end}.pcapng").capture["start_ns"])


def of(found: Derived, path: str, direction: str) -> RouteEvidence:
    (one,) = [each for each in found.evidence if (each.path, each.direction) == (path, direction)]
    return one


@pytest.mark.parametrize("one_clock", [False, True])
@pytest.mark.parametrize("run", sorted(path.name for path in CAPTURES.glob("lab-*")))
def test_every_stored_run_gives_a_profile_with_its_delays(run: str, one_clock: bool) -> None:
    found = derived(run, one_clock=one_clock)
    parse(found.document)
    known = {"lab-lossy": {"wlan": 20, "cellular": 40}}.get(run, {"wlan": 5})
    for path, delay_ms in known.items():
        for direction in ("to_server", "to_client"):
            for step in of(found, path, direction).delays:
                assert step.delay_ms == pytest.approx(delay_ms, abs=0.5)


@pytest.mark.parametrize("direction", ["to_server", "to_client"])
def test_the_loss_of_the_lossy_run_is_inside_the_interval(direction: str) -> None:
    found = of(derived("lab-lossy"), "wlan", direction).loss
    assert found.ratio is not None
    assert found.ratio.low <= 0.03 <= found.ratio.high
    assert found.burst_packets is None
    assert len(found.steps) == 1
    assert of(derived("lab-lossy"), "cellular", direction).lost == 0


@pytest.mark.parametrize("run", CUT)
def test_outages_are_where_the_lab_cut_the_links(run: str) -> None:
    found, start_ns = derived(run, one_clock=True), base_ns(run)
    links = truth.committed(CAPTURES / run)["links"]
    for direction in ("to_server", "to_client"):
        expected = [one for one in links if one["direction"] in ("both", direction)]
        outages = [
            (one.path, outage)
            for one in found.evidence
            if one.direction == direction
            for outage in one.outages
        ]
        downs = [one for one in expected if one["what"] == "down"]
        assert [path for path, _ in outages] == [one["path"] for one in downs]
        for (_, outage), down in zip(outages, downs, strict=True):
            assert outage.last_arrival_ns is not None
            # The lab's own instants are two readings of the clock apart.
            assert outage.last_arrival_ns <= down["to_ns"] - start_ns
            assert outage.first_loss_ns >= down["from_ns"] - start_ns
            assert abs(outage.start_ns - (down["from_ns"] - start_ns)) < 0.025 * SECOND
        ups = [one for one in expected if one["what"] == "up"]
        assert len(ups) == sum(outage.end_ns is not None for _, outage in outages)
        for (_, outage), up in zip(outages, ups, strict=False):
            assert outage.first_arrival_ns is not None
            assert outage.last_loss_ns <= up["to_ns"] - start_ns
            assert outage.first_arrival_ns >= up["from_ns"] - start_ns


@pytest.mark.parametrize("run", CUT)
@pytest.mark.parametrize("end", ["client", "server"])
def test_one_capture_infers_the_same_within_its_bounds(run: str, end: str) -> None:
    found, start_ns = derived_alone(run, end), base_ns(run, end)
    parse(found.document)
    assert {one.basis for one in found.evidence} == {"inferred"}
    down = truth.committed(CAPTURES / run)["links"][0]
    one = of(found, "wlan", "to_server")
    outage = one.outages[0]
    assert outage.last_arrival_ns is not None
    assert outage.last_arrival_ns <= down["to_ns"] - start_ns
    assert outage.last_loss_ns >= down["from_ns"] - start_ns
    if end == "client":
        # The server, which sends no DATA, has but a few HEARTBEATs' round trips.
        assert one.points.delay_ms.min() == pytest.approx(5, abs=0.5)
    assert one.delay_error_ms is not None
    # Of a round trip, the part that is the peer's waiting cannot be told from the way.
    assert all(abs(step.delay_ms - 5) <= one.delay_error_ms for step in one.delays)
    assert any("half of round trips" in text for text in found.warnings)


def test_one_capture_estimates_the_loss() -> None:
    found = of(derived_alone("lab-lossy"), "wlan", "to_server").loss
    assert found.ratio is not None
    assert found.ratio.low <= 0.03 <= found.ratio.high
    assert (found.leave, found.burst_packets) == (None, None)


def test_time_0_is_the_first_frame() -> None:
    found = derived("lab-failover")
    connected_ns = truth.committed(CAPTURES / "lab-failover")["connected_ns"]
    (up_ns,) = found.established_ns
    assert up_ns is not None
    assert abs(up_ns + base_ns("lab-failover") - connected_ns) < 0.05 * SECOND
    assert min(int(one.sent_ns.min()) for one in found.points) >= 0


def test_captures_that_were_read_without_sightings_are_refused() -> None:
    (found,) = api.analyze_two(
        CAPTURES / "lab-lossy/client.pcapng", CAPTURES / "lab-lossy/server.pcapng"
    )
    with pytest.raises(ValueError, match="sightings=True"):
        derive(found)


def test_a_capture_without_associations_is_refused() -> None:
    with pytest.raises(ValueError, match="nothing to derive a profile from"):
        derive(api.analyze(CAPTURES / "flows-mixed/flows.pcap"))


def test_the_file_is_the_profile_and_says_what_it_is_made_of(tmp_path: Path) -> None:
    found, place = derived("lab-return"), tmp_path / "return.toml"
    write(found, place)
    assert tomllib.loads(place.read_text()) == found.document
    assert load(place).document() == parse(found.document).document()
    text = place.read_text()
    for line in summary(found):
        assert f"# {line}".rstrip() in text
    assert "both directions at once" in text
    with pytest.raises(FileExistsError):
        write(found, place)
    write(found, place, force=True)


# So wide that a guest that waits for its processor for a millisecond does not matter.
LINK = {
    "delay_ms": 100,
    "jitter_ms": 20,
    "distribution": "normal",
    "loss_percent": 5,
    "loss_burst_packets": 3,
}


TRIES = 3


def made(place: Path, to_server: dict[str, Any], **more: Any) -> api.Analysis:
    """A run in the guest over one path, of which one direction is impaired."""
    document = {
        "duration_s": 15,
        "paths": {
            "wlan": {
                "client": "10.0.1.1",
                "server": "10.0.1.2",
                "both": {"delay_ms": 20},
                "to_server": to_server,
            }
        },
        "application": {"message_bytes": 300, "interval_ms": 10},
        **more,
    }
    for attempt in range(TRIES):
        run = place / str(attempt)
        lab.run(scenario(document), run, "guest")
        if not folder.too_slow(run):
            break  # else what is measured is the machine
    run.rename(place / "run")
    return analysis(place / "run")


def holds(interval: Interval | None, truth: float) -> bool:
    """Within twice the width: outside the interval itself every twentieth run is, by chance."""
    assert interval is not None
    low, high = interval.value - interval.low, interval.high - interval.value
    return interval.value - 2 * low <= truth <= interval.value + 2 * high


def near(step: DelayStep, delay_ms: float, jitter_ms: float = 0) -> bool:
    """Within half a millisecond, what chance allows a mean, and what a busy machine adds."""
    more_ms = max(0.0, step.jitter_ms - jitter_ms)
    return abs(step.delay_ms - delay_ms) <= 0.5 + more_ms + 3 * jitter_ms / sqrt(step.packets)


def test_what_is_derived_of_a_run_makes_one_that_is_like_it(tmp_path: Path) -> None:
    found = derive(made(tmp_path / "first", LINK), one_clock=True)
    one = of(found, "wlan", "to_server")
    usual = max(one.delays, key=lambda step: step.packets)
    assert near(usual, 100, 20)
    # A busy machine makes tails: half of the packets are as far apart as they should be.
    low, high = np.percentile(one.points.delay_ms, (25, 75))
    assert (high - low) / 1.349 == pytest.approx(20, rel=0.1)
    assert holds(one.loss.ratio, 0.05)
    assert holds(one.loss.leave, 1 / 3)
    again = {
        **found.document["paths"]["wlan"]["to_server"],
        "delay_ms": round(usual.delay_ms, 3),
        "jitter_ms": round(usual.jitter_ms, 3),
        "distribution": "normal",
    }
    made(tmp_path / "second", again)
    rows = closed_loop(crossed(tmp_path / "first/run"), crossed(tmp_path / "second/run"))
    compared = {(row.direction, row.what): row for row in rows}
    assert compared["to_server", "delay"].within
    assert compared["to_server", "loss"].within


def test_a_full_queue_shows_the_rate_and_a_step_the_new_delay(tmp_path: Path) -> None:
    slower = {"at_s": 4, "do": "impair", "path": "wlan", "impairment": {"delay_ms": 45}}
    bulk = {"kind": "bulk", "message_bytes": 1000}
    place = tmp_path / "run"
    found = derive(
        made(place, {"rate_kbit": 2000}, duration_s=8, application=bulk, actions=[slower]),
        one_clock=True,
    )
    one = of(found, "wlan", "to_server")
    (rate,) = one.rate.steps
    assert rate.bps.value == pytest.approx(2e6, rel=0.03)
    assert one.rate.explained is not None
    assert one.rate.explained > 0.9
    # Later, the queue is never empty: whether the change behind it shows is an accident.
    (up_ns,) = found.established_ns
    assert up_ns is not None
    early = one.points.own_ms[one.points.sent_ns < up_ns + 3.5 * SECOND]
    assert np.median(early) == pytest.approx(20, abs=1)
    back = of(found, "wlan", "to_client")
    before, after = sorted(back.delays, key=lambda step: -step.packets)[:2]
    assert near(min(before, after, key=lambda step: step.at_ns), 20)
    assert near(max(before, after, key=lambda step: step.at_ns), 45)
    assert (back.rate.steps, back.rate.reason is None) == ((), False)
