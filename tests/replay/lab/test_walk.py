"""Walks: when routers are heard, added, used and lost, and what a scenario says wrong of them."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from pathscope.replay.lab import catalog, matrix, walk
from pathscope.replay.lab.scenario import ScenarioError, load, parse
from pathscope.replay.lab.walk import WalkError, expanded, handoffs

SPEEDS = {5: 1, 10: 2, 20: 4, 60: 12, 80: 16}
"""Study A: handoffs in 360 s, by km/h."""

ACQUISITIONS_MS = (250, 500, 1000, 3000)

STUDY: dict[str, Any] = {
    "speed_kmh": 36,
    "acquisition_ms": 500,
    "duration_s": 360,
    "range_m": 300,
    "overlap_m": 100,
    "beacon_s": 1,
    "lost_after_s": 3,
    "time_scale": 1,
    "out_of_range": "link-down",
}

ALL_BUT_CONTINUOUS = {"beacon_s": 1e-6}
"""Beacons so often that it does not matter when they are."""

TIMES = 1e-5
"""What such beacons leave open, and the rounding to microseconds."""


def done(found: dict[str, Any], does: str) -> list[tuple[float, str]]:
    return [(one["at_s"], one["path"]) for one in found["actions"] if one["do"] == does]


@pytest.mark.parametrize("speed_kmh", SPEEDS)
@pytest.mark.parametrize("acquisition_ms", ACQUISITIONS_MS)
@pytest.mark.parametrize("seed", [1, 2, 50])
def test_the_studys_handoffs(speed_kmh: int, acquisition_ms: float, seed: int) -> None:
    own = STUDY | {"speed_kmh": speed_kmh, "acquisition_ms": acquisition_ms}
    found = expanded(own, seed)
    count = SPEEDS[speed_kmh]
    for does in ("address-add", "set-peer-primary", "set-primary", "address-delete"):
        assert len(done(found, does)) >= count
    # After the last of them the walk may come into the range of one more.
    assert len(done(found, "address-delete")) == count
    assert len(found["paths"]) in (count + 1, count + 2)


def test_when_things_happen_at_ten_metres_a_second() -> None:
    """Routers at 0, 500, 1000 m: the second is heard from 200 m on, the first up to 300 m."""
    found = expanded(STUDY | ALL_BUT_CONTINUOUS | {"duration_s": 90}, 1)
    expected = {
        "link-up": [20, 70],
        "address-add": [20.5, 70.5],
        "heartbeat": [20.9, 70.9],
        "set-peer-primary": [25, 75],
        "set-primary": [25, 75],
        "address-delete": [33, 83],
    }
    for does, times in expected.items():
        moments = done(found, does)
        assert [at_s for at_s, _ in moments] == pytest.approx(times, abs=TIMES)
    assert done(found, "address-add")[0][1] == "router2"
    assert done(found, "address-delete")[0][1] == "router1"
    downs = done(found, "link-down")
    assert downs == [(0, "router2"), (0, "router3"), (30, "router1"), (80, "router2")]
    assert found["duration_s"] == 90


def test_decisions_are_made_at_beacons() -> None:
    taken = list(handoffs(STUDY, 7))
    assert len(taken) == 7
    for old, new in pairwise(taken):
        # Router 2's beacons: heard, stronger, and the last one before it is lost.
        phase = old.heard_s % 1
        assert old.stronger_s % 1 == pytest.approx(phase)
        assert (new.lost_s - STUDY["lost_after_s"]) % 1 == pytest.approx(phase)
    for one in taken:
        assert one.in_range_s <= one.heard_s < one.in_range_s + 1
        assert one.added_s == pytest.approx(one.heard_s + 0.5)
        assert one.added_s <= one.stronger_s < one.gone_s < one.lost_s
        assert 2 < one.lost_s - one.gone_s <= 3


def test_an_address_that_comes_late_is_used_at_once() -> None:
    late = STUDY | ALL_BUT_CONTINUOUS | {"acquisition_ms": 8000, "duration_s": 60}
    found = expanded(late, 1)
    added, asked = done(found, "address-add")[0][0], done(found, "set-peer-primary")[0][0]
    assert added == asked == pytest.approx(28, abs=TIMES)
    order = [one["do"] for one in found["actions"] if one["at_s"] == added]
    assert order == ["address-add", "heartbeat", "set-peer-primary", "set-primary"]


def test_seeds_move_the_beacons_and_nothing_else() -> None:
    one, same, other = (expanded(STUDY, seed) for seed in (1, 1, 2))
    assert one == same
    assert done(one, "link-down") == done(other, "link-down")
    pairs = zip(done(one, "address-add"), done(other, "address-add"), strict=True)
    assert all(0 < abs(a - b) < 1 for (a, _), (b, _) in pairs)


def test_a_scaled_walk_has_the_same_handoffs_in_less_time() -> None:
    plain, scaled = expanded(STUDY, 3), expanded(STUDY | {"time_scale": 4}, 3)
    assert scaled["duration_s"] == 90
    for does in ("link-up", "address-add", "set-peer-primary", "address-delete", "link-down"):
        pairs = zip(done(plain, does), done(scaled, does), strict=True)
        assert all(a == pytest.approx(4 * b, abs=TIMES) for (a, _), (b, _) in pairs)
    # What the transport needs is not scaled: the HEARTBEAT waits for the same time.
    added, probed = done(scaled, "address-add")[0][0], done(scaled, "heartbeat")[0][0]
    assert probed - added == pytest.approx(walk.ANSWER_S, abs=TIMES)


def test_the_walk_ends_at_the_last_router() -> None:
    found = expanded(STUDY | {"routers": 2}, 1)
    assert list(found["paths"]) == ["router1", "router2"]
    assert [path for _, path in done(found, "address-delete")] == ["router1"]
    assert (found["paths"]["router2"]["client"], found["duration_s"]) == ("10.0.2.1", 360)
    assert expanded(STUDY | {"routers": 1}, 1)["actions"] == []


def test_links_that_others_use_stay() -> None:
    found = expanded(STUDY | {"out_of_range": "nothing"}, 1)
    assert done(found, "link-down") == done(found, "link-up") == []
    assert len(done(found, "address-delete")) == 7


def test_paths_have_what_the_walk_says_of_links() -> None:
    both = {"delay_ms": 35, "rate_kbit": 2000}
    first, second, *_ = expanded(STUDY | {"both": both}, 1)["paths"].values()
    assert (first["at_start"], second["at_start"]) == (True, "server")
    assert first["both"] == second["both"] == both
    wlan = STUDY | {"both": both, "wlan_mbit": 54, "to_client": {"delay_ms": 1}}
    path = expanded(wlan, 1)["paths"]["router1"]
    assert path["both"] == {"delay_ms": 35, "rate_kbit": 24781}
    assert path["to_client"] == {"delay_ms": 1}


IMPOSSIBLE: dict[str, tuple[dict[str, Any], str]] = {
    "acquisition_ms": (
        {"acquisition_ms": 10500},
        "router 2's address comes .* s after router 1 is out of range",
    ),
    "time_scale": (
        {"acquisition_ms": 8500, "time_scale": 10},
        "0.15 s before router 1 is out of range, expected at least 0.4 s before",
    ),
    "overlap_m": ({"overlap_m": 301}, "expected at most range_m"),
    "lost_after_s": ({"lost_after_s": 0.5}, "expected at least beacon_s"),
    "duration_s": ({"duration_s": 3600}, "past more than 32 routers"),
}


@pytest.mark.parametrize("what", IMPOSSIBLE)
def test_a_walk_that_cannot_be_walked(what: str) -> None:
    change, message = IMPOSSIBLE[what]
    calm = ALL_BUT_CONTINUOUS if what != "lost_after_s" else {}
    with pytest.raises(WalkError, match=message) as caught:
        expanded(STUDY | calm | change, 1)
    assert caught.value.key == next(iter(change))


GOOD = """\
[walk]
speed_kmh = 60
acquisition_ms = 500
duration_s = 36

[sctp]
asconf = true

[[actions]]
at_s = 2
do = "impair"
path = "router1"
impairment = {delay_ms = 50}
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "stroll.toml"
    path.write_text(GOOD)
    return path


def test_a_scenario_with_a_walk(file: Path) -> None:
    scenario = load(file)
    assert scenario["duration_s"] == 36
    assert list(scenario.paths) == ["router1", "router2"]
    assert scenario.paths["router1"]["to_client"]["delay_ms"] == 0
    # Its own actions come first, by the numbers that a mistake in them is told with.
    assert scenario["actions"][0]["do"] == "impair"
    assert [one["do"] for one in scenario["actions"][1:]].count("set-peer-primary") == 1
    assert scenario["walk"]["range_m"] == 300


@pytest.mark.parametrize(
    ("old", "new", "line", "message"),
    [
        ("speed_kmh = 60\n", "", 1, "walk: speed_kmh is missing"),
        ("speed_kmh", "speed_kph", 2, "walk.speed_kph: there is no such key, did you mean"),
        ("= 500", "= 14600", 3, "walk.acquisition_ms: router 2's address comes"),
        ("[walk]", "duration_s = 9\n[walk]", 1, "duration_s: walk gives duration_s"),
        ('"router1"', '"router3"', 12, "actions[1].path: there is no path 'router3'"),
        ("asconf = true", "asconf = false", 1, "walk: a walk needs sctp.asconf = true"),
        ("[sctp]", 'application = {protocol = "udp"}\n[sctp]', 1, "walk.application: there is no"),
        ("[walk]", 'application.protocol = "tcp"\n[walk]', 1, "application.protocol: a walk hands"),
    ],
)
def test_a_mistake_in_a_walk(file: Path, old: str, new: str, line: int, message: str) -> None:
    assert old in GOOD
    file.write_text(GOOD.replace(old, new, 1))
    with pytest.raises(ScenarioError) as caught:
        load(file)
    if line > 1:
        assert str(caught.value).startswith(f"{file}:{line}: ")
    assert message in str(caught.value)


def test_paths_beside_a_walk_are_refused() -> None:
    paths = {"lan": {"client": "10.1.0.1", "server": "10.1.0.2"}}
    walking = {"walk": {"speed_kmh": 5, "acquisition_ms": 1}, "sctp": {"asconf": True}}
    with pytest.raises(ScenarioError, match="paths: walk gives paths"):
        parse(walking | {"paths": paths})


def test_every_repetition_is_a_walk_of_its_own() -> None:
    grid = matrix.cells(catalog.find("aydin"), [], ["walk.speed_kmh=5,80"], 3)
    assert [len(cell.scenario.paths) for cell in grid] == [2, 2, 2, 17, 17, 17]
    assert [cell.scenario["seed"] for cell in grid[:3]] == [1, 2, 3]
    added = {str(cell.scenario["actions"]) for cell in grid}
    assert len(added) == 6


@pytest.mark.parametrize("speed_kmh", SPEEDS)
def test_the_committed_scenario_walks_as_the_study(speed_kmh: int) -> None:
    scenario = load(catalog.find("aydin"), [f"walk.speed_kmh={speed_kmh}"])
    deletes = [one for one in scenario["actions"] if one["do"] == "address-delete"]
    assert len(deletes) == SPEEDS[speed_kmh]
    assert scenario.paths["router1"]["to_client"]["rate_kbit"] == 2000
    assert scenario["application"]["message_bytes"] == 1200
