"""What is held against handovers in the result contract: timelines, predictions, path choice."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .values import instant, measure, measures

if TYPE_CHECKING:
    from ..analyzer.model import Alternates, HandoffTimeline, PathChoice, Prediction


def timeline_object(timeline: HandoffTimeline) -> dict[str, Any]:
    """Return when an association was set up, sent first, and was asked to hand over."""
    return {
        "instants": {name: instant(point) for name, point in timeline.instants.items()},
        "metrics": measures(timeline.metrics),
        "phases": [
            {
                "handover": phase.handover,
                "instants": {name: instant(point) for name, point in phase.instants.items()},
                "metrics": measures(phase.metrics),
            }
            for phase in timeline.phases
        ],
    }


def prediction_object(prediction: Prediction | None) -> dict[str, Any] | None:
    """Return what time-outs took beside what the formulas say; None where there were none."""
    if prediction is None:
        return None
    return {
        "timer_start": instant(prediction.timer_start),
        "measured_s": measure(prediction.measured_s),
        "forms": [
            {
                "name": form.name,
                "predicted_s": measure(form.predicted_s),
                "difference_s": measure(form.difference_s),
                "granularity_s": measure(form.granularity_s),
                "within_granularity": form.within_granularity,
            }
            for form in prediction.forms
        ],
    }


def choice_object(choice: PathChoice) -> dict[str, Any]:
    """Return how one sender chose its paths."""
    return {
        "kept": choice.kept,
        "metrics": measures(choice.metrics),
        "forecasts": [
            {
                "path": one.path,
                "rtt_ns": measure(one.rtt_ns),
                "rate_bps": measure(one.rate_bps),
            }
            for one in choice.forecasts
        ],
        "alternates": [_alternates(one) for one in choice.alternates],
    }


def _alternates(one: Alternates) -> dict[str, Any]:
    return {
        "handover": one.handover,
        "at_ns": one.at_ns,
        "forecast": list(one.forecast),
        "unknown": list(one.unknown),
        "divergent": list(one.divergent),
        "chosen": one.chosen,
        "excess_rtt_ns": measure(one.excess_rtt_ns),
    }
