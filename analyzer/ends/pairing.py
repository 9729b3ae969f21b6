"""Which associations and flows of two captures are the same, and which of their packets.

A packet is the same where its digest is: that leaves out addresses, ports and checksums, so that a
NAT between the captures does not matter. Digests that a capture has more than once, as those of
identical retransmissions, say nothing of which packet is which until the clocks are known.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from ..columns import Column
    from .sightings import Sightings

NO_WAY = -1

_SPREAD = np.uint64(0x9E37_79B9_7F4A_7C15)
"""An odd number, so that ways and digests together make keys as different as both."""


@dataclass(frozen=True, slots=True)
class Pair:
    """One association or flow in both captures, by their groups.

    `swapped`: end a of the one is end b of the other. `paths` says which path of the second capture
    is which of the first, by packets that both have.
    """

    first: int
    second: int
    swapped: bool
    paths: dict[int, int]


@dataclass(frozen=True, slots=True)
class Uneven:
    """Packets with one digest on one way, of which the captures have different numbers; rows."""

    first: Column
    second: Column


@dataclass(frozen=True, slots=True)
class Matches:
    """Rows of packets that both captures have, and those that only time can match."""

    first: Column
    second: Column
    uneven: tuple[Uneven, ...]


def pair_groups(first: Sightings, second: Sightings) -> list[Pair]:
    """Pair groups by the packets that each capture has once, those with the most first."""
    own, others = _once(first), _once(second)
    _, at, to = np.intersect1d(
        first.digest[own], second.digest[others], assume_unique=True, return_indices=True
    )
    rows, columns = own[at], others[to]
    swapped = first.is_b[rows] != second.is_b[columns]
    counted = combinations(
        first.group[rows], second.group[columns], swapped, second.path[columns], first.path[rows]
    )
    together: dict[tuple[int, int, int], Paths] = {}
    for (one, other, turned, there, here), count in counted:
        together.setdefault((one, other, turned), []).append((count, there, here))
    found: list[Pair] = []
    taken: set[tuple[int, int]] = set()
    for (one, other, turned), paths in sorted(together.items(), key=lambda both: -_sum(both[1])):
        if (0, one) not in taken and (1, other) not in taken:
            taken |= {(0, one), (1, other)}
            found.append(Pair(one, other, bool(turned), _one_to_one(paths)))
    return found


Paths = list[tuple[int, int, int]]
"""Packets, path of the second capture, path of the first."""


def _sum(paths: Paths) -> int:
    return sum(count for count, _, _ in paths)


def _one_to_one(paths: Paths) -> dict[int, int]:
    """Say which path is which, by the most packets.

    A chunk that is sent again on another path may be all that makes a packet: few packets say that
    one path of this capture is two of the other.
    """
    found: dict[int, int] = {}
    for _, there, here in sorted(paths, reverse=True):
        if there not in found and here not in found.values():
            found[there] = here
    return found


def combinations(*columns: Column) -> list[tuple[tuple[int, ...], int]]:
    """Return which values stand side by side in columns of few different values, and how often."""
    if not len(columns[0]):
        return []
    values, code, size = [], np.zeros(len(columns[0]), np.int64), 1
    for column in columns:
        own, places = np.unique(column, return_inverse=True)
        values.append(own)
        code += size * places
        size *= len(own)
    codes, counts = np.unique(code, return_counts=True)
    sides = np.unravel_index(codes, [len(own) for own in values], order="F")
    rows = zip(
        *(own[place].tolist() for own, place in zip(values, sides, strict=True)), strict=True
    )
    return list(zip(rows, counts.tolist(), strict=True))


def _once(rows: Sightings) -> Column:
    """Places of packets whose digest no other packet of the capture has, copies aside."""
    places = np.flatnonzero(~rows.copy)
    digests = rows.digest[places]
    order = np.argsort(digests, kind="stable")
    digests = digests[order]
    new = np.ones(len(digests) + 1, bool)
    new[1:-1] = digests[1:] != digests[:-1]
    found: Column = places[order[new[:-1] & new[1:]]]
    return found


def ways(rows: Sightings, pairs: list[Pair], *, is_second: bool) -> Column:
    """Number the ways of paired groups: twice the pair's number, and one more where b sends.

    Ends are those of the first capture. `NO_WAY` for groups that the other capture has not.
    """
    groups = np.array([pair.second if is_second else pair.first for pair in pairs], np.int64)
    order = np.argsort(groups)
    places = np.searchsorted(groups[order], rows.group)
    known = places < len(groups)
    number = order[np.where(known, places, 0)]
    known &= groups[number] == rows.group
    is_b = rows.is_b
    if is_second:
        is_b = is_b ^ np.array([pair.swapped for pair in pairs], bool)[number]
    return np.where(known, 2 * number + is_b, NO_WAY).astype(np.int32)


def match(first: Sightings, second: Sightings, first_way: Column, second_way: Column) -> Matches:
    """Match packets of one way and digest, in order of their times where both have as many.

    Ways are told apart by any number, which is the same in both captures.
    """
    keys, starts, counts, order = _runs(first, first_way)
    other_keys, other_starts, other_counts, other_order = _runs(second, second_way)
    _, at, to = np.intersect1d(keys, other_keys, assume_unique=True, return_indices=True)
    even = counts[at] == other_counts[to]
    length = counts[at[even]]
    uneven = tuple(
        Uneven(
            order[starts[one] : starts[one] + counts[one]],
            other_order[other_starts[other] : other_starts[other] + other_counts[other]],
        )
        for one, other in zip(at[~even].tolist(), to[~even].tolist(), strict=True)
    )
    return Matches(
        order[_ranges(starts[at[even]], length)],
        other_order[_ranges(other_starts[to[even]], length)],
        uneven,
    )


def keys_of(rows: Sightings, way: Column, chosen: Column) -> Column:
    """Make one number of way and digest, of some rows."""
    spread = (way[chosen] + 1).astype(np.uint64) * _SPREAD
    found: Column = rows.digest[chosen] ^ spread
    return found


def _runs(rows: Sightings, way: Column) -> tuple[Column, Column, Column, Column]:
    """Packets by way and digest: keys, and where each one's rows are in the order of times."""
    chosen = np.flatnonzero(~rows.copy & (way != NO_WAY))
    keys = keys_of(rows, way, chosen)
    order = np.lexsort((rows.time_ns[chosen], keys))
    keys = keys[order]
    starts = np.flatnonzero(np.concatenate(([True], keys[1:] != keys[:-1]))) if len(keys) else order
    counts = np.diff(np.append(starts, len(keys)))
    return keys[starts], starts, counts, chosen[order]


def _ranges(starts: Column, lengths: Column) -> Column:
    """Each start and what follows it, one after the other."""
    before = np.cumsum(lengths) - lengths
    return np.repeat(starts - before, lengths) + np.arange(int(lengths.sum()))


def assign(sent_ns: Column, arrived_ns: Column, least_ns: int) -> list[tuple[int, int]]:
    """Say which sending each arrival of identical packets belongs to, in one clock.

    Parameters
    ----------
    sent_ns, arrived_ns
        In order of time.
    least_ns
        Least delay of the way: no packet is faster.

    Where packets are missing, an arrival belongs to the last sending that it can be of; where
    there are more arrivals than sendings, a sending has the first that it can have.
    """
    found = []
    if len(arrived_ns) <= len(sent_ns):
        at = len(sent_ns) - 1
        for to in range(len(arrived_ns) - 1, -1, -1):
            while at >= 0 and sent_ns[at] + least_ns > arrived_ns[to]:
                at -= 1
            if at >= 0:
                found.append((at, to))
                at -= 1
        return found[::-1]
    to = 0
    for at in range(len(sent_ns)):
        while to < len(arrived_ns) and sent_ns[at] + least_ns > arrived_ns[to]:
            to += 1
        if to < len(arrived_ns):
            found.append((at, to))
            to += 1
    return found
