"""Two captures of the lab's runs: by one kernel's clock, or one that a test makes differ."""

from __future__ import annotations

import json
import struct
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import oracle
import pathscope
import pytest
from altering import Captured, Change, altered, clock, cut, kept, packets, step
from pathscope import api
from pathscope.analyzer.ends.model import OtherEnd
from pathscope.analyzer.ends.run import Ends, find_ends
from pathscope.analyzer.measure import Measure
from pathscope.analyzer.model import CaptureResult
from pathscope.analyzer.transit import ABSENT_NS
from pathscope.dissectors.ledger import ReadOptions, read
from running import CAPTURES
from scapy.layers.inet import IP
from scapy.layers.l2 import Ether
from scapy.layers.sctp import crc32c

MS, SECOND = 1_000_000, 1_000_000_000
LOSSY, FAILOVER = CAPTURES / "lab-lossy", CAPTURES / "lab-failover"
READ = ReadOptions(flows=True, sightings=True)


def both(first: Path, second: Path) -> CaptureResult:
    (only,) = api.analyze_two(first, second)
    return only.result


def other_end(result: CaptureResult) -> OtherEnd:
    assert result.other_end is not None
    return result.other_end


def fitted(first: Path, second: Path, *, forced: bool = False) -> Ends:
    return find_ends(read(first, READ), read(second, READ), forced=forced)


def transits(result: CaptureResult) -> Iterator[tuple[str, dict[str, Measure]]]:
    """What every path and direction of every association says."""
    for association in result.associations:
        for path in association.paths:
            for end, direction in path.directions.items():
                if direction.transit is not None:
                    yield f"{association.number} {path.label} {end}", direction.transit


def holds(measure: Measure, value: float) -> bool:
    low = measure.value if measure.low is None else measure.low
    high = measure.value if measure.high is None else measure.high
    assert low is not None
    assert high is not None
    return low <= value <= high


def first_ns(capture: Path) -> int:
    return min(one.time_ns for one in packets(capture))


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


def lost_frames(ends: Ends) -> set[int]:
    """Frames of the client that are not in the server's capture."""
    return {
        frame
        for way in ends.ways.values()
        if way.leaving
        for frame in way.packets.frame[way.packets.arrived_ns == ABSENT_NS].tolist()
    }


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


NAT = {"10.0.1.1": "203.0.113.1", "10.0.2.1": "198.51.100.7"}


def translated(one: Captured) -> Captured:
    """What a NAT before the server does to the client's addresses and port."""
    if not one.is_sctp:
        return one
    frame = Ether(one.data)
    packet = frame[IP]
    packet.src, packet.dst = NAT.get(packet.src, packet.src), NAT.get(packet.dst, packet.dst)
    value = bytearray(bytes(packet.payload))
    ports = [61_000 if port != 5000 else port for port in struct.unpack_from("!2H", value)]
    struct.pack_into("!2H", value, 0, *ports)
    value[8:12] = bytes(4)
    value[8:12] = struct.pack("<I", crc32c(bytes(value)))  # type: ignore[no-untyped-call]
    del packet.chksum
    packet.remove_payload()
    return replace(one, data=bytes(frame / bytes(value)))


def test_a_nat_between_is_seen(tmp_path: Path) -> None:
    server = altered(LOSSY / "server.pcapng", tmp_path / "nat.pcapng", translated)
    plain = both(LOSSY / "client.pcapng", LOSSY / "server.pcapng")
    found = both(LOSSY / "client.pcapng", server)
    (one,) = other_end(found).counterparts
    assert one.translated
    assert one.addresses == (tuple(NAT.values()), ("10.0.1.2", "10.0.2.2"))
    assert one.ports == (61_000, 5000)
    assert not other_end(plain).counterparts[0].translated
    assert dict(transits(found)) == dict(transits(plain))


@pytest.mark.parametrize("end", ["client", "server"])
def test_a_snap_length_on_one_side_does_not_matter(end: str, tmp_path: Path) -> None:
    """68 bytes: Ethernet, IPv4, and the first 34 of SCTP."""
    files = {name: LOSSY / f"{name}.pcapng" for name in ("client", "server")}
    known = fitted(files["client"], files["server"])
    files[end] = altered(files[end], tmp_path / "cut.pcapng", cut(68))
    found = fitted(files["client"], files["server"])
    assert found.matched == known.matched
    assert lost_frames(found) == lost_frames(known)


def test_packets_outside_the_others_time_are_not_lost(tmp_path: Path) -> None:
    start_ns = first_ns(LOSSY / "server.pcapng")
    window = (start_ns + 4 * SECOND, start_ns + 7 * SECOND)
    server = altered(
        LOSSY / "server.pcapng",
        tmp_path / "part.pcapng",
        kept(lambda one: window[0] <= one.time_ns < window[1]),
    )
    whole = fitted(LOSSY / "client.pcapng", LOSSY / "server.pcapng")
    part = fitted(LOSSY / "client.pcapng", server)
    assert lost_frames(part) < lost_frames(whole)
    for name, way in part.ways.items():
        if not way.leaving:
            continue
        all_of_it = whole.ways[name].packets
        assert len(way.packets.frame) + way.outside == len(all_of_it.frame)
        sent = all_of_it.sent_ns
        lost = (
            (all_of_it.arrived_ns == ABSENT_NS) & (sent >= window[0]) & (sent < window[1] - 50 * MS)
        )
        assert set(all_of_it.frame[lost].tolist()) <= lost_frames(part)


def test_one_direction_gives_jitter_but_no_delay(tmp_path: Path) -> None:
    clients = {bytes([10, 0, 1, 1]), bytes([10, 0, 2, 1])}
    only = kept(lambda one: one.source in clients)
    files = [
        altered(LOSSY / f"{end}.pcapng", tmp_path / f"{end}.pcapng", only)
        for end in ("client", "server")
    ]
    known = dict(transits(both(LOSSY / "client.pcapng", LOSSY / "server.pcapng")))
    found = both(*files)
    relation = other_end(found).clock
    assert relation.offset_s.value is None
    assert "one direction" in (relation.offset_s.reason or "")
    assert any("known but for a constant" in text for text in found.warnings)
    seen = dict(transits(found))["0 wlan a"]
    assert seen["one_way_delay_p50_ns"].value is None
    assert seen["lost_packets"] == known["0 wlan a"]["lost_packets"]
    expected = known["0 wlan a"]["jitter_w_ns"].value
    assert seen["jitter_w_ns"].value == pytest.approx(expected, abs=0.01 * MS)
    assert (seen["pdv_p99_ns"].value or 0) > 2 * MS


@pytest.mark.parametrize("by_ms", [40, -40])
def test_a_clock_that_steps_is_told(by_ms: int, tmp_path: Path) -> None:
    run = CAPTURES / "lab-asconf"
    at_ns = first_ns(run / "server.pcapng") + 6 * SECOND
    server = altered(run / "server.pcapng", tmp_path / "step.pcapng", step(at_ns, by_ms * MS))
    found = both(run / "client.pcapng", server)
    (only,) = other_end(found).clock.steps
    assert only.step_s.value == pytest.approx(by_ms / 1000, abs=0.001)
    assert only.at.ns is not None
    assert abs(only.at.ns - at_ns) < 0.3 * SECOND
    assert any("one of the clocks stepped" in text for text in found.warnings)
    known = dict(transits(both(run / "client.pcapng", run / "server.pcapng")))
    for way, numbers in transits(found):
        median, expected = (each["one_way_delay_p50_ns"].value for each in (numbers, known[way]))
        if expected is not None and median is not None:
            assert median == pytest.approx(expected, abs=MS), way


def test_what_the_network_duplicates_arrives_twice(tmp_path: Path) -> None:
    clients = {bytes([10, 0, 1, 1])}
    counted = []

    def twice(one: Captured) -> Captured | list[Captured]:
        if one.source not in clients or not one.is_sctp or one.time_ns % 7:
            return one
        counted.append(one)
        return [one, replace(one, time_ns=one.time_ns + MS // 10)]

    server = altered(LOSSY / "server.pcapng", tmp_path / "twice.pcapng", twice)
    numbers = dict(transits(both(LOSSY / "client.pcapng", server)))
    assert len(counted) > 20
    assert numbers["0 wlan a"]["duplicated_packets"].value == len(counted)
    assert numbers["0 wlan a"]["unsent_packets"].value == 0
    assert numbers["0 wlan b"]["duplicated_packets"].value == 0


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
