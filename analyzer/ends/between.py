"""What became of every packet on its way from one side to the other."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ..transit import ABSENT_NS, Packets
from .pairing import NO_WAY, keys_of

if TYPE_CHECKING:
    from ..columns import Column
    from .sightings import Sightings

UNPLACED = -2
"""A path of the second capture's that the first has not."""

NOBODY = -1
"""Stands for the row of a packet that the other side has not."""

_NONE = np.zeros(0, np.int64)

NOTHING = Packets(*(_NONE,) * 5)
"""Of an end whose capture has nothing of a way."""

Key = tuple[int, int]
"""A way (`pairing.ways`) and a path of the first capture."""


@dataclass(frozen=True, slots=True)
class Side:
    """One capture's packets, told as the first capture tells them; columns of one length.

    Attributes
    ----------
    rows
        What the capture has.
    time_ns
        int64, by the first capture's clock.
    way, path
        By the pairs, and as the first capture numbers paths.
    sends
        Whether the sender of the packet is at this side.
    partner
        The same packet's row on the other side, or `NOBODY`.
    start_ns, end_ns
        First and last frame of the capture, by the first's clock.
    """

    rows: Sightings
    time_ns: Column
    way: Column
    path: Column
    sends: Column
    partner: Column
    start_ns: int
    end_ns: int

    @property
    def shared(self) -> Column:
        """Which packets are of an association or flow that both captures have."""
        found: Column = self.way != NO_WAY
        return found

    def keys(self, chosen: Column) -> Column:
        """Way and digest of some packets as one number."""
        return keys_of(self.rows, self.way, chosen)


@dataclass(frozen=True, slots=True)
class Sent:
    """What is known of one way: its packets, and those that no number can count.

    Attributes
    ----------
    packets
        Those that the other capture has, or would have had.
    transmission
        Of the DATA chunk of each that was sent least often: 1 for a new one; `NO_DATA` where there
        is none.
    leaving
        Whether the first capture is the sender's.
    outside
        Packets sent before the other capture began or so late that it ended first.
    unsent
        Packets that arrived and that the sender's capture has not.
    """

    packets: Packets
    transmission: Column
    leaving: bool
    outside: int
    unsent: int


def sent_between(sender: Side, receiver: Side, *, leaving: bool) -> dict[Key, Sent]:
    """Follow what one side sent to the other, by way and path."""
    own = sender.shared & sender.sends & ~sender.rows.copy & (sender.path != UNPLACED)
    copies = _copies(sender, receiver)
    unsent = _unsent(receiver)
    found = {}
    for key, every in _split(own, sender):
        arrived_ns = _arrivals(every, sender, receiver.time_ns, ABSENT_NS)
        kept = _inside(sender.time_ns[every], arrived_ns, receiver.start_ns, receiver.end_ns)
        rows = every[kept]
        packets = Packets(
            sender.time_ns[rows],
            arrived_ns[kept],
            sender.rows.wire_bytes[rows],
            sender.rows.frame[rows],
            _arrivals(rows, sender, receiver.rows.frame, 0),
            None if copies is None else copies.get(key, 0),
        )
        found[key] = Sent(
            packets,
            sender.rows.transmission[rows],
            leaving,
            outside=len(every) - len(rows),
            unsent=unsent.pop(key, 0),
        )
    for (way, path), count in unsent.items():
        if path != UNPLACED:
            found[way, path] = Sent(NOTHING, NOTHING.frame, leaving, outside=0, unsent=count)
    return found


def _arrivals(rows: Column, sender: Side, column: Column, absent: int) -> Column:
    """What a column of the receiver says of packets; something else of those that it has not."""
    partner = sender.partner[rows]
    return np.where(partner != NOBODY, column[partner], absent)


def _split(chosen: Column, side: Side) -> list[tuple[Key, Column]]:
    """Rows by way and path, in order of time."""
    rows = np.flatnonzero(chosen)
    if not len(rows):
        return []
    rows = rows[np.lexsort((side.time_ns[rows], side.path[rows], side.way[rows]))]
    differs = (np.diff(side.way[rows]) != 0) | (np.diff(side.path[rows]) != 0)
    parts = np.split(rows, np.flatnonzero(differs) + 1)
    return [((int(side.way[part[0]]), int(side.path[part[0]])), part) for part in parts]


def _inside(sent_ns: Column, arrived_ns: Column, start_ns: int, end_ns: int) -> Column:
    """Which packets the other capture has or would have had, by the delays of those that it has."""
    missing = arrived_ns == ABSENT_NS
    delays = (arrived_ns - sent_ns)[~missing]
    least, most = (int(delays.min()), int(delays.max())) if len(delays) else (0, 0)
    found: Column = ~missing | ((sent_ns >= start_ns - least) & (sent_ns <= end_ns - most))
    return found


def _unsent(receiver: Side) -> dict[Key, int]:
    """Count packets that arrived and that their sender's capture has not."""
    rows = receiver.shared & ~receiver.sends & ~receiver.rows.copy & (receiver.partner == NOBODY)
    return {key: len(found) for key, found in _split(rows, receiver)}


def _copies(sender: Side, receiver: Side) -> dict[Key, int] | None:
    """Count packets that arrived twice; None where their capture has its own packets twice, too.

    What the sender's capture has twice was not duplicated on the way.
    """
    twice = receiver.rows.copy & receiver.shared
    if (twice & receiver.sends).any():
        return None
    keys = receiver.keys(np.flatnonzero(twice))
    keys = keys[~np.isin(keys, sender.keys(np.flatnonzero(sender.rows.copy & sender.shared)))]
    if not len(keys):
        return {}
    arrived = np.flatnonzero(sender.shared & sender.sends & (sender.partner != NOBODY))
    known = sender.keys(arrived)
    order = np.argsort(known)
    places = np.minimum(np.searchsorted(known[order], keys), len(order) - 1)
    rows = arrived[order[places]][known[order[places]] == keys]
    found: dict[Key, int] = {}
    for key in zip(sender.way[rows].tolist(), sender.path[rows].tolist(), strict=True):
        found[key] = found.get(key, 0) + 1
    return found
