"""From a profile to steps: in order, complete, within bounds, and the same every time."""

from __future__ import annotations

from itertools import groupby, pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pathscope.replay.lab.impairment import complete
from pathscope.replay.profiles.profile import ProfileError, parse
from pathscope.replay.profiles.schedule import DIRECTIONS, Step, schedule

S, MS = 1_000_000_000, 1_000_000

PATHS = ("wlan", "lte")


def wlan(**table: Any) -> dict[str, Any]:
    return {"paths": {"wlan": table}}


def delays(steps: list[Step], direction: str = "to_server") -> list[tuple[int, float]]:
    return [
        (step.at_ns, step.impairment["delay_ms"])
        for step in steps
        if (step.path, step.direction) == ("wlan", direction)
    ]


def test_every_route_begins_at_0_even_where_nothing_is_said_of_it() -> None:
    steps = schedule(parse({}), PATHS, S)
    assert [(step.at_ns, step.path, step.direction) for step in steps] == [
        (0, path, direction) for path in PATHS for direction in DIRECTIONS
    ]
    assert all(step.impairment == complete({}) for step in steps)


def test_a_direction_is_over_both_and_a_path_over_every_path() -> None:
    document = {
        "paths": {
            "*": {"both": {"delay_ms": 40}},
            "wlan": {"both": {"delay_ms": 5, "loss_percent": 1}, "to_client": {"delay_ms": 7}},
        }
    }
    first = schedule(parse(document), PATHS, S)
    found = {(s.path, s.direction): s.impairment for s in first}
    assert found["wlan", "to_server"] == complete({"delay_ms": 5, "loss_percent": 1})
    assert found["wlan", "to_client"] == complete({"delay_ms": 7, "loss_percent": 1})
    assert found["lte", "to_server"] == complete({"delay_ms": 40})


def test_steps_keep_what_they_do_not_name_unless_reset() -> None:
    steps = [
        {"at_s": 3, "reset": True, "loss_percent": 100},
        {"at_s": 1, "loss_percent": 5, "direction": "to_server"},
    ]
    made = schedule(parse(wlan(both={"delay_ms": 20}, steps=steps)), ["wlan"], 10 * S)
    assert [(step.at_ns, step.direction, step.impairment) for step in made] == [
        (0, "to_server", complete({"delay_ms": 20})),
        (0, "to_client", complete({"delay_ms": 20})),
        (S, "to_server", complete({"delay_ms": 20, "loss_percent": 5})),
        (3 * S, "to_server", complete({"loss_percent": 100})),
        (3 * S, "to_client", complete({"loss_percent": 100})),
    ]


def test_a_ramp_goes_evenly_and_ends_where_it_says() -> None:
    ramp = {"key": "delay_ms", "from_s": 1, "to_s": 2, "start": 10, "end": 35, "every_ms": 400}
    made = schedule(parse(wlan(ramps=[ramp], both={"delay_ms": 1})), ["wlan"], 10 * S)
    assert delays(made) == [
        (0, 1),
        (1000 * MS, 10),
        (1400 * MS, 20),
        (1800 * MS, 30),
        (2000 * MS, 35),
    ]


def test_random_values_are_those_of_the_seed_and_of_the_route() -> None:
    random = {"key": "delay_ms", "low": 10, "high": 40, "every_ms": 500, "to_s": 30}
    document = {"seed": 7, "paths": {"*": {"random": [random]}}}
    made = schedule(parse(document), PATHS, 60 * S)
    again = schedule(parse(document), PATHS, 60 * S)
    other = schedule(parse(document | {"seed": 8}), PATHS, 60 * S)
    assert made == again
    streams = {tuple(delays(made, direction)) for direction in DIRECTIONS}
    streams |= {tuple(delays(other, direction)) for direction in DIRECTIONS}
    assert len(streams) == 4
    assert all(len(stream) == 60 for stream in streams)
    # What is drawn does not depend on how long it lasts.
    shorter = schedule(parse(document), PATHS, 10 * S)
    assert shorter == [step for step in made if step.at_ns < 10 * S]


def test_a_profile_starts_over() -> None:
    document = wlan(both={"delay_ms": 20}, steps=[{"at_s": 4, "loss_percent": 100}])
    made = schedule(parse(document | {"repeat_s": 5}), ["wlan"], 11 * S)
    down = [step for step in made if step.direction == "to_client"]
    assert [step.at_ns // S for step in down] == [0, 4, 5, 9, 10]
    assert [step.impairment["loss_percent"] for step in down] == [0, 100, 0, 100, 0]


def test_what_does_not_change_is_not_sent_again() -> None:
    steps = [{"at_s": 1, "loss_percent": 0}, {"at_s": 2, "delay_ms": 20}]
    made = schedule(parse(wlan(both={"delay_ms": 20}, steps=steps) | {"repeat_s": 3}), PATHS, 9 * S)
    assert all(step.at_ns == 0 for step in made)


def test_numbers_of_packets_are_whole() -> None:
    ramp = {"key": "queue_packets", "from_s": 0, "to_s": 1, "start": 5, "end": 20, "every_ms": 100}
    made = schedule(parse(wlan(ramps=[ramp])), ["wlan"], 2 * S)
    queues = [step.impairment.get("queue_packets") for step in made]
    assert all(isinstance(queue, int) for queue in queues)


def test_too_many_steps_are_refused_at_once() -> None:
    random = {"key": "delay_ms", "low": 1, "high": 2, "every_ms": 1}
    profile = parse({"paths": {"*": {"random": [random]}}})
    with pytest.raises(ProfileError, match=r"paths.*: in 86400 s it makes more than 1,000,000"):
        schedule(profile, PATHS, 86_400 * S)
    again = parse({"repeat_s": 0.001, "paths": {"*": {"steps": [{"at_s": 0, "delay_ms": 1}]}}})
    with pytest.raises(ProfileError, match="more than 1,000,000 steps"):
        schedule(again, PATHS, 86_400 * S)


def test_a_path_that_is_not_there_is_refused() -> None:
    with pytest.raises(ProfileError, match=r"paths.wlam: there is no such path here, only wlan"):
        schedule(parse({"paths": {"wlam": {}}}), PATHS, S)


seconds = st.integers(0, 40).map(lambda tenths: tenths / 10)
directions = st.sampled_from(["both", *DIRECTIONS])
keys = st.sampled_from(["delay_ms", "loss_percent", "duplicate_percent"])
values = st.integers(0, 100)
spans = st.tuples(seconds, seconds).filter(lambda pair: pair[0] < pair[1])


@st.composite
def documents(draw: st.DrawFn) -> dict[str, Any]:
    steps = st.fixed_dictionaries(
        {"at_s": seconds, "direction": directions, "reset": st.booleans()},
        optional={"delay_ms": values, "loss_percent": values},
    )
    table: dict[str, Any] = {"both": {"delay_ms": draw(values)}, "steps": draw(st.lists(steps))}
    (begin, end), (low, high) = draw(spans), sorted((draw(values), draw(values)))
    changing = {"key": draw(keys), "direction": draw(directions), "from_s": begin, "to_s": end}
    changing["every_ms"] = draw(st.sampled_from([70, 100, 333]))
    if draw(st.booleans()):
        table["random"] = [changing | {"low": low, "high": high}]
    else:
        table["ramps"] = [changing | {"start": high, "end": low}]
    found: dict[str, Any] = {"seed": draw(st.integers(0, 3)), "paths": {"*": table}}
    if draw(st.booleans()):
        found["repeat_s"] = 4.1
    return found


def routes_of(steps: list[Step]) -> list[list[Step]]:
    ordered = sorted(steps, key=lambda step: (step.path, step.direction))
    return [list(of) for _, of in groupby(ordered, key=lambda step: (step.path, step.direction))]


@given(documents(), st.integers(1, 150).map(lambda tenths: tenths * S // 10))
def test_steps_are_sorted_complete_and_within_bounds(
    document: dict[str, Any], duration_ns: int
) -> None:
    made = schedule(parse(document), PATHS, duration_ns)
    assert made == sorted(made, key=lambda step: step.at_ns)
    assert all(0 <= step.at_ns < duration_ns for step in made)
    routes = routes_of(made)
    assert len(routes) == len(PATHS) * len(DIRECTIONS)
    for steps in routes:
        assert [step.at_ns for step in steps].count(0) == 1
        for one, other in pairwise(steps):
            assert one.at_ns < other.at_ns
            assert one.impairment != other.impairment
        for step in steps:
            assert step.impairment.keys() >= complete({}).keys()
            for name in ("delay_ms", "loss_percent", "duplicate_percent"):
                assert 0 <= step.impairment[name] <= 100


@given(documents())
def test_repetitions_are_alike(document: dict[str, Any]) -> None:
    cycle_ns = 4_100 * MS
    made = schedule(parse(document | {"repeat_s": 4.1}), ["wlan"], 3 * cycle_ns)
    for steps in routes_of(made):

        def state(time_ns: int, known: list[Step] = steps) -> Any:
            return [step.impairment for step in known if step.at_ns <= time_ns][-1]

        for instant in {step.at_ns % cycle_ns for step in steps}:
            first, *others = [state(instant + cycle_ns * number) for number in range(3)]
            assert all(other == first for other in others)
