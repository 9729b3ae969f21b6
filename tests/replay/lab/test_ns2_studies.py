"""Studies W and P, run in ns-2: their published figures, computed here from the trace's lines.

Nothing of pathscope reads the traces in this file; the definitions are those of study W.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from statistics import fmean

import pytest
from pathscope.replay.lab.ns2.run import run
from pathscope.replay.lab.scenario import load
from running import ROOT

SCENARIOS = ROOT / "fixtures" / "scenarios"

PKT = 1000
"""Study W counts packets of at least so many bytes."""

TCP_DELAYS_MS = {"2-12": "780.416", "3-13": "793.060", "4-14": "795.888", "5-15": "803.970"}
TCP_JITTERS_MS = {"2-12": 12.8424, "3-13": 13.754, "4-14": 14.0515, "5-15": 13.2253}
TCP_THROUGHPUTS_KBIT_S = {"2-12": 94.3721, "3-13": 86.8597, "4-14": 85.1145, "6-16": 81.0108}
SCTP_DELAYS_MS = {"2-12": 1122.54, "3-13": 1134.04, "4-14": 1136.28, "5-15": 1137.93}
SCTP_DELAYS_MS |= {"6-16": 1138.76}
SCTP_JITTERS_MS = {"2-12": 32.9559, "3-13": 33.5674, "4-14": 33.2597, "5-15": 33.6277}
SCTP_JITTERS_MS |= {"6-16": 33.1688}


@dataclass
class Pair:
    """What became of the packets from one node to another."""

    first_s: dict[int, float] = field(default_factory=dict)
    delay_s: dict[int, float] = field(default_factory=dict)
    received_bytes: int = 0
    last_s: float = 0

    def delay_ms(self) -> float:
        return 1000 * fmean(self.delay_s.values())

    def jitter_ms(self) -> float:
        delays = [self.delay_s[packet] for packet in sorted(self.delay_s)]
        return 1000 * fmean(abs(b - a) for a, b in pairwise(delays))

    def throughput_kbit_s(self) -> float:
        return self.received_bytes * 8 / 1000 / (self.last_s - min(self.first_s.values()))


def simulated(folder: Path, name: str, changes: Sequence[str] = ()) -> Path:
    return run(load(SCENARIOS / f"{name}.toml", changes), folder, limit_s=120)


def lines(trace: Path) -> Iterator[list[str]]:
    """Split a trace's lines; the columns from the eleventh on are the protocol's."""
    with trace.open() as file:
        for line in file:
            yield line.split()


def pairs(trace: Path) -> dict[str, Pair]:
    found: defaultdict[str, Pair] = defaultdict(Pair)
    for event, time, start, end, _, size, _, _, source, sink, *rest in lines(trace):
        if int(size) < PKT:
            continue
        one, other = source.partition(".")[0], sink.partition(".")[0]
        pair = found[f"{one}-{other}"]
        packet = int(rest[1] if len(rest) == 2 else rest[2])
        if event == "+" and start == one:
            pair.first_s.setdefault(packet, float(time))
        # A packet of several chunks has a line for each.
        elif event == "r" and end == other and packet not in pair.delay_s:
            pair.delay_s[packet] = float(time) - pair.first_s[packet]
            pair.received_bytes += int(size) // PKT * PKT
            pair.last_s = float(time)
    return found


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("ns2")


@pytest.fixture(scope="module")
def tcp(folder: Path) -> dict[str, Pair]:
    trace = simulated(folder / "tcp", "waleed-tcp")
    found = pairs(trace)
    trace.unlink()
    return found


@pytest.fixture(scope="module")
def sctp(folder: Path) -> dict[str, Pair]:
    trace = simulated(folder / "sctp", "waleed-sctp")
    found = pairs(trace)
    trace.unlink()
    return found


@pytest.mark.parametrize("pair", TCP_DELAYS_MS)
def test_tcp_delays_are_those_of_the_study_to_the_printed_digits(
    tcp: dict[str, Pair], pair: str
) -> None:
    assert f"{tcp[pair].delay_ms():.3f}" == TCP_DELAYS_MS[pair]


@pytest.mark.parametrize("pair", TCP_JITTERS_MS)
def test_tcp_jitters(tcp: dict[str, Pair], pair: str) -> None:
    assert tcp[pair].jitter_ms() == pytest.approx(TCP_JITTERS_MS[pair], rel=0.001)


@pytest.mark.parametrize("pair", TCP_THROUGHPUTS_KBIT_S)
def test_tcp_throughputs(tcp: dict[str, Pair], pair: str) -> None:
    expected = pytest.approx(TCP_THROUGHPUTS_KBIT_S[pair], rel=0.001)
    assert tcp[pair].throughput_kbit_s() == expected


def test_the_cells_that_are_probably_slips_of_the_study(tcp: dict[str, Pair]) -> None:
    assert f"{tcp['6-16'].delay_ms():.3f}" == "802.110"  # printed: 805.11
    assert tcp["6-16"].jitter_ms() == pytest.approx(14.63, abs=0.005)  # printed: 14.1221
    assert tcp["5-15"].throughput_kbit_s() == pytest.approx(91.8, rel=0.001)  # printed: 82.7298


@pytest.mark.parametrize("pair", SCTP_DELAYS_MS)
def test_sctp_delays_and_jitters(sctp: dict[str, Pair], pair: str) -> None:
    assert sctp[pair].delay_ms() == pytest.approx(SCTP_DELAYS_MS[pair], rel=0.006)
    assert sctp[pair].jitter_ms() == pytest.approx(SCTP_JITTERS_MS[pair], rel=0.03)


@dataclass
class Counts:
    """DATA packets of study P, by the number of the path."""

    sent: Counter[int] = field(default_factory=Counter)
    received: Counter[int] = field(default_factory=Counter)
    again: Counter[int] = field(default_factory=Counter)
    dropped: int = 0
    last_s: dict[int, float] = field(default_factory=dict)
    first_s: dict[int, float] = field(default_factory=dict)


def counts(trace: Path) -> Counts:
    """Count the packets with DATA: the sender's interfaces are nodes 1 to 4, a path each."""
    found = Counts()
    seen = set()
    for event, time, start, end, _, _, flags, _, source, sink, _, tsn, *_ in lines(trace):
        if not flags.endswith("D"):
            continue
        one, other = source.partition(".")[0], sink.partition(".")[0]
        path = int(one)
        found.dropped += event == "d"
        found.received[path] += event == "r" and end == other
        if event == "+" and start == one:
            found.sent[path] += 1
            found.again[path] += tsn in seen
            seen.add(tsn)
            found.last_s[path] = float(time)
            found.first_s.setdefault(path, float(time))
    return found


@pytest.mark.parametrize(
    ("path", "sent", "received"), [(2, 22826, 22724), (3, 27077, 27010)], ids=["SCTP", "PSASP"]
)
def test_chens_packets(folder: Path, path: int, sent: int, received: int) -> None:
    trace = simulated(folder / f"chen-{path}", "chen", [f"actions.1.to=server-{path}"])
    found = counts(trace)
    trace.unlink()
    assert found.sent.total() == pytest.approx(sent, rel=0.003)
    assert found.received.total() == pytest.approx(received, rel=0.003)
    assert found.last_s[1] < 10 < found.first_s[path] < 10.1
    # No queue overflows here, where the study lost packets: what did not arrive is on its way.
    assert found.dropped == 0
    assert 0 < found.sent.total() - found.received.total() < 65536 / 1468
    # The old path still delivers when the new one, which has no queue yet, has overtaken it: its
    # last packets count as missing and are sent again for nothing, on the first alternate path.
    assert found.again.total() == found.again[2] == pytest.approx(21, abs=2)
