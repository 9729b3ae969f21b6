"""What is measured against what is true: one small function a metric, which finds the cases in a
run and holds each against its bound.

A metric with a truth joins by a function of its own under `@compares`.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise

from accuracy.runs import HOSTS, Run
from pathscope.analyzer.measure import Instant, Measure
from pathscope.analyzer.model import Handover
from truth import WITHIN_NS

MS, S = 1e6, 1e9
"""Nanoseconds of what errors are told in."""

PACKET_BYTES = 1500
"""Largest packet of these runs: what a link's rate makes a round trip longer by, at most."""

HALF = 1 << 31


@dataclass(frozen=True)
class Sample:
    """One case: measured less true, and whether that is within the bound."""

    error: float
    within: bool


Samples = Callable[[Run], Iterator[Sample]]


@dataclass(frozen=True)
class Comparison:
    """One line of the table."""

    metric: str
    unit: str
    truth: str
    bound: str
    samples: Samples


COMPARISONS: list[Comparison] = []


def compares(metric: str, unit: str, *, truth: str, bound: str) -> Callable[[Samples], Samples]:
    """Make a function a line of the table."""

    def join(samples: Samples) -> Samples:
        COMPARISONS.append(Comparison(metric, unit, truth, bound, samples))
        return samples

    return join


def bracketed(ns: int, from_ns: int, to_ns: int) -> Sample:
    """An observed instant of a thing that was done between two readings of the lab's clock."""
    outside_ns = min(ns - from_ns, 0) or max(ns - to_ns, 0)
    return Sample(outside_ns / MS, abs(outside_ns) <= WITHIN_NS)


def bounded(measured: Measure, true: float) -> Iterator[Sample]:
    """Yield an inferred number whose own bounds must hold the truth, if it was inferred."""
    if measured.value is not None:
        low = measured.value if measured.low is None else measured.low
        high = measured.value if measured.high is None else measured.high
        yield Sample(measured.value - true, low <= true <= high)


def bounded_instant(measured: Instant, from_ns: int, to_ns: int) -> Iterator[Sample]:
    """Yield an inferred instant of a thing that was done between two readings of the clock."""
    if measured.ns is not None and measured.low_ns is not None and measured.high_ns is not None:
        within = measured.low_ns <= to_ns and from_ns <= measured.high_ns
        yield Sample((measured.ns - to_ns) / S, within)


OBSERVED = "1 ms outside the readings"
OWN = "its own bounds"
EXACT = "exact"
CLOCK = "the lab's clock, read before and after"


@compares(
    "established", "ms", truth="the client's socket says connected", bound="not after it by 1 ms"
)
def established(run: Run) -> Iterator[Sample]:
    """The first association's: a client that restarts says nothing of its second."""
    measured = run.told.associations[0].established
    if measured.ns is not None:
        error_ns = measured.ns - run.truth["connected_ns"]
        yield Sample(error_ns / MS, error_ns <= WITHIN_NS)


@compares("start of a restarted association", "ms", truth=CLOCK, bound=OBSERVED)
def restarts(run: Run) -> Iterator[Sample]:
    started = [one for one in run.told.associations if one.restart_of is not None]
    for known, one in zip(run.truth["restarts"], started, strict=True):
        yield bracketed(one.start.ns or 0, known["from_ns"], known["to_ns"])


ASKED = {"add": "address-add", "set-primary": "set-peer-primary", "delete": "address-delete"}


@compares("asconf: at", "ms", truth=CLOCK, bound=OBSERVED)
def asconf(run: Run) -> Iterator[Sample]:
    asked = {one["what"]: one for one in run.truth["requests"] if one["host"] == "client"}
    for association in run.told.associations:
        for exchange in association.asconf:
            known = asked.get(ASKED.get(exchange.request, ""))
            if exchange.sender == "a" and known is not None:
                yield bracketed(exchange.at.ns or 0, known["from_ns"], known["to_ns"])


@compares("t_decision, by ASCONF", "ms", truth=CLOCK, bound=OBSERVED)
def decisions(run: Run) -> Iterator[Sample]:
    asked = [one for one in run.truth["requests"] if one["what"] == "set-peer-primary"]
    for association in run.told.associations:
        moves = [one for one in association.handovers if one.cause == "set-primary"]
        for known, move in zip(asked, moves, strict=False):
            instant = move.instants["t_decision"]
            yield bracketed(instant.ns or 0, known["from_ns"], known["to_ns"])


@compares("t_fail, inferred", "s", truth=CLOCK, bound=OWN)
def failures(run: Run) -> Iterator[Sample]:
    for link, _, untold in run.failed():
        yield from bounded_instant(untold.instants["t_fail"], link["from_ns"], link["to_ns"])


@compares("t_return_link, inferred", "s", truth=CLOCK, bound=OWN)
def returns(run: Run) -> Iterator[Sample]:
    for link, _, untold in run.returned():
        instant = untold.instants["t_return_link"]
        yield from bounded_instant(instant, link["from_ns"], link["to_ns"])


def _spans(name: str) -> Samples:
    """A time since the failure, inferred, against that since the lab's word."""

    def samples(run: Run) -> Iterator[Sample]:
        for _, told, untold in run.failed():
            true = told.metrics[name].value
            if true is not None:
                yield from bounded(untold.metrics[name], true)

    return samples


SINCE_FAILURE = "to the same frame from the lab's word of the failure"
for name in ("link_failure_recovery_s", "failure_detection_s", "recovery_completion_s"):
    compares(f"{name}, inferred", "s", truth=SINCE_FAILURE, bound=OWN)(_spans(name))


@compares(
    "link_recognition_s, inferred",
    "s",
    truth="to the same frame from the lab's word of the return",
    bound=OWN,
)
def recognitions(run: Run) -> Iterator[Sample]:
    for _, told, untold in run.returned():
        true = told.metrics["link_recognition_s"].value
        if true is not None:
            yield from bounded(untold.metrics["link_recognition_s"], true)


@compares("predicted_failover_s", "s", truth="(PMR + 1) x RTO, as set", bound=OWN)
def predictions(run: Run) -> Iterator[Sample]:
    sctp = run.scenario.sctp("client")
    if sctp["rto_min_ms"] == sctp["rto_max_ms"]:
        true = (sctp["path_max_retrans"] + 1) * sctp["rto_max_ms"] / 1000
        for _, told, _ in run.failed():
            yield from bounded(told.metrics["predicted_failover_s"], true)


def _timer(name: str, setting: str, scale: float) -> Samples:
    def samples(run: Run) -> Iterator[Sample]:
        for association in run.told.associations:
            for end, timers in association.timers.items():
                if name in timers:
                    true = run.scenario.sctp(HOSTS[end])[setting] / scale
                    yield from bounded(timers[name].measure, true)

    return samples


for name, setting, scale, unit in (
    ("rto_min_s", "rto_min_ms", 1000, "s"),
    ("rto_max_s", "rto_max_ms", 1000, "s"),
    ("path_max_retrans", "path_max_retrans", 1, "expiries"),
    ("hb_interval_s", "hb_interval_ms", 1000, "s"),
):
    compares(name, unit, truth=f"setting {setting}", bound=OWN)(_timer(name, setting, scale))


@compares("rto_s", "s", truth="RTO.Min = RTO.Max, as set", bound=OWN)
def rto(run: Run) -> Iterator[Sample]:
    sctp = run.scenario.sctp("client")
    if sctp["rto_min_ms"] == sctp["rto_max_ms"]:
        yield from _timer("rto_s", "rto_max_ms", 1000)(run)


def _round_trips(key: str) -> Samples:
    """The least round trip on a path: its delays, and what sending takes at its rate.

    The SACK of DATA can come back on any path, which the definition does not deny; a HEARTBEAT ACK
    comes on its own. HEARTBEATs wait in queues behind DATA, so those of paths with DATA are not
    held against delays.
    """

    def samples(run: Run) -> Iterator[Sample]:
        for association in run.told.associations:
            for path in association.paths:
                name = run.path_name(association, path.number)
                measured = path.directions["a"]
                numbers = measured.heartbeats if key == "heartbeats" else measured.metrics
                least = numbers["rtt_min_ns"].value
                has_data = any(one.metrics["data_chunks"].value for one in path.directions.values())
                if name is None or least is None or (key == "heartbeats" and has_data):
                    continue
                there = run.one_way_ns(name, "to_server")
                back = run.one_way_ns(name, "to_client")
                sending_ns = run.sending_ns(name, "to_server", PACKET_BYTES)
                sending_ns += run.sending_ns(name, "to_client", PACKET_BYTES)
                ways_back = [back[0]] if key == "heartbeats" else run.least_ways_back_ns()
                low, high = there[0] + min(ways_back), there[1] + back[1] + sending_ns
                true = (there[0] + there[1] + back[0] + back[1]) / 2
                within = low - WITHIN_NS <= least <= high + WITHIN_NS
                yield Sample((least - true) / MS, within)

    return samples


compares(
    "rtt_min_ns, HEARTBEATs",
    "ms",
    truth="delays there and back of a path without DATA",
    bound="1 ms, the jitter, and sending at the path's rate",
)(_round_trips("heartbeats"))
compares(
    "rtt_min_ns, DATA",
    "ms",
    truth="the path's delays there and back",
    bound="the same, and less where another path's way back is shorter",
)(_round_trips("metrics"))


@compares("new_bytes", "bytes", truth="bytes that the receiving application got", bound=EXACT)
def volumes(run: Run) -> Iterator[Sample]:
    sent = sum(
        association.totals[end]["new_bytes"].value or 0
        for association in run.told.associations
        for end in run.senders
    )
    error = sent - run.truth["received_bytes"]
    yield Sample(error, error == 0)


@compares("messages", "messages", truth="messages that the application sent", bound=EXACT)
def messages(run: Run) -> Iterator[Sample]:
    """A client that restarts says nothing of what it had sent before."""
    told = [event["sent"] for event in run.events if event["event"] == "closed" and "sent" in event]
    if told and not run.truth["restarts"]:
        found = sum(
            stream.messages
            for association in run.told.associations
            for stream in association.streams
            if stream.sender in run.senders
        )
        error = found - sum(int(str(one)) for one in told)
        yield Sample(error, error == 0)


@compares(
    "loss_ratio, one capture", "1", truth="DATA sent on the path less DATA arrived", bound=OWN
)
def losses(run: Run) -> Iterator[Sample]:
    sent, arrived = Counter(one.path for one in run.sent), Counter(one.path for one in run.arrived)
    for association in run.told.associations:
        for path in association.paths:
            way = (path.a_address, path.b_address)
            if len(run.told.associations) == 1 and sent[way]:
                true = (sent[way] - arrived[way]) / sent[way]
                yield from bounded(path.directions["a"].metrics["loss_ratio"], true)


@compares(
    "delivery_gap_s",
    "s",
    truth="longest stop of the cumulative TSN in what arrived at the server",
    bound="SACK delay, and the longest round trip",
)
def delivery_gaps(run: Run) -> Iterator[Sample]:
    if len(run.told.associations) != 1 or not run.arrived:
        return
    (association,) = run.told.associations
    advances = _advances(run)
    allowed_s = run.scenario.sctp("server")["sack_delay_ms"] / 1000
    allowed_s += (
        max(path.directions["a"].metrics["rtt_max_ns"].value or 0 for path in association.paths) / S
    )
    for handover in association.handovers:
        gap = handover.metrics["delivery_gap_s"].value
        if gap is None or handover.sender != "a":
            continue
        error = gap - _longest_stop(advances, handover)
        yield Sample(error, abs(error) <= allowed_s)


def _advances(run: Run) -> list[int]:
    """When the server's cumulative TSN went on, by its own capture."""
    first = run.sent[0].tsn
    waiting: set[int] = set()
    cumulative, found = -1, []
    for one in run.arrived:
        number = (one.tsn - first + HALF) % (1 << 32) - HALF
        waiting.add(number)
        if cumulative + 1 in waiting:
            found.append(one.time_ns)
        while cumulative + 1 in waiting:
            cumulative += 1
            waiting.discard(cumulative)
    return found


def _longest_stop(advances: list[int], handover: Handover) -> float:
    """The longest stop that overlaps the handover, in seconds."""
    instants = [handover.instants[name].ns for name in ("t_last_ok", "t_first_new", "t_recovered")]
    known = [ns for ns in instants if ns is not None]
    first = max(bisect_right(advances, min(known)) - 1, 0)
    last = min(bisect_right(advances, max(known)) + 1, len(advances))
    near = advances[first:last]
    return max((later - one for one, later in pairwise(near)), default=0) / S


@compares(
    "offset_s",
    "s",
    truth="one clock for both ends: 0",
    bound=OWN,
)
def offsets(run: Run) -> Iterator[Sample]:
    if run.both is not None and run.both.other_end is not None:
        yield from bounded(run.both.other_end.clock.offset_s, 0.0)


def _transits(run: Run) -> Iterator[tuple[str, str, dict[str, Measure]]]:
    """Yield paths by name, with the way that a sender's packets took, and its numbers."""
    for association in () if run.both is None else run.both.associations:
        for path in association.paths:
            name = run.path_name(association, path.number)
            for end, way in (("a", "to_server"), ("b", "to_client")):
                numbers = path.directions["a" if end == "a" else "b"].transit
                if name is not None and numbers:
                    yield name, way, numbers


@compares(
    "one_way_delay_min_ns",
    "ms",
    truth="the least delay that netem's settings allow",
    bound=OWN,
)
def one_way_delays(run: Run) -> Iterator[Sample]:
    for name, way, numbers in _transits(run):
        measured = numbers["one_way_delay_min_ns"]
        if measured.value is not None:
            least, most = run.one_way_ns(name, way)
            most += run.sending_ns(name, way, PACKET_BYTES)
            low = measured.value if measured.low is None else measured.low
            high = measured.value if measured.high is None else measured.high
            within = low - WITHIN_NS <= most and least - WITHIN_NS <= high
            yield Sample((measured.value - least) / MS, within)
