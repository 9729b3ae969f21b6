"""Counters held against each other; the readings are those of ip and tc."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from pathscope.replay.fidelity.counts import Counters, Places, Strangers, balances, readings
from pathscope.replay.fidelity.model import Balance, RouteCounts

COUNTS = RouteCounts(
    0, "wlan", "to_server", planned=1000, sent=1000, refused=0, dropped_late=0, errors=0,
    recorded=True, received=952, arrived=950, lost=50, others=2,
)  # fmt: skip
COUNTERS = Counters(
    tx_packets=1000, tx_dropped=0, rx_packets=950, rx_dropped=0, qdisc_packets=950,
    qdisc_dropped=50, qdisc_overlimits=0, qdisc_requeued=0, held_packets=0,
)  # fmt: skip
QUIET = Strangers(0, 0)


def held(
    counters: Counters, strangers: Strangers = QUIET, counts: RouteCounts = COUNTS, **kwargs: Any
) -> dict[str, Balance]:
    duplicates, allowed = kwargs.get("duplicates", False), kwargs.get("allowed", 0)
    return {one.one: one for one in balances(counts, counters, strangers, duplicates, allowed)}


def test_all_agree() -> None:
    found = held(COUNTERS)
    assert list(found) == [
        "interface sent", "refused", "interface received", "netem passed on", "netem dropped",
    ]  # fmt: skip
    assert {one.verdict for one in found.values()} == {"pass"}
    assert {one.difference for one in found.values()} == {0}


def test_frames_of_the_kernel_explain_what_a_capture_shows() -> None:
    more = replace(COUNTERS, tx_packets=1002, rx_packets=952, qdisc_packets=952)
    assert {one.verdict for one in held(more, Strangers(2, 2)).values()} == {"pass"}
    found = held(more, Strangers(2, 1))
    assert found["interface sent"].explained == 2
    assert found["interface received"].verdict == "fail"
    assert held(more, Strangers(None, None))["interface sent"].verdict == "fail"
    assert held(more, allowed=2)["interface sent"].verdict == "pass"


def test_fewer_than_the_sender_says_is_never_explained() -> None:
    fewer = replace(COUNTERS, tx_packets=999)
    assert held(fewer, Strangers(100, 100))["interface sent"].verdict == "fail"


def test_what_netem_still_holds_is_not_lost() -> None:
    holding = replace(COUNTERS, qdisc_dropped=45, held_packets=5)
    assert held(holding)["netem dropped"].verdict == "pass"
    assert held(replace(holding, held_packets=0))["netem dropped"].verdict == "fail"


def test_copies_that_are_lost_are_dropped_frames_that_were_not_sent() -> None:
    more = replace(COUNTERS, qdisc_dropped=52)
    assert held(more)["netem dropped"].verdict == "fail"
    found = held(more, duplicates=True)["netem dropped"]
    assert (found.verdict, found.explanation) == ("pass", "copies that were lost again")


def test_a_route_that_was_not_recorded_has_its_sender_alone() -> None:
    found = held(COUNTERS, counts=replace(COUNTS, recorded=False))
    assert list(found) == ["interface sent", "refused"]


def event(packets: int, drops: int | None) -> dict[str, Any]:
    def link(name: str) -> dict[str, Any]:
        ways = {way: {"packets": packets, "dropped": 1} for way in ("rx", "tx")}
        return {"ifname": name, "stats64": ways}

    qdiscs = [{"kind": "noqueue", "dev": "lo", "packets": 0, "drops": 0}]
    if drops is not None:
        own = {"kind": "netem", "dev": "server1", "packets": packets, "drops": drops}
        qdiscs.append(own | {"overlimits": 2, "requeues": 3, "qlen": 4})
    return {
        "interfaces": {"client": [link("lo"), link("wlan")], "server": [link("wlan")]},
        "qdiscs": {"middle": qdiscs},
    }


PLACES = Places(("client", "wlan"), ("server", "wlan"), ("middle", "server1"))


def test_readings_are_differences() -> None:
    assert readings(event(5, 1), event(15, 4), PLACES) == Counters(10, 0, 10, 0, 10, 3, 0, 0, 4)
    # Netem that was set up after the first reading began at nought.
    assert readings(event(5, None), event(15, 4), PLACES).qdisc_dropped == 4


def test_what_is_not_there_is_none() -> None:
    nowhere = readings(event(5, None), event(15, None), PLACES)
    assert (nowhere.qdisc_packets, nowhere.held_packets, nowhere.tx_packets) == (None, None, 10)
    assert readings(event(5, 1), event(15, 1), Places()) == Counters()
    assert held(Counters()) == {}
