"""Captures in the result contract: each file's facts, and how those of two ends fit together."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..analyzer.context import ENDS, other
from .units import file_name
from .values import instant, measure, measures

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..analyzer.ends.model import ClockRelation, Counterpart, OtherEnd
    from ..analyzer.model import CaptureResult, Path


def capture_objects(captures: Sequence[CaptureResult]) -> tuple[list[dict[str, Any]], list[int]]:
    """Return every capture, and the index that each analysis has among them.

    That of the other end stands after the one that it completes.
    """
    files: list[dict[str, Any]] = []
    places = []
    for capture in captures:
        places.append(len(files))
        files.append({"path": file_name(capture.path), **capture.capture})
        if capture.other_end is not None:
            files.append(_second(capture.other_end, places[-1]))
    return files, places


def _second(second: OtherEnd, first: int) -> dict[str, Any]:
    return {
        "path": file_name(second.path),
        **second.capture,
        "other_end": {
            "of": first,
            "clock": _clock(second.clock),
            "matched_packets": second.matched_packets,
            "shared_packets": dict(zip(("first", "other"), second.shared_packets, strict=True)),
            "associations": [_counterpart(one) for one in second.counterparts if not one.is_flow],
            "flows": [_counterpart(one) for one in second.counterparts if one.is_flow],
        },
    }


def _clock(clock: ClockRelation) -> dict[str, Any]:
    return {
        "offset_s": measure(clock.offset_s),
        "skew_ppm": measure(clock.skew_ppm),
        "steps": [{"at": instant(step.at), "step_s": measure(step.step_s)} for step in clock.steps],
    }


def _counterpart(one: Counterpart) -> dict[str, Any]:
    return {
        "id": one.number,
        "other_id": one.other,
        "swapped": one.swapped,
        "translated": one.translated,
        "endpoints": {
            end: {"addresses": list(addresses), "port": port}
            for end, addresses, port in zip(ENDS, one.addresses, one.ports, strict=True)
        },
        "unplaced_packets": one.unplaced_packets,
    }


def transit(path: Path) -> dict[str, Any] | None:
    """Return what became of the packets of a path, by direction; None of one capture alone."""
    ways = {f"{end}_to_{other(end)}": path.directions[end].transit for end in ENDS}
    if not any(ways.values()):
        return None
    return {name: None if way is None else measures(way) for name, way in ways.items()}
