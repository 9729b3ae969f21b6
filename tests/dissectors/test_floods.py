"""Captures made to fill memory: what they may cost, and what is still found in them."""

from __future__ import annotations

import json
import struct
import subprocess
import sys
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import oracle
import pathscope
import pytest
from click.testing import CliRunner
from crafting import LINK, START_NS, Pcapng, Record, chunk, pcap
from pathscope.cli import main
from pathscope.dissectors import ledger
from running import ASCONF, FAILOVER
from scapy.utils import RawPcapNgReader

SERVER = bytes([10, 0, 0, 1])
ETHERNET_V4 = bytes(LINK)[:12] + b"\x08\x00"
INIT = 1
AROUND = 20
"""INITs of a flood before every real packet."""
MEGABYTE = 1 << 20


def packet(client: int, chunks: bytes) -> Record:
    """A packet to the server from a client that its number names; the checksum is left out."""
    sctp = struct.pack("!HHII", 40_000, 5000, 0, 0) + chunks
    ip = struct.pack("!BBHHHBBH", 0x45, 0, 20 + len(sctp), client & 0xFFFF, 0, 64, 132, 0)
    source = (11 << 24 | client).to_bytes(4)
    return Record(START_NS + client * 1000, ETHERNET_V4 + ip + source + SERVER + sctp)


def inits(count: int) -> Iterator[Record]:
    """INITs from ever new addresses."""
    for client in range(count):
        yield packet(client, chunk(INIT, 0, struct.pack("!IIHHI", client + 1, 65536, 9, 9, 1)))


def captured(path: Path) -> list[Record]:
    """The packets of a capture in time order."""
    with RawPcapNgReader(str(path)) as reader:
        packets = [data for data, _ in reader]
    times = oracle.times_ns(path)
    found = [Record(time_ns, data) for time_ns, data in zip(times, packets, strict=True)]
    return sorted(found, key=lambda record: record.time_ns)


def read(path: Path, records: list[Record], capacity: int | None = None) -> ledger.Ledger:
    path.write_bytes(pcap(records))
    return ledger.read(path, ledger.ReadOptions(association_capacity=capacity))


@pytest.mark.parametrize("capture", [FAILOVER, ASCONF], ids=["failover", "asconf"])
def test_a_handover_in_a_flood_has_the_same_rows(capture: Path, tmp_path: Path) -> None:
    """Only the numbers of frames and of the association are others."""
    real = captured(capture)
    flood = inits(AROUND * len(real))
    # The flood has the times of the packets it is among.
    mixed, frames = [], {}
    for own, record in enumerate(real, 1):
        mixed += [Record(record.time_ns, fake.data) for fake in islice(flood, AROUND)]
        mixed.append(record)
        frames[len(mixed)] = own
    alone = read(tmp_path / "alone.pcap", real)
    found = read(tmp_path / "mixed.pcap", mixed, 500)
    (number,) = (row["association"] for row in found.rows("associations") if row["established_ns"])

    for table in alone.tables:
        rows = [row for row in found.rows(table) if row.get("association") == number]
        assert [renumbered(row, frames) for row in rows] == alone.rows(table), table
    census = found.capture["associations"]
    assert census["seen"] == 1 + AROUND * len(real)
    assert census["evicted"] == census["seen"] - 500
    assert census["unlisted"] == census["seen"] - len(found.rows("associations"))


def renumbered(row: dict[str, Any], frames: dict[int, int]) -> dict[str, Any]:
    """A row with the numbers that it has without the flood."""
    own = {
        name: frames.get(value)
        for name, value in row.items()
        if name == "frame" or name.endswith("_frame")
    }
    return row | own | {"association": 0}


def test_the_one_idle_longest_makes_room(tmp_path: Path) -> None:
    found = read(tmp_path / "flood.pcap", list(inits(100)), 10)
    assert found.capture["associations"] == {"seen": 100, "evicted": 90, "unlisted": 0}
    ends = [row["end"] for row in found.rows("associations")]
    assert ends == ["idle"] * 90 + ["no-answer"] * 10


def test_a_flood_is_told(tmp_path: Path) -> None:
    path = tmp_path / "flood.pcap"
    found = read(path, list(inits(6000)), 100)
    assert found.capture["associations"] == {"seen": 6000, "evicted": 5900, "unlisted": 1904}
    assert [row["association"] for row in found.rows("paths")] == list(range(4096))
    analysis = pathscope.analyze(path, options=ledger.ReadOptions(association_capacity=100))
    assert any("5900 of 6000 associations were forgotten" in text for text in analysis.warnings)
    assert any("1904 of 6000 associations are not listed" in text for text in analysis.warnings)
    result = CliRunner().invoke(main, ["info", str(path)])
    assert result.exit_code == 0, result.output
    lines = [line.split() for line in result.output.splitlines()]
    assert ["associations", "6000"] in lines
    assert ["not", "listed", "1904"] in lines


def test_rows_that_there_is_no_room_for_are_told(tmp_path: Path) -> None:
    """Comments are kept up to 64 MiB."""
    comment = "x" * 65_000
    file = Pcapng().section().interface()
    for n in range(1100):
        file.packet(Record(START_NS + n, bytes(LINK), comment=comment))
    path = tmp_path / "comments.pcapng"
    path.write_bytes(file.bytes())
    found = ledger.read(path)
    kept = len(found.tables["comments"])
    assert 64 * MEGABYTE - 65_000 - 200 * kept < kept * 65_000 < 64 * MEGABYTE
    assert found.capture["unlisted"] == {"comments": 1100 - kept}
    expected = f"{1100 - kept} rows of table `comments` were not kept: there was no room"
    assert expected in pathscope.analyze(path).warnings


MEMORY = """
import json, re, sys
from pathlib import Path
import pathscope
found = pathscope.read(sys.argv[1])
peak_kb = int(re.search(r"VmHWM:\\s+(\\d+) kB", Path("/proc/self/status").read_text())[1])
print(json.dumps([found.capture["associations"], len(found.tables["associations"]), peak_kb]))
"""


def test_a_flood_of_300_000_fits_into_memory(tmp_path: Path) -> None:
    path = tmp_path / "flood.pcap"
    path.write_bytes(pcap(inits(300_000)))
    # A process of its own: this one has held the flood in Python's objects.
    command = [sys.executable, "-c", MEMORY, str(path)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    census, listed, peak_kb = json.loads(done.stdout)
    assert census == {"seen": 300_000, "evicted": 300_000 - 65_536, "unlisted": 300_000 - 4096}
    assert listed == 4096
    assert peak_kb < 350_000
