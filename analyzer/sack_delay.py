"""How a receiver acknowledges: its SACK delay, and how many packets a SACK covers.

RFC 9260 section 6.2: at least every second packet is acknowledged at once, and any within a delay
that must not be above 500 ms. A packet that comes alone may show the delay: in the receiver's
capture as it is, in any other with the way there and back. A SACK that reports a window grown by
the user's reading comes sooner, so the longest wait tells, and bounds the delay from below.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .context import other
from .measure import Measure, seconds
from .timers import LATENESS, nominal_s

if TYPE_CHECKING:
    from .context import Context
    from .model import End

AT_ONCE_S = 0.010
"""A SACK sooner than this was not delayed: the ticks of hosts' timers are 1 to 10 ms."""

LONGEST_S = 0.5
"""What RFC 9260 section 6.2 lets nobody exceed."""

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


_DELAYS = ("at_once_ratio", "sack_delay_s")
_NAMES = (
    "sacks",
    "sacks_with_gaps",
    "packets_per_sack",
    "every_second_ratio",
    "lone_packets",
    *_DELAYS,
)


def _delays(context: Context, receiver: End, vantage: str) -> dict[str, Measure]:
    lone = context.sent(context.lone_packets, receiver)
    if not lone:
        return dict.fromkeys(_DELAYS, Measure.absent(NO_LONE))
    if vantage == receiver:
        delays = [seconds(row["delay_ns"]) for row in lone]
        at_once = sum(delay < AT_ONCE_S for delay in delays) / len(delays)
        return _shown(Measure.observed(at_once), max(delays), LATENESS)
    trips = {path: _round_trip_s(context, receiver, path) for path in {r["path"] for r in lone}}
    spans = [
        (max(0.0, delay - trip[1]), max(0.0, delay - trip[0]))
        for delay, trip in ((seconds(row["delay_ns"]), trips[row["path"]]) for row in lone)
        if trip is not None
    ]
    if not spans:
        reason = "no round trip known that a SACK's delay is not in"
        return dict.fromkeys(_DELAYS, Measure.absent(reason))
    surely, perhaps = (sum(span[n] < AT_ONCE_S for span in spans) / len(spans) for n in (1, 0))
    # This packet's way may have been longer than any HEARTBEAT's: no bound from below.
    return _shown(Measure(surely, "inferred", surely, perhaps), max(low for low, _ in spans), 1.0)


def _shown(at_once: Measure, longest_s: float, late: float) -> dict[str, Measure]:
    """A SACK may come sooner than its delay for many reasons, and never comes later."""
    if longest_s < AT_ONCE_S:
        reason = "every packet that came alone was acknowledged at once"
        return {"at_once_ratio": at_once, "sack_delay_s": Measure.absent(reason)}
    delay = Measure(
        nominal_s(longest_s),
        "inferred",
        longest_s * (1 - late),
        max(LONGEST_S, longest_s),
        note=f"longest wait for the SACK of a lone packet {longest_s:.3f} s",
    )
    return {"at_once_ratio": at_once, "sack_delay_s": delay}


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
