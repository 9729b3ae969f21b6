"""The ledger of the committed captures, held against what tshark tells of every frame."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import oracle
import pytest
from oracle import Fields
from pathscope.dissectors import ledger

CAPTURES = Path(__file__).parents[2] / "fixtures" / "captures"
FILES = sorted(
    path
    for path in CAPTURES.glob("*/*.pcapng")
    if path.parent.name != "lab-restart"  # two associations
)
NAMES = (
    "frame.number", "frame.time_epoch", "frame.len", "ip.src", "ip.dst", "ipv6.src", "ipv6.dst",
    "sctp.chunk_type", "sctp.chunk_length", "sctp.data_tsn_raw", "sctp.sack_cumulative_tsn_ack_raw",
    "sctp.parameter_heartbeat_information", "sctp.asconf_seq_nr_number",
    "sctp.asconf_ack_seq_nr_number",
)  # fmt: skip
DATA, SACK, HEARTBEAT, HEARTBEAT_ACK, ASCONF_ACK, ASCONF = 0, 3, 4, 5, 128, 193
DATA_HEADER = 16
SILENCE_NS = 500_000_000
Way = tuple[str, str]


@dataclass(frozen=True)
class Frame:
    """One SCTP packet, by tshark."""

    number: int
    time_ns: int
    length: int
    way: Way
    """Source and destination address."""
    types: tuple[int, ...]
    tsns: tuple[int, ...]
    user_bytes: int
    fields: Fields

    @classmethod
    def read(cls, fields: Fields) -> Frame:
        types = tuple(int(value) for value in fields["sctp.chunk_type"])
        lengths = [int(value) for value in fields["sctp.chunk_length"]]
        return cls(
            int(fields["frame.number"][0]),
            oracle.nanoseconds(fields["frame.time_epoch"][0]),
            int(fields["frame.len"][0]),
            (
                (fields["ip.src"] or fields["ipv6.src"])[0],
                (fields["ip.dst"] or fields["ipv6.dst"])[0],
            ),
            types,
            tuple(int(value) for value in fields["sctp.data_tsn_raw"]),
            sum(n - DATA_HEADER for n, kind in zip(lengths, types, strict=True) if kind == DATA),
            fields,
        )

    def has(self, kind: int) -> bool:
        return kind in self.types


@dataclass(frozen=True)
class Both:
    """The two views of one capture; the frames in time order, which the file is not in."""

    ledger: ledger.Ledger
    frames: list[Frame]

    def way(self, row: dict[str, Any]) -> Way:
        """Return the addresses, in the sender's direction, of a row with sender and path."""
        path = self.ledger.rows("paths")[row["path"]]
        ends = (path["a_address"], path["b_address"])
        return ends if row["sender"] == "a" else (ends[1], ends[0])

    def sent(self) -> Iterator[tuple[Frame, int, bool]]:
        """Yield frame, TSN and whether it is new of every DATA chunk."""
        seen = set()
        for frame in self.frames:
            for tsn in frame.tsns:
                yield frame, tsn, tsn not in seen
                seen.add(tsn)


@pytest.fixture(scope="module", params=FILES, ids=lambda file: str(file.relative_to(CAPTURES)))
def both(request: pytest.FixtureRequest) -> Both:
    path: Path = request.param
    frames = [Frame.read(fields) for fields in oracle.fields(path, NAMES, "sctp")]
    return Both(ledger.read(path), sorted(frames, key=lambda f: (f.time_ns, f.number)))


def sums(both: Both, column: str) -> Counter[Way]:
    total: Counter[Way] = Counter()
    for row in both.ledger.rows("intervals"):
        total[both.way(row)] += row[column]
    # Of a way that only had acknowledgements for it, nothing was sent.
    return +total


def test_every_frame_is_accounted_for(both: Both) -> None:
    facts = both.ledger.capture
    assert facts["frames"]["dissected"] == facts["sctp_packets"] == len(both.frames)
    assert facts["frames"]["read"] == len(oracle.times_ns(Path(both.ledger.path)))
    assert facts["frames"]["partial"] == 0
    assert facts["late_frames"] == 0
    assert both.ledger.rows("problems") == []


def test_one_association_from_first_to_last_frame(both: Both) -> None:
    (association,) = both.ledger.rows("associations")
    first, last = both.frames[0], both.frames[-1]
    assert (association["start_ns"], association["start_frame"]) == (first.time_ns, first.number)
    assert (association["end_ns"], association["end_frame"]) == (last.time_ns, last.number)
    assert association["packets"] == len(both.frames)
    assert (association["seen_handshake"], association["end"]) == (True, "shutdown")
    assert association["duplicate_frames"] == 0


def test_packets_and_bytes_of_every_way(both: Both) -> None:
    assert sums(both, "packets") == Counter(frame.way for frame in both.frames)
    length: Counter[Way] = Counter()
    for frame in both.frames:
        length[frame.way] += frame.length
    assert sums(both, "wire_bytes") == length


def test_first_and_last_packet_of_every_path(both: Both) -> None:
    for row in both.ledger.rows("paths"):
        ways = {(row["a_address"], row["b_address"]), (row["b_address"], row["a_address"])}
        on_path = [frame for frame in both.frames if frame.way in ways]
        assert (row["first_ns"], row["first_frame"]) == (on_path[0].time_ns, on_path[0].number)
        assert (row["last_ns"], row["last_frame"]) == (on_path[-1].time_ns, on_path[-1].number)


def test_intervals_are_bins_of_what_is_in_them(both: Both) -> None:
    width = both.ledger.options.bin_ns
    packets: Counter[tuple[Way, int]] = Counter()
    for frame in both.frames:
        packets[frame.way, frame.time_ns // width * width] += 1
    told: Counter[tuple[Way, int]] = Counter()
    for row in both.ledger.rows("intervals"):
        told[both.way(row), row["start_ns"]] += row["packets"]
        if row["packets"]:
            assert row["start_ns"] <= row["first_ns"] <= row["last_ns"] < row["start_ns"] + width
    assert +told == packets


def test_new_and_retransmitted_data(both: Both) -> None:
    new: Counter[Way] = Counter()
    again: Counter[Way] = Counter()
    for frame, _, first in both.sent():
        (new if first else again)[frame.way] += 1
    assert sums(both, "new_chunks") == new
    assert sums(both, "retransmitted_chunks") == again
    assert sums(both, "data_chunks") == new + again
    user_bytes: Counter[Way] = Counter()
    for frame in both.frames:
        user_bytes[frame.way] += frame.user_bytes
    assert sums(both, "new_bytes") + sums(both, "retransmitted_bytes") == +user_bytes


def test_retransmissions_one_by_one(both: Both) -> None:
    firsts = {tsn: frame for frame, tsn, new in both.sent() if new}
    expected = [(frame, tsn) for frame, tsn, new in both.sent() if not new]
    rows = both.ledger.rows("retransmissions")
    assert [(row["frame"], row["tsn"]) for row in rows] == [(f.number, t) for f, t in expected]
    counts: Counter[int] = Counter()
    for row, (frame, tsn) in zip(rows, expected, strict=True):
        counts[tsn] += 1
        assert row["transmission"] == counts[tsn] + 1
        assert (row["time_ns"], both.way(row)) == (frame.time_ns, frame.way)
        first = firsts[tsn]
        assert (row["first_ns"], row["first_frame"]) == (first.time_ns, first.number)
        assert both.way(row | {"path": row["first_path"]}) == first.way


def first_sights(both: Both) -> Iterator[tuple[Frame, int, bool]]:
    """Yield frame, TSN and lateness of every DATA chunk that is new.

    Late is what lies below a TSN seen before: overtaken, or a retransmission whose first
    transmission was lost before it came to this capture.
    """
    highest = None
    for frame, tsn, new in both.sent():
        # Serial number arithmetic of RFC 1982, as RFC 9260 section 1.6 has it.
        late = highest is not None and (tsn - highest) % 2**32 >= 2**31
        if new:
            yield frame, tsn, late
            highest = highest if late else tsn


def test_runs_are_the_order_of_ways_of_new_data(both: Both) -> None:
    """Late chunks on another path are no sign that new DATA moved there."""
    runs: list[list[tuple[Frame, int, bool]]] = []
    for frame, tsn, late in first_sights(both):
        if runs and runs[-1][0][0].way == frame.way:
            runs[-1].append((frame, tsn, late))
        elif not late:
            runs.append([(frame, tsn, late)])
    rows = both.ledger.rows("runs")
    assert len(rows) == len(runs)
    for row, run in zip(rows, runs, strict=True):
        first, last = run[0][0], run[-1][0]
        assert both.way(row) == first.way
        assert row["chunks"] == len(run)
        assert (row["first_frame"], row["first_ns"]) == (first.number, first.time_ns)
        assert (row["last_frame"], row["last_ns"]) == (last.number, last.time_ns)
        on_time = [tsn for _, tsn, late in run if not late]
        assert (row["first_tsn"], row["last_tsn"]) == (on_time[0], on_time[-1])


def test_late_chunks(both: Both) -> None:
    late = Counter(frame.way for frame, _, late in first_sights(both) if late)
    assert sums(both, "late_chunks") == late


def test_all_data_is_acknowledged_once(both: Both) -> None:
    """The last SACK has everything, and each chunk was counted when it was first covered."""
    sacks = [int(t) for f in both.frames for t in f.fields["sctp.sack_cumulative_tsn_ack_raw"]]
    tsns = {tsn for _, tsn, _ in both.sent()}
    assert sacks[-1] in tsns
    assert sum(sums(both, "acked_chunks").values()) == len(tsns)
    assert sums(both, "acked_bytes").total() == sums(both, "new_bytes").total()


def test_chunk_counts_by_type(both: Both) -> None:
    told: Counter[int] = Counter()
    for batch in ledger.stream(both.ledger.path):
        told.update(batch.column("chunk_type").to_pylist())
    assert told == Counter(kind for frame in both.frames for kind in frame.types)
    assert told[SACK] > 0


def test_heartbeats_and_their_acks(both: Both) -> None:
    """An ACK belongs to the HEARTBEAT whose information it returns."""
    info = "sctp.parameter_heartbeat_information"
    acks = {frame.fields[info][0]: frame for frame in both.frames if frame.has(HEARTBEAT_ACK)}
    beats = [frame for frame in both.frames if frame.has(HEARTBEAT)]
    rows = both.ledger.rows("heartbeats")
    assert [row["frame"] for row in rows] == [frame.number for frame in beats]
    for row, frame in zip(rows, beats, strict=True):
        assert (row["time_ns"], both.way(row)) == (frame.time_ns, frame.way)
        ack = acks.get(frame.fields[info][0])
        assert (row["ack_frame"], row["ack_ns"]) == (ack and ack.number, ack and ack.time_ns)
        assert row["rtt_ns"] == (ack and ack.time_ns - frame.time_ns)
    assert sum(row["ack_ns"] is not None for row in rows) == len(acks)


def test_asconf_and_its_acks(both: Both) -> None:
    serial, ack_serial = "sctp.asconf_seq_nr_number", "sctp.asconf_ack_seq_nr_number"
    asked = {f.fields[serial][0]: f for f in reversed(both.frames) if f.has(ASCONF)}
    acks = {f.fields[ack_serial][0]: f for f in reversed(both.frames) if f.has(ASCONF_ACK)}
    rows = both.ledger.rows("asconf")
    assert {row["serial"] for row in rows} == {int(value, 0) for value in asked}
    by_serial = {int(value, 0): (asked[value], acks[value]) for value in asked}
    for row in rows:
        question, answer = by_serial[row["serial"]]
        assert (row["frame"], row["time_ns"]) == (question.number, question.time_ns)
        assert (row["ack_frame"], row["ack_ns"]) == (answer.number, answer.time_ns)
        assert row["outcome"] == "success"


def test_silences(both: Both) -> None:
    times: dict[Way, list[Frame]] = defaultdict(list)
    for frame in both.frames:
        times[frame.way].append(frame)
    expected = {
        (way, before.number, after.number)
        for way, frames in times.items()
        for before, after in pairwise(frames)
        if after.time_ns - before.time_ns >= SILENCE_NS
    }
    rows = both.ledger.rows("silences")
    assert {(both.way(row), row["start_frame"], row["end_frame"]) for row in rows} == expected
    assert len(rows) == len(expected)


def read(name: str) -> ledger.Ledger:
    return ledger.read(CAPTURES / name / "client.pcapng")


def total(found: ledger.Ledger, column: str) -> int:
    return sum(row[column] for row in found.rows("intervals"))


@pytest.mark.parametrize(
    ("name", "chunks", "again"), [("failover-v6", 1515, 15), ("lossy-v4", 2090, 90)]
)
def test_known_truth(name: str, chunks: int, again: int) -> None:
    found = read(name)
    assert total(found, "data_chunks") == chunks
    assert total(found, "retransmitted_chunks") == len(found.rows("retransmissions")) == again
    assert {row["path"] for row in found.rows("retransmissions")} == {1}


def test_failover_moves_away_and_back() -> None:
    assert [row["path"] for row in read("failover-v6").rows("runs")] == [0, 1, 0]


def test_lossy_run_never_moves_new_data() -> None:
    assert [row["path"] for row in read("lossy-v4").rows("runs")] == [0]


def test_asconf_run_adds_sets_and_deletes() -> None:
    found = read("asconf-handover-v4")
    asked = [(row["request"], row["address"], row["outcome"]) for row in found.rows("asconf")]
    assert asked == [
        ("add", "10.0.2.1", "success"),
        ("set-primary", "10.0.2.1", "success"),
        ("delete", "10.0.1.1", "success"),
    ]
    left = [row["address"] for row in found.rows("addresses") if row["left_ns"] is not None]
    assert left == ["10.0.1.1"]
    assert total(found, "data_chunks") == total(found, "new_chunks") == 700
