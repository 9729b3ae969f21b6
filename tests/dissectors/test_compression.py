"""Compressed captures: whole, of several streams, large, and cut."""

from __future__ import annotations

import gzip
import lzma
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pyarrow as pa
import pytest
from containing import TIMES, TSNS, WRITTEN, written
from crafting import ethernet_records, pcap
from pathscope.dissectors import ledger
from reading import chunk_column


def by_arrow(codec: str) -> Callable[[bytes], bytes]:
    """Arrow packs with the reference libraries."""

    def pack(raw: bytes) -> bytes:
        whole: bytes = pa.compress(raw, codec=codec, asbytes=True)
        return whole

    return pack


PACKERS: dict[str, Callable[[bytes], bytes]] = {
    "gzip": by_arrow("gzip"),
    "zstd": by_arrow("zstd"),
    "lz4": by_arrow("lz4"),
    "xz": lzma.compress,
}


@pytest.mark.parametrize("container", WRITTEN)
@pytest.mark.parametrize("codec", PACKERS)
def test_compressed(path: Path, container: str, codec: str) -> None:
    raw, pack = WRITTEN[container], PACKERS[codec]
    half = len(raw) // 2
    for whole in (pack(raw), pack(raw[:half]) + pack(raw[half:])):
        path.write_bytes(whole)
        assert chunk_column(path, "tsn") == TSNS
        assert chunk_column(path, "time_ns") == TIMES
        facts = ledger.read(path).capture
        assert (facts["compression"], facts["damage"]) == (codec, None)
        assert facts["format"].startswith(container)


@pytest.mark.parametrize("level", [0, 9])
@pytest.mark.parametrize("check", [lzma.CHECK_NONE, lzma.CHECK_CRC32, lzma.CHECK_SHA256])
def test_xz_checks_and_levels(path: Path, level: int, check: int) -> None:
    path.write_bytes(lzma.compress(WRITTEN["pcap"], check=check, preset=level))
    assert chunk_column(path, "tsn") == TSNS


@cache
def long_capture() -> bytes:
    """Return a capture of 60,000 packets: many blocks, windows and buffers long."""
    return pcap(ethernet_records(60_000, 1_000_000))


def test_large_compressed_captures(path: Path) -> None:
    raw = long_capture()
    expected = ledger.read(written(path, raw)).capture["frames"]
    for pack in PACKERS.values():
        facts = ledger.read(written(path, pack(raw))).capture
        assert (facts["frames"], facts["damage"]) == (expected, None)


@pytest.mark.parametrize("codec", ["zstd", "lz4", "xz"])
def test_cut_compressed_captures_give_what_was_before(path: Path, codec: str) -> None:
    whole = PACKERS[codec](long_capture())
    path.write_bytes(whole[: len(whole) * 3 // 4])
    facts = ledger.read(path).capture
    assert 0 < facts["frames"]["read"] < 60_000
    assert facts["damage"].startswith(f"{path}: at byte ")
    assert f"{codec}: " in facts["damage"]


def test_cut_gzip_gives_what_was_before(path: Path) -> None:
    # Stored, not deflated: what is there of the stream can be read to its last byte.
    whole = gzip.compress(WRITTEN["pcap"], compresslevel=0)
    path.write_bytes(whole[: len(whole) - 8 - 20])
    found = ledger.read(path)
    assert found.capture["frames"]["read"] == 4
    assert str(path) in found.capture["damage"]
