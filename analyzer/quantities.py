"""What a study measures in a run: one number of an analysis, by name, with its unit and definition.

A run has one application, whose association (or TCP or UDP flow) is the first in its capture:
background traffic starts after it. Its sender is the end that sent most user data. Of a simulated
network, every flow can be asked for (`application`). What a run does not have is absent, with its
reason.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any

from .application import sender as _sender
from .context import other
from .measure import NS_PER_S, Measure
from .quantity import Quantity
from .route_quantities import ROUTE_QUANTITIES

if TYPE_CHECKING:
    from collections.abc import Callable

    from .flow_model import FlowDirection
    from .model import Association, CaptureResult, Cause, Direction, Handover

Measures = dict[str, Measure]

ROUTE = "route"
"""The axis of a simulated network's flows: one run gives a value for each."""


@dataclass(frozen=True, slots=True)
class Run:
    """One run of an experiment, as far as it came.

    Attributes
    ----------
    place
        Its folder, within that of the study.
    settings
        Values of the experiment's axes, by name; `ROUTE` is the flow that was measured, where the
        run is of a simulated network and has several.
    numbers
        Numbers that follow from its settings, by name.
    repetition
        From 1.
    failure
        Why there is nothing to measure; None for a run that was made and analyzed.
    values
        What was measured, by whose capture and quantity.
    slow
        In what the machine did not keep up, where the run says so.
    """

    place: str
    settings: dict[str, Any]
    numbers: dict[str, float]
    repetition: int
    failure: str | None
    values: dict[tuple[str, str], Measure]
    slow: tuple[str, ...] = ()


NO_ASSOCIATION = Measure.absent("no SCTP association in this capture")
NO_TRAFFIC = Measure.absent("no SCTP, TCP or UDP in this capture")

FAILURE: tuple[Cause, ...] = ("timeout", "potentially-failed")
RETURN: tuple[Cause, ...] = ("path-returned",)
ASKED: tuple[Cause, ...] = ("set-primary", "address-deleted")


def _size(measures: Measures, name: str) -> float:
    return measures[name].value or 0


def _handovers(result: CaptureResult, causes: tuple[Cause, ...]) -> list[Handover]:
    association = result.associations[0]
    sender = _sender(association)
    return [one for one in association.handovers if one.sender == sender and one.cause in causes]


def _first(name: str, causes: tuple[Cause, ...]) -> Callable[[CaptureResult], Measure]:
    """A metric of the sender's first handover of one of these causes."""

    def of(result: CaptureResult) -> Measure:
        if not result.associations:
            return NO_ASSOCIATION
        found = _handovers(result, causes)
        if not found:
            return Measure.absent(f"no handover with the cause {' or '.join(causes)}")
        return found[0].metrics[name]

    return of


def _mean(name: str, causes: tuple[Cause, ...]) -> Callable[[CaptureResult], Measure]:
    """A metric's mean over the sender's handovers of these causes, all of which must have it."""

    def of(result: CaptureResult) -> Measure:
        if not result.associations:
            return NO_ASSOCIATION
        found = [one.metrics[name] for one in _handovers(result, causes)]
        values = [one.value for one in found if one.value is not None]
        if not found:
            return Measure.absent(f"no handover with the cause {' or '.join(causes)}")
        if len(values) < len(found):
            return next(one for one in found if one.value is None)
        bases = {one.basis for one in found}
        basis = next(one for one in ("inferred", "annotated", "observed") if one in bases)
        return Measure(sum(values) / len(values), basis, note=f"mean of {len(values)} handovers")

    return of


def _handover_count(result: CaptureResult) -> Measure:
    if not result.associations:
        return NO_ASSOCIATION
    association = result.associations[0]
    sender = _sender(association)
    return Measure.observed(sum(one.sender == sender for one in association.handovers))


def _total(name: str) -> Callable[[CaptureResult], Measure]:
    """A metric of the association's sender over all its paths."""

    def of(result: CaptureResult) -> Measure:
        if not result.associations:
            return NO_ASSOCIATION
        association = result.associations[0]
        return association.totals[_sender(association)][name]

    return of


def _main_path(association: Association) -> Direction:
    """The sender's direction of the path that carried most of its new DATA."""
    sender = _sender(association)
    directions = [path.directions[sender] for path in association.paths]
    return max(directions, key=lambda one: _size(one.metrics, "new_bytes"))


def _main_direction(result: CaptureResult) -> FlowDirection:
    directions = result.flows[0].directions.values()
    return max(directions, key=lambda one: _size(one.metrics, "payload_bytes"))


def _round_trips(name: str) -> Callable[[CaptureResult], Measure]:
    """A round-trip metric of the path, or the flow, that carried most of the application's data."""

    def of(result: CaptureResult) -> Measure:
        if not result.associations:
            return _main_direction(result).metrics[name] if result.flows else NO_TRAFFIC
        association = result.associations[0]
        if association.captured_at == other(_sender(association)):
            return Measure.absent(
                "captured at the receiver, where round trips of DATA are not seen"
            )
        return _main_path(association).metrics[name]

    return of


def _of_datagrams(name: str) -> Callable[[CaptureResult], Measure]:
    """A metric of numbered UDP; SCTP and TCP have none."""

    def of(result: CaptureResult) -> Measure:
        if result.associations:
            return Measure.absent("of SCTP it takes both ends' captures, which are read one by one")
        return _main_direction(result).metrics[name] if result.flows else NO_TRAFFIC

    return of


def _in_transit(name: str) -> Callable[[CaptureResult], Measure]:
    """A metric of DATA on its way, of the path that carried most, where both ends were seen."""

    def of(result: CaptureResult) -> Measure:
        if not result.associations:
            return NO_ASSOCIATION
        direction = _main_path(result.associations[0])
        for field in fields(direction):
            values = getattr(direction, field.name)
            if isinstance(values, dict) and isinstance(found := values.get(name), Measure):
                return found
        return Measure.absent("it takes both ends' captures, which are read one by one")

    return of


def _jitter(result: CaptureResult) -> Measure:
    """Of SCTP what study W takes for it, of numbered UDP that of RFC 3550."""
    if result.associations:
        return _in_transit("jitter_w_ns")(result)
    return _of_datagrams("jitter_ns")(result)


def _of_handoffs(name: str) -> Callable[[CaptureResult], Measure]:
    """A metric of all handoff regions together, or of what is outside of them."""

    def of(result: CaptureResult) -> Measure:
        if not result.associations:
            return NO_ASSOCIATION
        return result.associations[0].handoff[name]

    return of


def _region(result: CaptureResult) -> Measure:
    """Mean length of the handoff regions."""
    if not result.associations:
        return NO_ASSOCIATION
    regions = result.associations[0].handoff_regions
    lengths = [region.metrics["duration_s"].value or 0 for region in regions]
    if not lengths:
        return Measure.absent("no handoff region")
    note = f"mean of {len(lengths)} regions"
    return Measure.observed(sum(lengths) / len(lengths), note=note)


def _set_up(result: CaptureResult) -> Measure:
    if not result.associations:
        return NO_ASSOCIATION
    return result.associations[0].timeline.metrics["association_setup_s"]


def _worse(result: CaptureResult) -> Measure:
    if not result.associations:
        return NO_ASSOCIATION
    association = result.associations[0]
    return association.path_choice[_sender(association)].metrics["worse_s"]


def _seconds(of: Callable[[CaptureResult], Measure]) -> Callable[[CaptureResult], Measure]:
    """A metric in nanoseconds, in seconds."""

    def converted(result: CaptureResult) -> Measure:
        found = of(result)
        low, value, high = (
            None if one is None else one / NS_PER_S for one in (found.low, found.value, found.high)
        )
        return replace(found, low=low, value=value, high=high)

    return converted


def _goodput(result: CaptureResult) -> Measure:
    """User data that arrived, by time: of UDP what the capture has."""
    if result.associations:
        return _total("goodput_bps")(result)
    if not result.flows:
        return NO_TRAFFIC
    metrics = _main_direction(result).metrics
    if result.flows[0].protocol == "tcp":
        return metrics["goodput_bps"]
    size, time_s = metrics["payload_bytes"].value, metrics["active_s"].value
    if size is None or not time_s:
        return Measure.absent("fewer than two packets")
    return Measure.observed(size * 8 / time_s)


def _failure(name: str, unit: str, text: str) -> Quantity:
    return Quantity(
        unit, f"{text}, of the first handover that time-outs led to", _first(name, FAILURE)
    )


QUANTITIES = {
    "link_failure_recovery_s": _failure(
        "link_failure_recovery_s", "s", "link failure to the first new DATA on the new path"
    ),
    "failure_detection_s": _failure(
        "failure_detection_s", "s", "link failure to the decision to leave the path"
    ),
    "data_interruption_s": _failure(
        "data_interruption_s",
        "s",
        "last DATA on the old path to the first new DATA on the new one, both as sent",
    ),
    "delivery_gap_s": _failure("delivery_gap_s", "s", "longest stop of the cumulative TSN"),
    "recovery_completion_s": _failure(
        "recovery_completion_s", "s", "link failure to the acknowledgement of all outstanding DATA"
    ),
    "timeouts_before_move": _failure(
        "timeouts_before_move", "expiries", "expiries of T3-rtx in a row before the move"
    ),
    "link_recognition_s": Quantity(
        "s",
        "return of the link to the first new DATA on it, of the first handover back to a path"
        " given up before",
        _first("link_recognition_s", RETURN),
    ),
    "handover_delay_s": Quantity(
        "s",
        "decision to the first new DATA on the new path, mean of the handovers that ASCONF asked"
        " for",
        _mean("handover_delay_s", ASKED),
    ),
    "handovers": Quantity("handovers", "handovers of the sender, of any cause", _handover_count),
    "retransmission_ratio": Quantity(
        "1",
        "retransmitted DATA chunks / all DATA chunks of the sender",
        _total("retransmission_ratio"),
    ),
    "goodput_bps": Quantity(
        "bit/s",
        "user data that arrived, by time: of SCTP and TCP what was acknowledged, from the first"
        " packet to the last; of UDP what the capture has, from its first packet to its last"
        " (the receiver's: what arrived; the sender's: what was sent)",
        _goodput,
    ),
    "rtt_mean_s": Quantity(
        "s",
        "mean round-trip time of the sender's data, from sending to acknowledgement, on the path"
        " that carried most",
        _seconds(_round_trips("rtt_mean_ns")),
    ),
    "rtt_sd_s": Quantity(
        "s", "standard deviation of the same round-trip times", _seconds(_round_trips("rtt_sd_ns"))
    ),
    "one_way_delay_s": Quantity(
        "s",
        "mean time of SCTP's DATA from sending to arrival, on the path that carried most",
        _seconds(_in_transit("one_way_delay_mean_ns")),
    ),
    "jitter_s": Quantity(
        "s",
        "of SCTP mean |D(i) - D(i-1)| of one-way delays in packet order (study W), on the path that"
        " carried most; of numbered UDP interarrival jitter (RFC 3550 section 6.4.1), at the last"
        " packet in the receiver's capture",
        _seconds(_jitter),
    ),
    "acked_chunks_hz": Quantity(
        "chunks/s",
        "DATA chunks of the sender that arrived, by time: the throughput of study A",
        _total("acked_chunks_hz"),
    ),
    "handoff_region_s": Quantity(
        "s", "ASCONF ADD acknowledged to DELETE acknowledged, mean of the handoff regions", _region
    ),
    "goodput_inside_bps": Quantity(
        "bit/s",
        "user data that arrived in the handoff regions, by their time",
        _of_handoffs("goodput_inside_bps"),
    ),
    "goodput_outside_bps": Quantity(
        "bit/s",
        "user data that arrived outside of the handoff regions, by the rest of the time",
        _of_handoffs("goodput_outside_bps"),
    ),
    "association_setup_s": Quantity("s", "INIT to COOKIE ACK", _set_up),
    "worse_s": Quantity(
        "s", "time in which another usable path had less predicted delay (study P)", _worse
    ),
    "loss_ratio": Quantity(
        "1",
        "lost / sent of numbered UDP, by its numbers in the receiver's capture",
        _of_datagrams("loss_ratio"),
    ),
    **ROUTE_QUANTITIES,
}
"""By name: that of the metric in docs/metrics.md, where there is one."""


def measure(name: str, result: CaptureResult) -> Measure:
    """Return a quantity of an analyzed run.

    Raises
    ------
    KeyError
        When there is no such quantity.
    """
    return QUANTITIES[name].of(result)
