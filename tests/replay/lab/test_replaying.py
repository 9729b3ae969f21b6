"""A packet replay in this kernel: every frame arrives where it should, and tells the same story."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from pathscope.api import analyze
from pathscope.replay.lab import events, folder, host
from pathscope.replay.packets import log
from replaying import orders, replay
from running import CAPTURES
from scapy.utils import RawPcapNgReader

if TYPE_CHECKING:
    from pathscope.replay.run import Outcome

NO_HOST = host.missing(("namespaces", "links", "wires"))

pytestmark = pytest.mark.skipif(NO_HOST is not None, reason=f"no wires for us here: {NO_HOST}")

TRACE = CAPTURES / "lab-failover" / "client.pcapng"

QUIET_NS = 2_900_000_000
"""Nothing but neighbour discovery is in the trace until then."""


@pytest.fixture(scope="module")
def outcome(tmp_path_factory: pytest.TempPathFactory) -> Outcome:
    asked = orders(TRACE, from_ns=QUIET_NS)
    return replay(asked, tmp_path_factory.mktemp("replay") / "run")


def test_every_frame_arrives_at_its_end(outcome: Outcome) -> None:
    routes = {(one.path, one.direction): one for one in outcome.fidelity.routes}
    assert len(routes) == 4
    for route in routes.values():
        assert route.sent == route.planned == route.arrived == route.received > 0
        assert (route.lost, route.copies, route.others, route.corrupted) == (0, 0, 0, 0)
        assert route.reordered == 0
    assert {one.verdict for one in outcome.fidelity.balances} == {"pass"}


def test_both_ends_saw_nothing_but_the_replay(outcome: Outcome) -> None:
    sent = log.read(outcome.folder / "sent.arrows")
    assert sent.cut is None
    for end in ("client", "server"):
        with RawPcapNgReader(str(outcome.folder / f"{end}.pcapng")) as packets:
            lengths = sorted(len(data) for data, _ in packets)
        assert lengths == sorted(sent.table["bytes"].to_pylist())


def test_the_folder_of_a_replay(outcome: Outcome) -> None:
    facts = folder.facts(outcome.folder)
    assert (facts["state"], facts["kind"]) == ("complete", "replay")
    assert (outcome.folder / "replay.json").is_file()
    happened = events.read(outcome.folder / folder.EVENTS)
    assert [event["event"] for event in happened] == ["counters", "sent", "counters"]
    assert not list(outcome.folder.glob("*.pcap"))


def test_the_analysis_is_that_of_the_trace(outcome: Outcome) -> None:
    before = analyze(TRACE)
    after = analyze(outcome.folder, end="client")
    (one,), (other,) = before.associations, after.associations
    assert [path.label for path in one.paths] == [path.label for path in other.paths]
    assert len(one.handovers) == len(other.handovers) == 1
    rows = log.read(outcome.folder / "sent.arrows").table.to_pandas()
    # As late as the machine was with a frame, by the log; and a millisecond for the recording.
    late_s = float((rows["sent_ns"] - rows["due_ns"]).max()) / 1e9 + 0.001
    for was, is_now in zip(one.handovers, other.handovers, strict=True):
        ends = [(move.cause, move.from_path, move.to_path) for move in (was, is_now)]
        assert ends[0] == ends[1]
        for name, metric in was.metrics.items():
            again = is_now.metrics[name]
            # When the link failed is written in the trace; of packets alone it is inferred.
            if metric.value is not None and metric.basis == again.basis:
                assert again.value == pytest.approx(metric.value, abs=2 * late_s), name
