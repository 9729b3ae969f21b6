"""What holds for the analysis of any capture: `check` raises where it does not."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from pathscope.analyzer.measure import Instant, Measure
from pathscope.analyzer.model import Association, Handover
from pathscope.api import Analysis

SIGNED = {
    # Differences of an inferred instant, whose bounds may lie on the other side of the second.
    "link_failure_recovery_s", "failure_detection_s", "recovery_completion_s",
    "link_recognition_s",
    # DATA can go with COOKIE ECHO, an address be deleted before the move, a prediction be too long.
    "setup_to_data_s", "ho_to_del_s", "difference_s",
}  # fmt: skip
SUMMED = (
    "packets", "wire_bytes", "data_chunks", "new_chunks", "retransmitted_chunks", "late_chunks",
    "new_bytes", "acked_bytes",
)  # fmt: skip


def check(analysis: Analysis) -> None:
    for association in analysis.associations:
        for name, measure in _measures(association):
            _check_measure(name, measure)
        for instant in _instants(association):
            _check_instant(instant, analysis)
        _check_sums(association)
        _check_choice(association)
        for handover in association.handovers:
            _check_order(handover)


def _measures(association: Association) -> Iterator[tuple[str, Measure]]:
    for end in association.totals:
        yield from association.totals[end].items()
        for name, timer in association.timers[end].items():
            yield name, timer.measure
            assert timer.evidence_count > 0
        for path in association.paths:
            yield from path.directions[end].metrics.items()
            yield from path.directions[end].heartbeats.items()
    for handover in association.handovers:
        yield from handover.metrics.items()
    for region in association.handoff_regions:
        yield from region.metrics.items()
    for exchange in association.asconf:
        yield "delay_s", exchange.delay_s
    yield from _audited(association)


def _audited(association: Association) -> Iterator[tuple[str, Measure]]:
    yield from association.handoff.items()
    for choice in association.path_choice.values():
        yield from choice.metrics.items()
        for forecast in choice.forecasts:
            yield "rtt_ns", forecast.rtt_ns
            yield "rate_bps", forecast.rate_bps
        for one in choice.alternates:
            yield "excess_rtt_ns", one.excess_rtt_ns
    yield from association.timeline.metrics.items()
    for phase in association.timeline.phases:
        yield from phase.metrics.items()
    for prediction in (handover.prediction for handover in association.handovers):
        if prediction is not None:
            yield "measured_s", prediction.measured_s
            for form in prediction.forms:
                yield "predicted_s", form.predicted_s
                yield "difference_s", form.difference_s
                yield "granularity_s", form.granularity_s


def _check_measure(name: str, measure: Measure) -> None:
    if measure.value is None:
        assert measure.reason, f"{name} is absent without a reason"
        assert measure.basis is None
        return
    assert measure.basis is not None, name
    assert measure.reason is None, name
    if name not in SIGNED:
        assert measure.value >= 0, name
    if name.endswith("_ratio"):
        assert measure.value <= 1, name
    if measure.basis == "inferred":
        assert measure.low is not None, name
        assert measure.high is not None, name
        assert measure.low <= measure.value <= measure.high, name
    else:
        assert measure.low is None, name
        assert measure.high is None, name


def _instants(association: Association) -> Iterator[Instant]:
    yield from (association.start, association.end, association.established)
    for handover in association.handovers:
        yield from handover.instants.values()
        yield from (expiry.at for expiry in handover.timeouts)
    yield from association.timeline.instants.values()
    for phase in association.timeline.phases:
        yield from phase.instants.values()
    for excursion in association.excursions:
        yield from (excursion.start, excursion.end)
    for exchange in association.asconf:
        yield from (exchange.at, exchange.ack)
    for path in association.paths:
        for direction in path.directions.values():
            yield from (state.at for state in direction.states)


def _check_instant(instant: Instant, analysis: Analysis) -> None:
    if instant.ns is None:
        assert instant.reason
        assert instant.basis is None
        return
    facts = analysis.ledger.capture
    assert instant.reason is None
    assert (instant.frame is not None) == (instant.basis == "observed")
    if instant.basis == "annotated":
        return  # the user's word: it may lie before the capture
    assert facts["start_ns"] <= instant.ns <= facts["end_ns"]
    if instant.basis == "inferred":
        assert instant.low_ns is not None
        assert instant.high_ns is not None
        assert instant.low_ns <= instant.ns <= instant.high_ns


def _check_sums(association: Association) -> None:
    for end, totals in association.totals.items():
        ways = [path.directions[end].metrics for path in association.paths]
        for name in SUMMED:
            parts = [way[name].value or 0 for way in ways if name in way]
            assert sum(parts) == totals[name].value, name
        for way in ways:
            if "data_chunks" not in way:
                continue
            counts = {name: measure.value or 0 for name, measure in way.items()}
            assert counts["data_chunks"] == counts["new_chunks"] + counts["retransmitted_chunks"]
            causes = ("t3", "fast", "after_failover", "unknown")
            assert counts["retransmitted_chunks"] == sum(
                counts[f"retransmitted_{cause}_chunks"] for cause in causes
            )
            assert counts["retransmitted_spurious_chunks"] <= counts["retransmitted_chunks"]
        beats = [path.directions[end].heartbeats for path in association.paths]
        for beat in beats:
            sent = {name: beat[name].value or 0 for name in ("sent", "acknowledged", "unanswered")}
            assert sent["sent"] == sent["acknowledged"] + sent["unanswered"]


def _check_choice(association: Association) -> None:
    """Time on a worse path is time that was judged, which is time with DATA, which is bounded."""
    whole_s = ((association.end.ns or 0) - (association.start.ns or 0)) / 1e9
    for end, choice in association.path_choice.items():
        times = [choice.metrics[name].value or 0 for name in ("worse_s", "judged_s", "active_s")]
        assert all(one <= two + 1e-6 for one, two in pairwise([*times, max(whole_s, 0)])), times
        sent = association.totals[end]["new_bytes"].value or 0
        assert (choice.metrics["worse_bytes"].value or 0) <= sent
        for one in choice.alternates:
            assert association.handovers[one.handover].sender == end
            assert set(one.forecast) | set(one.unknown) == set(one.divergent)
            assert one.chosen in one.divergent


def _check_order(handover: Handover) -> None:
    """Some instants can only follow others."""
    ordered = (
        ("t_last_ok", "t_last_sack"),
        ("t_last_data_old", "t_first_new"),
        ("t_first_timeout", "t_decision"),
        ("t_decision", "t_first_new"),
        ("t_first_new", "t_first_ack"),
        ("t_first_new", "t_recovered"),
        ("t_return_packet", "t_return_data"),
    )
    assert handover.from_path != handover.to_path
    for earlier, later in ordered:
        first, second = handover.instants[earlier].ns, handover.instants[later].ns
        if first is not None and second is not None:
            assert first <= second, (earlier, later)
