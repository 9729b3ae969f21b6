"""Paths of traces, by what their ledgers say."""

from __future__ import annotations

from pathlib import Path

import pytest
from crafting import LINK, START_NS, Pcapng, Record, data, pcap
from pathscope import api
from pathscope.analyzer.labels import LabelRule
from pathscope.dissectors.ledger import ReadOptions
from pathscope.replay.packets import routes
from pathscope.replay.packets.orders import Pair
from scapy.layers.inet import IP, TCP, UDP
from scapy.packet import Packet

ROOT = Path(__file__).parents[3]
RUNS = ROOT / "fixtures" / "captures"


def paths(source: Path, *rules: str) -> dict[str, tuple[tuple[str, str], ...]]:
    ledger = api.read(source, ReadOptions(flows=True))
    found = routes.find(ledger, tuple(LabelRule.parse(rule) for rule in rules))
    return {path.name: path.pairs for path in found}


def written(path: Path, *packets: Packet) -> Path:
    raw = [bytes(LINK / packet) for packet in packets]
    path.write_bytes(pcap(Record(START_NS + n * 1000, one) for n, one in enumerate(raw)))
    return path


def test_paths_of_a_run_are_called_by_their_interfaces() -> None:
    found = paths(RUNS / "lab-failover" / "client.pcapng")
    assert found == {
        "wlan": (("2001:db8:1::1", "2001:db8:1::2"),),
        "cellular": (("2001:db8:2::1", "2001:db8:2::2"),),
    }


def test_the_server_sees_the_same_ends() -> None:
    run = RUNS / "lab-failover"
    assert paths(run / "server.pcapng") == paths(run / "client.pcapng")


def test_rules_call_paths_and_flows(tmp_path: Path) -> None:
    file = written(
        tmp_path / "x.pcap",
        IP(src="10.0.1.1", dst="10.0.1.2") / data(1),
        IP(src="10.0.2.1", dst="10.0.2.2") / data(2),
        IP(src="10.0.3.1", dst="10.0.3.2") / UDP(sport=1, dport=2),
        IP(src="10.0.4.1", dst="10.0.4.2") / TCP(sport=1, dport=2),
    )
    assert paths(file, "10.0.1.0/24=wlan", "10.0.4.0/24=dsl") == {
        "wlan": (("10.0.1.1", "10.0.1.2"),),
        "path-1": (("10.0.2.1", "10.0.2.2"),),
        "flow-1": (("10.0.3.1", "10.0.3.2"),),
        "dsl": (("10.0.4.1", "10.0.4.2"),),
    }


@pytest.mark.parametrize(
    "name", ["lo", "any", "an interface", "sixteen-letters-", "a/b", ".", ".."]
)
def test_names_that_no_interface_can_have(tmp_path: Path, name: str) -> None:
    packet = bytes(LINK / IP(src="10.0.1.1", dst="10.0.1.2") / data(1))
    capture = Pcapng().section().interface(name).packets([Record(START_NS, packet)])
    (tmp_path / "x.pcapng").write_bytes(capture.bytes())
    assert list(paths(tmp_path / "x.pcapng")) == ["path-1"]


def test_pairs_of_one_name_are_one_path_and_ends_stay_where_they_are(tmp_path: Path) -> None:
    file = written(
        tmp_path / "x.pcap",
        IP(src="10.0.1.1", dst="10.0.1.2") / UDP(sport=1, dport=2),
        # Opened from the other end.
        IP(src="10.0.1.3", dst="10.0.1.1") / UDP(sport=1, dport=2),
        IP(src="10.0.1.2", dst="10.0.1.1") / UDP(sport=7, dport=8),
    )
    assert paths(file, "10.0.1.0/24=wlan") == {
        "wlan": (("10.0.1.1", "10.0.1.2"), ("10.0.1.1", "10.0.1.3"))
    }


def test_pairs_as_orders_have_them(tmp_path: Path) -> None:
    file = written(tmp_path / "x.pcap", IP(src="10.0.1.1", dst="10.0.1.2") / data(1))
    found = routes.find(api.read(file))
    assert routes.pairs(found) == (Pair("10.0.1.1", "10.0.1.2", "path-1"),)


def test_a_simulators_trace_has_no_frames() -> None:
    ledger = api.read(ROOT / "fixtures" / "malformed" / "ns2-cut.tr", ReadOptions(flows=True))
    with pytest.raises(ValueError, match="no frames to send"):
        routes.find(ledger)
