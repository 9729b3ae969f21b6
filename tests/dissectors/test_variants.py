"""Containers that few captures come in, by tshark and capinfos."""

from __future__ import annotations

import struct
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import oracle
import pytest
from containing import RECORDS, TIMES, TSNS, snoop
from crafting import SECOND, Order, pcap
from pathscope.dissectors import ledger
from reading import chunk_column


def variant(
    magic: int,
    *,
    order: Order = "<",
    minor: int = 4,
    after_header: bytes = b"",
    after_lengths: bytes = b"",
    swapped: bool = False,
) -> bytes:
    """A pcap file that is not as pcap files are today; its packets lack their last byte."""
    head = struct.pack(f"{order}IHHiIII", magic, 2, minor, 0, 0, 262_144, 1)
    parts = [head, after_header]
    for record in RECORDS:
        seconds, fraction = divmod(record.time_ns, SECOND)
        lengths = [len(record.data) - 1, len(record.data)]
        if swapped:
            lengths.reverse()
        parts.append(struct.pack(f"{order}4I", seconds, fraction // 1000, *lengths))
        parts += [after_lengths, record.data[:-1]]
    return b"".join(parts)


def agrees_with_tshark(path: Path) -> dict[str, Any]:
    """Compare time, length and captured length of every packet; what pathscope says of the file."""
    assert chunk_column(path, "tsn") == TSNS
    assert chunk_column(path, "time_ns") == oracle.times_ns(path) == TIMES
    facts = ledger.read(path).capture
    told = oracle.fields(path, ("frame.len", "frame.cap_len"))
    assert facts["frames"]["read"] == len(told)
    capinfos = ["capinfos", "-T", "-m", "-r", "-Q", "-c", str(path)]
    counted = subprocess.run(capinfos, check=True, capture_output=True, text=True).stdout
    assert int(counted.rpartition(",")[2].strip().strip('"')) == facts["frames"]["read"]
    return facts


@pytest.mark.parametrize("order", ["<", ">"])
@pytest.mark.parametrize(
    ("name", "bytes_of"),
    [
        (
            "modified, microsecond",
            lambda order: variant(
                0xA1B2CD34, order=order, after_lengths=struct.pack(f"{order}IHBB", 3, 0x800, 4, 0)
            ),
        ),
        (
            "IXIA lcap, microsecond",
            lambda order: variant(0x1C0001AC, order=order, after_header=bytes(4)),
        ),
        (
            "IXIA lcap, microsecond",
            lambda order: variant(0x1C0001AB, order=order, after_header=bytes(4)),
        ),
    ],
)
def test_pcap_variants(
    path: Path, order: Order, name: str, bytes_of: Callable[[Order], bytes]
) -> None:
    path.write_bytes(bytes_of(order))
    facts = agrees_with_tshark(path)
    ends = {"<": "little", ">": "big"}
    assert facts["format"] == f"pcap ({name}, {ends[order]}-endian)"


@pytest.mark.parametrize("order", ["<", ">"])
@pytest.mark.parametrize(("minor", "swapped"), [(0, True), (2, True), (3, True), (3, False)])
def test_pcap_before_2_4(path: Path, order: Order, minor: int, swapped: bool) -> None:
    """The length on the wire came first; in version 2.3, depending on the writer."""
    path.write_bytes(variant(0xA1B2C3D4, order=order, minor=minor, swapped=swapped))
    facts = agrees_with_tshark(path)
    assert facts["format"].startswith(f"pcap 2.{minor} (microsecond, ")
    lengths = {(f["frame.len"][0], f["frame.cap_len"][0]) for f in lengths_by_tshark(path)}
    assert lengths == {(str(len(r.data)), str(len(r.data) - 1)) for r in RECORDS}


def lengths_by_tshark(path: Path) -> list[oracle.Fields]:
    return oracle.fields(path, ("frame.len", "frame.cap_len"))


@pytest.mark.parametrize("datalink", [0, 4])
def test_snoop(path: Path, datalink: int) -> None:
    path.write_bytes(snoop(RECORDS, datalink=datalink))
    facts = agrees_with_tshark(path)
    assert (facts["format"], facts["frames"]["dissected"]) == ("snoop", 5)
    assert facts["dropped_by_capture"] == 4


def test_snoop_as_editcap_writes_it(path: Path, tmp_path: Path) -> None:
    plain = tmp_path / "plain.pcap"
    plain.write_bytes(pcap(RECORDS, nanosecond=False))
    subprocess.run(["editcap", "-F", "snoop", str(plain), str(path)], check=True)
    assert agrees_with_tshark(path)["format"] == "snoop"


def test_modified_pcap_as_editcap_writes_it(path: Path, tmp_path: Path) -> None:
    plain = tmp_path / "plain.pcap"
    plain.write_bytes(pcap(RECORDS, nanosecond=False))
    subprocess.run(["editcap", "-F", "modpcap", str(plain), str(path)], check=True)
    assert agrees_with_tshark(path)["format"].startswith("pcap (modified, ")
