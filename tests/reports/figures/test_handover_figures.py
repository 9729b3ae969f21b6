"""Figures of a handover: every instant, phase, time-out and packet of it, and nothing else."""

from __future__ import annotations

import subprocess
from dataclasses import replace

import figuring
import pytest
from figuring import CASES
from pathscope.reports.figures import instants, ladder, phases, timers
from pathscope.reports.figures.look import Look
from pathscope.reports.figures.sheet import caption
from pathscope.reports.wireshark import within
from running import CAPTURES

WIDE = Look("light", 1280)

HANDOVERS = [
    (case, index)
    for case in CASES
    for index in range(len(figuring.part(case).association["handovers"]))
]


@pytest.mark.parametrize(("case", "index"), HANDOVERS)
def test_every_instant_is_marked_by_its_basis(case: str, index: int) -> None:
    part = figuring.of_handover(case, index)
    told = part.association["handovers"][index]["instants"]
    figure = instants.draw(instants.inputs(part), WIDE)
    for basis in instants.MARKS:
        expected = sorted(
            part.seconds(one["ns"])
            for one in told.values()
            if one["ns"] is not None and one["basis"] == basis
        )
        assert [float(row["x"]) for row in figuring.named(figure, basis)] == expected
    for name, one in told.items():
        if one["ns"] is None:
            assert f"{name} ({one['reason']})" in caption(figure)


def test_an_inferred_instant_has_its_bounds() -> None:
    part = figuring.of_handover("failover-v6", 0)
    fail = {"ns": part.origin_ns + 5_000_000_000, "frame": None, "basis": "inferred",
            "low_ns": part.origin_ns + 4_000_000_000,
            "high_ns": part.origin_ns + 6_500_000_000}  # fmt: skip
    handover = part.association["handovers"][0]
    changed = handover | {"instants": handover["instants"] | {"t_fail": fail}}
    part = replace(part, association=part.association | {"handovers": [changed]})
    (row,) = figuring.named(instants.draw(instants.inputs(part), WIDE), "inferred")
    assert (row["x"], row["low"], row["high"]) == (
        "5.000000000",
        "4.000000000",
        "6.500000000",
    )


def test_the_window_of_a_handover_has_all_its_instants() -> None:
    part = figuring.of_handover("failover-v6", 0)
    seen = instants.window(part)
    assert seen is not None
    times = part.association["handovers"][0]["instants"]
    known = [one["ns"] for one in times.values() if one["ns"] is not None]
    assert seen.from_ns < min(known) < max(known) < seen.to_ns


def test_data_of_the_handover_is_drawn_by_path() -> None:
    part = figuring.of_handover("failover-v6", 0)
    seen = instants.window(part)
    part = figuring.with_chunks(part, "failover-v6", seen)
    found = instants.inputs(part)
    assert found is not None
    assert found.packets is not None
    assert seen is not None
    again = part.rows("retransmissions", "a").to_pylist()
    expected = [row["frame"] for row in again if seen.from_ns <= row["time_ns"] <= seen.to_ns]
    assert found.packets.frame[~found.packets.is_new].tolist() == expected


@pytest.mark.parametrize(("case", "index"), HANDOVERS)
def test_phases_follow_one_another(case: str, index: int) -> None:
    part = figuring.of_handover(case, index)
    assert part.story is not None
    found = phases.inputs(part)
    figure = phases.draw(found, WIDE)
    if not part.story["phases"]:
        assert not found.bars
        return
    rows = figuring.rows(figure)
    assert len(rows) == len(part.story["phases"])
    for row, told in zip(rows, part.story["phases"], strict=True):
        assert row["trace"].startswith(told["name"])
        length = float(row["high"]) - float(row["low"])
        assert length == pytest.approx((told["end_ns"] - told["start_ns"]) / 1e9)
    for one, after in zip(found.bars, found.bars[1:], strict=False):
        assert one.to_s == after.from_s


def test_every_phase_has_a_paint() -> None:
    from typing import get_args

    from pathscope.analyzer.story.model import PhaseName

    assert set(phases.PAINT) == set(get_args(PhaseName))


@pytest.mark.parametrize(("case", "index"), HANDOVERS)
def test_time_outs_are_those_of_the_document(case: str, index: int) -> None:
    part = figuring.of_handover(case, index)
    told = part.association["handovers"][index]
    figure = timers.draw(timers.inputs(part), WIDE)
    for name, key in (
        ("measured", "elapsed_s"),
        ("RTO model", "rto_model_s"),
        ("model, clamped", "rto_clamped_s"),
    ):
        expected = [one[key] for one in told["timeouts"] if one[key] is not None]
        assert [float(row["y"]) for row in figuring.named(figure, name)] == expected
    if not told["timeouts"]:
        assert caption(figure) == "No expiry of T3-rtx led to this handover."
    if told["prediction"] is not None:
        points = {row["y"]: row for row in figuring.named(figure, "time-outs together")}
        assert float(points["measured"]["x"]) == told["prediction"]["measured_s"]["value"]
        for form in told["prediction"]["forms"]:
            number = form["predicted_s"]
            if number["value"] is None:
                assert form["name"] not in points
            else:
                row = points[form["name"]]
                assert float(row["x"]) == number["value"]
                assert float(row["low"]) == pytest.approx(number["low"])
                assert float(row["high"]) == pytest.approx(number["high"])


@pytest.mark.parametrize(("case", "index"), HANDOVERS)
def test_the_ladder_has_the_packets_of_tshark(case: str, index: int) -> None:
    part = figuring.of_handover(case, index)
    seen = instants.window(part)
    assert seen is not None
    part = figuring.with_chunks(part, case, seen)
    found = ladder.inputs(part, seen)
    expression = within(part.association["wireshark"], seen.from_ns, seen.to_ns)
    command = ["tshark", "-n", "-r", str(CAPTURES / case / "client.pcapng"), "-Y", expression]
    command += ["-T", "fields", "-e", "frame.time_epoch", "-e", "frame.number"]
    lines = subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()
    # Two interfaces: by time, as pathscope reads them.
    frames = [line.split()[1] for line in sorted(lines)]
    assert found.count == len(frames)
    assert [one.frame for one in found.packets] == [int(one) for one in frames][
        : len(found.packets)
    ]
    drawn = ladder.draw(found, WIDE)
    assert len({row["data"] for row in figuring.rows(drawn)}) == len(found.packets)


def test_arrows_go_from_the_sender_to_the_receiver() -> None:
    part = figuring.of_handover("failover-v6", 0)
    seen = instants.window(part)
    found = ladder.inputs(figuring.with_chunks(part, "failover-v6", seen), seen)
    figure = ladder.draw(found, WIDE)
    for trace in figuring.lines(figure):
        for start, end, told in zip(
            trace.x[0::4], trace.x[2::4], trace.customdata[0::4], strict=True
        ):
            frame = int(told.split(",")[0].removeprefix("frame "))
            (packet,) = (one for one in found.packets if one.frame == frame)
            assert (start < end) == (packet.sender == "a")


def test_chunks_of_a_packet_are_named_together() -> None:
    part = figuring.of_handover("failover-v6", 0)
    seen = instants.window(part)
    found = ladder.inputs(figuring.with_chunks(part, "failover-v6", seen), seen)
    texts = {one.frame: one.text for one in found.packets}
    assert texts[444] == "DATA 2727994316..2727994317"
    assert texts[450] == "SACK 2727994317"
