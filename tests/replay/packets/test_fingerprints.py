"""Fingerprints of captures, against a CRC-64/NVMe of the tests' own."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest
from crafting import Pcapng, ethernet_records, pcap
from pathscope.dissectors._core import CaptureError
from pathscope.replay import _native


def crc64_nvme(raw: bytes) -> int:
    """NVM Express NVM Command Set Specification 1.0, section 5.2.1.3.4: bit by bit."""
    reflected, crc = 0x9A6C_9329_AC4B_C9B5, 2**64 - 1
    for byte in raw:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (reflected if crc & 1 else 0)
    return crc ^ 2**64 - 1


def test_the_specifications_own_values() -> None:
    assert crc64_nvme(bytes(4096)) == 0x6482_D367_EB22_B64E
    assert crc64_nvme(b"\xff" * 4096) == 0xC0DD_BA73_02EC_A3AC


@pytest.mark.parametrize("several", [False, True])
def test_every_frame_has_one(tmp_path: Path, several: bool) -> None:
    records = ethernet_records(5)
    path = tmp_path / "capture"
    if several:
        capture = Pcapng().section().interface("eth0").interface("eth1")
        path.write_bytes(capture.packets(records).bytes())
    else:
        path.write_bytes(pcap(records))
    table = pa.Table.from_batches([pa.record_batch(one) for one in _native.fingerprints(path)])
    assert table["frame"].to_pylist() == [1, 2, 3, 4, 5]
    assert table["time_ns"].to_pylist() == [record.time_ns for record in records]
    assert table["bytes"].to_pylist() == [len(record.data) for record in records]
    assert table["interface"].to_pylist() == [0] * 5
    assert table["fingerprint"].to_pylist() == [crc64_nvme(record.data) for record in records]


def test_no_capture(tmp_path: Path) -> None:
    (tmp_path / "x").write_bytes(b"nothing of the kind, but long enough")
    with pytest.raises(CaptureError, match="expected"):
        _native.fingerprints(tmp_path / "x")
