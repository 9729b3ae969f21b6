"""Figures of an association: their numbers are those of the ledger, the document and tshark."""

from __future__ import annotations

import math
import subprocess
from dataclasses import replace
from typing import Any

import figuring
import numpy as np
import pytest
from figuring import CASES
from hypothesis import given
from hypothesis import strategies as st
from pathscope.analyzer.events import parse_events
from pathscope.reports.figures import heartbeats, links, rtt, swimlane, throughput, tsn, window
from pathscope.reports.figures.bins import Steps
from pathscope.reports.figures.columns import unwrapped
from pathscope.reports.figures.look import Look
from pathscope.reports.figures.part import Part, Window
from pathscope.reports.figures.sheet import caption
from running import CAPTURES

WIDE = Look("light", 1280)


def way(part: Part, path: int) -> dict[str, dict[str, Any]]:
    found: dict[str, dict[str, Any]] = part.association["paths"][path][
        f"{part.sender}_to_{part.other}"
    ]
    return found


def area(steps: Steps) -> float:
    """Return what steps of bit/s add up to, in bytes."""
    return float((steps.y[:-1] * np.diff(steps.x)).sum() / 8)


@pytest.mark.parametrize("sender", ["a", "b"])
@pytest.mark.parametrize("case", CASES)
def test_throughput_adds_up_to_the_bytes_of_each_path(case: str, sender: str) -> None:
    part = figuring.part(case, sender=sender)
    found = throughput.inputs(part)
    assert found is not None
    for path, line in zip(found.paths, found.sent, strict=True):
        assert area(line) == pytest.approx(way(part, path)["wire_bytes"]["value"])
    acked = part.association["totals"][sender]["acked_bytes"]["value"]
    assert area(found.goodput) == pytest.approx(acked) if acked else not found.goodput.y.any()


def test_throughput_shades_the_handoff_region() -> None:
    part = figuring.part("lab-asconf")
    region = part.association["handoff_regions"][0]
    found = throughput.inputs(part)
    assert found is not None
    assert found.regions == (
        (part.seconds(region["start"]["ns"]), part.seconds(region["end"]["ns"])),
    )
    figure = throughput.draw(found, WIDE)
    shaded = [one for one in figure.layout.shapes if one.type == "rect"]
    assert (shaded[0].x0, shaded[0].x1) == found.regions[0]
    assert "handoff region" in [one.text for one in figure.layout.annotations]


@given(st.floats(0, 1), st.floats(0, 1))
def test_throughput_of_a_window_has_the_bytes_of_its_bins(one: float, other: float) -> None:
    part = figuring.part("failover-v6")
    start, end = sorted((one, other))
    length = part.association["end_ns"] - part.origin_ns
    seen = Window(part.origin_ns + int(start * length), part.origin_ns + int(end * length))
    cut = throughput.inputs(part, seen)
    assert cut is not None
    width_ns = round(cut.bin_s * 1e9)
    for path, line in zip(cut.paths, cut.sent, strict=True):
        sums: dict[float, int] = {}
        for row in part.rows("intervals", "a").to_pylist():
            if row["path"] == path:
                at = part.seconds(row["start_ns"] // width_ns * width_ns)
                sums[at] = sums.get(at, 0) + row["wire_bytes"]
        touched = {
            at: count
            for at, count in sums.items()
            if count and cut.from_s - cut.bin_s < at <= cut.to_s
        }
        steps = zip(line.x.tolist(), (line.y * cut.bin_s / 8).tolist(), strict=True)
        assert {at: pytest.approx(count) for at, count in steps if count} == touched


@pytest.mark.parametrize("case", CASES)
def test_round_trips_are_those_of_the_document(case: str) -> None:
    part = figuring.part(case)
    found = rtt.inputs(part)
    assert found is not None
    for one in found.paths:
        least, greatest = way(part, one.path)["rtt_min_ns"], way(part, one.path)["rtt_max_ns"]
        if least["value"] is None:
            assert np.isnan(one.mean_ms).all()
            continue
        assert np.nanmin(one.least_ms) == pytest.approx(least["value"] / 1e6)
        assert np.nanmax(one.greatest_ms) == pytest.approx(greatest["value"] / 1e6)
        model = way(part, one.path)["rto_model_max_ns"]["value"]
        assert np.nanmax(one.rto_ms) == pytest.approx(model / 1e6)


def test_expiries_of_the_timer_are_drawn_with_what_they_took() -> None:
    part = figuring.part("failover-v6")
    found = rtt.inputs(part)
    assert found is not None
    expected = [one["elapsed_s"] for one in part.association["handovers"][0]["timeouts"]]
    points = figuring.named(rtt.draw(found, WIDE), "T3-rtx expired")
    assert [float(one["y"]) / 1000 for one in points] == pytest.approx(expected)
    assert [int(one["data"]) for one in points] == [424, 436, 443]


def test_there_is_no_rto_at_the_receiver() -> None:
    part = figuring.part("failover-v6")
    there = replace(part, association=part.association | {"captured_at": "b"})
    found = rtt.inputs(there)
    assert found is not None
    assert all(np.isnan(one.rto_ms).all() for one in found.paths)
    figure = rtt.draw(found, WIDE)
    assert not figuring.named(figure, "RTO model")
    assert "Captured at the receiver" in caption(figure)


@pytest.mark.parametrize("case", CASES)
def test_the_most_outstanding_is_that_of_the_document(case: str) -> None:
    part = figuring.part(case)
    found = window.inputs(part)
    assert found is not None
    for path, line in found.flight:
        most = np.nanmax(line.y, initial=0) * 1000
        assert most == pytest.approx(way(part, path)["flight_max_bytes"]["value"])
    theirs = [one["b_to_a"]["a_rwnd_min_bytes"]["value"] for one in part.association["paths"]]
    least = min(value for value in theirs if value is not None)
    assert np.nanmin(found.advertised.y) * 1000 == pytest.approx(least)


def test_windows_of_chunks_have_every_sack() -> None:
    part = figuring.with_chunks(figuring.part("lab-lossy"), "lab-lossy")
    found = window.inputs(part)
    assert found is not None
    assert found.by_sack
    sacks = part.association["receivers"]["b"]["metrics"]["sacks"]["value"]
    assert len(found.advertised.x) == sacks


@pytest.mark.parametrize("sender", ["a", "b"])
@pytest.mark.parametrize("case", CASES)
def test_heartbeats_are_counted_as_in_the_document(case: str, sender: str) -> None:
    part = figuring.part(case, sender=sender)
    found = heartbeats.inputs(part)
    assert found is not None
    for path in part.association["paths"]:
        told = path["heartbeats"][sender]
        own = found.path == path["id"]
        assert own.sum() == told["sent"]["value"]
        answered = found.rtt_ms[own & ~np.isnan(found.rtt_ms)]
        assert len(answered) == told["acknowledged"]["value"]
        if len(answered):
            assert answered.max() == pytest.approx(told["rtt_max_ns"]["value"] / 1e6)


@pytest.mark.parametrize("case", CASES)
def test_the_swimlane_has_every_state_run_and_heartbeat(case: str) -> None:
    part = figuring.part(case)
    found = swimlane.inputs(part)
    assert found.runs is not None
    assert found.heartbeats is not None
    states = [
        (path["id"], one["state"], part.seconds(one["at"]["ns"]))
        for path in part.association["paths"]
        for one in path["states"]
        if one["sender"] == "a"
    ]
    assert [(one.path, one.state, one.from_s) for one in found.states] == states
    assert found.runs.chunks.sum() == part.association["totals"]["a"]["new_chunks"]["value"]
    figure = swimlane.draw(found, WIDE)
    for word, which in (("answered", False), ("unanswered", True)):
        expected = int((np.isnan(found.heartbeats.rtt_ms) == which).sum())
        assert len(figuring.named(figure, f"HEARTBEAT, {word}")) == expected


def test_links_change_by_the_word_of_the_user() -> None:
    found = swimlane.inputs(figuring.part("failover-v6"))
    # The log's own instants: 1795242154.1563883 and 1795242166.156312.
    assert [(one.path, one.ns, one.up, one.basis) for one, *_ in found.changes] == [
        (0, 1795242154156388300, False, "annotated"),
        (0, 1795242166156312000, True, "annotated"),
    ]


def test_comments_tell_of_links_too() -> None:
    case = "lab-potentially-failed"
    done = figuring.analysis(case)
    found = links.told(done.ledger, figuring.document(case)["associations"])
    log = (CAPTURES / case / "events.jsonl").read_text().splitlines()
    known = [one for one in parse_events(log, "log") if one.name in {"1", "wlan"}]
    assert [(one.ns, one.up, one.path) for one in found[0]] == [
        (one.ns, one.up, 0) for one in known
    ]
    part = figuring.part(case, links=found[0])
    assert {one.ns for one in found[0]} <= {one.ns for one, *_ in swimlane.inputs(part).changes}


def test_whole_runs_begin_and_end_at_their_tsns() -> None:
    part = figuring.part("failover-v6")
    found = tsn.inputs(part)
    assert found is not None
    assert found.first_tsn == 2727993912
    runs = part.rows("runs", "a").to_pylist()
    for row in runs:
        line = found.lines[row["path"]]
        points = dict(zip(line.x.tolist(), line.y.tolist(), strict=True))
        begin, end = part.seconds(row["first_ns"]), part.seconds(row["last_ns"])
        assert (begin in points, row["first_tsn"] - found.first_tsn in line.y) == (True, True)
        assert row["last_tsn"] - found.first_tsn in line.y[line.x == end]
    total = part.association["totals"]["a"]["acked_chunks"]["value"]
    assert found.acknowledged.y[-1] == total - 1


@pytest.mark.parametrize("case", CASES)
def test_tsns_of_whole_runs_only_rise(case: str) -> None:
    found = tsn.inputs(figuring.part(case))
    assert found is not None
    for line in found.lines:
        known = ~np.isnan(line.y)
        assert (np.diff(line.x[known]) >= 0).all()
        assert (np.diff(line.y[known]) >= 0).all()


def tshark_rows(case: str, shown: str, *names: str) -> list[list[str]]:
    command = ["tshark", "-n", "-r", str(CAPTURES / case / "client.pcapng"), "-Y", shown]
    command += ["-T", "fields", "-E", "occurrence=a"]
    for name in names:
        command += ["-e", name]
    found = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return [line.split("\t") for line in found.splitlines()]


@pytest.mark.parametrize("case", ["failover-v6", "lab-lossy", "lab-asconf"])
def test_every_tsn_of_a_window_is_tsharks(case: str) -> None:
    part = figuring.with_chunks(figuring.part(case), case)
    found = tsn.inputs(part)
    assert found is not None
    assert found.by_chunk
    assert found.first_tsn is not None
    port = part.association["endpoints"]["a"]["port"]
    sent = {
        int(number)
        for (numbers,) in tshark_rows(
            case, f"sctp.srcport == {port} && sctp.data_tsn_raw", "sctp.data_tsn_raw"
        )
        for number in numbers.split(",")
    }
    ours = {
        int(y) + found.first_tsn for line in found.lines for y in line.y[~np.isnan(line.y)].tolist()
    }
    assert ours == sent
    sacks = tshark_rows(
        case,
        f"sctp.dstport == {port} && sctp.sack_cumulative_tsn_ack_raw",
        "frame.time_epoch",
        "sctp.sack_cumulative_tsn_ack_raw",
    )
    # Two interfaces: by time, as pathscope reads them.
    expected = [
        int(one) - found.first_tsn for _, numbers in sorted(sacks) for one in numbers.split(",")
    ]
    assert found.acknowledged.y.tolist() == expected


def test_gap_blocks_count_from_the_cumulative_tsn() -> None:
    part = figuring.with_chunks(figuring.part("lab-lossy"), "lab-lossy")
    found = tsn.inputs(part)
    assert found is not None
    assert len(found.gaps.at)
    assert (found.gaps.low <= found.gaps.high).all()
    for at, low in zip(found.gaps.at.tolist(), found.gaps.low.tolist(), strict=True):
        # The first TSN that is missing lies below every gap block.
        assert low > found.acknowledged.y[found.acknowledged.x == at].min() + 1


@pytest.mark.parametrize("case", ["failover-v6", "lab-lossy", "lab-three-paths"])
def test_what_was_sent_again_is_drawn_by_cause(case: str) -> None:
    part = figuring.part(case)
    found = tsn.inputs(part)
    assert found is not None
    figure = tsn.draw(found, WIDE)
    table = part.rows("retransmissions", "a").to_pylist()
    for cause in tsn.CAUSES:
        frames = [row["frame"] for row in table if row["cause"] == cause]
        points = figuring.named(figure, f"sent again: {cause}")
        assert [int(one["data"].split(";")[0]) for one in points] == frames


def test_tsns_go_round() -> None:
    near = 2**32 - 3
    tsns = np.array([near, near + 1, near + 2, 0, 1, near + 2, 5])
    assert unwrapped(tsns, near).tolist() == [0, 1, 2, 3, 4, 2, 8]


@given(st.integers(0, 10**11), st.integers(0, 10**11))
def test_any_window_can_be_drawn(start: int, length: int) -> None:
    part = figuring.part("lab-three-paths")
    seen = Window(part.origin_ns + start, part.origin_ns + start + length)
    for module in (swimlane, tsn, throughput, rtt, window, heartbeats):
        figure = module.draw(module.inputs(part, seen), WIDE)
        low, high = figure.layout.xaxis.range or (0, 1)
        assert math.isfinite(low)
        assert high >= low


def test_a_path_that_was_chosen_is_alone() -> None:
    part = figuring.part("failover-v6", path=1)
    for module in (throughput, rtt, heartbeats):
        figure = module.draw(module.inputs(part), WIDE)
        names = {row["trace"] for row in figuring.rows(figure)} - {"goodput, all paths"}
        assert all(part.labels[1] in name for name in names), names
