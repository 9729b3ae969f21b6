"""The RTO that RFC 9260 section 6.3.1 makes of the round trips seen, and its clamps."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .context import other
from .measure import Measure, seconds

if TYPE_CHECKING:
    from ..dissectors.ledger import Row
    from .bins import Totals
    from .model import End, Timer

NAMES = ("srtt_ns", "rttvar_ns", "rto_model_ns", "rto_model_max_ns")


def rto_metrics(sender: End, vantage: str, totals: Totals) -> dict[str, Measure]:
    """SRTT, RTTVAR and SRTT + 4 RTTVAR of a path, at its last sample; and the greatest of those."""
    if vantage == other(sender):
        reason = "captured at the receiver, where round trips of the sender are not seen"
        return dict.fromkeys(NAMES, Measure.absent(reason))
    values = {name: getattr(totals, name) for name in NAMES}
    return {
        name: Measure.absent("no round trip of DATA sent once or of a HEARTBEAT")
        if value is None
        else Measure.observed(value)
        for name, value in values.items()
    }


def unclamped_s(row: Row, vantage: str) -> float | None:
    """SRTT + 4 RTTVAR of an expiry, doubled; None without a sample or away from the sender."""
    if row["rto_model_ns"] is None or vantage == other(row["sender"]):
        return None
    return seconds(row["rto_model_ns"]) * 2.0 ** min(int(row["doublings"]), 64)


def clamped_s(row: Row, timers: dict[str, Timer], vantage: str) -> float | None:
    """RTO of an expiry by the model, at the inferred RTO.Min and RTO.Max.

    RFC 9260 section 6.3.1 (C6, C7) and 6.3.3 (E2): clamped, doubled by each expiry since the last
    sample, clamped again. None without a sample, and away from the sender.
    """
    if row["rto_model_ns"] is None or vantage == other(row["sender"]):
        return None
    least, most = (_setting(timers, name) for name in ("rto_min_s", "rto_max_s"))
    rto_s = max(seconds(row["rto_model_ns"]), least or 0.0)
    doubled = rto_s * 2.0 ** min(int(row["doublings"]), 64)
    return doubled if most is None else min(doubled, max(most, least or 0.0))


def _setting(timers: dict[str, Timer], name: str) -> float | None:
    timer = timers.get(name)
    return None if timer is None or timer.measure.value is None else float(timer.measure.value)
