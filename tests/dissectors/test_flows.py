"""TCP and UDP flows against tshark, over captures whose truth the test wrote.

Where tshark counts otherwise, the test says how and why.
"""

from __future__ import annotations

import json
import re
import subprocess
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

import oracle
import pathscope
import pytest
from click.testing import CliRunner
from crafting import RAW, START_NS, Record, pcap
from pathscope.cli import main
from pathscope.dissectors import ledger
from scapy.layers.inet import ICMP, IP, TCP, UDP
from scapy.layers.inet6 import ICMPv6PacketTooBig, IPv6
from scapy.packet import Packet, Raw

MS = 1_000_000
A, B = "10.0.0.1", "10.0.0.2"


def read(path: Path) -> ledger.Ledger:
    return ledger.read(path, ledger.ReadOptions(flows=True))


@dataclass
class Talk:
    """Segments between A:1000 and B:80, each with a fresh IPv4 identification."""

    records: list[Record] = field(default_factory=list)

    def send(self, time_ms: float, source: str, packet: Packet) -> None:
        destination = B if source == A else A
        ip = IP(src=source, dst=destination, id=len(self.records) + 1)
        self.records.append(Record(START_NS + round(time_ms * MS), bytes(ip / packet)))

    def a(self, time_ms: float, flags: str, seq: int, ack: int = 0, size: int = 0) -> None:
        tcp = TCP(sport=1000, dport=80, flags=flags, seq=seq, ack=ack, window=8000)
        self.send(time_ms, A, tcp / Raw(b"a" * size))

    def b(self, time_ms: float, flags: str, seq: int, ack: int = 0, size: int = 0) -> None:
        tcp = TCP(sport=80, dport=1000, flags=flags, seq=seq, ack=ack, window=8000)
        self.send(time_ms, B, tcp / Raw(b"b" * size))

    def handshake(self) -> None:
        """Take 20 ms; A goes on with 101, B with 501."""
        self.a(0, "S", 100)
        self.b(15, "SA", 500, 101)
        self.a(20, "A", 101, 501)

    def write(self, path: Path) -> Path:
        path.write_bytes(pcap(self.records, link_type=RAW))
        return path


def analysis(path: Path, *names: str) -> dict[str, set[int]]:
    """Frames to which tshark gives each field of tcp.analysis."""
    fields = ("frame.number", *(f"tcp.analysis.{name}" for name in names))
    found: dict[str, set[int]] = {name: set() for name in names}
    for frame in oracle.fields(path, fields):
        for name in names:
            if frame[f"tcp.analysis.{name}"]:
                found[name].add(int(frame["frame.number"][0]))
    return found


def conversations(path: Path, protocol: str) -> Counter[tuple[int, int]]:
    """Packets and bytes of the two directions of each conversation, as tshark counts them."""
    command = ["tshark", "-n", "-q", "-r", str(path), "-z", f"conv,{protocol}"]
    text = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    # Frames and bytes to the left, to the right; bytes have a unit in some versions.
    pattern = re.compile(r"<->\s+\S+\s+(\d+)\s+(\d+)\s*(?:bytes)?\s+(\d+)\s+(\d+)")
    found: Counter[tuple[int, int]] = Counter()
    for left, left_bytes, right, right_bytes in pattern.findall(text):
        found[(int(left), int(left_bytes))] += 1
        found[(int(right), int(right_bytes))] += 1
    return found


def directions(found: ledger.Ledger, protocol: str) -> list[ledger.Row]:
    flows = {row["flow"] for row in found.rows("flows") if row["protocol"] == protocol}
    return [row for row in found.rows("flow_directions") if row["flow"] in flows]


def causes(found: ledger.Ledger) -> dict[int, str]:
    return {row["frame"]: row["cause"] for row in found.rows("tcp_retransmissions")}


@pytest.fixture
def lossy(tmp_path: Path) -> Path:
    """A fast retransmission, a time-out, and a segment that was overtaken."""
    talk = Talk()
    talk.handshake()
    for n in range(5):
        talk.a(30 + n, "A", 101 + 100 * n, 501, 100)  # frames 4 to 8
    for n in range(4):
        talk.b(50 + n, "A", 501, 201)  # the first is the ACK, three repeat it
    talk.a(54, "A", 201, 501, 100)  # frame 13, fast
    talk.b(70, "A", 501, 601)
    talk.a(80, "PA", 601, 501, 100)
    talk.a(400, "PA", 601, 501, 100)  # frame 16, time-out
    talk.b(420, "A", 501, 701)
    talk.a(430, "A", 801, 501, 100)
    talk.a(431, "A", 701, 501, 100)  # frame 19, overtaken
    talk.b(450, "A", 501, 901)
    talk.a(460, "FA", 901, 501)
    talk.b(480, "FA", 501, 902)
    talk.a(481, "A", 902, 502)
    return talk.write(tmp_path / "lossy.pcap")


def test_retransmissions_are_those_of_tshark(lossy: Path) -> None:
    found = read(lossy)
    theirs = analysis(lossy, "retransmission", "fast_retransmission", "out_of_order")
    assert causes(found) == {13: "fast", 16: "timeout"}
    assert theirs["retransmission"] == {13, 16}
    assert theirs["fast_retransmission"] == {13}
    assert theirs["out_of_order"] == {19}
    (a, b) = directions(found, "tcp")
    assert (a["out_of_order_packets"], b["duplicate_acks"]) == (1, 3)
    assert (a["payload_bytes"], a["new_bytes"], a["retransmitted_bytes"]) == (1000, 800, 200)
    assert a["acked_bytes"] == 800


def test_round_trip_and_end(lossy: Path) -> None:
    (flow,) = read(lossy).rows("flows")
    frames = oracle.fields(lossy, ("tcp.analysis.initial_rtt",))
    initial = {text for frame in frames for text in frame["tcp.analysis.initial_rtt"]}
    assert {oracle.nanoseconds(text) for text in initial} == {flow["handshake_rtt_ns"]}
    assert flow["handshake_rtt_ns"] == 20 * MS
    assert (flow["end"], flow["ended_by"], flow["seen_handshake"]) == ("fin", "a", True)


def test_conversations_are_those_of_tshark(tmp_path: Path, lossy: Path) -> None:
    talk = Talk()
    for n in range(5):
        talk.send(n, A, UDP(sport=5000, dport=6000) / Raw(bytes(100 + n)))
        talk.send(n, B, UDP(sport=6000, dport=5000) / Raw(bytes(10)))
    talk.send(9, A, UDP(sport=5001, dport=6000) / Raw(bytes(7)))
    datagrams = talk.write(tmp_path / "udp.pcap")
    for path, protocol in ((lossy, "tcp"), (datagrams, "udp")):
        rows = directions(read(path), protocol)
        ours = Counter((row["packets"], row["wire_bytes"]) for row in rows)
        theirs = conversations(path, protocol)
        # tshark lists the direction that sent nothing; the ledger has no row for it.
        del theirs[(0, 0)]
        assert ours == theirs


def test_a_copy_of_a_frame_is_a_retransmission_to_tshark_alone(tmp_path: Path) -> None:
    """tshark has no notion of copies: the capture's second sight of a segment, known by its
    IPv4 identification and its bytes, counts as sent again there."""
    talk = Talk()
    talk.handshake()
    talk.a(30, "PA", 101, 501, 100)
    copy = talk.records[-1]
    talk.records.append(Record(copy.time_ns + MS // 2, copy.data))
    talk.b(50, "A", 501, 201)
    path = talk.write(tmp_path / "copies.pcap")
    found = read(path)
    assert causes(found) == {}
    (flow,) = found.rows("flows")
    assert flow["duplicate_frames"] == 1
    assert len(analysis(path, "retransmission", "spurious_retransmission")["retransmission"]) == 1


def test_acknowledged_data_sent_again(tmp_path: Path) -> None:
    """What tshark calls a spurious retransmission is `acknowledged` here: the ACK was in the
    capture, though it may have been lost behind it. `spurious` takes a DSACK."""
    talk = Talk()
    talk.handshake()
    talk.a(30, "PA", 101, 501, 100)
    talk.b(50, "A", 501, 201)
    talk.a(400, "PA", 101, 501, 100)
    path = talk.write(tmp_path / "acknowledged.pcap")
    (row,) = read(path).rows("tcp_retransmissions")
    assert analysis(path, "spurious_retransmission")["spurious_retransmission"] == {6}
    assert (row["frame"], row["acknowledged"], row["spurious"]) == (6, True, False)
    assert (row["cause"], row["first_frame"]) == ("timeout", 4)


def test_the_senders_clock_tells_late_from_again(tmp_path: Path) -> None:
    """tshark goes by time alone: a gap filled within a round trip is out of order to it. The
    timestamps option says that this segment was sent after the one that showed the gap."""
    talk = Talk()
    talk.handshake()
    for time_ms, seq, value in ((30, 201, 7), (35, 101, 12)):
        options = [("Timestamp", (value, 0)), ("NOP", None), ("NOP", None)]
        tcp = TCP(sport=1000, dport=80, flags="A", seq=seq, ack=501, options=options)
        talk.send(time_ms, A, tcp / Raw(bytes(100)))
    path = talk.write(tmp_path / "clock.pcap")
    assert set(causes(read(path))) == {5}
    assert analysis(path, "out_of_order")["out_of_order"] == {5}


def test_icmp_errors_find_their_flow(tmp_path: Path) -> None:
    talk = Talk()
    datagram = IP(src=A, dst=B, id=9) / UDP(sport=5000, dport=6000) / Raw(bytes(50))
    talk.records.append(Record(START_NS, bytes(datagram)))
    talk.send(1, B, ICMP(type=3, code=3) / bytes(datagram)[:28])
    lost = IPv6(src="2001:db8::1", dst="2001:db8::2") / TCP(sport=1000, dport=80) / Raw(bytes(99))
    talk.records.append(Record(START_NS + 2 * MS, bytes(lost)))
    too_big = IPv6(src="2001:db8::9", dst="2001:db8::1") / ICMPv6PacketTooBig(mtu=1280) / lost
    talk.records.append(Record(START_NS + 3 * MS, bytes(too_big)))
    found = read(talk.write(tmp_path / "icmp.pcap"))
    rows = [
        (row["name"], row["flow"], row["sender"], row["mtu_bytes"]) for row in found.rows("icmp")
    ]
    assert rows == [("port unreachable", 0, "a", None), ("packet too big", 1, "a", 1280)]
    assert [row["icmp_errors"] for row in found.rows("flows")] == [1, 1]
    assert found.capture["frames"]["dissected"] == 4


def test_rtp_is_recognised(tmp_path: Path) -> None:
    talk = Talk()
    numbers = [n for n in range(100) if n != 40]
    for n in numbers:
        header = bytes([0x80, 0]) + n.to_bytes(2) + (n * 160).to_bytes(4) + (77).to_bytes(4)
        talk.send(n * 20, A, UDP(sport=5004, dport=5004) / Raw(header + bytes(160)))
    (row,) = directions(read(talk.write(tmp_path / "rtp.pcap")), "udp")
    assert (row["numbered_by"], row["stream"], row["payload_type"]) == ("rtp", 77, 0)
    assert (row["numbered_packets"], row["lost_packets"]) == (99, 1)
    assert (row["clock_hz"], row["jitter_ns"]) == (8000, 0)


def test_a_scan_is_bounded_and_counted(tmp_path: Path) -> None:
    talk = Talk()
    for n in range(2000):
        talk.send(n, A, TCP(sport=40_000, dport=n + 1, flags="S", seq=n))
    path = talk.write(tmp_path / "scan.pcap")
    found = ledger.read(path, ledger.ReadOptions(flows=True, flow_capacity=100))
    facts = found.capture["flows"]
    assert (facts["seen"], facts["evicted"], facts["unlisted"]) == (2000, 1900, 0)
    assert Counter(row["end"] for row in found.rows("flows")) == {"idle": 1900, "open": 100}


def test_flows_are_left_out_unless_asked_for(lossy: Path) -> None:
    found = ledger.read(lossy)
    assert "flows" not in found.capture
    assert found.capture["frames"]["skipped"] == {"not SCTP": found.capture["frames"]["read"]}
    assert found.rows("flows") == []


def test_a_flow_table_turns_flows_on_by_itself(lossy: Path) -> None:
    for table in sorted(ledger.FLOW_TABLES):
        rows = sum(batch.num_rows for batch in pathscope.dissect(lossy, table))
        assert rows == len(read(lossy).rows(table))
    result = CliRunner().invoke(main, ["dissect", str(lossy), "--table", "flows"])
    assert result.exit_code == 0, result.output
    assert len(result.stdout.splitlines()) == 2


def test_analyze_writes_the_tables_of_flows(lossy: Path, tmp_path: Path) -> None:
    arguments = ["analyze", str(lossy), "--json"]
    result = CliRunner().invoke(main, [*arguments, "--out", str(tmp_path / "out")])
    assert result.exit_code == 0, result.output
    (capture,) = json.loads(result.stdout)["captures"]
    assert capture["flows"]["seen"] == 1


def test_info_counts_flows_and_icmp_errors(lossy: Path) -> None:
    shown = CliRunner().invoke(main, ["info", str(lossy)]).stdout
    assert re.search(r"^TCP and UDP flows +1$", shown, re.MULTILINE)
    assert re.search(r"^  forgotten to make room +0$", shown, re.MULTILINE)
    without = CliRunner().invoke(main, ["info", str(lossy), "--no-flows"]).stdout
    assert "TCP and UDP flows" not in without
    assert re.search(r"^  skipped: not SCTP +\d+$", without, re.MULTILINE)
