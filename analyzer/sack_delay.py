"""How a receiver acknowledges: its SACK delay, and how many packets a SACK covers.

RFC 9260 section 6.2: at least every second packet is acknowledged at once, and any within a delay
that must not be above 500 ms. A packet that comes alone shows the delay: in the receiver's capture
as it is, in any other with the way there and back.
"""

from __future__ import annotations

from statistics import median
from typing import TYPE_CHECKING

from .context import other
from .measure import Measure, seconds

if TYPE_CHECKING:
    from ..dissectors.ledger import Row
    from .context import Context
    from .model import End

AT_ONCE_S = 0.010
"""A SACK sooner than this was not delayed: the ticks of hosts' timers are 1 to 10 ms."""

NO_SACK = "it sent no SACK"
NO_LONE = "no packet with DATA came alone"


def sack_metrics(context: Context, receiver: End, vantage: str) -> dict[str, Measure]:
    """Tell how one end acknowledges."""
    rows = context.sent(context.acknowledgements, receiver)
    if not rows:
        return dict.fromkeys(_NAMES, Measure.absent(NO_SACK))
    row = rows[0]
    clean = row["sacks_of_one"] + row["sacks_of_two"] + row["sacks_of_more"]
    return {
        "sacks": Measure.observed(row["sacks"]),
        "sacks_with_gaps": Measure.observed(row["sacks_with_gaps"]),
        "packets_per_sack": Measure.observed(row["data_packets"] / row["sacks"]),
        "every_second_ratio": Measure.observed(row["sacks_of_two"] / clean)
        if clean
        else Measure.absent("no SACK without gap blocks acknowledges a packet"),
        "lone_packets": Measure.observed(row["lone_packets"]),
        **_delays(context, receiver, vantage),
    }


_NAMES = (
    "sacks",
    "sacks_with_gaps",
    "packets_per_sack",
    "every_second_ratio",
    "lone_packets",
    "at_once_ratio",
    "sack_delay_s",
)


def _delays(context: Context, receiver: End, vantage: str) -> dict[str, Measure]:
    lone = context.sent(context.lone_packets, receiver)
    if not lone:
        absent = Measure.absent(NO_LONE)
        return {"at_once_ratio": absent, "sack_delay_s": absent}
    if vantage == receiver:
        return _observed([seconds(row["delay_ns"]) for row in lone])
    trips = {path: _round_trip_s(context, receiver, path) for path in {r["path"] for r in lone}}
    known = [(row, trip) for row in lone if (trip := trips[row["path"]]) is not None]
    if not known:
        absent = Measure.absent("no round trip known that a SACK's delay is not in")
        return {"at_once_ratio": absent, "sack_delay_s": absent}
    return _inferred(known)


def _observed(delays_s: list[float]) -> dict[str, Measure]:
    held = [delay for delay in delays_s if delay >= AT_ONCE_S]
    return {
        "at_once_ratio": Measure.observed((len(delays_s) - len(held)) / len(delays_s)),
        "sack_delay_s": Measure.observed(median(held), f"median of {len(held)} delayed SACKs")
        if held
        else Measure.absent("every packet that came alone was acknowledged at once"),
    }


def _inferred(known: list[tuple[Row, tuple[float, float]]]) -> dict[str, Measure]:
    """Take the way there and back, least and most, off every delay."""
    spans = [
        (max(0.0, delay - most), max(0.0, delay - least))
        for delay, (least, most) in ((seconds(row["delay_ns"]), trip) for row, trip in known)
    ]
    surely = sum(high < AT_ONCE_S for _, high in spans)
    perhaps = sum(low < AT_ONCE_S for low, _ in spans)
    held = [span for span in spans if span[1] >= AT_ONCE_S]
    ratio = Measure(surely / len(spans), "inferred", surely / len(spans), perhaps / len(spans))
    if not held:
        reason = "every packet that came alone was acknowledged at once"
        return {"at_once_ratio": ratio, "sack_delay_s": Measure.absent(reason)}
    low, high = median(low for low, _ in held), median(high for _, high in held)
    note = f"median of {len(held)} delayed SACKs, less the round trip"
    delay = Measure((low + high) / 2, "inferred", low, high, note=note)
    return {"at_once_ratio": ratio, "sack_delay_s": delay}


def _round_trip_s(context: Context, receiver: End, path: int) -> tuple[float, float] | None:
    """Least and most from the capture to the receiver and back: of HEARTBEATs, never delayed.

    Else the least of DATA, of which nearly every second is answered at once.
    """
    rows = {row["kind"]: row for row in context.sent(context.rtt, other(receiver), path)}
    if (row := rows.get("heartbeat")) is not None:
        return seconds(row["min_ns"]), seconds(row["max_ns"])
    if (row := rows.get("sack")) is not None:
        return seconds(row["min_ns"]), max(seconds(row["min_ns"]), row["p50_ns"] / 1e9)
    return None
