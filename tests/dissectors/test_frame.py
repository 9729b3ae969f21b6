"""One frame: found with and without an index, decoded by tshark or by our own decoder."""

from __future__ import annotations

import gzip
import lzma
import os
import shutil
import threading
import warnings
from pathlib import Path
from typing import Any

import pytest
from crafting import LINK, START_NS, V4, Record, data, ethernet_records, fragments, pcap
from pathscope import CaptureError, ReadOptions, TsharkError, show
from pathscope.dissectors import indexing, tshark
from pathscope.dissectors.frame import DECODERS
from reading import chunk_rows
from running import FAILOVER

OPTIONS = ReadOptions()


def names(layers: list[dict[str, Any]]) -> list[str]:
    return [layer["name"] for layer in layers]


def field(layer: dict[str, Any], name: str) -> Any:
    (found,) = (one for one in layer["fields"] if one["name"] == name)
    return found["value"]


@pytest.fixture
def halved(tmp_path: Path) -> Path:
    """Make a capture whose frames 2 and 30 are the halves of one packet."""
    halves = fragments(V4 / data(99, user_bytes=400), 248)
    assert len(halves) == 2
    records = ethernet_records(40, step_ns=1000)
    for number, half in zip((2, 30), halves, strict=True):
        time_ns = records[number - 1].time_ns
        records[number - 1] = Record(time_ns, bytes(LINK / half))
    path = tmp_path / "fragments.pcap"
    path.write_bytes(pcap(records))
    return path


@pytest.mark.parametrize("indexed", [False, True])
def test_fragments(halved: Path, indexed: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    if indexed:
        monkeypatch.setattr(indexing, "BLOCK_BYTES", 300)
        indexing.build(halved, OPTIONS)
    first = show(halved, 2, decoder="own")
    assert names(first.layers) == ["Frame", "Ethernet", "IPv4", "not read further"]
    assert "a fragment" in first.layers[-1]["value"]
    assert first.packet is None
    last = show(halved, 30, decoder="own")
    assert names(last.layers) == ["Frame", "Ethernet", "IPv4", "Reassembled datagram", "SCTP"]
    assert field(last.layers[3], "frames") == "2, 30"
    assert last.reassembled is not None
    assert last.reassembled.count(b"x") == 400
    (row,) = (row for row in chunk_rows(halved) if row["frame"] == 30)
    assert last.packet is not None
    assert last.packet["association"] == row["association"] == 0
    assert [chunk["tsn"] for chunk in last.chunks] == [99]


@pytest.mark.parametrize("indexed", [False, True])
def test_what_the_tracker_knows(
    tmp_path: Path, indexed: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "client.pcapng"
    shutil.copyfile(FAILOVER, path)
    if indexed:
        monkeypatch.setattr(indexing, "BLOCK_BYTES", 20_000)
        indexing.build(path, OPTIONS)
    rows: dict[int, list[dict[str, Any]]] = {}
    for row in chunk_rows(path):
        rows.setdefault(row["frame"], []).append(row)
    # The first retransmissions of the run (README there), SACKs, the handshake, a neighbour's call.
    for number in (1, 424, 425, 450, 9, 1500):
        found = show(path, number, decoder="own")
        its = rows.get(number, [])
        assert [chunk["transmission"] for chunk in found.chunks] == [
            row["transmission"] for row in its
        ]
        if not its:
            assert found.packet is None
            continue
        assert found.packet is not None
        for name, value in found.packet.items():
            assert value == its[0][name]
    assert show(path, 425, decoder="own").chunks[0]["transmission"] == 2


def test_there_is_no_such_frame(tmp_path: Path) -> None:
    path = tmp_path / "three.pcap"
    path.write_bytes(pcap(ethernet_records(3)))
    for decoder in DECODERS:
        with pytest.raises(ValueError, match="there is no frame 4, the capture has 3"):
            show(path, 4, decoder=decoder)
    indexing.build(path, OPTIONS)
    with pytest.raises(ValueError, match="there is no frame 4, the capture has 3"):
        show(path, 4)
    path.write_bytes(path.read_bytes()[:-5])
    with pytest.raises(ValueError, match="there is no frame 3: the last whole one is 2"):
        show(path, 3)
    assert show(path, 2, decoder="own").layers


def test_what_is_no_capture() -> None:
    with pytest.raises(CaptureError, match="at byte 0: expected a pcap"):
        show(__file__, 1)


def test_a_frame_without_ip(tmp_path: Path) -> None:
    path = tmp_path / "arp.pcap"
    path.write_bytes(pcap([Record(START_NS, bytes(LINK) + b"\x08\x06" + bytes(28))]))
    found = show(path, 1, decoder="own")
    assert names(found.layers) == ["Frame", "Ethernet", "not read further"]
    assert found.layers[-1]["value"] == "not IP"


# --- tshark ------------------------------------------------------------------------------------


def test_tshark_keeps_the_number_and_the_context() -> None:
    found = show(FAILOVER, 425, decoder="tshark")
    assert found.decoder == "tshark"
    assert names(found.layers)[:4] == ["frame", "eth", "ipv6", "sctp"]
    assert field(found.layers[0], "frame.number") == "425"
    tsns = [one["value"] for one in found.layers[3]["fields"] if one["name"] == "sctp.data_tsn_raw"]
    assert tsns == [str(chunk["tsn"]) for chunk in found.chunks]
    # What tshark can say only of a packet that it has seen the earlier ones of.
    assert any(one["name"] == "sctp.retransmission" for one in found.layers[3]["fields"])


def test_tshark_is_not_waited_for_without_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stand_in = tmp_path / "tshark"
    stand_in.write_text("#!/bin/sh\nexec sleep 60\n")
    stand_in.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    monkeypatch.setattr(tshark, "LIMIT_S", 0.3)
    with pytest.raises(TsharkError, match=r"tshark was not done with it after 0\.3 s"):
        show(FAILOVER, 9, decoder="tshark")
    assert show(FAILOVER, 9).decoder == "own"


def test_auto_takes_tshark_where_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    assert show(FAILOVER, 9).decoder == "tshark"
    monkeypatch.setattr(tshark, "find_spec", lambda _: None)
    assert show(FAILOVER, 9).decoder == "own"
    with pytest.raises(TsharkError, match=r"pyshark is not installed: pip install pathscope\[tsh"):
        show(FAILOVER, 9, decoder="tshark")


def test_without_the_program(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "which", lambda _: None)
    assert show(FAILOVER, 9).decoder == "own"
    with pytest.raises(TsharkError, match="tshark is not installed"):
        show(FAILOVER, 9, decoder="tshark")


def test_what_only_we_can_read(tmp_path: Path) -> None:
    path = tmp_path / "client.pcap.xz"
    path.write_bytes(lzma.compress(pcap(ethernet_records(2))))
    assert show(path, 1).decoder == "own"
    with pytest.raises(TsharkError, match=f"{path}: tshark cannot read it: "):
        show(path, 1, decoder="tshark")


def children() -> str:
    return Path(f"/proc/self/task/{threading.get_native_id()}/children").read_text()


@pytest.mark.parametrize("fails", [False, True])
def test_nothing_is_left_behind(tmp_path: Path, fails: bool) -> None:
    path = tmp_path / "text.pcap"
    path.write_text("no capture")
    threads = threading.enumerate()
    assert children() == ""
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # also what an object says as it goes
        if fails:
            with pytest.raises(TsharkError, match="isn't a capture file"):
                tshark.layers(path, 1, [])
        else:
            assert tshark.layers(FAILOVER, 2, [9899]) is not None
            assert tshark.layers(FAILOVER, 10**9, [9899]) is None
    assert children() == ""
    assert threading.enumerate() == threads


def test_a_frame_before_the_damage(tmp_path: Path) -> None:
    path = tmp_path / "cut.pcapng"
    path.write_bytes(FAILOVER.read_bytes()[:-3])
    assert show(path, 2, decoder="tshark").decoder == "tshark"
    with pytest.raises(TsharkError, match="cut short"):
        tshark.layers(path, 10**9, [])


def test_a_compressed_capture(tmp_path: Path) -> None:
    path = tmp_path / "client.pcapng.gz"
    path.write_bytes(gzip.compress(FAILOVER.read_bytes()))
    for decoder in DECODERS:
        found = show(path, 425, decoder=decoder)
        assert [chunk["transmission"] for chunk in found.chunks] == [2, 2]
