"""A lab run, a profile out of its captures, and its messages again: the handover comes back.

In the guest: a machine's kernel may lack SCTP and netem.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from pathscope import api, live
from pathscope.analyzer.model import Association, Handover
from pathscope.dissectors.ledger import ReadOptions
from pathscope.live import LiveRun
from pathscope.replay.lab import catalog, folder
from pathscope.replay.lab.run import run
from pathscope.replay.lab.scenario import load
from pathscope.replay.profiles.derive import derive

pytestmark = pytest.mark.guest

EXPIRIES = 3
"""Of the scenario: Path.Max.Retrans is 2."""

SLACK_S = 0.4
"""As in test_truth: three expiries in a clock that ticks every 10 ms, and the next message."""


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("original") / "run"
    run(load(catalog.find("failover")), place, "guest")
    return place


def again(original: Path, place: Path, *sctp: str) -> LiveRun:
    analysis = api.analyze(original, options=ReadOptions(flows=True, sightings=True))
    profile = derive(analysis, one_clock=True).document
    return live.run(original, place, profile=profile, sctp=sctp, kernel="guest")


def only(place: Path) -> tuple[Association, Handover]:
    (association,) = api.analyze(place).associations
    (handover,) = association.handovers
    return association, handover


def recovery_s(handover: Handover) -> float:
    value = handover.metrics["link_failure_recovery_s"].value
    assert value is not None
    return value


def names(association: Association, handover: Handover) -> tuple[str, str, str]:
    before, after = (association.paths[n].label for n in (handover.from_path, handover.to_path))
    return before, after, handover.cause


def test_the_handover_comes_back(original: Path, tmp_path: Path) -> None:
    made = again(original, tmp_path / "again")
    before, after = only(original), only(made.folder)
    assert names(*before) == names(*after) == ("wlan", "cellular", "timeout")
    assert abs(recovery_s(after[1]) / recovery_s(before[1]) - 1) < 0.1
    assert before[0].totals["a"]["new_bytes"].value == after[0].totals["a"]["new_bytes"].value
    assert not [one for one in made.comparison.differences if one.kind == "handover"]
    assert folder.state(made.folder) == "complete"


def test_other_settings_change_it_as_the_formula_says(original: Path, tmp_path: Path) -> None:
    made = again(original, tmp_path / "slower", "rto_min=1000,rto_max=1000")
    association, handover = only(made.folder)
    assert names(association, handover) == ("wlan", "cellular", "timeout")
    assert handover.metrics["predicted_failover_s"].value == EXPIRIES * 1.0
    assert abs(recovery_s(handover) - EXPIRIES * 1.0) < SLACK_S
    changed = {one.place.split()[0] for one in made.comparison.differences if one.kind == "setting"}
    # RTO.Min shows in the packets only where round trips were steady enough for it to matter.
    shown = set(association.timers["a"]) & set(only(original)[0].timers["a"])
    assert {"rto_s", "rto_max_s"} <= changed
    assert {"rto_s", "rto_min_s", "rto_max_s"} & shown <= changed
    given = {
        one.name: (one.was, one.value)
        for one in made.made.planned.talk.settings
        if one.source == "given"
    }
    assert given == {"rto_min_ms": (500, 1000), "rto_max_ms": (500, 1000)}
