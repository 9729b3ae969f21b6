"""Two captures of the lab's runs: by one kernel's clock, or one that a test makes differ."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np
import oracle
import pathscope
import pytest
from altering import Change, altered, clock, kept, packets
from pathscope import api
from pathscope.analyzer.ends.run import find_ends
from running import CAPTURES
from twoends import (
    FAILOVER,
    LOSSY,
    MS,
    READ,
    SECOND,
    both,
    first_ns,
    fitted,
    holds,
    lost_frames,
    other_end,
    transits,
)


@pytest.mark.parametrize("run", sorted(path.name for path in CAPTURES.glob("lab-*")))
def test_the_lab_has_one_clock_and_the_estimate_says_so(run: str) -> None:
    place = CAPTURES / run
    relation = other_end(both(place / "client.pcapng", place / "server.pcapng")).clock
    assert holds(relation.offset_s, 0)
    assert holds(relation.skew_ppm, 0)
    assert relation.steps == ()
    assert abs(relation.offset_s.value or 0) < 0.0002


@pytest.mark.parametrize(
    ("shift_ns", "ppm"), [(3_700 * MS, 200), (-2_900 * MS, -200), (MS // 2, 60), (0, -120)]
)
@pytest.mark.parametrize("run", ["lab-lossy", "lab-failover", "lab-three-paths", "lab-restart"])
@pytest.mark.parametrize("end", ["client", "server"])
def test_another_clock_gives_the_same_figures(
    run: str, end: str, shift_ns: int, ppm: int, tmp_path: Path
) -> None:
    place = CAPTURES / run
    files = {name: place / f"{name}.pcapng" for name in ("client", "server")}
    known = dict(transits(both(files["client"], files["server"])))
    change = clock(shift_ns, ppm, first_ns(files[end]))
    files[end] = altered(files[end], tmp_path / "altered.pcapng", change)
    found = both(files["client"], files["server"])
    relation = other_end(found).clock
    sign = 1 if end == "server" else -1
    span_ns = 12 * SECOND  # no run is longer: by so much the shift may have grown at its packets
    assert holds(
        replace(
            relation.offset_s,
            low=(relation.offset_s.low or 0) - abs(ppm) * span_ns / 1e15,
            high=(relation.offset_s.high or 0) + abs(ppm) * span_ns / 1e15,
        ),
        sign * shift_ns / SECOND,
    )
    assert holds(relation.skew_ppm, sign * ppm)
    seen = dict(transits(found))
    assert seen.keys() == known.keys()
    for way, numbers in known.items():
        for name, one in numbers.items():
            value = seen[way][name].value
            if "delay" in name or "pdv" in name:
                assert one.value is None or holds(seen[way][name], one.value), (way, name)
            elif "jitter" in name:
                # From one packet to the next, 200 ppm of the gap of some tenths of a second.
                assert value == pytest.approx(one.value, abs=0.2 * MS), (way, name)
            else:
                assert value == one.value, (way, name)
        if numbers["arrived_packets"].value:
            assert (seen[way]["one_way_delay_min_ns"].value or 0) >= 0


IDENTITY = (
    "frame.number", "ip.src", "ip.dst", "ipv6.src", "ipv6.dst", "sctp.chunk_type",
    "sctp.data_tsn_raw", "sctp.sack_cumulative_tsn_ack_raw", "sctp.sack_gap_block_start_tsn",
    "sctp.parameter_heartbeat_information",
)  # fmt: skip


def identities(capture: Path) -> dict[int, tuple[object, ...]]:
    """What tshark says of each SCTP packet, by frame."""
    return {
        int(row["frame.number"][0]): tuple(tuple(row[name]) for name in IDENTITY[1:])
        for row in oracle.fields(capture, IDENTITY, "sctp")
    }


@pytest.mark.parametrize("run", ["lab-lossy", "lab-failover", "lab-one-way", "lab-three-paths"])
@pytest.mark.parametrize(("end", "other"), [("client", "server"), ("server", "client")])
def test_what_was_lost_is_what_tshark_sees_on_one_side_only(run: str, end: str, other: str) -> None:
    here, there = (CAPTURES / run / f"{name}.pcapng" for name in (end, other))
    ends = fitted(here, there)
    ours, theirs = identities(here), Counter(identities(there).values())
    sources = {key[0] or key[2] for key in ours.values()}
    assert len(sources) > 1
    leaving = [way for way in ends.ways.values() if way.leaving]
    frames = {frame for way in leaving for frame in way.packets.frame.tolist()}
    counts = Counter(ours[frame] for frame in frames)
    lost = lost_frames(ends)
    assert lost <= frames
    for identity, count in counts.items():
        missing = sum(ours[frame] == identity for frame in lost)
        assert missing == max(count - theirs[identity], 0), identity
    assert sum(way.outside + way.unsent for way in ends.ways.values()) == 0


def test_losses_are_netems() -> None:
    """3 of 100 on one path both ways, none on the other (fixtures/scenarios/lossy.toml)."""
    found = both(LOSSY / "client.pcapng", LOSSY / "server.pcapng")
    (association,) = found.associations
    truth = json.loads((LOSSY / "truth.json").read_text())
    assert truth["scenario"] == "lossy"
    for path in association.paths:
        for direction in path.directions.values():
            numbers = direction.transit
            assert numbers is not None
            sent, lost = numbers["sent_packets"].value, numbers["lost_packets"].value
            assert sent is not None
            assert lost is not None
            share = 0.03 if path.label == "wlan" else 0.0
            # Three standard deviations of a binomial distribution.
            assert abs(lost - share * sent) <= 3 * (share * (1 - share) * sent) ** 0.5
            assert direction.metrics["loss_ratio"].value == lost / sent
            assert direction.metrics["loss_ratio"].basis == "observed"


@pytest.mark.parametrize(
    ("run", "label", "delay_ms", "jitter_ms"),
    [
        ("lab-lossy", "wlan", 20, 3),
        ("lab-lossy", "cellular", 40, 0),
        ("lab-failover", "wlan", 5, 0),
        ("lab-failover", "cellular", 40, 5),
        ("lab-udp-encap", "wlan", 5, 0),
    ],
)
def test_delays_are_netems(run: str, label: str, delay_ms: int, jitter_ms: int) -> None:
    found = both(CAPTURES / run / "client.pcapng", CAPTURES / run / "server.pcapng")
    (path,) = (path for one in found.associations for path in one.paths if path.label == label)
    for direction in path.directions.values():
        numbers = direction.transit
        assert numbers is not None
        least, median = (numbers[f"one_way_delay_{name}_ns"].value for name in ("min", "p50"))
        assert least is not None
        assert median is not None
        # The kernel adds tenths of a millisecond, and never takes any.
        assert (delay_ms - jitter_ms) * MS <= least + 0.1 * MS
        assert median == pytest.approx(delay_ms * MS, abs=jitter_ms * MS / 2 + 0.5 * MS)
        greatest = numbers["one_way_delay_p95_ns"].value
        assert greatest is not None
        assert greatest <= (delay_ms + jitter_ms + 1) * MS


def test_the_handover_knows_when_its_data_arrived() -> None:
    """By tshark: the first new DATA on the second path, and its TSN at the server."""
    found = both(FAILOVER / "client.pcapng", FAILOVER / "server.pcapng")
    (handover,) = found.associations[0].handovers
    arrival = handover.instants["t_first_arrival"]
    new = handover.instants["t_first_new"]
    names = ("frame.number", "frame.time_epoch", "sctp.data_tsn_raw")
    ours = {int(row[names[0]][0]): row for row in oracle.fields(FAILOVER / "client.pcapng", names)}
    theirs = oracle.fields(FAILOVER / "server.pcapng", names)
    assert new.frame is not None
    tsns = ours[new.frame]["sctp.data_tsn_raw"]
    (there,) = (row for row in theirs if row["sctp.data_tsn_raw"] == tsns)
    assert arrival.frame == int(there["frame.number"][0])
    assert (arrival.basis, arrival.elsewhere) == ("observed", True)
    arrived_ns = oracle.nanoseconds(there["frame.time_epoch"][0])
    assert arrival.low_ns is not None
    assert arrival.high_ns is not None
    assert arrival.low_ns <= arrived_ns <= arrival.high_ns
    last_ns = handover.instants["t_last_data_old"].ns
    interruption = handover.metrics["data_interruption_s"]
    assert last_ns is not None
    assert holds(interruption, (arrived_ns - last_ns) / SECOND)
    # From the server's side it is the same: what was sent on the old path is in the other file.
    turned = both(FAILOVER / "server.pcapng", FAILOVER / "client.pcapng")
    (same,) = turned.associations[0].handovers
    assert same.instants["t_last_data_old"].elsewhere
    assert same.instants["t_last_data_old"].frame == handover.instants["t_last_data_old"].frame
    assert same.instants["t_first_arrival"].frame == arrival.frame
    assert same.metrics["data_interruption_s"].value == pytest.approx(
        interruption.value or 0, abs=0.0002
    )


def parts(capture: Path, out: Path, *conditions: Change) -> list[Path]:
    return [
        altered(capture, out / f"{number}.pcapng", one) for number, one in enumerate(conditions)
    ]


def test_rotated_files_and_interfaces_are_not_two_ends(tmp_path: Path) -> None:
    capture = FAILOVER / "client.pcapng"
    middle_ns = int(np.median([one.time_ns for one in packets(capture)]))
    ring = parts(
        capture,
        tmp_path,
        kept(lambda one: one.time_ns < middle_ns),
        kept(lambda one: one.time_ns >= middle_ns),
    )
    assert len(api.analyze_two(*ring)) == 2
    links = parts(
        capture,
        tmp_path,
        kept(lambda one: one.interface == 0),
        kept(lambda one: one.interface == 1),
    )
    assert len(api.analyze_two(*links)) == 2
    assert len(api.analyze_two(capture, capture)) == 2
    assert len(api.analyze_two(capture, LOSSY / "server.pcapng")) == 2
    assert len(api.analyze_two(capture, FAILOVER / "server.pcapng", ends=False)) == 2
    with pytest.raises(ValueError, match="no packet is in both captures"):
        api.analyze_two(*links, ends=True)


def test_the_contract_has_both_captures_and_their_clocks() -> None:
    (analysis,) = pathscope.api.analyze_two(LOSSY / "client.pcapng", LOSSY / "server.pcapng")
    document = analysis.to_dict()
    first, second = document["captures"]
    assert "other_end" not in first
    assert second["other_end"]["of"] == 0
    assert second["other_end"]["matched_packets"] == 516
    assert {one["capture"] for one in document["associations"]} == {0}
    transit = document["associations"][0]["paths"][0]["transit"]
    assert transit["a_to_b"]["lost_packets"]["value"] == 16
    assert analysis.other is not None
    assert "sightings" not in analysis.ledger.tables


def test_one_clock_that_is_known_is_not_estimated() -> None:
    ledgers = [api.read(LOSSY / f"{end}.pcapng", READ) for end in ("client", "server")]
    ends = find_ends(*ledgers, one_clock=True)
    assert (ends.error.offset_ns, ends.error.drift_ns) == (0, 0)
    assert ends.ways.keys() == fitted(LOSSY / "client.pcapng", LOSSY / "server.pcapng").ways.keys()
    times = [
        dict(enumerate((one.time_ns for one in packets(LOSSY / f"{end}.pcapng")), 1))
        for end in ("client", "server")
    ]
    for way in ends.ways.values():
        here, there = times if way.leaving else times[::-1]
        found = way.packets
        arrived = found.arrival_frame > 0
        for frame, sent_ns in zip(found.frame.tolist(), found.sent_ns.tolist(), strict=True):
            assert here[frame] == sent_ns
        for frame, arrived_ns in zip(
            found.arrival_frame[arrived].tolist(), found.arrived_ns[arrived].tolist(), strict=True
        ):
            assert there[frame] == arrived_ns
