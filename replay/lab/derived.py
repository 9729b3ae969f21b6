"""Numbers that follow from a scenario's settings: what a study sets its measurements against."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ...analyzer.timers import failover_s

if TYPE_CHECKING:
    from collections.abc import Callable

Settings = dict[str, Any]

HEARTBEAT_RTOS = 1.5


@dataclass(frozen=True, slots=True)
class Number:
    """A number with its unit, what it is, and how it follows from settings as of `Scenario`."""

    unit: str
    text: str
    of: Callable[[Settings], float]


def _time_outs_s(settings: Settings) -> float:
    sctp = settings[settings["application"]["sender"]]["sctp"]
    least, most = sctp["rto_min_ms"] / 1000, sctp["rto_max_ms"] / 1000
    return failover_s(least, most, sctp["path_max_retrans"] + 1)


def _heartbeat_s(settings: Settings) -> float:
    sctp = settings[settings["application"]["sender"]]["sctp"]
    return float(sctp["hb_interval_ms"] + HEARTBEAT_RTOS * sctp["rto_max_ms"]) / 1000


def _offered_kbyte_s(settings: Settings) -> float:
    application: Settings = settings["application"]
    return float(application["message_bytes"] / application["interval_ms"])


NUMBERS = {
    "time_outs_s": Number(
        "s",
        "the sender's time-outs until a path is given up (RFC 9260 sections 6.3.3 and 8.2): PMR + 1"
        " of them, from RTO.Min, each double the one before, at most RTO.Max; with a constant RTO"
        " (PMR + 1) x RTO",
        _time_outs_s,
    ),
    "heartbeat_s": Number(
        "s",
        "longest time between HEARTBEATs of an idle path: HB.Interval + 1.5 x RTO.Max (RFC 9260"
        " section 8.3: the RTO varies by half)",
        _heartbeat_s,
    ),
    "offered_kbyte_s": Number(
        "kB/s",
        "offered load: message_bytes / interval_ms of the application; 1 kB = 1000 bytes",
        _offered_kbyte_s,
    ),
}
