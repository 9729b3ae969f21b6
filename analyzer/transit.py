"""From one end to the other: delay, its variation, loss, order, of one path and direction.

Whoever knows both ends of a way hands over the same columns: two captures of one run (`ends`), or
a simulator's trace. Delay variation after RFC 3550 (jitter) and RFC 5481 (PDV), reordering after
RFC 4737; jitter in packet order, the mean of |D(i) - D(i-1)|, is that of study W.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING

import numpy as np

from .measure import Measure

if TYPE_CHECKING:
    from .columns import Column

ABSENT_NS = int(np.iinfo(np.int64).min)
"""Stands in `Packets.arrived_ns` for a packet that is not seen to arrive."""

NOTHING_SENT = "no packet was sent this way"
NOTHING_ARRIVED = "no packet arrived"
TOO_FEW = "fewer than two packets arrived"

JITTER_GAIN = 16
"""RFC 3550 section 6.4.1: each difference moves J by a sixteenth of what it is off."""

_JITTER_MEMORY = 1024
"""Differences that still count in J: of earlier ones less than (15/16)^1024, or 2e-29, is left."""

_PERCENTILES = (50, 95, 99)


@dataclass(frozen=True, slots=True)
class Packets:
    """What was sent on one path by one end, in sending order; columns of one length.

    Attributes
    ----------
    sent_ns, arrived_ns
        int64, by one clock; `ABSENT_NS` where a packet is not seen to arrive.
    wire_bytes
        Of each packet, as its sender's link saw it.
    frame, arrival_frame
        Where each is in the capture of its sender, and of its receiver (0 where it did not arrive).
    duplicated
        How many packets arrived a second time, without having been sent again; None where the
        capture of their arrival holds packets twice anyway.
    """

    sent_ns: Column
    arrived_ns: Column
    wire_bytes: Column
    frame: Column
    arrival_frame: Column
    duplicated: int | None = 0


@dataclass(frozen=True, slots=True)
class ClockError:
    """How far the two columns' times may be apart from those of one clock.

    Attributes
    ----------
    offset_ns
        How much too long or too short every delay may be; None where nothing bounds that, and
        delays are known but for a constant.
    drift_ns
        How much that may change over the time of the columns.
    reason
        Why `offset_ns` is None.
    """

    offset_ns: float | None = 0.0
    drift_ns: float = 0.0
    reason: str | None = None


ONE_CLOCK = ClockError()
"""Of a simulator: every number is observed."""


@dataclass(frozen=True, slots=True)
class Transit:
    """The numbers of one path and direction; units as the names say, packets where none does.

    `loss_burst_mean_packets` is the mean length of the `loss_bursts`, each of which is packets
    lost one after the other in sending order.
    """

    sent_packets: Measure
    arrived_packets: Measure
    lost_packets: Measure
    loss_ratio: Measure
    loss_bursts: Measure
    loss_burst_mean_packets: Measure
    reordered_packets: Measure
    reordered_ratio: Measure
    duplicated_packets: Measure
    one_way_delay_min_ns: Measure
    one_way_delay_mean_ns: Measure
    one_way_delay_sd_ns: Measure
    one_way_delay_p50_ns: Measure
    one_way_delay_p95_ns: Measure
    one_way_delay_p99_ns: Measure
    one_way_delay_max_ns: Measure
    jitter_w_ns: Measure
    jitter_ns: Measure
    pdv_p50_ns: Measure
    pdv_p95_ns: Measure
    pdv_p99_ns: Measure

    def measures(self) -> dict[str, Measure]:
        """Return the numbers by name."""
        return {one.name: getattr(self, one.name) for one in fields(self)}


def describe(packets: Packets, error: ClockError = ONE_CLOCK) -> Transit:
    """Measure what happened to packets on their way.

    Parameters
    ----------
    packets
        Those of one path and direction.
    error
        How far their two times may be off: numbers that depend on it are inferred, with bounds.
    """
    arrived = packets.arrived_ns != ABSENT_NS
    delays_ns = packets.arrived_ns[arrived] - packets.sent_ns[arrived]
    order = np.argsort(packets.arrived_ns[arrived], kind="stable")
    return Transit(
        **_counts(packets, arrived),
        **_order(order, len(arrived)),
        **_delays(delays_ns, error),
        **_variation(delays_ns, delays_ns[order], error),
    )


def _counts(packets: Packets, arrived: Column) -> dict[str, Measure]:
    sent, lost = len(arrived), ~arrived
    bursts = int(lost[:1].sum() + (lost[1:] & arrived[:-1]).sum())
    missing = int(lost.sum())
    none = Measure.absent(NOTHING_SENT)
    return {
        "sent_packets": Measure.observed(sent),
        "arrived_packets": Measure.observed(sent - missing),
        "lost_packets": Measure.observed(missing),
        "loss_ratio": Measure.observed(missing / sent) if sent else none,
        "loss_bursts": Measure.observed(bursts),
        "loss_burst_mean_packets": Measure.observed(missing / bursts)
        if bursts
        else Measure.absent("no packet was lost"),
        "duplicated_packets": Measure.absent("the receiver's capture holds packets twice")
        if packets.duplicated is None
        else Measure.observed(packets.duplicated),
    }


def _order(order: Column, sent: int) -> dict[str, Measure]:
    """RFC 4737 section 3.3: reordered is what was sent before something that arrived before it."""
    if not len(order):
        none = Measure.absent(NOTHING_ARRIVED if sent else NOTHING_SENT)
        return {"reordered_packets": none, "reordered_ratio": none}
    late = int((order[1:] < np.maximum.accumulate(order)[:-1]).sum())
    return {
        "reordered_packets": Measure.observed(late),
        "reordered_ratio": Measure.observed(late / len(order)),
    }


def _delays(delays_ns: Column, error: ClockError) -> dict[str, Measure]:
    names = ("min", "mean", "sd", *(f"p{percent}" for percent in _PERCENTILES), "max")
    if not len(delays_ns) or error.offset_ns is None:
        reason = error.reason if len(delays_ns) else NOTHING_ARRIVED
        values = dict.fromkeys(names, Measure.absent(reason or "the clocks' offset is not known"))
    else:
        off_ns = error.offset_ns + error.drift_ns
        found = [int(delays_ns.min()), float(delays_ns.mean()), None]
        found += [_percentile(delays_ns, percent) for percent in _PERCENTILES]
        found.append(int(delays_ns.max()))
        values = {
            name: _bounded(value, off_ns)
            for name, value in zip(names, found, strict=True)
            if value is not None
        }
    # A constant does not change how delays are spread.
    values["sd"] = (
        _bounded(float(delays_ns.std(ddof=1)), error.drift_ns)
        if len(delays_ns) > 1
        else Measure.absent(TOO_FEW)
    )
    return {f"one_way_delay_{name}_ns": values[name] for name in names}


def _variation(delays_ns: Column, as_arrived_ns: Column, error: ClockError) -> dict[str, Measure]:
    pdv = [f"pdv_p{percent}_ns" for percent in _PERCENTILES]
    if len(delays_ns) < 2:
        return dict.fromkeys(("jitter_w_ns", "jitter_ns", *pdv), Measure.absent(TOO_FEW))
    variation_ns = delays_ns - delays_ns.min()
    # From one packet to the next no clock drifts by as much as it takes to read it.
    return {
        "jitter_w_ns": Measure.observed(float(np.abs(np.diff(delays_ns)).mean())),
        "jitter_ns": Measure.observed(interarrival_jitter(as_arrived_ns)),
        **{
            name: _bounded(_percentile(variation_ns, percent), error.drift_ns)
            for name, percent in zip(pdv, _PERCENTILES, strict=True)
        },
    }


def interarrival_jitter(delays_ns: Column) -> float:
    """Return J of RFC 3550 section 6.4.1 after the last packet, unrounded; delays as they arrived.

    J += (|D| - J) / 16, written out as the sum that it is.
    """
    differences_ns = np.abs(np.diff(delays_ns[-_JITTER_MEMORY - 1 :]))
    ages = np.arange(len(differences_ns))[::-1]
    return float((differences_ns * (1 - 1 / JITTER_GAIN) ** ages).sum() / JITTER_GAIN)


def _percentile(values: Column, percent: int) -> int:
    """Return the least value that is not below `percent` of all: one that occurred."""
    return int(np.percentile(values, percent, method="inverted_cdf"))


def _bounded(value: float, off_ns: float) -> Measure:
    if off_ns == 0:
        return Measure.observed(value)
    return Measure(value, "inferred", max(value - off_ns, 0), value + off_ns)
