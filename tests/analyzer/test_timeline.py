"""The timeline of study N, T_Ass to T_DEL."""

from __future__ import annotations

import pytest
from ladder import HANDSHAKE, Play, second, steady
from pathscope.analyzer.measure import Instant
from running import CAPTURES
from truth import committed, is_between, only

ALONE = "".join(HANDSHAKE.splitlines(keepends=True)[:5])


def asks(at: float, serial: int, request: str, address: str, path: int = 1) -> str:
    return (
        f"{at:.3f} a {path} ASCONF {serial} {request} {address}\n"
        f"{at + 0.02:.3f} b {path} ASCONF-ACK {serial}\n"
    )


def seconds(instants: dict[str, Instant]) -> dict[str, float | None]:
    return {name: second(instant.ns) for name, instant in instants.items()}


def test_one_handover(play: Play) -> None:
    seen = play(
        ALONE,
        steady(1.05, 2.95, 0.1, 1, tsn=1, rtt=0.01),
        asks(3.0, 1, "ADD", "10.0.2.1"),
        steady(3.05, 4.95, 0.1, 1, tsn=21, rtt=0.01),
        asks(5.0, 2, "SET-PRIMARY", "10.0.2.1"),
        steady(5.05, 6.95, 0.1, 2, tsn=41, rtt=0.04),
        asks(7.0, 3, "DELETE", "10.0.1.1", 2),
        steady(7.05, 8.05, 0.1, 2, tsn=61, rtt=0.04),
        paths=1,
    )
    found = seen.timeline
    assert seconds(found.instants) == {"t_init": 0.0, "t_ass": 0.03, "t_snt1": 1.05}
    assert {name: one.value for name, one in found.metrics.items()} == {
        "association_setup_s": 0.03,
        "setup_to_data_s": 1.02,
    }
    (phase,) = found.phases
    assert phase.handover == 0
    assert seconds(phase.instants) == {"t_add": 3.0, "t_set": 5.0, "t_ho": 5.05, "t_del": 7.0}
    assert {name: one.value for name, one in phase.metrics.items()} == {
        "add_to_set_s": 2.0,
        "set_to_ho_s": 0.05,
        "ho_to_del_s": 1.95,
        "add_to_del_s": 4.0,
    }


def test_there_and_back_again(play: Play) -> None:
    """Each handover has the requests about its own addresses, and none of the other's."""
    seen = play(
        ALONE,
        steady(1.05, 1.95, 0.1, 1, tsn=1, rtt=0.01),
        asks(2.0, 1, "ADD", "10.0.2.1"),
        asks(2.1, 2, "SET-PRIMARY", "10.0.2.1"),
        steady(2.15, 2.95, 0.1, 2, tsn=11, rtt=0.04),
        asks(3.0, 3, "DELETE", "10.0.1.1", 2),
        steady(3.05, 3.95, 0.1, 2, tsn=20, rtt=0.04),
        asks(4.0, 4, "ADD", "10.0.1.1", 2),
        asks(4.1, 5, "SET-PRIMARY", "10.0.1.1", 2),
        steady(4.15, 4.95, 0.1, 1, tsn=30, rtt=0.01),
        asks(5.0, 6, "DELETE", "10.0.2.1"),
        paths=1,
    )
    there, back = seen.timeline.phases
    assert seconds(there.instants) == {"t_add": 2.0, "t_set": 2.1, "t_ho": 2.15, "t_del": 3.0}
    assert seconds(back.instants) == {"t_add": 4.0, "t_set": 4.1, "t_ho": 4.15, "t_del": 5.0}


def test_a_deletion_that_decided(play: Play) -> None:
    """Nothing was added or set: the address went, and DATA moved."""
    seen = play(
        HANDSHAKE,
        steady(1.0, 1.9, 0.1, 1, tsn=1, rtt=0.01),
        asks(2.0, 1, "DELETE", "10.0.1.1", 2),
        steady(2.05, 4.0, 0.1, 2, tsn=11, rtt=0.04),
    )
    (phase,) = seen.timeline.phases
    found = phase.instants
    assert seconds(found) == {"t_add": None, "t_set": None, "t_ho": 2.05, "t_del": 2.0}
    assert found["t_add"].reason
    assert found["t_set"].reason
    assert phase.metrics["ho_to_del_s"].value == -0.05


def test_no_data_no_handover(play: Play) -> None:
    found = play("0.0 a 1 HEARTBEAT 1\n0.1 b 1 HEARTBEAT ACK 1").timeline
    assert found.phases == ()
    assert all(instant.reason for instant in found.instants.values())
    assert all(one.reason for one in found.metrics.values())


def test_the_lab_agrees() -> None:
    place = CAPTURES / "lab-asconf"
    asked = {request["what"]: request for request in committed(place)["requests"]}
    (phase,) = only(place).timeline.phases
    for name, what in (
        ("t_add", "address-add"),
        ("t_set", "set-peer-primary"),
        ("t_del", "address-delete"),
    ):
        assert is_between(phase.instants[name], asked[what]["from_ns"], asked[what]["to_ns"])
    (handover,) = only(place).handovers
    assert phase.metrics["set_to_ho_s"] == handover.metrics["handover_delay_s"]
    assert phase.metrics["set_to_ho_s"].value == pytest.approx(0.02, abs=0.005)
