"""Settings of SCTP by the words of the user."""

from __future__ import annotations

import pytest
from pathscope.replay.lab.scenario import schema
from pathscope.replay.live.errors import LiveError
from pathscope.replay.live.overrides import ALIASES, NAMES, Override, of_host, parse_overrides


def test_every_setting_of_a_scenario_has_a_name_and_no_other() -> None:
    assert set(ALIASES) == set(schema()["$defs"]["sctp"]["properties"])
    assert len(NAMES) == sum(1 + len(aliases) for aliases in ALIASES.values())


@pytest.mark.parametrize(
    ("text", "setting", "value"),
    [
        ("rto_min=500", "rto_min_ms", 500),
        ("RTO.Min=500ms", "rto_min_ms", 500),
        ("rto_max_ms=2.5s", "rto_max_ms", 2500),
        ("pmr=2", "path_max_retrans", 2),
        ("Path.Max.Retrans=0", "path_max_retrans", 0),
        ("hb_interval=1s", "hb_interval_ms", 1000),
        ("sack_delay=0", "sack_delay_ms", 0),
        ("asconf=on", "asconf", True),
        ("i_data=no", "interleaving", False),
        ("receive_buffer=65536", "receive_buffer_bytes", 65536),
        ("pf=off", "potentially_failed", False),
    ],
)
def test_settings_by_any_of_their_names(text: str, setting: str, value: int | bool) -> None:
    assert parse_overrides([text]) == (Override(None, setting, value),)


def test_a_number_of_expiries_switches_the_state_on() -> None:
    assert of_host(parse_overrides(["pf=1"]), "client") == {
        "potentially_failed": True,
        "pf_max_retrans": 1,
    }


def test_several_in_one_and_for_one_end() -> None:
    found = parse_overrides(["rto_min=500,rto_max=600", "server.rto_min=700 pmr=3"])
    assert of_host(found, "client") == {
        "rto_min_ms": 500,
        "rto_max_ms": 600,
        "path_max_retrans": 3,
    }
    assert of_host(found, "server")["rto_min_ms"] == 700


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("rto_mim=5", "did you mean rto_min"),
        ("rto_min", "expected NAME=VALUE"),
        ("=5", "expected NAME=VALUE"),
        ("rto_min=0.4", "whole milliseconds"),
        ("rto_min=-5", "whole milliseconds"),
        ("rto_min=1e9", "whole milliseconds"),
        ("rto_min=99999999s", "whole milliseconds"),
        ("pmr=two", "a whole number"),
        ("pmr=99999999999", "a whole number"),
        ("asconf=1", "on or off"),
        ("pf=many", "a whole number"),
    ],
)
def test_mistakes_are_named(text: str, what: str) -> None:
    with pytest.raises(LiveError, match=what):
        parse_overrides([text])
