"""Analyses against what the lab knows: of the committed captures, and of runs made now.

An observed instant lies between two readings of the lab's clock, within 1 ms; an annotated one is
the lab's to the nanosecond; the bounds of an inferred one hold the truth.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pathscope
import pytest
from pathscope.analyzer.model import Association, Handover
from pathscope.dissectors.ledger import Row
from running import CAPTURES, inside
from truth import (
    WITHIN_NS,
    Truth,
    committed,
    holds,
    is_between,
    label,
    made,
    only,
    regenerate,
    untold,
)

pytestmark = pytest.mark.guest

SLACK_S = 0.4
"""Between a timer's time and what is done of it: three expiries in a clock that ticks every 10 ms,
the time to the next message, and a busy machine; less than one RTO, so that each is told."""

Check = Callable[[Path, Truth], None]


def rows(place: Path, end: str, table: str) -> list[Row]:
    return pathscope.read(place / f"{end}.pcapng").rows(table)


def arrivals(place: Path) -> dict[int, tuple[str, int]]:
    """Where and when each TSN of the client arrived first; no TSN of these runs wraps around."""
    found: dict[int, tuple[str, int]] = {}
    for batch in pathscope.dissect(place / "server.pcapng"):
        for row in batch.to_pylist():
            if row["chunk_name"] == "DATA" and row["sender"] == "a":
                found.setdefault(row["tsn"], (row["interface"], row["time_ns"]))
    return found


def names(association: Association, handover: Handover) -> tuple[str, str]:
    """Names of the paths from and to; where addresses are crossed, without them."""
    pair = (label(association, number) for number in (handover.from_path, handover.to_path))
    one, other = (name.partition(" ")[0] for name in pair)
    return one, other


def all_arrived(place: Path, truth: Truth) -> None:
    """What the receiver got is what the capture has as new DATA."""
    sent = [row for row in rows(place, "client", "runs") if row["sender"] == "a"]
    assert sum(row["user_bytes"] for row in sent) == truth["received_bytes"]


def settings_are_inferred(association: Association, truth: Truth) -> None:
    timers, sctp = association.timers["a"], truth["sctp"]
    assert holds(timers["rto_s"].measure, sctp["rto_max_ms"] / 1000)
    assert holds(timers["path_max_retrans"].measure, sctp["path_max_retrans"])


def failure_is_annotated(
    association: Association, handover: Handover, truth: Truth, number: int
) -> None:
    """A link went down, and data moved after Path.Max.Retrans + 1 time-outs."""
    down, sctp = truth["links"][number], truth["sctp"]
    assert (down["what"], handover.cause) == ("down", "timeout")
    assert names(association, handover)[0] == down["path"]
    instants, metrics = handover.instants, handover.metrics
    assert (instants["t_fail"].basis, instants["t_fail"].ns) == ("annotated", down["to_ns"])
    moved_ns = instants["t_first_new"].ns
    assert moved_ns is not None
    recovery = metrics["link_failure_recovery_s"]
    assert (recovery.basis, recovery.value) == ("annotated", (moved_ns - down["to_ns"]) / 1e9)
    predicted_s = (sctp["path_max_retrans"] + 1) * sctp["rto_max_ms"] / 1000
    detection_s = metrics["failure_detection_s"].value
    assert detection_s is not None
    assert abs(detection_s - predicted_s) < SLACK_S
    last_ok_ns = instants["t_last_ok"].ns
    assert last_ok_ns is not None
    assert last_ok_ns <= down["to_ns"]


def server_saw_the_same(place: Path, association: Association, truth: Truth, delay_ms: int) -> None:
    """Nothing arrived over the dead link; what was sent on the other arrived after its delay."""
    down = truth["links"][0]
    first, second = (row for row in rows(place, "client", "runs") if row["sender"] == "a")
    arrived = arrivals(place)
    for tsn in range(first["first_tsn"], first["last_tsn"] + 1):
        path, arrived_ns = arrived[tsn]
        on_time = arrived_ns <= down["to_ns"] + delay_ms * 1_000_000 + WITHIN_NS
        assert path == ("wlan" if on_time else "cellular")
    moved_ns = association.handovers[0].instants["t_first_new"].ns
    assert moved_ns is not None
    assert moved_ns == second["first_ns"]
    path, arrived_ns = arrived[second["first_tsn"]]
    assert path == "cellular"
    # 40 ms +- 5 ms; later by its queue, and by what a busy machine keeps the guest waiting.
    assert 35_000_000 - WITHIN_NS <= arrived_ns - moved_ns <= 300_000_000


def failover(place: Path, truth: Truth) -> None:
    association = only(place)
    (handover,) = association.handovers
    assert names(association, handover) == ("wlan", "cellular")
    failure_is_annotated(association, handover, truth, 0)
    settings_are_inferred(association, truth)
    server_saw_the_same(place, association, truth, 5)
    all_arrived(place, truth)
    established_ns = association.established.ns
    assert established_ns is not None
    assert established_ns <= truth["connected_ns"]
    (guessed,) = untold(place).handovers
    fail = guessed.instants["t_fail"]
    assert fail.basis == "inferred"
    assert fail.low_ns is not None
    assert fail.high_ns is not None
    assert fail.low_ns <= truth["links"][0]["to_ns"]
    assert fail.high_ns >= truth["links"][0]["from_ns"]
    recovery_s = handover.metrics["link_failure_recovery_s"].value
    assert recovery_s is not None
    assert holds(guessed.metrics["link_failure_recovery_s"], recovery_s)


def return_(place: Path, truth: Truth) -> None:
    association = only(place)
    away, back = association.handovers
    failure_is_annotated(association, away, truth, 0)
    assert (names(association, back), back.cause) == (("cellular", "wlan"), "path-returned")
    returned, up = back.instants["t_return_link"], truth["links"][1]
    assert (returned.basis, returned.ns) == ("annotated", up["to_ns"])
    data_ns = back.instants["t_return_data"].ns
    assert data_ns is not None
    recognition = back.metrics["link_recognition_s"]
    assert recognition.value == (data_ns - up["to_ns"]) / 1e9
    heard = back.instants["t_decision"].ns
    assert heard is not None
    assert heard >= up["from_ns"] + 10_000_000  # a HEARTBEAT there, and its answer back
    all_arrived(place, truth)
    assert len(untold(place).handovers) == 2


def asconf(place: Path, truth: Truth) -> None:
    association = only(place)
    asked = {request["what"]: request for request in truth["requests"]}
    exchanges = {exchange.request: exchange for exchange in association.asconf}
    for request, what in (
        ("add", "address-add"),
        ("set-primary", "set-peer-primary"),
        ("delete", "address-delete"),
    ):
        exchange = exchanges[request]
        assert exchange.outcome == "success"
        assert is_between(exchange.at, asked[what]["from_ns"], asked[what]["to_ns"])
        assert exchange.ack.ns is not None
        assert exchange.at.ns is not None
        assert exchange.delay_s.value == (exchange.ack.ns - exchange.at.ns) / 1e9
    (handover,) = association.handovers
    assert (names(association, handover), handover.cause) == (("wlan", "cellular"), "set-primary")
    peer = asked["set-peer-primary"]
    assert is_between(handover.instants["t_decision"], peer["from_ns"], peer["to_ns"])
    moved_ns = handover.instants["t_first_new"].ns
    assert moved_ns is not None
    # The next message takes the new path.
    own = asked["set-primary"]
    first, _ = (row for row in rows(place, "client", "runs") if row["sender"] == "a")
    assert first["last_ns"] - WITHIN_NS <= own["to_ns"]
    assert own["from_ns"] <= moved_ns
    (region,) = association.handoff_regions
    assert (region.start.ns, region.end.ns) == (exchanges["add"].ack.ns, exchanges["delete"].ack.ns)
    all_arrived(place, truth)


def potentially_failed(place: Path, truth: Truth) -> None:
    association = only(place)
    moves = [(one.cause, one.instants["t_first_new"].ns) for one in association.handovers]
    moves += [(one.cause, one.start.ns) for one in association.excursions]
    (moved_ns,) = (ns for cause, ns in moves if cause == "potentially-failed")
    assert moved_ns is not None
    # One time-out, not Path.Max.Retrans + 1 of them.
    after_s = (moved_ns - truth["links"][0]["to_ns"]) / 1e9
    assert abs(after_s - truth["sctp"]["rto_max_ms"] / 1000) < SLACK_S
    all_arrived(place, truth)


def three_paths(place: Path, truth: Truth) -> None:
    """The kernel chooses among the two that are left as it likes: by cellular, or at once."""
    association = only(place)
    route = [names(association, handover) for handover in association.handovers]
    by_cellular = [("wlan", "cellular"), ("cellular", "satellite")]
    assert route in ([("wlan", "satellite")], by_cellular)
    for number, handover in enumerate(association.handovers):
        failure_is_annotated(association, handover, truth, number)
    all_arrived(place, truth)


def lossy(place: Path, truth: Truth) -> None:
    association = only(place)
    assert association.handovers == ()
    again = len(rows(place, "client", "retransmissions"))
    assert again > 0
    sent = sum(row["chunks"] for row in rows(place, "client", "runs") if row["sender"] == "a")
    # 3 % of the DATA, and no more than some of the SACKs on top of it.
    assert 0.005 < again / sent < 0.1
    all_arrived(place, truth)


def restart(place: Path, truth: Truth) -> None:
    before, after = pathscope.analyze(place / "client.pcapng").associations
    assert (before.how_it_ended, after.restart_of) == ("restart", before.number)
    (known,) = truth["restarts"]
    assert is_between(after.start, known["from_ns"], known["to_ns"])
    assert before.handovers == after.handovers == ()
    all_arrived(place, truth)


def udp_encap(place: Path, truth: Truth) -> None:
    failover(place, truth)
    (row,) = rows(place, "client", "associations")
    assert row["a_udp_port"] == row["b_udp_port"] == truth["sctp"]["udp_port"] == 9899


CHECKS: dict[str, Check] = {
    "asconf": asconf,
    "failover": failover,
    "lossy": lossy,
    "one-way": failover,
    "potentially-failed": potentially_failed,
    "restart": restart,
    "return": return_,
    "three-paths": three_paths,
    "udp-encap": udp_encap,
}


def test_every_scenario_that_is_committed_is_checked() -> None:
    assert set(CHECKS) == set(regenerate().NAMES)
    assert {path.name for path in CAPTURES.glob("lab-*")} == {f"lab-{name}" for name in CHECKS}


@pytest.mark.parametrize("name", CHECKS)
def test_committed(name: str) -> None:
    place = CAPTURES / f"lab-{name}"
    CHECKS[name](place, committed(place))


@pytest.mark.parametrize("name", ["failover", "asconf", "one-way"])
def test_made_now(name: str, tmp_path: Path) -> None:
    """In the guest: a machine's kernel may lack SCTP and netem, and its user root's rights."""
    place = tmp_path / name
    truth = made(name, place)
    CHECKS[name](place, truth)
    found = inside("analyze", place, "--json")
    assert found.exit_code == 0
    assert found.stderr == f"{place}: a run; its events, and what both ends saw\n"
    document = json.loads(found.stdout)
    assert document["captures"][0]["path"] == str(place / "client.pcapng")
    (association,) = document["associations"]
    assert len(association["handovers"]) == 1
    if truth["links"]:
        fail = association["handovers"][0]["instants"]["t_fail"]
        assert (fail["basis"], fail["ns"]) == ("annotated", truth["links"][0]["to_ns"])
