"""Profiles as TOML, and tables out of states."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pathscope.replay.profiles import document
from pathscope.replay.profiles.profile import ProfileError, load, parse
from pathscope.replay.profiles.schedule import schedule

S = 10**9

states = st.fixed_dictionaries(
    {},
    optional={
        "delay_ms": st.integers(0, 100),
        "loss_percent": st.integers(0, 100),
        "rate_kbit": st.integers(1, 100),
        "queue_packets": st.integers(1, 100),
        "keep_order": st.booleans(),
    },
)


@given(st.lists(states, min_size=1, max_size=8), st.sampled_from(["both", "to_client"]))
def test_a_table_of_states_is_those_states(given_: list[dict[str, Any]], direction: str) -> None:
    timed = [(number * S, state) for number, state in enumerate(given_)]
    made = parse({"paths": {"wlan": document.table_of(timed, direction)}})
    steps = [s for s in schedule(made, ["wlan"], 100 * S) if s.direction == "to_client"]
    wanted = {"paths": {"wlan": {"steps": [
        {"at_s": number, "reset": True, **state} for number, state in enumerate(given_)
    ]}}}  # fmt: skip
    expected = schedule(parse(wanted), ["wlan"], 100 * S)
    assert steps == [s for s in expected if s.direction == "to_client"]


def test_a_profile_is_the_same_after_writing_and_reading(tmp_path: Path) -> None:
    made = parse(
        {
            "description": 'A "walk" \\ with\nlines.',
            "seed": 3,
            "repeat_s": 60,
            "distributions": {"10.0.1.1-up": [-1.7321, -0.5774, 0.5774, 1.7321]},
            "paths": {
                "*": {"both": {"delay_ms": 5}},
                "10.0.1.1 wlan": {
                    "both": {"delay_ms": 20, "jitter_ms": 5, "distribution": "10.0.1.1-up"},
                    "steps": [{"at_s": 1.5, "loss_percent": 5}, {"at_s": 3, "reset": True}],
                    "random": [{"key": "rate_kbit", "low": 1, "high": 2, "every_ms": 500}],
                },
            },
        },
        "walk",
    )
    file = tmp_path / "walk.toml"
    file.write_text(document.text(made))
    assert load(file) == made


def test_a_mistake_in_a_step_is_on_its_line(tmp_path: Path) -> None:
    steps = [{"at_s": 1, "loss_percent": 5}, {"at_s": 2, "loss_percent": 6}]
    text = document.text(parse({"paths": {"wlan": {"steps": steps}}}))
    file = tmp_path / "walk.toml"
    file.write_text(text.replace("loss_percent = 6", "loss_percent = 600"))
    line = 1 + next(n for n, one in enumerate(text.splitlines()) if "loss_percent = 6" in one)
    with pytest.raises(ProfileError, match=rf"walk.toml:{line}: paths.wlan.steps\[2\].loss_p"):
        load(file)
