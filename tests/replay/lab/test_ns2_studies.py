"""Studies W and P by `lab reproduce`: their published figures, from the command and from the trace.

Nothing of pathscope reads the traces in this file; the definitions are those of study W. What the
command makes of the same traces has to be the same, and to be what docs/studies.md shows.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from statistics import fmean
from typing import Any

import pytest
from running import ROOT, inside, loaded

PAIRS = ("2-12", "3-13", "4-14", "5-15", "6-16")

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
    dropped: set[int] = field(default_factory=set)
    received_bytes: int = 0
    last_s: float = 0

    def delay_ms(self) -> float:
        return 1000 * fmean(self.delay_s.values())

    def jitter_ms(self) -> float:
        delays = [self.delay_s[packet] for packet in sorted(self.delay_s)]
        return 1000 * fmean(abs(b - a) for a, b in pairwise(delays))

    def throughput_kbit_s(self) -> float:
        return self.received_bytes * 8 / 1000 / (self.last_s - min(self.first_s.values()))


@dataclass(frozen=True)
class Reproduced:
    """A study's folder, and what the command found."""

    place: Path
    document: dict[str, Any]

    def trace(self, run: str) -> Path:
        return self.place / run / "trace.tr"

    def value(self, experiment: str, quantity: str, **settings: str) -> float:
        """A quantity of the one run, or route, with these values on the experiment's axes."""
        (found,) = (one for one in self.document["experiments"] if one["name"] == experiment)
        (run,) = (run for run in found["runs"] if run["settings"] == settings)
        value: float = run["values"]["client"][quantity]["value"]
        return value


def reproduced(place: Path, study: str) -> Reproduced:
    done = inside("lab", "reproduce", study, "--out", place)
    assert done.exit_code == 0, done.stderr
    return Reproduced(place, json.loads((place / "study.json").read_text()))


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
        elif event == "d":
            pair.dropped.add(packet)
        # A packet of several chunks has a line for each.
        elif event == "r" and end == other and packet not in pair.delay_s:
            pair.delay_s[packet] = float(time) - pair.first_s[packet]
            pair.received_bytes += int(size) // PKT * PKT
            pair.last_s = float(time)
    return found


@pytest.fixture(scope="module")
def waleed(tmp_path_factory: pytest.TempPathFactory) -> Reproduced:
    return reproduced(tmp_path_factory.mktemp("w") / "waleed", "waleed")


@pytest.fixture(scope="module")
def chen(tmp_path_factory: pytest.TempPathFactory) -> Reproduced:
    return reproduced(tmp_path_factory.mktemp("p") / "chen", "chen")


@pytest.fixture(scope="module")
def tcp(waleed: Reproduced) -> dict[str, Pair]:
    return pairs(waleed.trace("tcp/run-1"))


@pytest.fixture(scope="module")
def sctp(waleed: Reproduced) -> dict[str, Pair]:
    return pairs(waleed.trace("sctp/run-1"))


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


def test_the_command_alone_gives_the_published_figures_of_tcp(waleed: Reproduced) -> None:
    for pair, printed in TCP_DELAYS_MS.items():
        delay_ms = 1000 * waleed.value("tcp", "route_delay_s", route=pair)
        assert f"{delay_ms:.3f}" == printed
    for pair, jitter_ms in TCP_JITTERS_MS.items():
        found_s = waleed.value("tcp", "route_jitter_s", route=pair)
        assert 1000 * found_s == pytest.approx(jitter_ms, rel=0.001)
    for pair, kbit_s in TCP_THROUGHPUTS_KBIT_S.items():
        found_bps = waleed.value("tcp", "route_throughput_bps", route=pair)
        assert found_bps / 1000 == pytest.approx(kbit_s, rel=0.001)


@pytest.mark.parametrize("pair", SCTP_DELAYS_MS)
def test_the_command_alone_gives_the_published_delays_of_sctp(
    waleed: Reproduced, pair: str
) -> None:
    found_s = waleed.value("sctp", "route_delay_s", route=pair)
    assert 1000 * found_s == pytest.approx(SCTP_DELAYS_MS[pair], rel=0.01)


@pytest.mark.parametrize("pair", PAIRS)
@pytest.mark.parametrize("run", ["tcp", "sctp"])
def test_the_command_gives_what_the_lines_of_the_trace_say(
    waleed: Reproduced, tcp: dict[str, Pair], sctp: dict[str, Pair], run: str, pair: str
) -> None:
    raw = (tcp if run == "tcp" else sctp)[pair]
    found = {
        name: waleed.value(run, name, route=pair)
        for name in ("route_delay_s", "route_jitter_s", "route_throughput_bps")
    }
    assert found == {
        "route_delay_s": pytest.approx(raw.delay_ms() / 1000, rel=1e-9),
        "route_jitter_s": pytest.approx(raw.jitter_ms() / 1000, rel=1e-9),
        "route_throughput_bps": pytest.approx(raw.throughput_kbit_s() * 1000, rel=1e-9),
    }
    dropped = waleed.value(run, "route_dropped_ratio", route=pair)
    assert dropped == pytest.approx(len(raw.dropped) / len(raw.first_s))


def test_what_all_pairs_get_over_sctp_is_that_of_the_study(waleed: Reproduced) -> None:
    """How they share it is not: 64.2493, 59.492, 62.9314, 55.6609 and 61.9075 kbit/s."""
    found = sum(waleed.value("sctp", "route_throughput_bps", route=pair) for pair in PAIRS)
    assert found / 1000 == pytest.approx(304.2411, rel=0.002)


def test_the_manual_shows_these_results(waleed: Reproduced, chen: Reproduced) -> None:
    module = loaded(ROOT / "docs" / "studies.py")
    text = (ROOT / "docs" / "studies.md").read_text()
    found = {"waleed": waleed.document, "chen": chen.document}
    assert {part["name"] for part in module.PART.finditer(text)} == set(found)
    assert module.render(text, found) == text, "run `make studies`"


@dataclass
class Counts:
    """DATA packets of study P, by the number of the path."""

    sent: Counter[int] = field(default_factory=Counter)
    received: Counter[int] = field(default_factory=Counter)
    again: Counter[int] = field(default_factory=Counter)
    dropped: int = 0
    last_s: dict[int, float] = field(default_factory=dict)
    first_s: dict[int, float] = field(default_factory=dict)
    delay_s: list[float] = field(default_factory=list)
    queueing_s: list[float] = field(default_factory=list)


def counts(trace: Path) -> Counts:
    """Count the packets with DATA: the sender's interfaces are nodes 1 to 4, a path each."""
    found = Counts()
    seen = set()
    sent_s: dict[str, float] = {}
    queued_s: defaultdict[str, float] = defaultdict(float)
    for event, time, start, end, _, _, flags, _, source, sink, _, tsn, packet, *_ in lines(trace):
        if not flags.endswith("D"):
            continue
        one, other = source.partition(".")[0], sink.partition(".")[0]
        path = int(one)
        found.dropped += event == "d"
        # Into a queue and out of it again, on every link.
        queued_s[packet] += {"+": -1, "-": 1}.get(event, 0) * float(time)
        if event == "r" and end == other:
            found.received[path] += 1
            found.delay_s.append(float(time) - sent_s[packet])
            found.queueing_s.append(queued_s[packet])
        if event == "+" and start == one:
            found.sent[path] += 1
            sent_s[packet] = float(time)
            found.again[path] += tsn in seen
            seen.add(tsn)
            found.last_s[path] = float(time)
            found.first_s.setdefault(path, float(time))
    return found


@pytest.mark.parametrize(
    ("path", "sent", "received"), [(2, 22826, 22724), (3, 27077, 27010)], ids=["SCTP", "PSASP"]
)
def test_chens_packets(chen: Reproduced, path: int, sent: int, received: int) -> None:
    found = counts(chen.trace(f"switchover/actions.1.to=server-{path}/run-1"))
    assert found.sent.total() == pytest.approx(sent, rel=0.003)
    assert found.received.total() == pytest.approx(received, rel=0.003)
    assert found.last_s[1] < 10 < found.first_s[path] < 10.1
    # No queue overflows here, where the study lost packets: what did not arrive is on its way.
    assert found.dropped == 0
    assert 0 < found.sent.total() - found.received.total() < 65536 / 1468
    # The old path still delivers when the new one, which has no queue yet, has overtaken it: its
    # last packets count as missing and are sent again for nothing, on the first alternate path.
    assert found.again.total() == found.again[2] == pytest.approx(21, abs=2)
    # The command says so, too.
    values = {
        name: chen.value("switchover", f"route_{name}", **{"path to": f"server-{path}"})
        for name in ("sent_packets", "arrived_packets", "dropped_packets", "unfinished_packets")
    }
    on_their_way = found.sent.total() - found.received.total()
    assert list(values.values()) == [found.sent.total(), found.received.total(), 0, on_their_way]


@pytest.mark.parametrize("path", [2, 3])
def test_chens_delay_and_its_parts(chen: Reproduced, path: int) -> None:
    found = counts(chen.trace(f"switchover/actions.1.to=server-{path}/run-1"))
    parts = ("delay", "queueing", "transmission", "propagation", "processing")
    value_s = {
        part: chen.value("switchover", f"route_{part}_s", **{"path to": f"server-{path}"})
        for part in parts
    }
    assert value_s["delay"] == pytest.approx(fmean(found.delay_s), rel=1e-9)
    assert value_s["queueing"] == pytest.approx(fmean(found.queueing_s), rel=1e-9)
    assert sum(value_s[part] for part in parts[1:]) == pytest.approx(value_s["delay"], rel=1e-9)
    # 50 ms on the middle link, a microsecond on each of the others; ns-2's nodes take no time.
    assert value_s["propagation"] == pytest.approx(0.050002, abs=2e-6)
    assert value_s["processing"] == 0
    # Packets of 1500 bytes on two links of 10 Mbit/s and one of 2 (path 1), 1.5 or 1.8 Mbit/s.
    rate_bps = {1: 2e6, 2: 1.5e6, 3: 1.8e6}
    on_path_s = {one: 12000 * (2 / 10e6 + 1 / bps) for one, bps in rate_bps.items()}
    expected_s = (
        sum(count * on_path_s[one] for one, count in found.received.items())
        / found.received.total()
    )
    assert value_s["transmission"] == pytest.approx(expected_s, rel=1e-3)
