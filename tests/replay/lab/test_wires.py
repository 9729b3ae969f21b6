"""Wires carry every frame as it is, to the other end and nowhere else, and nothing besides."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from pathscope.replay.lab import host
from pathscope.replay.lab.wires import mtu_of, wires
from scapy.utils import RawPcapReader

NO_HOST = host.missing(("namespaces", "links", "wires"))

INSIDE = """
import ctypes, json, socket, sys, time
from pathlib import Path
from pathscope.replay.lab import network, recorders, wires

made = wires.wires({"wlan": 1500, "cellular": 9000})
network.Lab(made).build()

def opened(namespace, device):
    with open(f"/run/netns/{namespace}") as place:
        assert ctypes.CDLL(None).setns(place.fileno(), 0) == 0
    found = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
    found.bind((device, 0))
    return found

folder = Path(sys.argv[1])
with recorders.recording(network.taps(("wlan", "cellular")), folder, 262144, prompt=False):
    for near, path, frame in json.loads(sys.stdin.read()):
        with opened(near, path) as sender:
            sender.send(bytes.fromhex(frame))
"""

ADDRESS = "0200000000"
HEADS = {
    "plain": f"{ADDRESS}01{ADDRESS}020800",
    "from the other's address": f"{ADDRESS}02{ADDRESS}010800",
    "no source": "0000000000000000000000000800",
    "spanning tree": f"0180c2000000{ADDRESS}010800",
    "multicast": f"01005e000001{ADDRESS}010800",
    "broadcast": f"ffffffffffff{ADDRESS}010806",
    "multicast source": f"{ADDRESS}0203000000000186dd",
    "VLAN": f"{ADDRESS}01{ADDRESS}02810000050800",
}
KINDS = [(path, end) for path in ("wlan", "cellular") for end in ("client", "server")]
FRAMES = [
    (end, path, (bytes.fromhex(head) + bytes([number]) * 80).hex())
    for path, end in KINDS
    for number, head in enumerate(HEADS.values())
]
FRAMES.append(("client", "wlan", HEADS["plain"] + "01" * 1500))
FRAMES.append(("server", "cellular", HEADS["plain"] + "02" * 9000))


def recorded(file: Path) -> list[str]:
    with RawPcapReader(str(file)) as packets:
        return [data.hex() for data, _ in packets]


@pytest.mark.skipif(NO_HOST is not None, reason=f"no wires for us here: {NO_HOST}")
def test_every_frame_arrives_and_nothing_else(tmp_path: Path) -> None:
    (tmp_path / "logs").mkdir()
    command = host.isolated(sys.executable, "-c", INSIDE, str(tmp_path))
    given = json.dumps(FRAMES)
    done = subprocess.run(
        command, input=given, capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 0, done.stderr
    for path, _ in KINDS:
        sent = [frame for _, name, frame in FRAMES if name == path]
        assert recorded(tmp_path / f"client-{path}.pcap") == sent
        assert recorded(tmp_path / f"server-{path}.pcap") == sent


def test_each_direction_has_a_port_of_its_own() -> None:
    made = wires({"a": 1500, "b": 1500})
    assert made.ports == {
        ("a", "to_server"): "server1",
        ("a", "to_client"): "client1",
        ("b", "to_server"): "server2",
        ("b", "to_client"): "client2",
    }
    assert made.devices == [("client", "a"), ("server", "a"), ("client", "b"), ("server", "b")]


@pytest.mark.parametrize(
    ("largest", "mtu"), [(0, 1500), (1514, 1500), (1518, 1504), (9014, 9000), (70000, 65535)]
)
def test_the_mtu_is_what_the_largest_frame_needs(largest: int, mtu: int) -> None:
    assert mtu_of(largest) == mtu
