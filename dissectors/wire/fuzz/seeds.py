"""Write the seeds that the fuzz targets begin with.

    PYTHONPATH=tests:fixtures/malformed python dissectors/wire/fuzz/seeds.py

The malformed captures of fixtures/malformed are seeds of the container targets as they are.
"""

from __future__ import annotations

import gzip
import lzma
import struct
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
from conformance.test_crafted_sctp import CHUNKS
from crafting import ETHERNET, LINK, RAW, V4, V6, Pcapng, Record, ethernet_records, pcap, sctp
from make import cases
from scapy.layers.inet import ICMP, TCP, UDP
from scapy.layers.l2 import GRE, Dot1Q
from scapy.layers.vxlan import VXLAN
from scapy.packet import Packet, Raw

FOLDER = Path(__file__).parent / "seeds"
RECORDS = ethernet_records(3)


def containers() -> Iterator[tuple[str, str, bytes]]:
    """Yield target, name and bytes of whole files in every format."""
    snoop_header = b"snoop\0\0\0" + struct.pack("!2I", 2, 4)
    yield "pcap", "little", pcap(RECORDS)
    yield "pcap", "big-microsecond", pcap(RECORDS, order=">", nanosecond=False)
    # More fields in the header of the file, or of each record.
    for magic, in_file, in_record in ((0xA1B2CD34, 0, 8), (0x1C0001AC, 4, 0)):
        header = struct.pack("<IHHiIII", magic, 2, 4, 0, 0, 262_144, ETHERNET) + bytes(in_file)
        fields = struct.pack("<4I", 1, 2, 60, 60) + bytes(in_record)
        yield "pcap", f"variant-{magic:x}", header + (fields + bytes(60)) * 2
    several = Pcapng().section().interface("eth0").interface("eth1", resolution=0x8A, offset_s=9)
    several.packets(RECORDS).packet(Record(RECORDS[0].time_ns, b"x" * 9, 1, comment="late"))
    yield "pcapng", "two-interfaces", several.bytes()
    others = Pcapng(">").section(Pcapng(">").option(1, b"comment")).interface()
    others.block(3, struct.pack(">I", 8) + bytes(8)).block(5, struct.pack(">3I", 0, 1, 2))
    yield "pcapng", "other-blocks", others.block(0xBAD, bytes(8)).bytes()
    record = struct.pack("!6I", 60, 60, 88, 3, 1_000_000_000, 7) + bytes(64)
    yield "snoop", "padded", snoop_header + record * 2
    plain = pcap(RECORDS)
    yield "compressed", "gzip", gzip.compress(plain, mtime=0) * 2
    yield "compressed", "xz", lzma.compress(plain, preset=0) + bytes(4) + lzma.compress(b"")
    delta = {"id": lzma.FILTER_DELTA, "dist": 4}
    filters = [delta, {"id": lzma.FILTER_LZMA2, "dict_size": 4096}]
    yield "compressed", "xz-delta", lzma.compress(plain, check=lzma.CHECK_CRC32, filters=filters)
    for codec in ("zstd", "lz4"):
        yield "compressed", codec, pa.compress(plain, codec=codec, asbytes=True)


def good_packets() -> Iterator[tuple[str, int, Packet]]:
    """Yield packets of every protocol that is read."""
    for name, one in CHUNKS.items():
        yield f"sctp-{name}", RAW, V4 / sctp(one)
    options = [("MSS", 1460), ("SAckOK", b""), ("WScale", 7), ("Timestamp", (1, 2)), ("NOP", None)]
    yield "tcp-syn", RAW, V4 / TCP(flags="S", options=options)
    capable = bytes([30, 12, 1, 0x81]) + bytes(8)
    join = bytes([30, 12, 0x10, 1]) + bytes(8)
    for name, option in (("capable", capable), ("join", join)):
        yield f"mptcp-{name}", RAW, V6 / TCP(flags="S", dataofs=8) / Raw(option)
    yield "udp-rtp", RAW, V4 / UDP(sport=5004, dport=5004) / Raw(b"\x80\0" + bytes(30))
    quoted = V4 / UDP(sport=1, dport=2) / Raw(bytes(8))
    yield "icmp-error", RAW, V4 / ICMP(type=3, code=4, nexthopmtu=1400) / quoted
    inner = V4 / sctp(CHUNKS["data"])
    yield "vlan", ETHERNET, LINK / Dot1Q(vlan=5) / inner
    yield "gre", RAW, V4 / GRE() / inner
    yield "ip-in-ip", RAW, V6 / inner
    yield "vxlan", RAW, V4 / UDP(dport=4789) / VXLAN(vni=7) / LINK / inner
    gtp = struct.pack("!BBHI", 0x30, 255, len(bytes(inner)), 7)
    yield "gtp", RAW, V4 / UDP(dport=2152) / Raw(gtp + bytes(inner))
    geneve = struct.pack("!BBHI", 1, 0, 0x0800, 7 << 8) + bytes(4)
    yield "geneve", RAW, V4 / UDP(dport=6081) / Raw(geneve + bytes(inner))
    snap = bytes.fromhex("aaaa030000000800")
    wlan = bytes([0x88, 1]) + bytes(24) + snap
    yield "wlan", 105, Raw(wlan + bytes(inner))
    yield "radiotap", 127, Raw(struct.pack("<BBHIB", 0, 0, 9, 2, 0x20) + wlan + bytes(inner))
    label = struct.pack("!I", 16 << 12 | 0x140)
    yield "ppp-mpls", 9, Raw(b"\xff\x03\x02\x81" + label + bytes(inner))


def packets() -> Iterator[tuple[str, str, bytes]]:
    """Yield records: link type, flags and how much is cut, then the bytes."""
    for name, link_type, one in good_packets():
        yield "packet", name, struct.pack("<HBH", link_type, 0, 0) + bytes(one)
        # Mapped, split and padded; the MTU is that of nearly every link.
        head = struct.pack("<HB", link_type, 1 | 4 | 8) + struct.pack("!2H", 0, 1500)
        yield "rewrite", name, head + bytes(one)
    for case in cases():
        if case.name.endswith(".pcap") and case.read == 1:
            (link_type,) = struct.unpack_from("<I", case.content, 20)
            kept, length = struct.unpack_from("<2I", case.content, 24 + 8)
            head = struct.pack("<HB", link_type, 0) + struct.pack("!H", length - kept)
            yield "packet", case.name.removesuffix(".pcap"), head + case.content[40:]


FROM_A, FROM_B = 0, 1
SECOND_PATH = 0b01010  # the other address of both ends
COOKIE_ECHO, SHUTDOWN_COMPLETE = bytes([14, 0]), bytes([18, 7])


def event(step: int, way: int, transport: int, content: bytes) -> bytes:
    """Return an event of the script in src/script.rs; its identification is its step."""
    return bytes([step, way, transport]) + content + bytes([step])


def chunks(step: int, way: int, *found: bytes, tag: int = 0) -> bytes:
    return event(step, way, 0, bytes([tag, len(found) - 1]) + b"".join(found))


def data(tsn: int) -> bytes:
    return bytes([0, 0x13, tsn])


def sack(cumulative: int, *gaps: tuple[int, int]) -> bytes:
    return bytes([6, 0, cumulative, len(gaps)]) + b"".join(map(bytes, gaps))


HANDSHAKE = [
    chunks(0, FROM_A, bytes([10, 0, 0, 1, 2]), tag=2),
    chunks(5, FROM_B, bytes([11, 0, 0, 1, 6])),
    chunks(5, FROM_A, COOKIE_ECHO),
    chunks(5, FROM_B, bytes([18, 4])),
]
SCRIPTS = {
    "lossy": [*HANDSHAKE, *(chunks(1, FROM_A, data(tsn)) for tsn in range(5)),
              *(chunks(1, FROM_B, sack(0, (2, n))) for n in range(3)),
              chunks(2, FROM_A, data(1)), chunks(9, FROM_B, sack(4))],
    "handover": [*HANDSHAKE, chunks(1, FROM_A, data(0)), chunks(1, FROM_A, data(1)),
                 chunks(199, FROM_A | SECOND_PATH, data(0)),
                 chunks(1, FROM_A | SECOND_PATH, data(2)),
                 chunks(9, FROM_B | SECOND_PATH, sack(2)),
                 chunks(99, FROM_A, bytes([12, 0, 3])), chunks(9, FROM_B, bytes([13, 0, 3]))],
    "asconf": [*HANDSHAKE, chunks(9, FROM_A, bytes([15, 0, 1, 0x09, 3])),
               chunks(9, FROM_B, bytes([16, 0, 1, 1, 3])), chunks(9, FROM_A | SECOND_PATH, data(0)),
               chunks(9, FROM_B, SHUTDOWN_COMPLETE), *HANDSHAKE],
    "flows": [event(1, way, 9, bytes([0, n, 0, 9, flags, 9, 2, 2, 4, 5]))
              for n, (way, flags) in enumerate([(0, 2), (1, 18), (0, 16), (0, 24), (0, 24)])]
             + [event(20, 0, 12, bytes([n, 0])) for n in range(9)]
             + [event(1, 1, 14, bytes([3, 3, 64]))],
}  # fmt: skip


def scripts() -> Iterator[tuple[str, str, bytes]]:
    """Yield scripts of the tracker, each with chunks streamed, after a byte that says so."""
    for name, events in SCRIPTS.items():
        yield "tracker", name, bytes([0]) + b"".join(events)


def fragments() -> Iterator[tuple[str, str, bytes]]:
    """Yield fragments: datagram, how, place and length of each."""
    last = 0x80
    both = bytes([1, 1, 0, 8, 2, 1, 0, 8])
    yield "fragments", "in-order", bytes([1, 1, 0, 16, 1, 1, 2, 16, 1, last, 4, 9])
    yield "fragments", "v6-last-first", bytes([9, last, 4, 9, 9, 1, 2, 16, 9, 1, 0, 16])
    yield "fragments", "two-at-a-time", both + bytes([1, last, 1, 8, 2, last, 1, 3])


def traces() -> Iterator[tuple[str, str, bytes]]:
    """Yield traces of ns-2: a handshake and data over two paths, TCP, and a wireless packet."""
    steps = [("I", "1.0 3.0", -1), ("I", "3.0 1.0", -1), ("I", "1.0 3.0", -1), ("I", "3.0 1.0", -1)]
    steps += [("H", "2.0 4.0", -1), ("B", "4.0 2.0", -1), ("D", "1.0 3.0", 1), ("D", "2.0 4.0", 2)]
    lines = []
    for packet, (letter, ends, tsn) in enumerate([*steps, ("S", "3.0 1.0", 2)]):
        source, sink = (end.partition(".")[0] for end in ends.split())
        rest = f"sctp 1500 -------{letter} 0 {ends} 1 {tsn} {packet} 0 0"
        lines += [f"{event} 0.{packet} {source} {sink} {rest}" for event in "+-r"]
    yield "trace", "sctp", "\n".join([*lines, ""]).encode()
    tcp = [f"{event} 1 1 2 tcp 1040 ------- 0 1.0 2.0 1 7" for event in "+-d"]
    tcp += ["v 1 eval {}", "+ 1 2 1 ack 40 ---A--- 0 2.0 1.0 0 8 9 0x10 40 0"]
    yield "trace", "tcp", "\n".join([*tcp, ""]).encode()
    tags = "-Hs 1 -Hd -2 -Ni 1 -Nl AGT -Is 1.0 -Id 2.0 -It cbr -Il 512 -If 2 -Ii 6 -Pi 3"
    yield "trace", "wireless", f"s -t 1.5 {tags}\nr -t 1.6 {tags}\n".encode()


def main() -> None:
    for old in FOLDER.glob("*/*"):
        old.unlink()
    for source in (containers, packets, scripts, fragments, traces):
        for target, name, content in source():
            path = FOLDER / target / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)


if __name__ == "__main__":
    main()
