"""Verdicts in the result contract."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .units import file_name
from .values import measure

if TYPE_CHECKING:
    from ..analyzer.verdicts import Place, Verdict


def verdict_object(verdict: Verdict, capture: int) -> dict[str, Any]:
    """Return a verdict; `capture` is the index of its capture."""
    return {
        "capture": capture,
        "thresholds": file_name(verdict.thresholds),
        "metric": verdict.limit.metric,
        "min": verdict.limit.low,
        "max": verdict.limit.high,
        "where": None if verdict.place is None else _place(verdict.place),
        "value": measure(verdict.measure),
        "verdict": verdict.outcome,
        "certain": verdict.certain,
    }


def _place(place: Place) -> dict[str, Any]:
    return {
        "association": place.association,
        "flow": place.flow,
        "connection": place.connection,
        "path": place.path,
        "sender": place.sender,
        "keys": list(place.keys[1:]),
    }
