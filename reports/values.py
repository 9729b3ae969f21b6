"""The small parts of the result contract: numbers, instants, findings."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ..analyzer.measure import Instant, Measure
    from ..analyzer.model import Finding


def measures(found: dict[str, Measure]) -> dict[str, Any]:
    """Return numbers by name."""
    return {name: measure(one) for name, one in found.items()}


def measure(number: Measure) -> dict[str, Any]:
    """Return a number with its basis, or the reason why it is absent."""
    if number.value is None:
        return {"value": None, "reason": number.reason}
    found: dict[str, Any] = {"value": number.value, "basis": number.basis}
    if number.low is not None or number.high is not None:
        found |= {"low": number.low, "high": number.high}
    if number.note is not None:
        found["note"] = number.note
    return found


def instant(point: Instant) -> dict[str, Any]:
    """Return an instant with its frame, or the reason why it is absent."""
    if point.ns is None:
        return {"ns": None, "reason": point.reason}
    found: dict[str, Any] = {"ns": point.ns, "frame": point.frame, "basis": point.basis}
    if point.low_ns is not None or point.high_ns is not None:
        found |= {"low_ns": point.low_ns, "high_ns": point.high_ns}
    if point.elsewhere:
        found["other_capture"] = True
    return found


def finding(found: Finding) -> dict[str, Any]:
    """Return what looks wrong, with its frames."""
    return {
        "rule": found.rule,
        "severity": found.severity,
        "text": found.text,
        "frames": list(found.frames),
    }
