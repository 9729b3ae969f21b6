"""What is done during a live run: steps of a profile, and the ends' own acts."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pathscope import api
from pathscope.replay.lab.impairment import complete
from pathscope.replay.live import timeline
from pathscope.replay.live.errors import LiveError
from pathscope.replay.live.paths import TracePath, choose_paths
from pathscope.replay.live.timeline import Timeline
from pathscope.replay.profiles.schedule import Step
from running import CAPTURES

S = 1_000_000_000
NAMES = {"wlan": "wlan", "the other": "path2"}


def step(at_s: float, path: str, direction: str, **impairment: Any) -> Step:
    return Step(round(at_s * S), path, direction, complete(impairment))


def both(at_s: float, path: str, **impairment: Any) -> list[Step]:
    return [step(at_s, path, way, **impairment) for way in timeline.DIRECTIONS]


def made(*steps: list[Step], zero_s: float = 0, end_s: float = 100) -> Timeline:
    given_steps = sorted((one for part in steps for one in part), key=lambda one: one.at_ns)
    return timeline.of_steps(given_steps, NAMES, round(zero_s * S), round(end_s * S))


def test_a_path_begins_as_it_is_when_the_association_is_up() -> None:
    found = made(both(0, "wlan", delay_ms=5), both(2, "wlan", delay_ms=7), zero_s=3)
    assert found.at_first["wlan"]["to_server"]["delay_ms"] == 7
    assert found.actions == ()


def test_steps_count_from_when_the_association_is_up() -> None:
    found = made(both(0, "the other"), both(5, "the other", delay_ms=9), zero_s=3)
    assert found.actions == (
        {
            "at_s": 2.0,
            "path": "path2",
            "direction": "both",
            "do": "impair",
            "reset": True,
            "impairment": complete({"delay_ms": 9}),
        },
    )


def test_directions_that_differ_are_actions_of_their_own() -> None:
    found = made(both(0, "wlan"), [step(1, "wlan", "to_client", delay_ms=3)])
    assert [action["direction"] for action in found.actions] == ["to_client"]


def test_links_go_and_come() -> None:
    found = made(
        both(0, "wlan", delay_ms=5),
        both(1, "wlan", delay_ms=5, loss_percent=100),
        [step(3, "wlan", "to_server", delay_ms=6)],
        [step(4, "wlan", "to_client", delay_ms=6)],
        both(5, "wlan", delay_ms=7),
    )
    assert [(one["at_s"], one["do"], one["direction"]) for one in found.actions] == [
        (1.0, "link-down", "both"),
        (3.0, "link-up", "to_server"),
        (4.0, "link-up", "to_client"),
        (5.0, "impair", "both"),
    ]
    assert found.actions[1]["impairment"]["delay_ms"] == 6


def test_steps_after_the_end_are_told() -> None:
    found = made(both(0, "wlan"), both(9, "wlan", delay_ms=1), end_s=5)
    assert found.actions == ()
    assert found.warnings == ("2 steps of the profile are after the end",)


def test_a_profile_of_too_many_steps_is_refused() -> None:
    many = [step(n / 1000, "wlan", "to_server", delay_ms=n % 2) for n in range(1, 10_003)]
    with pytest.raises(LiveError, match="the profile has 10002 steps"):
        made(many)


STEPS = st.lists(
    st.tuples(
        st.integers(0, 20 * S),
        st.sampled_from(list(NAMES)),
        st.sampled_from(timeline.DIRECTIONS),
        st.sampled_from([0, 1, 100]),
    ),
    max_size=30,
)


@given(STEPS, st.integers(0, 10 * S))
def test_actions_leave_every_route_as_the_schedule_does(
    drawn: list[tuple[int, str, str, int]], zero_ns: int
) -> None:
    whole = [*both(0, "wlan"), *both(0, "the other")]
    whole += [
        Step(at_ns, path, way, complete({"loss_percent": loss})) for at_ns, path, way, loss in drawn
    ]
    whole.sort(key=lambda one: one.at_ns)
    found = timeline.of_steps(whole, NAMES, zero_ns, 100 * S)
    last = {(NAMES[one.path], one.direction): one.impairment["loss_percent"] for one in whole}
    now = {
        (path, way): impairment["loss_percent"]
        for path, ways in found.at_first.items()
        for way, impairment in ways.items()
    }
    before_s = 0.0
    for action in found.actions:
        assert action["at_s"] >= before_s
        before_s = action["at_s"]
        ways = timeline.DIRECTIONS if action["direction"] == "both" else (action["direction"],)
        for way in ways:
            was_down = now[action["path"], way] == 100
            assert (action["do"] == "link-up") == (was_down and action["do"] != "link-down")
            loss = 100 if action["do"] == "link-down" else action["impairment"]["loss_percent"]
            now[action["path"], way] = loss
    assert now == last


def test_asconf_and_an_ends_own_move_are_done_again() -> None:
    (association,) = api.analyze(CAPTURES / "lab-asconf" / "client.pcapng").associations
    paths = choose_paths(
        [
            TracePath(
                one.number, one.label.split()[0], one.a_address, one.b_address, 1 - one.number // 2
            )
            for one in association.paths
        ]
    )
    up_ns = association.established.ns or 0
    found = timeline.of_association(association, paths, up_ns, 9 * S)
    # The scenario asks for them at 2, 4, 4 and 6 s.
    assert [(one["do"], one["path"], one["host"]) for one in found.actions] == [
        ("address-add", "cellular", "client"),
        ("set-peer-primary", "cellular", "client"),
        ("set-primary", "cellular", "client"),
        ("address-delete", "wlan", "client"),
    ]
    for action, at_s in zip(found.actions, (2, 4, 4, 6), strict=True):
        assert at_s <= action["at_s"] < at_s + 0.1
    assert found.warnings == ()
    assert timeline.at_start(association, paths) == {"wlan": True, "cellular": "server"}
