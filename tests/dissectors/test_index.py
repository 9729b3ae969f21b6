"""Reading through the offset index gives exactly the rows of the whole table, and reads little."""

from __future__ import annotations

import gzip
import json
import os
import shutil
import struct
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from crafting import (
    LINK,
    SECOND,
    START_NS,
    V4,
    Pcapng,
    Record,
    data,
    ethernet_records,
    fragments,
    pcap,
)
from hypothesis import given
from hypothesis import strategies as st
from pathscope import CaptureError, ReadOptions, Window, dissect, show
from pathscope.dissectors import index as indexes
from pathscope.dissectors import indexing, ledger
from pathscope.dissectors.index import Index, UnfitIndexError
from pathscope.dissectors.indexing import build
from pathscope.dissectors.selection import Range, select
from pyarrow import parquet
from running import CAPTURES, FAILOVER, LOSSY, RUNS
from scapy.layers.inet import IP

OPTIONS = ReadOptions()
SMALL_BLOCKS = 20_000
FIXTURES = sorted(path for run in RUNS for path in (CAPTURES / run).glob("*.pcapng"))


@pytest.fixture(scope="module", autouse=True)
def small_blocks() -> Iterator[None]:
    """Make the captures here large for their index."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(indexing, "BLOCK_BYTES", SMALL_BLOCKS)
        yield


@pytest.fixture(scope="module")
def indexed(tmp_path_factory: pytest.TempPathFactory) -> dict[Path, tuple[Index, pa.Table]]:
    """Index every fixture, and read its whole chunk table."""
    found = {}
    for number, path in enumerate(FIXTURES):
        copy = tmp_path_factory.mktemp(f"fixture-{number}") / path.name
        shutil.copyfile(path, copy)
        found[path] = build(copy, OPTIONS), whole(copy)
    return found


def whole(path: Path, options: ReadOptions = OPTIONS) -> pa.Table:
    return pa.Table.from_batches(ledger.stream(path, ledger.CHUNKS, options))


def through(index: Index, within: Range | None, association: int | None) -> pa.Table:
    schema = ledger.schemas()[ledger.CHUNKS]
    return pa.Table.from_batches(
        (part.rows for part in index.chunks(within, association)), schema=schema
    )


def agree(index: Index, chunks: pa.Table, within: Range | None, association: int | None) -> None:
    expected = select(chunks, "chunks", within=within, association=association, bin_ns=1)
    assert through(index, within, association).equals(expected)


@pytest.mark.parametrize("path", FIXTURES, ids=lambda path: f"{path.parent.name}-{path.stem}")
@given(data=st.data())
def test_any_window_of_the_fixtures(
    path: Path, data: st.DataObject, indexed: dict[Path, tuple[Index, pa.Table]]
) -> None:
    index, chunks = indexed[path]
    first_ns, last_ns = index.facts["start_ns"], index.facts["end_ns"]
    times = st.integers(first_ns - SECOND, last_ns + SECOND)
    # Half of the ends are packets' own times, where being in or out is decided.
    times |= st.sampled_from(sorted(set(chunks["time_ns"].to_pylist())))
    start_ns, end_ns = sorted((data.draw(times), data.draw(times)))
    association = data.draw(st.sampled_from((None, 0, 1)))
    agree(index, chunks, Range(start_ns, end_ns), association)


def test_the_fixtures_have_many_blocks_and_none_is_empty(
    indexed: dict[Path, tuple[Index, pa.Table]],
) -> None:
    for index, chunks in indexed.values():
        parts = list(index.chunks(None, 0))
        assert len(parts) > 10
        assert sum(part.rows.num_rows for part in parts) == chunks.num_rows


@pytest.mark.parametrize("table", [name for name in ledger.schemas() if name != ledger.CHUNKS])
@pytest.mark.parametrize("flows", [False, True])
def test_kept_tables_come_from_the_index_unchanged(
    tmp_path: Path, table: str, flows: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "client.pcapng"
    shutil.copyfile(LOSSY, path)
    options = ReadOptions(flows=flows)
    expected = pa.Table.from_batches(dissect(path, table, options))
    build(path, ledger.options_for(table, options))
    monkeypatch.setattr(ledger, "read", None)  # the capture is not read again
    found = pa.Table.from_batches(dissect(path, table, options))
    assert found.equals(expected)
    assert found.schema.equals(expected.schema, check_metadata=True)


def crowd() -> bytes:
    """Make a capture of two sections and three interfaces, out of order in every way.

    Packets of interfaces stand in bursts, some in fragments whose halves lie far apart, some twice,
    some sent again; some blocks have no time of their own; the second section is big-endian.
    """
    packets = []
    for n in range(60):
        packet = V4.copy()
        packet.id = n + 1
        packets.append(packet / data(1 + n // 2 if n % 7 == 0 else n + 1, user_bytes=400))
    records = []
    for n, packet in enumerate(packets):
        time_ns = START_NS + n * 10_000_000
        pieces = fragments(packet, 200) if n % 5 == 0 else [packet]
        for late, piece in enumerate(pieces):
            records.append((time_ns + late * 90_000_000, bytes(LINK / piece)))
        if n % 11 == 0:
            records.append((time_ns + 1000, bytes(LINK / packet)))
    first = Pcapng().section().interface("wlan0").interface("wwan0", resolution=9)
    second = Pcapng(">").section().interface("eth0")
    for number, (time_ns, content) in enumerate(sorted(records)):
        file = first if number < len(records) // 2 else second
        file.packet(Record(time_ns, content, interface=number % 2 if file is first else 0))
        if number % 9 == 0:
            simple = bytes(LINK / V4 / data(1000 + number))
            file.block(3, struct.pack(f"{file.order}I", len(simple)) + simple)
    # Bursts: every other ten blocks of the first section before the ones between them.
    blocks = first.parts[3:]
    bursts = [blocks[start : start + 10] for start in range(0, len(blocks), 10)]
    first.parts[3:] = [block for burst in (*bursts[1::2], *bursts[::2]) for block in burst]
    return first.bytes() + second.bytes()


@pytest.mark.parametrize("window_ns", [None, 0, 50_000_000])
def test_a_capture_out_of_order(tmp_path: Path, window_ns: int | None) -> None:
    path = tmp_path / "crowd.pcapng"
    path.write_bytes(crowd())
    options = ReadOptions(reorder_window_ns=window_ns)
    chunks = whole(path, options)
    assert chunks.num_rows > 60
    assert True in chunks["duplicate_frame"].to_pylist()
    assert 2 in chunks["transmission"].to_pylist()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(indexing, "BLOCK_BYTES", 2_000)
        index = build(path, options)
    for start in range(0, 700, 35):
        within = Range(START_NS + start * 1_000_000, START_NS + (start + 90) * 1_000_000)
        agree(index, chunks, within, None)
    for association in (0, 1):
        agree(index, chunks, None, association)


def test_encapsulated_and_filtered(tmp_path: Path) -> None:
    """The index has what a reading with its options has."""
    path = tmp_path / "client.pcapng"
    shutil.copyfile(FAILOVER, path)
    options = ReadOptions(filter="net 2001:db8:2::/64", udp_ports=(5000, 9899))
    index = build(path, options)
    assert Index.find(path, ReadOptions(filter=options.filter, udp_ports=(9899, 5000)))
    agree(index, whole(path, options), None, 0)


# --- how much is read --------------------------------------------------------------------------


def long_capture(seconds: int) -> bytes:
    """Make a capture of DATA, 100 packets and about 0.1 MB a second."""
    template = bytes(LINK / V4 / data(0, user_bytes=1000))
    tsn = template.index(b"x" * 100) - 12
    ip = IP(template[14:])
    checksum = 14 + ip.ihl * 4 + 8
    records = []
    for n in range(100 * seconds):
        packet = bytearray(template)
        packet[checksum : checksum + 4] = bytes(4)
        packet[tsn : tsn + 4] = struct.pack("!I", n + 1)
        records.append(Record(START_NS + n * 10_000_000, bytes(packet)))
    return pcap(records)


@pytest.fixture
def long(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(indexing, "BLOCK_BYTES", 1 << 20)
    path = tmp_path / "long.pcap"
    path.write_bytes(long_capture(seconds=100))
    assert path.stat().st_size > 10_000_000
    build(path, OPTIONS)
    return path


def test_a_second_is_read_without_the_rest(long: Path) -> None:
    index = Index.find(long, OPTIONS)
    assert index is not None
    within = Window.parse("50", "51").range(START_NS)
    parts = list(index.chunks(within, None))
    assert sum(part.rows.num_rows for part in parts) == 100
    # A second lies in two blocks at most; one look of 64 KiB goes beyond the last packet.
    assert sum(part.read_bytes for part in parts) <= 2 * ((1 << 20) + (1 << 16))


def test_what_is_not_read_may_be_anything(long: Path) -> None:
    """The same shown without counting: all but the window's blocks is overwritten."""
    window = Window.parse("50", "51")
    expected = pa.Table.from_batches(dissect(long, window=window))
    index = Index.find(long, OPTIONS)
    assert index is not None
    within = window.range(START_NS)
    blocks = index._table(indexes.BLOCKS).to_pylist()
    read = [
        number
        for number, block in enumerate(blocks)
        if block["least_ns"] < within.end_ns and block["greatest_ns"] >= within.start_ns
    ]
    status = long.stat()
    content = bytearray(long.read_bytes())
    before, after = blocks[read[0]]["offset"], blocks[read[-1] + 1]["offset"]
    for start, end in ((indexes.HASHED_BYTES, before), (after, status.st_size - 65_536)):
        content[start:end] = b"\xff" * (end - start)
    long.write_bytes(content)
    os.utime(long, ns=(status.st_atime_ns, status.st_mtime_ns))
    assert pa.Table.from_batches(dissect(long, window=window)).equals(expected)
    with pytest.raises(CaptureError):
        list(dissect(long))


def test_an_index_is_small(long: Path) -> None:
    packets = indexes.folder_of(long) / f"{indexes.PACKETS}.parquet"
    assert packets.stat().st_size < long.stat().st_size / 100


# --- when it is not used -----------------------------------------------------------------------


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "capture.pcap"
    path.write_bytes(pcap(ethernet_records(30)))
    build(path, OPTIONS)
    return path


def touch(path: Path) -> None:
    os.utime(path, ns=(1, 1))


def grow(path: Path) -> None:
    content, times = path.read_bytes(), path.stat()
    path.write_bytes(content + content[24:40])
    os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))


def alter(path: Path) -> None:
    content, times = bytearray(path.read_bytes()), path.stat()
    content[-1] ^= 1
    path.write_bytes(content)
    os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))


def head(**changes: Any) -> Callable[[Path], None]:
    def change(path: Path) -> None:
        place = indexes.folder_of(path) / indexes.HEAD
        place.write_text(json.dumps(json.loads(place.read_text()) | changes))

    return change


def lose(path: Path) -> None:
    (indexes.folder_of(path) / "runs.parquet").unlink()


def spoil(path: Path) -> None:
    (indexes.folder_of(path) / indexes.HEAD).write_bytes(b"\xff")


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (touch, "the capture has changed since it was made"),
        (grow, "the capture has changed since it was made"),
        (alter, "the capture has changed since it was made"),
        (head(format=99), "its format is 99, not 1"),
        (head(definitions="x"), "it was made by another version of pathscope"),
        (lose, "it lacks the table runs"),
        (spoil, "it cannot be read: "),
        (head(options=[]), "it cannot be read: "),
    ],
)
def test_a_stale_index_is_not_used(path: Path, change: Callable[[Path], None], reason: str) -> None:
    change(path)
    with pytest.raises(UnfitIndexError, match=reason):
        Index.find(path, OPTIONS)
    if change is not grow:  # which has damaged the capture
        window = Window.parse("3", "5")
        within = window.range(START_NS + 123_456_000)
        expected = select(whole(path), "chunks", within=within, association=None, bin_ns=1)
        assert pa.Table.from_batches(dissect(path, window=window)).equals(expected)
    build(path, OPTIONS)
    assert Index.find(path, OPTIONS) is not None


@pytest.mark.parametrize(
    "options",
    [
        ReadOptions(filter="sctp"),
        ReadOptions(udp_ports=(1234,)),
        ReadOptions(reorder_window_ns=0),
        ReadOptions(bin_ns=7),
        ReadOptions(flows=True),
    ],
)
def test_other_options_are_another_reading(path: Path, options: ReadOptions) -> None:
    with pytest.raises(UnfitIndexError, match="it was made with other options"):
        Index.find(path, options)


def test_an_index_with_flows_serves_those_who_ask_for_none(path: Path) -> None:
    build(path, ReadOptions(flows=True))
    assert Index.find(path, OPTIONS) is not None
    assert Index.find(path, ReadOptions(flows=True)) is not None
    with pytest.raises(UnfitIndexError):
        Index.find(path, ReadOptions(flows=True, flow_capacity=3))


def test_a_packet_that_is_not_where_the_index_says(path: Path) -> None:
    place = indexes.folder_of(path) / f"{indexes.BLOCKS}.parquet"
    blocks = parquet.read_table(place)
    frames = pa.array([frame + 1000 for frame in blocks["frame"].to_pylist()], pa.uint64())
    column = blocks.schema.get_field_index("frame")
    parquet.write_table(blocks.set_column(column, "frame", frames), place)
    with pytest.raises(ValueError, match=f"{path}: frame 4 is not as its index says"):
        list(dissect(path, window=Window.parse("3", "5")))


# --- what cannot be indexed --------------------------------------------------------------------


def test_a_compressed_capture(tmp_path: Path) -> None:
    path = tmp_path / "capture.pcap.gz"
    path.write_bytes(gzip.compress(pcap(ethernet_records(3))))
    with pytest.raises(ValueError, match="takes one plain file, and this is compressed with gzip"):
        build(path, OPTIONS)
    assert [one.name for one in tmp_path.iterdir()] == [path.name]


def test_what_is_in_the_way_stays(tmp_path: Path) -> None:
    path = tmp_path / "capture.pcap"
    path.write_bytes(pcap(ethernet_records(3)))
    folder = indexes.folder_of(path)
    folder.mkdir()
    (folder / "mine").write_text("precious")
    with pytest.raises(FileExistsError, match="exists and is no index"):
        build(path, OPTIONS)
    assert (folder / "mine").read_text() == "precious"


def test_a_failure_leaves_the_old_index_and_nothing_else(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise OSError(28, "No space left on device")

    before = sorted(path.parent.rglob("*"))
    monkeypatch.setattr(indexing, "_write_tables", fail)
    with pytest.raises(OSError, match="No space left"):
        build(path, OPTIONS)
    assert sorted(path.parent.rglob("*")) == before
    assert Index.find(path, OPTIONS) is not None


def test_a_capture_that_grows_meanwhile(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write = indexing._write_tables

    def and_grow(*arguments: Any) -> dict[str, Any]:
        facts = write(*arguments)
        grow(path)
        return facts

    monkeypatch.setattr(indexing, "_write_tables", and_grow)
    with pytest.raises(CaptureError, match="changed while it was being indexed"):
        build(path, OPTIONS)


def test_a_capture_without_packets(tmp_path: Path) -> None:
    path = tmp_path / "empty.pcap"
    path.write_bytes(pcap([]))
    build(path, OPTIONS)
    (batch,) = dissect(path, window=Window.parse("1", "2"))
    assert batch.num_rows == 0


def test_a_damaged_capture_gives_what_is_there(tmp_path: Path) -> None:
    path = tmp_path / "cut.pcap"
    path.write_bytes(pcap(ethernet_records(5))[:-5])
    build(path, OPTIONS)
    found: list[pa.RecordBatch] = []
    with pytest.raises(CaptureError, match="expected a record of"):
        found.extend(dissect(path, window=Window.parse("2", "-")))
    assert sum(batch.num_rows for batch in found) == 2


def test_the_runs_are_those_of_the_lab() -> None:
    assert {path.parent.name for path in FIXTURES} == set(RUNS)


def altered(table: str, column: str, values: pa.Array) -> Callable[[Path], None]:
    def change(path: Path) -> None:
        place = indexes.folder_of(path) / f"{table}.parquet"
        found = parquet.read_table(place)
        number = found.schema.get_field_index(column)
        column_of = pa.repeat(values[0], found.num_rows)
        parquet.write_table(found.set_column(number, column, column_of), place)

    return change


def without(table: str, column: str) -> Callable[[Path], None]:
    def change(path: Path) -> None:
        place = indexes.folder_of(path) / f"{table}.parquet"
        parquet.write_table(parquet.read_table(place).drop_columns([column]), place)

    return change


def many(path: Path) -> None:
    """A small file of many rows: they are all the same."""
    place = indexes.folder_of(path) / f"{indexes.BLOCKS}.parquet"
    first = parquet.read_table(place).slice(0, 1)
    columns = [pa.repeat(first[name][0], path.stat().st_size + 1) for name in first.schema.names]
    parquet.write_table(pa.table(columns, schema=first.schema), place)


@pytest.mark.parametrize(
    "change",
    [
        altered(indexes.BLOCKS, "offset", pa.array([-1])),
        altered(indexes.BLOCKS, "offset", pa.array(["x"])),
        altered(indexes.BLOCKS, "offset", pa.array([None], pa.uint64())),
        altered(indexes.BLOCKS, "block", pa.array([99_999], pa.uint32())),
        altered(indexes.DESCRIPTIONS, "length", pa.array([2**40])),
        without(indexes.BLOCKS, "offset"),
        without(indexes.PACKETS, "standing"),
        many,
    ],
)
def test_an_index_that_somebody_made_up(path: Path, change: Callable[[Path], None]) -> None:
    change(path)
    with pytest.raises(ValueError, match=r"index is damaged, or of another: "):
        list(dissect(path, window=Window.parse("3", "5")))
    with pytest.raises(ValueError, match=r"index is damaged, or of another: "):
        show(path, 4, decoder="own")


@pytest.mark.parametrize(
    ("facts", "reason"),
    [
        ([1], "it cannot be read: "),
        ({}, "it cannot be read: "),
        ({"first_frame_ns": "0", "damage": None}, "its facts are none of a capture"),
        ({"first_frame_ns": None, "damage": 5}, "its facts are none of a capture"),
    ],
)
def test_facts_that_somebody_made_up(path: Path, facts: object, reason: str) -> None:
    head(facts=facts)(path)
    with pytest.raises(UnfitIndexError, match=reason):
        Index.find(path, OPTIONS)


def test_a_head_without_end(path: Path) -> None:
    (indexes.folder_of(path) / indexes.HEAD).write_text("[" * 100_000)
    with pytest.raises(UnfitIndexError, match="it cannot be read: "):
        Index.find(path, OPTIONS)
