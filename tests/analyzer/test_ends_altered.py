"""Two captures of a run, one of them altered: a NAT, a snap length, a step, half of the time."""

from __future__ import annotations

import struct
from dataclasses import replace
from pathlib import Path

import pytest
from altering import Captured, altered, cut, kept, packets, step
from pathscope import api
from pathscope.analyzer.transit import ABSENT_NS
from pathscope.dissectors import ledger as ledgers
from running import CAPTURES
from scapy.layers.inet import IP
from scapy.layers.l2 import Ether
from scapy.layers.sctp import crc32c
from twoends import (
    LOSSY,
    MS,
    READ,
    SECOND,
    both,
    first_ns,
    fitted,
    lost_frames,
    other_end,
    transits,
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


def test_a_path_of_which_one_capture_has_nothing(tmp_path: Path) -> None:
    client = altered(
        LOSSY / "client.pcapng", tmp_path / "client.pcapng", kept(lambda one: one.interface == 0)
    )
    whole = fitted(LOSSY / "client.pcapng", LOSSY / "server.pcapng")
    found = both(client, LOSSY / "server.pcapng")
    theirs = [one for one in packets(LOSSY / "server.pcapng") if one.interface == 1 and one.is_sctp]
    (same,) = other_end(found).counterparts
    assert same.unplaced_packets == len(theirs) == 15
    assert any("15 packets of" in text for text in found.warnings)
    # The other way round they arrived, or were lost, without having been captured when they left.
    turned = dict(transits(both(LOSSY / "server.pcapng", client)))
    assert turned["0 cellular a"]["unsent_packets"].value == 11
    assert turned["0 cellular a"]["sent_packets"].value == 0
    assert turned["0 cellular b"]["lost_packets"].value == 4
    assert len(whole.ways) == 4


def test_captures_of_nothing_are_not_two_ends(tmp_path: Path) -> None:
    nothing = altered(LOSSY / "client.pcapng", tmp_path / "nothing.pcapng", lambda _: None)
    assert len(api.analyze_two(nothing, LOSSY / "server.pcapng")) == 2
    assert len(api.analyze_two(nothing, nothing)) == 2


def test_who_asks_for_the_sightings_keeps_them() -> None:
    (found,) = api.analyze_two(LOSSY / "client.pcapng", LOSSY / "server.pcapng", options=READ)
    assert found.ledger.tables["sightings"].num_rows == 532
    assert found.other is not None
    assert found.other.tables["sightings"].num_rows == 523


def test_sightings_beyond_the_limit_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ledgers, "MOST_SIGHTINGS", 100)
    monkeypatch.setattr(ledgers, "STEP_RECORDS", 60)
    found = ledgers.read(LOSSY / "client.pcapng", READ)
    kept_rows = found.tables["sightings"].num_rows
    assert 0 < kept_rows <= 100
    assert found.capture["unlisted"]["sightings"] == 532 - kept_rows
