"""Other traces made again in the guest: address changes, TCP, UDP; and traces that cannot be."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from pathscope import api, live
from pathscope.replay.lab import events, folder
from pathscope.replay.live import trace
from pathscope.replay.live.errors import LiveError
from pathscope.replay.live.run import plan
from running import CAPTURES, MIXED

pytestmark = pytest.mark.guest

FEW_MS = {"paths": {"*": {"both": {"delay_ms": 10}}}}


def log(place: Path, host: str, event: str) -> dict[str, object]:
    (found,) = (
        one
        for one in events.read(place / folder.EVENTS)
        if (one["event"], one.get("host")) == (event, host)
    )
    return found


def test_address_changes_are_made_again(tmp_path: Path) -> None:
    capture = CAPTURES / "lab-asconf" / "client.pcapng"
    made = live.run(capture, tmp_path / "again", profile=FEW_MS, kernel="guest")
    (before,), (after,) = (
        api.analyze(one, end="client", labels=made.made.planned.talk.paths.labels()).associations
        for one in (capture, made.folder)
    )
    assert [(one.sender, one.request, one.outcome) for one in before.asconf] == [
        (one.sender, one.request, one.outcome) for one in after.asconf
    ]
    assert [(one.sender, one.cause) for one in before.handovers] == [
        (one.sender, one.cause) for one in after.handovers
    ]
    assert before.totals["a"]["new_bytes"].value == after.totals["a"]["new_bytes"].value


@pytest.mark.parametrize(("flow", "protocol", "size"), [(0, "tcp", 30_000), (2, "udp", 33_024)])
def test_flows_are_made_again(flow: int, protocol: str, size: int, tmp_path: Path) -> None:
    made = live.run(MIXED, tmp_path / "again", profile=FEW_MS, kernel="guest", flow=flow)
    (found,) = api.analyze(made.folder, end="client").flows
    assert found.protocol == protocol
    assert found.directions["a"].metrics["new_bytes"].value == size
    assert log(made.folder, "client", "closed")["sent_bytes"] == size
    assert log(made.folder, "server", "received")["received_bytes"] == size
    # The lab has one subnet a path: hosts behind a router get other addresses.
    (path,) = made.made.planned.talk.paths.paths
    assert path.is_moved


def test_a_repeated_run_has_the_next_seed(tmp_path: Path) -> None:
    made = live.run(MIXED, tmp_path / "runs", kernel="guest", flow=1, repetitions=2)
    assert [one.name for one in made.made.runs] == ["run-1", "run-2"]
    seeds = [json.loads((one / "run.json").read_text())["seed"] for one in made.made.runs]
    assert seeds == [1, 2]
    (group,) = made.comparison.pairing.groups
    assert (len(group.baseline), len(group.candidate)) == (1, 2)
    assert "no profile" in made.made.planned.warnings[0]


@pytest.mark.parametrize(
    ("capture", "asked", "what"),
    [
        (MIXED, {"flow": 99}, "flow 99: the trace has 0, 1"),
        (MIXED, {"flow": 3}, "flow 3 is a subflow of MPTCP"),
        (MIXED, {"association": 0}, "association 0: the trace has none"),
        (MIXED, {"association": 0, "flow": 0}, "not both"),
        (MIXED, {"flow": 7}, "it carried no data"),
        (CAPTURES / "lab-failover" / "client.pcapng", {"association": 7}, "the trace has 0"),
    ],
)
def test_what_cannot_be_made_again_is_refused(
    capture: Path, asked: dict[str, int], what: str
) -> None:
    with pytest.raises(LiveError, match=what):
        plan(capture, **asked)  # type: ignore[arg-type]


def test_standard_input_cannot_be_read_twice() -> None:
    with pytest.raises(LiveError, match="standard input"):
        plan("-")


def test_settings_of_sctp_are_of_nothing_else() -> None:
    with pytest.raises(LiveError, match="not SCTP"):
        plan(MIXED, sctp=["pmr=1"])


def test_of_several_associations_the_one_with_most_data_is_taken() -> None:
    capture = CAPTURES / "lab-restart" / "client.pcapng"
    read = trace.read(capture)
    sizes = {
        one.number: sum(one.totals[end]["new_bytes"].value or 0 for end in ("a", "b"))
        for one in read.result.associations
    }
    assert len(sizes) == 2
    talk = plan(capture).talk
    assert talk.number == max(sizes, key=lambda number: sizes[number])
    assert f"2 associations in the trace: number {talk.number} is sent again" in talk.warnings
    assert plan(capture, association=1).talk.number == 1
