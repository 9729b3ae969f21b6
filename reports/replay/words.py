"""Numbers of a fidelity report as text, by the unit that their names end in."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..units import bits_per_second, duration

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from ...replay.fidelity.model import Check, Fidelity, Row

QUANTITIES = {
    "delay_ms": "delay",
    "delay_offset_ms": "delay, off what was asked",
    "distribution_distance": "distribution (KS distance)",
    "loss_percent": "loss",
    "loss_burst_packets": "mean burst of losses",
    "duplicate_percent": "duplicated",
    "corrupt_percent": "corrupted",
    "reorder_percent": "sent ahead",
    "reordered_packets": "overtaken packets",
    "rate_kbit": "rate",
    "overflow_packets": "queue overflow",
    "late_share": "late frames",
    "early_frames": "early frames",
    "lateness_p99_us": "lateness p99",
    "drift_us": "drift",
    "out_of_order_frames": "frames sent out of order",
    "refused_share": "refused (ENOBUFS)",
    "dropped_share": "dropped as late",
    "error_frames": "errors",
    "recorded": "recording of the far end",
    "step_late_ms": "step took effect after",
}

_UNITS: dict[str, Callable[[float], str]] = {
    "_ms": lambda value: f"{value:.3f} ms",
    "_us": lambda value: f"{value:.1f} us",
    "_percent": lambda value: f"{value:.3f} %",
    "_share": lambda value: f"{value * 100:.3f} %",
    "_kbit": lambda value: bits_per_second(value * 1000),
    "_distance": lambda value: f"{value:.4f}",
    "burst_packets": lambda value: f"{value:.3f}",
}

ABSENT = "-"


def quantity(name: str) -> str:
    """Return a quantity's name for people."""
    return QUANTITIES.get(name, name)


def value(name: str, number: float | None) -> str:
    """Return a number with its unit."""
    if number is None:
        return ABSENT
    for ending, form in _UNITS.items():
        if name.endswith(ending):
            return form(number)
    return f"{number:,.0f}" if number == int(number) else f"{number:g}"


def achieved(row: Row) -> str:
    """Return what came of a row with its 95 % interval."""
    shown = value(row.quantity, row.achieved)
    if row.low is None or row.high is None:
        return shown
    return f"{shown} ({_bare(row.quantity, row.low)} to {_bare(row.quantity, row.high)})"


def _bare(name: str, number: float) -> str:
    return value(name, number).rsplit(" ", 1)[0] if name != "rate_kbit" else value(name, number)


def why(row: Row) -> str:
    """Return why a row has the verdict it has; with the chance where that decides."""
    room = f", {value(row.quantity, row.tolerance)} allowed" if row.tolerance else ""
    return row.why + (room if row.verdict == "fail" and row.p is not None else "")


def route(fidelity: Fidelity, number: int | None) -> str:
    """Return the name of a route."""
    if number is None:
        return ""
    one: Mapping[str, str] = fidelity.header["routes"][number]
    return f"{one['path']} {one['direction']}"


def step(number: int | None) -> str:
    """Return the number of a step for people, who count from one."""
    return "all" if number is None else str(number + 1)


def limit(check: Check) -> str:
    """Return what a check allows."""
    return f"at most {value(check.quantity, check.limit)}"


def time(time_ns: float | None) -> str:
    """Return a time with a unit that suits it."""
    return ABSENT if time_ns is None else duration(time_ns / 1e9)
