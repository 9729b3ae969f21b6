"""Settings as `--set` takes them, and how they hold together."""

from __future__ import annotations

import pytest
from pathscope.analyzer.settings import NAMES, SUGGESTED, parse_settings


def test_units_counts_and_several_at_once() -> None:
    given = parse_settings(["rto_min=500ms", "pmr=2 hb_interval=2.5s,rto_max=60s", "pf=off"])
    assert given == {"rto_min": 0.5, "pmr": 2, "hb_interval": 2.5, "rto_max": 60.0, "pf": None}
    assert parse_settings(["path_max_retrans=3", "pf_max_retrans=0"]) == {"pmr": 3, "pf": 0}
    assert parse_settings([]) == {}


@pytest.mark.parametrize("text", ["bla=1", "pmr", "", "rto-min=1s"])
def test_an_unknown_setting_is_told_which_there_are(text: str) -> None:
    with pytest.raises(ValueError, match=f"one of {', '.join(NAMES)}"):
        parse_settings([text])


@pytest.mark.parametrize("text", ["rto_min=500", "rto_min=-1s", "rto_min=0ms", "rto_max=9999999s",
                                  "hb_interval=1.2.3s", "rto_initial=1e3ms"])  # fmt: skip
def test_times_need_a_unit_and_bounds(text: str) -> None:
    with pytest.raises(ValueError, match=r"expected a time from 1ms to 86400s"):
        parse_settings([text])


@pytest.mark.parametrize("text", ["pmr=-1", "pmr=256", "pmr=2.5", "pmr=off", "pf=on"])
def test_counts(text: str) -> None:
    with pytest.raises(ValueError, match=r"expected a number of expiries, 0 to 255"):
        parse_settings([text])


def test_a_floor_above_the_ceiling() -> None:
    with pytest.raises(ValueError, match="rto_min is above rto_max"):
        parse_settings(["rto_min=2s", "rto_max=1s"])
    lowered = SUGGESTED.changed({"rto_max": 0.5})
    assert (lowered.rto_min.value, lowered.rto_max.value) == (0.5, 0.5)
    raised = SUGGESTED.changed({"rto_min": 90.0})
    assert (raised.rto_min.value, raised.rto_max.value) == (90.0, 90.0)


def test_what_is_suggested_is_rfc_9260_section_16() -> None:
    values = {name: getattr(SUGGESTED, name).value for name in NAMES}
    assert values == {
        "rto_initial": 1, "rto_min": 1, "rto_max": 60, "pmr": 5, "pf": None, "hb_interval": 30,
    }  # fmt: skip
