"""Orders, as the native sender reads them."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from crafting import ethernet_records, pcap
from pathscope.replay import _native
from pathscope.replay.packets.orders import (
    BitRate,
    Late,
    Mapping,
    Orders,
    Original,
    Outlet,
    PacketRate,
    Pair,
    TopSpeed,
)


@pytest.fixture
def plain(tmp_path: Path) -> Orders:
    (tmp_path / "x.pcap").write_bytes(pcap(ethernet_records(3)))
    return Orders(
        (str(tmp_path / "x.pcap"),),
        (Pair("10.0.0.1", "10.0.0.2", "p"),),
        (Outlet("p", "to_server", "veth0"), Outlet("p", "to_client", "veth1", "ns", 9000)),
    )


def test_every_choice_is_understood(plain: Orders) -> None:
    for change in (
        {"pace": Original(2.0)},
        {"pace": PacketRate(10)},
        {"pace": BitRate(1e6)},
        {"pace": TopSpeed()},
        {"late": Late("drop", 5)},
        {"from_ns": 0, "to_ns": 5_000_000_000},
        {"loops": 2, "loop_gap_ns": 5},
        {"filter": "sctp"},
        {"above_mtu": "split", "truncated": "pad", "keep_bad_checksums": True},
        {"mapping": Mapping((("10.0.0.0/24", "10.9.0.0/24"),), ((1, 2),))},
        {"mapping": Mapping(macs=(("02:00:00:00:00:01", "02:00:00:00:00:02"),))},
    ):
        planned = _native.plan(replace(plain, **change).to_json())
        assert planned["routes"][0]["frames"] == 3 * planned["loops"]


def test_what_is_not_understood(plain: Orders) -> None:
    document = json.loads(plain.to_json())
    with pytest.raises(ValueError, match="unknown field `lops`"):
        _native.plan(json.dumps(document | {"lops": 1}))
    del document["loops"]
    with pytest.raises(ValueError, match="missing field `loops`"):
        _native.plan(json.dumps(document))
    with pytest.raises(ValueError, match="packets a second must be above 0"):
        _native.plan(replace(plain, pace=PacketRate(0)).to_json())


def test_errors_are_those_of_reading(plain: Orders, tmp_path: Path) -> None:
    from pathscope.dissectors._core import CaptureError, FilterError

    with pytest.raises(FilterError, match="no such filter"):
        _native.plan(replace(plain, filter="no such filter").to_json())
    with pytest.raises(CaptureError, match="gone"):
        _native.plan(replace(plain, trace=(str(tmp_path / "gone"),)).to_json())
