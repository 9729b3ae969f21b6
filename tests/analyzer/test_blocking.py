"""Head-of-line blocking by stream: a sender's capture beside the receiver's."""

from __future__ import annotations

from itertools import pairwise

import oracle
import pytest
from lab import RUNS, association
from ladder import HANDSHAKE, Play, second
from pathscope.analyzer.model import Stream

HOLE = """
    1.00  a 1  DATA 1-4
    1.01  b 1  SACK 1 gaps 3-3
    1.02  b 1  SACK 1 gaps 3-4
    1.20  a 1  DATA 2
    1.25  b 1  SACK 4
"""


def _only(streams: tuple[Stream, ...]) -> Stream:
    (stream,) = streams
    return stream


def test_two_messages_wait_for_the_hole(play: Play) -> None:
    waiting = _only(play(HANDSHAKE, HOLE).streams).waiting
    assert waiting.metrics["waited_messages"].value == 2
    assert waiting.metrics["wait_s"].value == pytest.approx(0.24 + 0.23)
    assert waiting.metrics["wait_max_s"].value == pytest.approx(0.24)
    assert (second(waiting.longest_start.ns), second(waiting.longest_end.ns)) == (1.01, 1.25)
    assert waiting.longest_tsn == (0xFFFF_FFFA + 2) % 2**32
    assert waiting.metrics["saved_by_streams_s"].value == 0.0
    assert waiting.metrics["wait_s"].note == "arrivals told by the SACKs that cover them first"


def test_nothing_waits_in_order(play: Play) -> None:
    waiting = _only(play(HANDSHAKE, "1.00 a 1 DATA 1-4\n1.01 b 1 SACK 4").streams).waiting
    assert waiting.metrics["waited_messages"].value == 0
    assert waiting.metrics["wait_s"].value == 0.0
    assert waiting.longest_start.reason == "no message waited"


def test_without_sacks_nothing_is_known(play: Play) -> None:
    waiting = _only(play(HANDSHAKE, "1.00 a 1 DATA 1-4").streams).waiting
    reason = "no SACK for this sender's DATA in the capture"
    assert {one.reason for one in waiting.metrics.values()} == {reason}


def _by_tshark(capture: str) -> dict[int, tuple[int, float]]:
    """Messages that waited, and how long in all, by stream: from the receiver's capture by tshark.

    The lab's messages are one chunk each, and ordered.
    """
    names = ("frame.time_epoch", "sctp.data_tsn_raw", "sctp.data_sid", "sctp.data_ssn")
    arrived: dict[int, dict[int, int]] = {}
    for fields in oracle.fields(RUNS / capture, names, "sctp.chunk_type == 0"):
        time_ns = oracle.nanoseconds(fields[names[0]][0])
        for sid, ssn in zip(fields[names[2]], fields[names[3]], strict=True):
            numbers = arrived.setdefault(int(sid, 0), {})
            numbers[int(ssn, 0)] = min(time_ns, numbers.get(int(ssn, 0), time_ns))
    found = {}
    for stream, numbers in arrived.items():
        order = sorted(numbers)
        assert all(later == earlier + 1 for earlier, later in pairwise(order))
        latest_ns, waits = 0, []
        for number in order:
            latest_ns = max(latest_ns, numbers[number])
            waits.append(latest_ns - numbers[number])
        found[stream] = sum(wait > 0 for wait in waits), sum(waits) / 1e9
    return found


@pytest.mark.parametrize("run", ["lab-lossy", "lab-return", "lab-failover"])
def test_the_receivers_view_is_tsharks(run: str) -> None:
    expected = _by_tshark(f"{run}/server.pcapng")
    streams = association(f"{run}/server.pcapng").streams
    assert {stream.number for stream in streams} == set(expected)
    for stream in streams:
        assert stream.number is not None
        waited, wait_s = expected[stream.number]
        assert stream.waiting.metrics["waited_messages"].value == waited
        assert stream.waiting.metrics["wait_s"].value == pytest.approx(wait_s)


@pytest.mark.parametrize("run", ["lab-lossy", "lab-return"])
def test_the_senders_bounds_hold_the_receivers_view(run: str) -> None:
    ends = [association(f"{run}/{end}.pcapng").streams for end in ("client", "server")]
    for sender, receiver in zip(*ends, strict=True):
        assert sender.number == receiver.number
        for name in ("wait_s", "wait_max_s", "single_stream_wait_s", "single_stream_wait_max_s"):
            inferred, shown = sender.waiting.metrics[name], receiver.waiting.metrics[name]
            assert (shown.basis, inferred.basis) == ("observed", "inferred")
            assert (inferred.low or 0) <= (shown.value or 0) <= (inferred.high or 0)


def test_streams_save_what_a_single_one_would_wait() -> None:
    for stream in association("lab-lossy/server.pcapng").streams:
        metrics = {name: one.value or 0 for name, one in stream.waiting.metrics.items()}
        assert metrics["wait_s"] < metrics["single_stream_wait_s"]
        saved = metrics["single_stream_wait_s"] - metrics["wait_s"]
        assert metrics["saved_by_streams_s"] == pytest.approx(saved)
