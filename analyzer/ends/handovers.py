"""A handover's instants and times at the end that the first capture was not taken at."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from ..measure import Instant, Measure, seconds
from ..transit import ABSENT_NS
from .sightings import NO_DATA

if TYPE_CHECKING:
    from ..model import Handover
    from .between import Sent
    from .run import Ends

FIRST = 1
"""Transmission of a new chunk."""

LOST = "the first new DATA on the new path was lost"


def with_arrivals(handover: Handover, group: int, ends: Ends) -> Handover:
    """Put in when the first new DATA arrived, and how long none did.

    `data_interruption_s` is t_first_arrival - t_last_data_old (study B): from the sending of the
    last DATA on the old path, whether that arrived or not, to an arrival at the other end.
    """
    new = ends.ways.get((group, handover.to_path, handover.sender))
    old = ends.ways.get((group, handover.from_path, handover.sender))
    error_ns = ends.clock.error_ns
    frame = handover.instants["t_first_new"].frame
    if new is None or old is None or error_ns is None or frame is None:
        return handover
    off_ns = round(error_ns + ends.clock.drift_ns)
    if new.leaving:
        last, arrival = handover.instants["t_last_data_old"], _arrival(new, frame, off_ns)
    else:
        last, arrival = _as_sent(new, old, frame, off_ns)
    interruption = handover.metrics["data_interruption_s"]
    if last.ns is not None and arrival.ns is not None:
        between_ns = arrival.ns - last.ns
        interruption = Measure(
            seconds(between_ns),
            "inferred",
            seconds(max(between_ns - off_ns, 0)),
            seconds(between_ns + off_ns),
            note="from the last DATA sent on the old path to the first to arrive on the new one",
        )
    return replace(
        handover,
        instants=handover.instants | {"t_last_data_old": last, "t_first_arrival": arrival},
        metrics=handover.metrics | {"data_interruption_s": interruption},
    )


def _arrival(new: Sent, frame: int, off_ns: int) -> Instant:
    """Return when what the first capture shows leaving arrived."""
    packets = new.packets
    places = np.flatnonzero(packets.frame == frame)
    if not len(places) or packets.arrived_ns[places[0]] == ABSENT_NS:
        return Instant.absent(LOST)
    place = places[0]
    return _elsewhere(int(packets.arrived_ns[place]), int(packets.arrival_frame[place]), off_ns)


def _as_sent(new: Sent, old: Sent, frame: int, off_ns: int) -> tuple[Instant, Instant]:
    """Return the last DATA sent on the old path, and the first new DATA to arrive on the new one.

    What the first capture takes for new may have been sent on the old path before, and lost there:
    the sender's capture knows.
    """
    packets = new.packets
    arrived = packets.arrived_ns != ABSENT_NS
    places = np.flatnonzero(
        arrived & (new.transmission == FIRST) & (packets.arrival_frame >= frame)
    )
    if not len(places):
        none = Instant.absent("no new DATA on the new path is in both captures")
        return none, none
    place = places[0]
    before = np.flatnonzero(
        (old.transmission != NO_DATA) & (old.packets.sent_ns < packets.sent_ns[place])
    )
    arrival = Instant.seen(int(packets.arrived_ns[place]), int(packets.arrival_frame[place]))
    if not len(before):
        return Instant.absent("no DATA on the old path"), arrival
    last = before[-1]
    sent = _elsewhere(int(old.packets.sent_ns[last]), int(old.packets.frame[last]), off_ns)
    return sent, arrival


def _elsewhere(ns: int, frame: int, off_ns: int) -> Instant:
    return Instant(ns, frame, "observed", ns - off_ns, ns + off_ns, elsewhere=True)
