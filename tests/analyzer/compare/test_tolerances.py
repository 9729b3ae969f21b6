"""Tolerances: the built-in ones, and those of a file with its mistakes."""

from __future__ import annotations

import pytest
from pathscope.analyzer.compare.directions import HIGHER, LOWER, NEITHER, direction_of
from pathscope.analyzer.compare.tolerances import Tolerance, Tolerances, parse_tolerances
from pathscope.reports import names

KNOWN = {metric for _, metric in names.units()}
OF_CLOCKS = {"offset_s", "skew_ppm", "step_s"}
"""Of two captures of a run, not of what was captured: nothing to compare."""


def test_every_metric_has_been_given_a_direction_or_none() -> None:
    assert LOWER | HIGHER | NEITHER == KNOWN - OF_CLOCKS
    assert len(LOWER) + len(HIGHER) + len(NEITHER) == len(KNOWN - OF_CLOCKS)
    assert direction_of("loss_ratio") == "lower"
    assert direction_of("goodput_bps") == "higher"
    assert direction_of("packets") == "none"


def test_a_change_matters_beyond_both_limits() -> None:
    both = Tolerance("lower", absolute=0.01, relative=0.1)
    assert both.is_exceeded(0.3, 2.0)
    assert not both.is_exceeded(0.15, 2.0)
    assert not both.is_exceeded(-0.009, 0.01)
    assert both.is_exceeded(-0.011, 0.01)
    assert both.is_exceeded(0.011, 0.0)
    assert Tolerance("none").is_exceeded(1e-9, 5.0)
    assert not Tolerance("none").is_exceeded(0.0, 5.0)


def test_a_file_changes_what_it_names() -> None:
    text = '[metrics.goodput_bps]\nrelative = 0.1\n[metrics.packets]\ndirection = "lower"\n'
    found = parse_tolerances(text, "own.toml", KNOWN)
    assert found.of("goodput_bps", "bit/s") == Tolerance("higher", 0.0, 0.1)
    assert found.of("packets", "packets") == Tolerance("lower", 0.0, 0.05)
    assert found.of("delay_s", "s") == Tolerances().of("delay_s", "s")
    assert found.name == "own.toml"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("x", "own.toml: Expected '='"),
        ("", r"own.toml:1: the file: expected \[metrics.NAME\], at least one"),
        ("[metrics]\n", r"own.toml:1: the file: expected \[metrics.NAME\], at least one"),
        ("\n[limits]\nx = 1\n", r"own.toml:2: limits: there is no such key"),
        (
            "[metrics.loss_ratio]\nabsolute = 0.1\n[metrics.goodput]\nrelative = 1\n",
            "own.toml:3: metrics.goodput: there is no metric 'goodput', did you mean goodput_bps",
        ),
        ("[metrics]\nloss_ratio = 3\n", "own.toml:2: metrics.loss_ratio: expected a table with"),
        ("[metrics.loss_ratio]\n", "own.toml:1: metrics.loss_ratio: expected a table with"),
        (
            "[metrics.loss_ratio]\nrelativ = 0.1\n",
            "own.toml:2: metrics.loss_ratio.relativ: there is no key 'relativ', did you mean rel",
        ),
        (
            "[metrics.loss_ratio]\n\nrelative = -0.1\n",
            "own.toml:3: metrics.loss_ratio.relative: expected a share, .*, found -0.1",
        ),
        ("[metrics.loss_ratio]\nabsolute = nan\n", "own.toml:2: .*expected a number"),
        ("[metrics.loss_ratio]\nabsolute = true\n", "own.toml:2: .*expected a number"),
        (
            '[metrics.loss_ratio]\ndirection = "up"\n',
            "own.toml:2: .*expected lower, higher or none",
        ),
    ],
)
def test_a_mistake_is_told_with_line_and_key(text: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        parse_tolerances(text, "own.toml", KNOWN)
