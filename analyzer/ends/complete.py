"""An analysis of one capture, completed by that of the other end."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING

from ..context import ENDS
from ..measure import NS_PER_S, Instant, Measure
from ..transit import describe
from .counterparts import counterparts
from .handovers import with_arrivals
from .model import ClockRelation, ClockStep, OtherEnd
from .sightings import FLOWS, NO_PATH

if TYPE_CHECKING:
    from ...dissectors.ledger import Ledger
    from ..flow_model import Flow
    from ..model import Association, CaptureResult, End, Path
    from .clock import Clock, Stretch
    from .run import Ends

PPM = 1e6

BY_BOTH = "packets sent and not arrived, by both captures"


def complete(result: CaptureResult, ends: Ends, first: Ledger, second: Ledger) -> CaptureResult:
    """Add to the analysis of the first capture what both together show.

    Parameters
    ----------
    result
        What the first capture says.
    ends
        How the second fits to it.
    first, second
        The ledgers of both.
    """
    clock = _relation(ends.clock)
    return replace(
        result,
        associations=tuple(_association(one, ends) for one in result.associations),
        flows=tuple(_flow(one, ends) for one in result.flows),
        warnings=(*result.warnings, *_warnings(clock, ends, second)),
        other_end=OtherEnd(
            path=second.path,
            capture=second.capture,
            clock=clock,
            matched_packets=ends.matched,
            shared_packets=ends.shared,
            counterparts=counterparts(ends, first, second, {flow.number for flow in result.flows}),
        ),
    )


def _relation(clock: Clock) -> ClockRelation:
    begin = clock.stretches[0]
    offset_s = begin.difference_ns(begin.origin_ns) / NS_PER_S
    known = clock.reason is None and begin.error_ns is not None
    return ClockRelation(
        _inferred(offset_s, ((begin.error_ns or 0) + begin.drift_ns) / NS_PER_S)
        if known
        else Measure.absent(clock.reason or "nothing bounds it"),
        _inferred(begin.skew * PPM, begin.skew_error * PPM),
        tuple(_step(*both) for both in pairwise(clock.stretches)),
    )


def _step(before: Stretch, after: Stretch) -> ClockStep:
    at_ns = after.origin_ns
    step_ns = after.difference_ns(at_ns) - before.difference_ns(at_ns)
    error_ns = before.drift_ns + after.drift_ns
    by_first_ns = at_ns - round(after.difference_ns(at_ns))
    return ClockStep(
        Instant(by_first_ns, after.first_frame, "observed", elsewhere=True),
        _inferred(step_ns / NS_PER_S, error_ns / NS_PER_S),
    )


def _inferred(value: float, error: float) -> Measure:
    return Measure(value, "inferred", value - error, value + error)


def _warnings(clock: ClockRelation, ends: Ends, second: Ledger) -> list[str]:
    found = [
        f"one of the clocks stepped: from frame {step.at.frame} of {second.path} on, that capture's"
        f" is ahead by {step.step_s.value:+.6f} s more"
        for step in clock.steps
    ]
    if clock.offset_s.value is None:
        found.append(f"delays are known but for a constant: {clock.offset_s.reason}")
    if second.capture["damage"] is not None:
        found.append(f"{second.path} is damaged: {second.capture['damage']}")
    if second.capture["dropped_by_capture"]:
        found.append(
            f"{second.path}: the capturing host dropped {second.capture['dropped_by_capture']}"
            " packets: what looks lost may only be missing there"
        )
    found += [
        f"association {number}: {count} packets of {second.path} are on paths of which this capture"
        " has nothing; no path's numbers have them"
        for number, count in ends.unplaced.items()
        if number < FLOWS
    ]
    return found


def _association(association: Association, ends: Ends) -> Association:
    group = association.number
    return replace(
        association,
        paths=tuple(_path(path, group, ends) for path in association.paths),
        handovers=tuple(with_arrivals(one, group, ends) for one in association.handovers),
    )


def _path(path: Path, group: int, ends: Ends) -> Path:
    directions = {}
    for end in ENDS:
        direction, numbers = path.directions[end], _transit(group, path.number, end, ends)
        if numbers is not None:
            ratio = numbers["loss_ratio"]
            metrics = direction.metrics
            if ratio.value is not None:
                # One definition of a number: the estimate from one capture makes way.
                metrics = metrics | {"loss_ratio": replace(ratio, note=BY_BOTH)}
            direction = replace(direction, metrics=metrics, transit=numbers)
        directions[end] = direction
    return replace(path, directions=directions)


def _flow(flow: Flow, ends: Ends) -> Flow:
    return replace(
        flow,
        directions={
            end: replace(
                flow.directions[end], transit=_transit(FLOWS + flow.number, NO_PATH, end, ends)
            )
            for end in ENDS
        },
    )


def _transit(group: int, path: int, end: End, ends: Ends) -> dict[str, Measure] | None:
    sent = ends.ways.get((group, path, end))
    if sent is None:
        return None
    return describe(sent.packets, ends.error).measures() | {
        "outside_packets": Measure.observed(sent.outside),
        "unsent_packets": Measure.observed(sent.unsent),
    }
