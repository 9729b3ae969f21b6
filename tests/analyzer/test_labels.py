"""Names of paths."""

from __future__ import annotations

import pytest
from ladder import HANDSHAKE, Play
from pathscope.analyzer.labels import LabelRule


@pytest.mark.parametrize(
    "text", ["", "10.0.1.0/24", "10.0.1.0/24=", "=wlan", "wlan=10.0.1.0/24", "10.0.1.0/33=wlan"]
)
def test_what_is_no_rule(text: str) -> None:
    with pytest.raises(ValueError, match=r".+"):
        LabelRule.parse(text)


def test_a_name_may_contain_an_equals_sign() -> None:
    assert LabelRule.parse("10.0.1.0/24=a=b").name == "a=b"


def test_host_bits_do_not_matter() -> None:
    assert LabelRule.parse("10.0.1.7/24=x").network == LabelRule.parse("10.0.1.0/24=x").network


def labels(play: Play, *rules: str, script: str = "") -> list[str]:
    return [path.label for path in play(HANDSHAKE, script, labels=rules).paths]


def test_without_rules_the_interface_names_the_path(play: Play) -> None:
    assert labels(play) == ["path 1", "path 2"]


def test_rules_name_what_they_match(play: Play) -> None:
    assert labels(play, "10.0.1.0/24=wlan") == ["wlan", "path 2"]


def test_the_first_rule_that_matches_counts(play: Play) -> None:
    assert labels(play, "10.0.1.0/24=wlan", "10.0.0.0/16=any") == ["wlan", "any"]


def test_one_name_for_two_paths_is_told_apart_by_addresses(play: Play) -> None:
    assert labels(play, "10.0.0.0/16=any") == [
        "any 10.0.1.1-10.0.1.2",
        "any 10.0.2.1-10.0.2.2",
    ]


def test_a_path_between_two_networks_has_both_names(play: Play) -> None:
    rules = ("10.0.1.0/24=wlan", "10.0.2.0/24=umts")
    crossed = "0.5 a 1-2 HEARTBEAT 1"
    assert labels(play, *rules, script=crossed) == ["wlan", "umts", "wlan-umts"]
