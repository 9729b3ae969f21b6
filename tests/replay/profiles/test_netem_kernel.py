"""Every key of an impairment, as a kernel with netem shows it and as packets meet it."""

from __future__ import annotations

import json
from bisect import bisect_left, bisect_right
from collections.abc import Mapping
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from pathscope.replay.lab import guest, netem
from pathscope.replay.lab.impairment import complete, rules
from pathscope.replay.lab.tables import entries
from running import ROOT

pytestmark = pytest.mark.guest

LONGEST_S = 180

SKEWED = [-0.9, -0.85, -0.8, -0.7, -0.5, -0.2, 0.2, 0.9, 1.8, 3.2]
TWO = [-1.0] * 500 + [1.0] * 500

NOTHING: dict[str, Any] = {"kind": "netem", "limit": 1000, "ecn": False, "gap": 0}
"""What the kernel shows of a netem that does nothing."""

RATE = {"packetoverhead": 0, "cellsize": 0, "celloverhead": 0}

SETS: list[tuple[dict[str, Any], dict[str, Any]]] = [
    (
        {
            "delay_ms": 20.125,
            "jitter_ms": 5,
            "distribution": "normal",
            "loss_percent": 3,
            "duplicate_percent": 2,
            "reorder_percent": 4,
            "reorder_gap": 5,
            "corrupt_percent": 6,
            "rate_kbit": 5000,
            "queue_packets": 77,
            "slot_min_ms": 7,
            "slot_max_ms": 8,
            "slot_packets": 9,
        },
        {
            "limit": 77,
            "delay": {"delay": 0.020125, "jitter": 0.005, "correlation": 0},
            "loss-random": {"loss": 0.03, "correlation": 0},
            "duplicate": {"duplicate": 0.02, "correlation": 0},
            "reorder": {"reorder": 0.04, "correlation": 0},
            "corrupt": {"corrupt": 0.06, "correlation": 0},
            "rate": {"rate": 625_000, **RATE},
            "slot": {"min-delay": 0.007, "max-delay": 0.008, "packets": 9, "bytes": 0},
            "gap": 5,
        },
    ),
    # After the whole set, nothing of it.
    ({}, {}),
    ({"loss_percent": 2, "loss_burst_packets": 4}, {"loss-gemodel": {"1-h": 1, "1-k": 0}}),
    ({"loss_percent": 100}, {"loss-random": {"loss": 1, "correlation": 0}}),
    (
        {"delay_ms": 5, "reorder_percent": 1},
        {
            "delay": {"delay": 0.005, "jitter": 0, "correlation": 0},
            "reorder": {"reorder": 0.01, "correlation": 0},
            "gap": 1,
        },
    ),
    ({"keep_order": True}, {"rate": {"rate": 125_000_000_000, **RATE}}),
    ({"rate_kbit": 0.008}, {"rate": {"rate": 1, **RATE}}),
    ({"rate_kbit": 100_000_000}, {"rate": {"rate": 12_500_000_000, **RATE}}),
    ({"slot_min_ms": 1.5}, {"slot": {"min-delay": 0.0015, "max-delay": 0.0015}}),
    *(
        (
            {"delay_ms": 9, "jitter_ms": 2, "distribution": name},
            {"limit": 2106, "delay": {"delay": 0.009, "jitter": 0.002, "correlation": 0}},
        )
        for name in ("skewed", "pareto", "paretonormal", "experimental")
    ),
    ({}, {}),
]

OF_TABLE = {"delay_ms": 60, "jitter_ms": 20, "distribution": "skewed"}
CLOSE = {"delay_ms": 50, "jitter_ms": 10, "distribution": "two"}

PROBES: dict[str, tuple[dict[str, Any], int, int]] = {
    "constant": ({"delay_ms": 60}, 500, 2000),
    "table": (OF_TABLE, 1500, 2000),
    "disorder": (CLOSE, 400, 2000),
    "order": (CLOSE | {"keep_order": True}, 400, 2000),
    "apart": (CLOSE | {"keep_order": True}, 120, 25_000),
    "kept": (CLOSE | {"distribution": "uniform"}, 300, 2000),
}
"""Impairments that packets are sent through: how many, and every how many microseconds."""


def words(impairment: Mapping[str, Any]) -> tuple[str, ...]:
    return netem.arguments(complete(impairment))


@pytest.fixture(scope="module")
def answers(tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, Any]]:
    """What came of all sets and probes, in one guest."""
    folder = tmp_path_factory.mktemp("guest")
    (folder / "logs").mkdir()
    tries: list[dict[str, Any]] = [{"arguments": words(given)} for given, _ in SETS]
    tries += [
        {"arguments": words(given), "count": count, "every_us": every_us}
        for given, count, every_us in PROBES.values()
    ]
    orders = {"distributions": {"skewed": SKEWED, "two": TWO}, "tries": tries}
    (folder / "orders.json").write_text(json.dumps(orders))
    with pytest.MonkeyPatch.context() as patch:
        # The guest is to find this package, and the module that it runs.
        places = (package_place(folder), ROOT / "tests")
        patch.setenv("PYTHONPATH", ":".join(map(str, places)))
        guest.run(folder, LONGEST_S, "netem_guest")
    found: list[dict[str, Any]] = json.loads((folder / "answers.json").read_text())
    return found


def package_place(folder: Path) -> Path:
    """Where the package has its name, whatever the folder of the repository is called."""
    place = folder / "package"
    place.mkdir()
    (place / "pathscope").symlink_to(ROOT)
    return place


def test_every_key_is_among_the_sets() -> None:
    assert {key for given, _ in SETS for key in given} == set(rules())


@pytest.mark.parametrize("number", range(len(SETS)))
def test_the_kernel_shows_what_it_was_told(answers: list[dict[str, Any]], number: int) -> None:
    answer = answers[number]
    assert "refused" not in answer
    expected = NOTHING | SETS[number][1]
    shown = answer["shown"]
    assert shown.keys() == expected.keys()
    for name, value in expected.items():
        if isinstance(value, dict):
            # tc shows microseconds, and cuts what is below.
            assert shown[name] | value == pytest.approx(shown[name], rel=1e-4)
        else:
            assert shown[name] == value


def test_bursts_are_a_gilbert_model(answers: list[dict[str, Any]]) -> None:
    model = answers[2]["shown"]["loss-gemodel"]
    assert model["r"] == pytest.approx(1 / 4)
    assert model["p"] / (model["p"] + model["r"]) == pytest.approx(0.02, rel=1e-4)


def probed(answers: list[dict[str, Any]], name: str) -> list[tuple[int, float]]:
    """Number and delay in milliseconds of each packet, as they arrived."""
    place = len(SETS) + list(PROBES).index(name)
    assert "refused" not in answers[place]
    arrived = [(number, delay / 1e6) for number, delay in answers[place]["arrived"]]
    assert len(arrived) == PROBES[name][1]
    return arrived


def overtaken(arrived: list[tuple[int, float]]) -> int:
    return sum(later < earlier for (earlier, _), (later, _) in pairwise(arrived))


def test_a_table_s_quantiles_are_those_of_the_packets(answers: list[dict[str, Any]]) -> None:
    # A packet is never early. How late this machine is, a constant delay shows.
    late_ms = sorted(delay - 60 for _, delay in probed(answers, "constant"))
    assert late_ms[0] > -0.05
    most_late_ms = late_ms[len(late_ms) * 99 // 100]
    delays = sorted(delay for _, delay in probed(answers, "table"))
    table = [60 + 20 * value / 8192 for value in entries(SKEWED)]
    # Dvoretzky, Kiefer and Wolfowitz: no share is further off, but once in a thousand times.
    error = (7.6 / (2 * len(delays))) ** 0.5 + 0.01
    for at_ms in table[:: len(table) // 50]:
        below = bisect_left(delays, at_ms - 0.05) / len(delays)
        until = bisect_right(delays, at_ms + most_late_ms) / len(delays)
        assert below <= bisect_right(table, at_ms) / len(table) + error
        assert until >= bisect_left(table, at_ms) / len(table) - error


def test_jitter_reorders_unless_order_is_kept(answers: list[dict[str, Any]]) -> None:
    assert overtaken(probed(answers, "disorder")) > 40
    assert overtaken(probed(answers, "order")) == 0


def test_order_is_kept_by_waiting(answers: list[dict[str, Any]]) -> None:
    """Packets closer than the jitter get the longest delay that is drawn around them."""

    def slow(name: str) -> float:
        arrived = probed(answers, name)
        return sum(delay > 50 for _, delay in arrived) / len(arrived)

    assert 0.4 < slow("disorder") < 0.6
    assert slow("order") > 0.85
    assert 0.3 < slow("apart") < 0.7


def test_the_kernel_keeps_a_table(answers: list[dict[str, Any]]) -> None:
    """Why uniform jitter after a table is a mistake: it would have half of its delays here."""
    delays = [delay for _, delay in probed(answers, "kept")]
    assert sum(45 < delay < 55 for delay in delays) < len(delays) / 4
