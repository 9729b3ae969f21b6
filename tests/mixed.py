"""Make fixtures/captures/flows-mixed/flows.pcap: TCP, UDP and MPTCP with known numbers.

    python tests/mixed.py

The README there says what is in it; `test_flows_mixed.py` holds the analysis against that.
"""

from __future__ import annotations

from pathlib import Path

from crafting import RAW, pcap
from scapy.layers.inet import ICMP
from talking import (
    Scene,
    Tcp,
    capable,
    first_data_sequence,
    join,
    mapping,
    reset_reason,
    rtp,
    udp,
)

PLACE = Path(__file__).parents[1] / "fixtures" / "captures" / "flows-mixed" / "flows.pcap"

WLAN, CELL, SERVER = "10.0.1.1", "10.0.2.1", "10.0.9.1"
KEYS = (0x0102030405060708, 0x1112131415161718)
SYN = (("MSS", 1460), ("NOP", None), ("WScale", 7), ("SAckOK", b""))
SYN_ACK = (("MSS", 1400), ("NOP", None), ("WScale", 2), ("SAckOK", b""))


def upload(scene: Scene) -> None:
    """30 segments of 1000 bytes: the 11th is lost and sent again fast, the last after its RTO.

    Both get lost behind the capture, which is at a. A segment takes 10 ms to b, an ACK 10 ms back.
    """
    tcp = Tcp(scene, (WLAN, 40_000), (SERVER, 80))
    tcp.handshake(0, 20, SYN, SYN_ACK, ())
    for n in range(30):
        tcp.send(40 + 5 * n, "a", "A", 1000)
    for n in range(29):
        whole = n if n < 10 else 10 if n < 18 else n + 1
        if n != 10:
            tcp.send(60 + 5 * n, "b", ack=1 + 1000 * (whole + (n < 10)))
    tcp.send(125.1, "a", "A", 1000, seq=10_001)
    tcp.send(145.1, "b", ack=18_001)
    tcp.send(405, "a", "PA", 1000, seq=29_001)
    tcp.send(425, "b")
    tcp.send(600, "b", "FA")
    tcp.send(600.1, "a", "FA")
    tcp.send(620, "b")


def slow_reader(scene: Scene) -> None:
    """a closes its window for 400 ms."""
    tcp = Tcp(scene, (WLAN, 40_001), (SERVER, 81))
    tcp.handshake(1000)
    tcp.send(1030, "b", "PA", 1000)
    tcp.send(1030.1, "a", window=0)
    tcp.send(1230, "b", "A", 1, seq=1000)
    tcp.send(1230.1, "a", window=0)
    tcp.send(1430.1, "a", window=4000)
    tcp.send(1450, "b", "PA", 1000)
    tcp.send(1450.1, "a")
    tcp.send(1500, "b", "R")


def not_set_up(scene: Scene) -> None:
    """Three SYNs without an answer, and one that is refused."""
    unanswered = Tcp(scene, (WLAN, 40_002), (SERVER, 82))
    for time_ms in (1000, 2000, 4000):
        unanswered.send(time_ms, "a", "S", seq=0)
    refused = Tcp(scene, (WLAN, 40_003), (SERVER, 83))
    refused.send(1600, "a", "S")
    refused.send(1620, "b", "RA")


def voice(scene: Scene) -> None:
    """200 RTP packets, of which 8 are missing."""
    for n in range(200):
        if n % 25 != 12:
            udp(scene, 100 + 20 * n, (WLAN, 5004), (SERVER, 5004), rtp(n))


def unreachable(scene: Scene) -> None:
    """A query that the server's host answers with port unreachable."""
    query = udp(scene, 50, (WLAN, 5353), (SERVER, 53), bytes(30))
    scene.packet(70, SERVER, WLAN, ICMP(type=3, code=3) / query[:28])


def multipath(scene: Scene) -> None:
    """Data on WLAN for 2 s; its last three segments again on the other path, and on from there."""
    first, second = (
        Tcp(scene, (WLAN, 41_000), (SERVER, 90)),
        Tcp(scene, (CELL, 41_001), (SERVER, 90)),
    )
    a, b = KEYS
    first.handshake(500, 20, (capable(),), (capable(b),), (capable(a, b),))
    second.handshake(800, 90, *((one,) for one in join(b, 2, backup=True)))
    data = first_data_sequence(a)
    for n in range(100):
        dss = mapping(data + 500 * n, 1 + 500 * n, 500)
        first.send(1000 + 20 * n, "a", "A", 500, options=(dss,))
        if n < 97:
            first.send(1020 + 20 * n, "b")
    for n in range(60):
        dss = mapping(data + 500 * (97 + n), 1 + 500 * n, 500)
        second.send(3500 + 20 * n, "a", "A", 500, options=(dss,))
        second.send(3590 + 20 * n, "b", ack=1 + 500 * (n + 1))
    first.send(3600, "a", "R", options=(reset_reason(5),))


def capture() -> bytes:
    scene = Scene()
    for part in (upload, slow_reader, not_set_up, voice, unreachable, multipath):
        part(scene)
    return pcap(scene.frames(), link_type=RAW)


if __name__ == "__main__":
    PLACE.write_bytes(capture())
