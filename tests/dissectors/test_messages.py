"""User messages: put together as tshark does it, named as IANA does, added up without loss."""

from __future__ import annotations

import random
import struct
import subprocess
from pathlib import Path
from typing import Any

import oracle
import pytest
from crafting import RAW, SECOND, START_NS, V4, Record, chunk, pcap, sctp
from pathscope.dissectors import ledger
from running import CAPTURES, inside

Row = dict[str, Any]

COMMITTED = sorted(CAPTURES.glob("*/*.pcapng"))
ENDING, BEGINNING, UNORDERED = 1, 2, 4


def messages(path: Path) -> list[Row]:
    return [row for batch in ledger.stream(path, ledger.MESSAGES) for row in batch.to_pylist()]


def data(tsn: int, flags: int, size: int, *, stream: int = 0, ssn: int = 0, ppid: int = 0) -> bytes:
    head = struct.pack("!IHHI", tsn % (1 << 32), stream, ssn % 65_536, ppid)
    return chunk(0, flags, head + b"d" * size)


def i_data(tsn: int, flags: int, size: int, word: int, *, stream: int = 0, mid: int = 0) -> bytes:
    """`word` is the PPID of the first fragment, the fragment sequence number of the others."""
    head = struct.pack("!IHHII", tsn % (1 << 32), stream, 0, mid % (1 << 32), word)
    return chunk(64, flags, head + b"i" * size)


def write(path: Path, packets: list[bytes], port: int = 1000) -> Path:
    """Write packets of one chunk each, a millisecond apart."""
    frames = [bytes(V4 / sctp(one, source_port=port)) for one in packets]
    records = [Record(START_NS + n * SECOND // 1000, one) for n, one in enumerate(frames)]
    path.write_bytes(pcap(records, link_type=RAW))
    return path


@pytest.mark.parametrize("capture", COMMITTED, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_the_labs_messages_are_tsharks_chunks(capture: Path) -> None:
    """Each DATA chunk of the lab has B and E set, so it is a message, at its first sight."""
    names = (
        "sctp.data_tsn_raw", "sctp.data_sid", "sctp.data_ssn", "sctp.data_payload_proto_id",
        "sctp.data_b_bit", "sctp.data_e_bit", "sctp.chunk_type", "sctp.chunk_length",
    )  # fmt: skip
    expected: dict[int, tuple[int, ...]] = {}
    for frame in oracle.fields(capture, names, "sctp.data_tsn_raw"):
        kinds = zip(frame["sctp.chunk_type"], frame["sctp.chunk_length"], strict=True)
        sizes = [int(length) - 16 for kind, length in kinds if kind == "0"]
        assert set(frame["sctp.data_b_bit"] + frame["sctp.data_e_bit"]) == {"1"}
        fields = [[int(value, 0) for value in frame[name]] for name in names[:4]]
        for tsn, stream, ssn, ppid, size in zip(*fields, sizes, strict=True):
            expected.setdefault(tsn, (stream, ssn, ppid, size))
    rows = messages(capture)
    found = {
        row["first_tsn"]: (row["stream"], row["sequence"], row["ppid"], row["user_bytes"])
        for row in rows
    }
    assert found == expected
    assert len(rows) == len(found)
    assert {(row["outcome"], row["fragments"]) for row in rows} == {("complete", 1)}


def shuffled(packets: list[bytes], dice: random.Random) -> list[bytes]:
    """Let packets overtake each other by up to three places; the first stays first."""
    places = [n + dice.uniform(0, 3) for n in range(len(packets))]
    order = sorted(range(1, len(packets)), key=lambda n: places[n])
    return [packets[0], *(packets[n] for n in order)]


def cut_data(dice: random.Random, tsn: int) -> list[bytes]:
    packets = [data(tsn, BEGINNING | ENDING, 5, ssn=65_530)]
    for ssn in range(65_531, 65_591):
        count = dice.randint(1, 6)
        for index in range(count):
            tsn += 1
            flags = (index == 0) * BEGINNING | (index == count - 1) * ENDING
            packets.append(data(tsn, flags, dice.randint(1, 300), ssn=ssn))
    return packets


def cut_i_data(dice: random.Random, tsn: int) -> list[bytes]:
    """Interleave fragments of messages in three streams."""
    packets = [i_data(tsn, BEGINNING | ENDING, 5, 0)]
    mids = {1: 0, 2: 0, 3: 0}
    queues: dict[int, list[int]] = {1: [], 2: [], 3: []}
    for _ in range(200):
        tsn += 1
        stream = dice.choice(list(queues))
        begins = not queues[stream]
        if begins:
            mids[stream] += 1
            queues[stream] = list(range(dice.randint(1, 6)))
        fragment = queues[stream].pop(0)
        ends = not queues[stream]
        flags = begins * BEGINNING | ends * ENDING
        size = dice.randint(1, 300)
        packets.append(i_data(tsn, flags, size, fragment, stream=stream, mid=mids[stream]))
    return packets


@pytest.mark.parametrize("cut", [cut_data, cut_i_data])
@pytest.mark.parametrize("seed", [1, 2])
def test_fragments_come_together_as_in_tshark(tmp_path: Path, cut: Any, seed: int) -> None:
    dice = random.Random(seed)  # noqa: S311
    # TSNs wrap on the way.
    path = write(tmp_path / "fragments.pcap", shuffled(cut(dice, (1 << 32) - 50), dice))
    names = ("frame.number", "sctp.fragment", "data.len")
    command = ["tshark", "-n", "-r", str(path), "-o", "sctp.reassembly:TRUE", "-T", "fields"]
    for name in names:
        command += ["-e", name]
    lines = subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()
    whole = {}
    for frame, fragments, size in (line.split("\t") for line in lines):
        if size:
            whole[int(frame)] = (len(fragments.split(",")) if fragments else 1, int(size))
    rows = messages(path)
    complete = [row for row in rows if row["outcome"] == "complete"]
    found = {row["last_frame"]: (row["fragments"], row["user_bytes"]) for row in complete}
    assert found == whole
    assert len(found) == len(complete) > 50
    assert {row["outcome"] for row in rows} <= {"complete", "open"}


def test_names_are_those_that_tshark_knows(tmp_path: Path) -> None:
    """One table, IANA's; tshark words its entries otherwise, and has no E1AP (TS 37.483)."""
    listing = subprocess.run(
        ["tshark", "-G", "values"], check=True, capture_output=True, text=True
    ).stdout
    lines = [line.split("\t") for line in listing.splitlines()]
    theirs = {
        int(line[2], 0): line[3]
        for line in lines
        if line[:2] == ["V", "sctp.data_payload_proto_id"] and line[3] != "Unassigned"
    }
    assert len(theirs) > 60
    numbers = range(200)
    packets = [data(1 + ppid, 3, 1, stream=ppid, ppid=ppid) for ppid in numbers]
    rows = ledger.read(write(tmp_path / "ppids.pcap", packets)).rows("streams")
    ours = {row["ppid"]: row["ppid_name"] for row in rows if row["ppid_name"] != "unknown"}
    assert set(theirs) <= set(ours)
    assert set(ours) - set(theirs) <= {64}
    first = {number: name.split()[0].split("/")[0].upper() for number, name in theirs.items()}
    alike = [number for number in theirs if first[number] in ours[number].upper()]
    renamed = {number: (ours[number], theirs[number]) for number in set(theirs) - set(alike)}
    assert set(renamed) == {0, 42, 43, 44, 55}  # "not specified", "3GPP RNA" ...


@pytest.mark.parametrize("capture", COMMITTED, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_no_chunk_and_no_byte_is_lost(capture: Path) -> None:
    found = ledger.read(capture)
    rows, bins = found.rows("streams"), found.rows("intervals")
    assert sum(row["chunks"] for row in rows) == sum(one["new_chunks"] for one in bins)
    assert sum(row["user_bytes"] for row in rows) == sum(one["new_bytes"] for one in bins)
    assert sum(row["messages"] for row in rows) == len(messages(capture))


def test_messages_that_are_not_complete_come_too(tmp_path: Path) -> None:
    """At the end of the capture, with what is still open."""
    path = write(
        tmp_path / "open.pcap",
        [
            data(10, 0, 100, ppid=46),
            data(11, ENDING, 100, ppid=46),
            data(12, BEGINNING | UNORDERED, 100, stream=2, ppid=46),
            i_data(13, BEGINNING, 100, 60, stream=2, mid=7),
            i_data(14, 0, 100, 1, stream=2, mid=7),
        ],
    )
    rows = messages(path)
    told = [(row["outcome"], row["ordered"], row["interleaved"], row["fragments"]) for row in rows]
    assert told == [
        ("partial", True, False, 2), ("open", False, False, 1), ("open", True, True, 2)
    ]  # fmt: skip
    assert [row["ppid_name"] for row in rows] == ["Diameter", "Diameter", "NGAP"]
    assert [row["sequence"] for row in rows] == [0, 0, 7]


def test_contradictions_are_problems(tmp_path: Path) -> None:
    path = write(
        tmp_path / "odd.pcap",
        [data(1, 3, 9), data(2, BEGINNING, 9), data(3, BEGINNING, 9), data(4, 0, 9, stream=5)],
    )
    found = ledger.read(path)
    assert [(row["frame"], row["kind"], row["what"]) for row in found.rows("problems")] == [
        (3, "malformed", "a user message begins before the one before it has ended"),
        (4, "malformed", "fragments of a user message differ in stream or sequence number"),
    ]
    assert found.capture["problems"] == {"malformed chunk": 2}
    assert found.capture["frames"]["partial"] == 2


def test_the_command_streams_messages() -> None:
    printed = inside("dissect", CAPTURES / "lossy-v4/client.pcapng", "--table", "messages")
    lines = printed.stdout.splitlines()
    assert lines[0].startswith('"association","sender","stream","ordered","sequence"')
    assert len(lines) == 2001


def test_an_empty_capture_has_a_batch_of_messages(tmp_path: Path) -> None:
    path = write(tmp_path / "empty.pcap", [])
    (batch,) = ledger.stream(path, ledger.MESSAGES)
    assert batch.num_rows == 0
    assert batch.schema.equals(ledger.schemas()[ledger.MESSAGES], check_metadata=True)
