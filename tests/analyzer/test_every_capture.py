"""What holds for the analysis of any capture, and the sums that tshark gives for the lab's."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import lab
import pytest
from invariants import check
from pathscope.analyzer.model import End


@pytest.mark.parametrize("capture", lab.CAPTURES)
def test_invariants(capture: str) -> None:
    check(lab.analysis(capture))


@pytest.mark.parametrize("run", sorted({lab.run_of(capture) for capture in lab.CAPTURES}))
def test_invariants_with_events(run: str) -> None:
    for tap in ("client", "server"):
        check(lab.analysis(f"{run}/{tap}.pcapng", events=True))


@pytest.mark.parametrize("capture", lab.CAPTURES)
def test_every_instant_is_the_time_of_its_frame(capture: str) -> None:
    time_ns = {frame.number: frame.time_ns for frame in lab.frames(capture)}
    seen = lab.association(capture)
    instants = [instant for h in seen.handovers for instant in h.instants.values()]
    instants += [expiry.at for h in seen.handovers for expiry in h.timeouts]
    instants += [seen.start, seen.end, seen.established]
    instants += [one for exchange in seen.asconf for one in (exchange.at, exchange.ack)]
    instants += [s.at for p in seen.paths for d in p.directions.values() for s in d.states]
    observed = [instant for instant in instants if instant.basis == "observed"]
    assert len(observed) > 3
    for instant in observed:
        assert instant.frame is not None
        assert time_ns[instant.frame] == instant.ns


def ways(capture: str) -> Iterator[tuple[tuple[str, str], int, End]]:
    for path in lab.association(capture).paths:
        yield (path.a_address, path.b_address), path.number, "a"
        yield (path.b_address, path.a_address), path.number, "b"


@pytest.mark.parametrize("capture", lab.CAPTURES)
def test_counts_of_each_path_are_tsharks(capture: str) -> None:
    frames = lab.frames(capture)
    packets = Counter(frame.way for frame in frames)
    chunks: Counter[tuple[str, str]] = Counter()
    for frame in frames:
        chunks[frame.way] += len(frame.tsns)
    new = Counter(frame.way for frame in lab.sent(capture).new.values())
    again = Counter(frame.way for _, _, frame in lab.sent(capture).again)
    beats = Counter(f.way for f in frames for kind in f.types if kind == lab.HEARTBEAT)
    for way, number, end in ways(capture):
        direction = lab.association(capture).paths[number].directions[end]
        truth = {
            "packets": packets[way],
            "data_chunks": chunks[way],
            "new_chunks": new[way],
            "retransmitted_chunks": again[way],
        }
        for name, count in truth.items():
            measure = direction.metrics.get(name)
            assert (0 if measure is None else measure.value) == count, (way, name)
        assert direction.heartbeats["sent"].value == beats[way]
    assert sum(packets.values()) == lab.association(capture).packets


@pytest.mark.parametrize("capture", lab.CAPTURES)
def test_bytes_and_goodput_are_the_applications(capture: str) -> None:
    """Every message is one chunk of a known size; all of them were acknowledged at the end."""
    (closed,) = [event for event in lab.log(lab.run_of(capture)) if event["event"] == "closed"]
    sent_bytes = closed["sent"] * closed["size"]
    seen = lab.association(capture)
    totals = seen.totals["a"]
    assert totals["new_bytes"].value == sent_bytes
    assert totals["acked_bytes"].value == totals["new_bytes"].value
    span_s = ((seen.end.ns or 0) - (seen.start.ns or 0)) / 1e9
    assert totals["goodput_bps"].value == pytest.approx(sent_bytes * 8 / span_s)
