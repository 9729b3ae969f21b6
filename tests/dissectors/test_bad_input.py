"""Bad input: a clear error or what could be read; no panic, no hang, no frame unaccounted for."""

from __future__ import annotations

import struct
import time
from pathlib import Path
from typing import Any

import pytest
from crafting import (
    LINK,
    RAW,
    START_NS,
    V4,
    Order,
    Pcapng,
    Record,
    chunk,
    data,
    ethernet_records,
    pcap,
    sctp,
)
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from pathscope.dissectors import ledger
from pathscope.dissectors._core import CaptureError
from reading import Row, chunk_rows

CAPTURES = Path(__file__).parents[2] / "fixtures" / "captures"
RECORDS = ethernet_records(5)
HEADER, RECORD = 24, 16 + len(RECORDS[0].data)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "capture"


def conserved(facts: dict[str, Any]) -> bool:
    frames = facts["frames"]
    parts = frames["dissected"] + frames["partial"] + sum(frames["skipped"].values())
    return bool(frames["read"] == parts)


@pytest.mark.parametrize(
    ("content", "found"),
    [
        (b"", "an empty file"),
        (b"Dear diary,\ntoday nothing was captured.\n", '"Dear diary,\\ntoda"'),
        (b"\xd4\xc3", '"\\xd4\\xc3"'),
        (b"BZh91AY&SY", "a bzip2-compressed file"),
        (b"PK\x03\x04" + bytes(30), "a zip archive"),
    ],
    ids=["empty", "text", "two-bytes", "bzip2", "zip"],
)
def test_what_is_no_capture(path: Path, content: bytes, found: str) -> None:
    path.write_bytes(content)
    with pytest.raises(CaptureError) as raised:
        ledger.read(path)
    assert str(raised.value) == (
        f"{path}: at byte 0: expected a pcap, pcapng or snoop header, or a line of an ns-2 trace,"
        f" found {found}"
    )


def test_pcap_header_cut(path: Path) -> None:
    path.write_bytes(pcap([])[:20])
    with pytest.raises(CaptureError, match="expected a pcap file header of 24 bytes") as raised:
        ledger.read(path)
    assert str(raised.value).startswith(f"{path}: at byte ")


def test_pcap_of_another_version(path: Path) -> None:
    content = bytearray(pcap(RECORDS))
    content[4] = 3
    path.write_bytes(content)
    with pytest.raises(CaptureError) as raised:
        ledger.read(path)
    assert str(raised.value) == f"{path}: at byte 4: expected pcap version 2.4, found version 3.4"


def test_missing_file(path: Path) -> None:
    with pytest.raises(CaptureError) as raised:
        ledger.read(path)
    assert str(raised.value).startswith(f"{path}: No such file or directory")


def test_directory(tmp_path: Path) -> None:
    with pytest.raises(CaptureError) as raised:
        ledger.read(tmp_path)
    assert str(raised.value).startswith(f"{tmp_path}: Is a directory")


def test_bin_must_be_positive(path: Path) -> None:
    path.write_bytes(pcap(RECORDS))
    with pytest.raises(ValueError, match="bin_ns must be positive"):
        ledger.read(path, ledger.ReadOptions(bin_ns=0))


def streamed(path: Path) -> tuple[int, str | None]:
    """Return how many rows the chunk stream gave, and the error it then ended with."""
    rows = 0
    try:
        for batch in ledger.stream(path):
            rows += batch.num_rows
    except CaptureError as error:
        return rows, str(error)
    return rows, None


def damage(path: Path) -> tuple[int, str]:
    """Return frames read and the damage; the chunk stream tells the same after its rows."""
    found = ledger.read(path)
    facts = found.capture
    assert conserved(facts)
    told: str = facts["damage"]
    rows, error = streamed(path)
    assert error == told
    assert rows == facts["frames"]["dissected"]
    (problem,) = found.rows("problems")
    assert (problem["layer"], problem["kind"], problem["frame"]) == ("file", "malformed", 0)
    assert problem["what"].startswith("expected ")
    assert told.startswith(f"{path}: at byte {problem['offset']}: expected ")
    return facts["frames"]["read"], told


def test_pcap_cut_in_a_record(path: Path) -> None:
    path.write_bytes(pcap(RECORDS)[:-10])
    read, told = damage(path)
    offset = HEADER + 4 * RECORD
    assert read == 4
    assert told == (
        f"{path}: at byte {offset}: expected a record of {RECORD} bytes, "
        f"found {RECORD - 10} bytes, then end of file"
    )


def test_pcap_cut_in_a_record_header(path: Path) -> None:
    path.write_bytes(pcap(RECORDS)[: HEADER + 2 * RECORD + 7])
    read, told = damage(path)
    assert read == 2
    assert f"at byte {HEADER + 2 * RECORD}: expected a record header of 16 bytes" in told


def test_record_of_four_gigabytes(path: Path) -> None:
    content = bytearray(pcap(RECORDS))
    struct.pack_into("<I", content, HEADER + 3 * RECORD + 8, 0xFFFFFFFF)
    path.write_bytes(content)
    read, told = damage(path)
    assert read == 3
    assert told == (
        f"{path}: at byte {HEADER + 3 * RECORD}: "
        "expected a captured length of at most 262144 bytes, found 4294967295"
    )


@pytest.mark.parametrize("order", ["<", ">"])
@pytest.mark.parametrize("length", [0, 8, 13, 0xFFFFFFFC])
def test_pcapng_block_with_an_impossible_length(path: Path, order: Order, length: int) -> None:
    file = Pcapng(order).section().interface("eth0").packets(RECORDS[:2])
    good = file.bytes()
    path.write_bytes(good + struct.pack(f"{order}2I", 6, length) + bytes(64))
    read, told = damage(path)
    assert read == 2
    assert f"at byte {len(good)}: expected a block length of 12 to " in told
    assert told.endswith(f"found {length}")


def test_pcapng_packet_of_an_undeclared_interface(path: Path) -> None:
    file = Pcapng().section().interface("eth0").packets(RECORDS[:2])
    good = len(file.bytes())
    path.write_bytes(file.packet(Record(START_NS, RECORDS[2].data, interface=5)).bytes())
    read, told = damage(path)
    assert read == 2
    assert told == (
        f"{path}: at byte {good}: expected one of the 1 interfaces its section declares before, "
        "found interface 5"
    )


def test_damage_in_one_of_several_files_says_in_which(path: Path, tmp_path: Path) -> None:
    good = tmp_path / "good"
    good.write_bytes(pcap(RECORDS))
    path.write_bytes(pcap(RECORDS)[:-10])
    found = ledger.read([good, path])
    (problem,) = found.rows("problems")
    offset = HEADER + 4 * RECORD
    assert problem["what"].startswith(f"{path}: expected a record of {RECORD} bytes, found ")
    assert (problem["layer"], problem["offset"]) == ("file", offset)
    assert found.capture["frames"]["read"] == 9


def problems(path: Path) -> tuple[dict[str, Any], list[Row]]:
    found = ledger.read(path)
    assert conserved(found.capture)
    assert found.capture["damage"] is None
    return found.capture["frames"], found.rows("problems")


IP_TO_SCTP = 20 + 12


@pytest.mark.parametrize(
    ("bad", "needed"),
    [
        (b"\0\3\0\0" + bytes(12), 4),
        (b"\0\3\0\3" + bytes(12), 4),
        (b"\0\3\1\0" + bytes(12), 256),
        (b"\0\3\xff\xff" + bytes(12), 65_535),
    ],
    ids=["zero", "below-4", "beyond-the-packet", "most"],
)
def test_chunk_with_an_impossible_length(path: Path, bad: bytes, needed: int) -> None:
    good = chunk(11)
    frame = bytes(V4 / sctp(good, bad, good))
    path.write_bytes(pcap([Record(START_NS, frame)], link_type=RAW))
    frames, found = problems(path)
    assert frames == {"read": 1, "dissected": 0, "partial": 1, "skipped": {}}
    (problem,) = found
    assert (problem["layer"], problem["kind"], problem["frame"]) == ("chunk", "malformed", 1)
    assert problem["offset"] == IP_TO_SCTP + len(good)
    assert problem["needed"] == needed
    rows = chunk_rows(path)
    # What stands before it is read, and nothing is guessed after it.
    assert [(row["chunk_name"], row["offset"]) for row in rows] == [("COOKIE ACK", 12)]


@pytest.mark.parametrize("name", ["sack", "init", "data"])
def test_chunk_too_short_for_its_fields(path: Path, name: str) -> None:
    kind = {"sack": 3, "init": 1, "data": 0}[name]
    frame = bytes(V4 / sctp(chunk(kind, 0, bytes(6)), chunk(11)))
    path.write_bytes(pcap([Record(START_NS, frame)], link_type=RAW))
    frames, found = problems(path)
    assert frames["partial"] == 1
    assert {problem["kind"] for problem in found} == {"malformed"}
    rows = chunk_rows(path)
    # A chunk's length is all that is needed to find the next one.
    assert [row["chunk_type"] for row in rows] == [kind, 11]


def test_sack_that_counts_more_blocks_than_it_has(path: Path) -> None:
    frame = bytes(V4 / sctp(chunk(3, 0, struct.pack("!IIHH", 9, 5000, 65_535, 65_535))))
    path.write_bytes(pcap([Record(START_NS, frame)], link_type=RAW))
    frames, (problem,) = problems(path)
    assert frames["partial"] == 1
    assert problem["what"] == "the gap blocks and duplicate TSNs it counts"


def test_cut_by_the_capture_is_truncated_not_malformed(path: Path) -> None:
    whole = bytes(V4 / data(1, user_bytes=100))
    lengths = range(IP_TO_SCTP + 4, len(whole))
    records = [Record(START_NS, whole[:kept], wire_length=len(whole)) for kept in lengths]
    path.write_bytes(pcap(records, link_type=RAW))
    _, found = problems(path)
    assert {problem["kind"] for problem in found} <= {"truncated"}
    rows = chunk_rows(path)
    assert {row["truncated"] for row in rows} == {True}
    # The length on the wire still says how much was sent.
    assert {row["user_bytes"] for row in rows if row["tsn"] is not None} == {100}


@pytest.mark.parametrize("kept", range(20, 32))
def test_sctp_header_cut(path: Path, kept: int) -> None:
    whole = bytes(V4 / data(1))
    record = Record(START_NS, whole[:kept], wire_length=len(whole))
    path.write_bytes(pcap([record], link_type=RAW))
    frames, (problem,) = problems(path)
    assert frames["skipped"] == {"truncated sctp": 1}
    assert (problem["kind"], problem["layer"]) == ("truncated", "sctp")
    assert (problem["offset"], problem["needed"]) == (20, 12)
    assert problem["available"] == kept - 20


def test_problem_rows_are_bounded_and_counts_are_not(path: Path) -> None:
    frame = bytes(LINK / V4 / sctp(b"\0\3\0\0"))
    count = 10_500
    path.write_bytes(pcap(Record(START_NS, frame) for _ in range(count)))
    found = ledger.read(path)
    assert len(found.rows("problems")) == 10_000
    assert found.capture["problems"] == {"malformed chunk": count}


FILES = sorted(CAPTURES.glob("*/client.pcapng"))
SEEDS = [pcap(RECORDS), *(file.read_bytes()[:65_536] for file in FILES)]
CHANGES = st.lists(
    st.tuples(st.integers(0, 65_535), st.integers(0, 255), st.sampled_from(["set", "drop", "add"])),
    max_size=12,
)
# A 64 KiB file takes a millisecond or two; the rest is patience with a busy machine.
MOST_SECONDS = 10


def read_or_refuse(path: Path) -> tuple[ledger.Ledger | None, str]:
    try:
        return ledger.read(path), ""
    except CaptureError as error:
        return None, str(error)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=300)
@given(seed=st.sampled_from(range(len(SEEDS))), changes=CHANGES, keep=st.integers(0, 65_536))
@example(seed=1, changes=[], keep=65_536)
def test_damaged_captures_are_read_or_refused(
    path: Path, seed: int, changes: list[tuple[int, int, str]], keep: int
) -> None:
    content = bytearray(SEEDS[seed])
    for place, value, how in changes:
        at = place % (len(content) + 1)
        if how == "set":
            content[at : at + 1] = bytes([value])
        elif how == "drop":
            del content[at : at + value]
        else:
            content[at:at] = bytes([value]) * value
    path.write_bytes(content[:keep])
    begin = time.monotonic()
    found, refusal = read_or_refuse(path)
    if found is None:
        assert refusal.startswith(f"{path}: at byte ")
    else:
        assert conserved(found.capture)
        assert streamed(path)[1] == found.capture["damage"]
    assert time.monotonic() - begin < MOST_SECONDS


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=200)
@given(
    st.lists(
        st.tuples(st.sampled_from([0, 1, 2, 3, 4, 5, 6, 9, 16, 64, 128, 130, 192, 193, 194, 200]),
                  st.integers(0, 40), st.binary(max_size=40)),
        max_size=6,
    ),
    st.integers(0, 300),
)  # fmt: skip
def test_hostile_chunks_are_read_or_reported(
    path: Path, chunks: list[tuple[int, int, bytes]], cut: int
) -> None:
    """Chunks whose lengths and values are anything, cut anywhere."""
    value = b"".join(struct.pack("!BBH", k, 0, length) + body for k, length, body in chunks)
    frame = bytes(V4 / sctp(value))
    record = Record(START_NS, frame[: max(IP_TO_SCTP, len(frame) - cut)], wire_length=len(frame))
    path.write_bytes(pcap([record], link_type=RAW))
    frames, found = problems(path)
    assert frames["read"] == 1
    assert bool(found) == bool(frames["partial"])
    for problem in found:
        assert problem["what"]
        assert problem["offset"] <= len(frame)
