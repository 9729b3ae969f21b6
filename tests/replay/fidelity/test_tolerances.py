"""Tolerances from a file, and what is said of one that is wrong."""

from __future__ import annotations

from dataclasses import fields

import pytest
from pathscope.replay.fidelity.tolerances import Tolerances, parse_tolerances


def test_what_a_file_leaves_out_stays_as_built_in() -> None:
    found = parse_tolerances("delay_ms = 2\nrate_share = 0.1\n", "own.toml")
    assert found == Tolerances(delay_ms=2, rate_share=0.1)
    assert parse_tolerances("", "empty.toml") == Tolerances()


@pytest.mark.parametrize("name", [one.name for one in fields(Tolerances)])
def test_every_tolerance_can_be_given(name: str) -> None:
    assert getattr(parse_tolerances(f"{name} = 0.25", "own.toml"), name) == 0.25


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("delay_ms = 1\ndelay = 2\n", "own.toml:2: delay: there is no such key, did you mean"),
        ("\ndelay_ms = -1\n", "own.toml:2: delay_ms: expected a number, 0 or more, found -1"),
        ("delay_ms = true\n", "own.toml:1: delay_ms: expected a number, 0 or more, found True"),
        ("rate_share = nan\n", "own.toml:1: rate_share: expected a number, 0 or more, found nan"),
        ("rate_share = '3 %'\n", "own.toml:1: rate_share: expected a number"),
        ("level = 0\n", "own.toml:1: level: expected a number between 0 and 1, found 0"),
        ("[delay_ms]\n", "own.toml:1: delay_ms: expected a number"),
        ("delay_ms 1\n", "own.toml: "),
    ],
)
def test_a_mistake_has_a_line(text: str, message: str) -> None:
    with pytest.raises(ValueError, match="own") as told:
        parse_tolerances(text, "own.toml")
    assert str(told.value).startswith(message)
