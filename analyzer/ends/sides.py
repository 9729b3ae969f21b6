"""Two captures laid over each other: which rows are the same packet, and who sent it where."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from . import pairing
from .between import NOBODY, UNPLACED, Side
from .clock import SAME, Clock, Points, estimate
from .sightings import NO_PATH

if TYPE_CHECKING:
    from ...dissectors.ledger import Ledger
    from ..columns import Column
    from .pairing import Pair, Uneven
    from .sightings import Sightings


MOST_PATHS = 1 << 31
"""More than an association is given, so that a number can be made of both."""


@dataclass(frozen=True, slots=True)
class Overlay:
    """Both captures' packets, by one clock.

    `rows` and `others` are the rows of packets in both.
    """

    first: Side
    second: Side
    clock: Clock
    rows: Column
    others: Column


def overlay(
    one: Sightings,
    other: Sightings,
    pairs: list[Pair],
    ledgers: tuple[Ledger, Ledger],
    *,
    one_clock: bool = False,
) -> Overlay:
    """Lay the packets of two captures over each other."""
    way = pairing.ways(one, pairs, is_second=False)
    other_way = pairing.ways(other, pairs, is_second=True)
    other_path = _paths(other, other_way, pairs, ledgers)
    # Chunks that are sent again on another path can make the same packet there.
    on_path = (_on_path(way, one.path), _on_path(other_way, other_path))
    matches = pairing.match(one, other, *on_path)
    order = np.argsort(other.frame[matches.second], kind="stable")
    rows, others = matches.first[order], matches.second[order]
    seen = [int((found != pairing.NO_WAY).sum()) for found in (way, other_way)]
    delta_ns = other.time_ns[others] - one.time_ns[rows]
    leaving = _leaving(way[rows], delta_ns, len(pairs), more_at_first=seen[0] - seen[1])
    clock = SAME if one_clock else estimate(_points(one, other, rows, others, way, leaving))
    other_ns = clock.to_first(other.time_ns, other.frame)
    late = _by_time(matches.uneven, one, other_ns, rows, others, way, leaving)
    rows, others = np.concatenate((rows, late[0])), np.concatenate((others, late[1]))
    partner, other_partner = (np.full(len(each), NOBODY, np.int64) for each in (one, other))
    partner[rows], other_partner[others] = others, rows
    (start_ns, end_ns), other_span = (
        (each.capture["start_ns"], each.capture["end_ns"]) for each in ledgers
    )
    last = np.array([1, np.iinfo(np.int64).max])
    other_start_ns, other_end_ns = clock.to_first(np.array(other_span, np.int64), last).tolist()
    return Overlay(
        Side(one, one.time_ns, way, one.path, leaving[way], partner, start_ns, end_ns),
        Side(
            other,
            other_ns,
            other_way,
            other_path,
            ~leaving[other_way],
            other_partner,
            other_start_ns,
            other_end_ns,
        ),
        clock,
        rows,
        others,
    )


def _points(
    one: Sightings, other: Sightings, rows: Column, others: Column, way: Column, leaving: Column
) -> Points:
    own = way[rows].astype(np.int64)
    paths = 2 + int(max(one.path.max(), 0))
    return Points(
        other.time_ns[others],
        other.time_ns[others] - one.time_ns[rows],
        other.frame[others],
        leaving[own],
        own * paths + one.path[rows] + 1,
    )


def _leaving(way: Column, delta_ns: Column, pairs: int, *, more_at_first: int) -> Column:
    """Say of each way whether its sender is at the first capture.

    Of two packets that crossed, the one that left the first capture's place shows the greater
    difference of the times, by a round trip. A pair with one direction alone goes by those that
    have both; where none has, its sender is where more was seen, or where it was seen earlier.
    """
    pair = way // 2
    votes = _votes(way, delta_ns, pairs)
    found = np.zeros(2 * pairs, bool)
    found[0::2], found[1::2] = votes >= 0, votes < 0
    unsure = np.flatnonzero(votes == 0).tolist()
    order = np.argsort(pair, kind="stable")
    rows = np.split(order, np.searchsorted(pair[order], np.arange(1, pairs)))
    if len(unsure) < pairs:
        sure = votes[pair] != 0
        out = found[way]
        middle = (np.median(delta_ns[sure & out]) + np.median(delta_ns[sure & ~out])) / 2
        first_sends = [bool(np.median(delta_ns[rows[number]]) >= middle) for number in unsure]
    else:
        ahead = more_at_first > 0 or (more_at_first == 0 and bool(np.median(delta_ns) >= 0))
        first_sends = [ahead] * pairs
    for number, here in zip(unsure, first_sends, strict=True):
        sender = int(way[rows[number][0]] % 2)
        found[2 * number + sender], found[2 * number + 1 - sender] = here, not here
    return found


def _votes(way: Column, delta_ns: Column, pairs: int) -> Column:
    """Of each pair, how much oftener it is a that is at the first capture's place than b."""
    order = np.argsort(way // 2, kind="stable")
    own = way[order]
    crossed = np.flatnonzero((np.diff(own // 2) == 0) & (np.diff(own) != 0))
    earlier, later = order[crossed], order[crossed + 1]
    ahead = np.where(way[earlier] % 2 == 0, 1, -1) * np.sign(delta_ns[earlier] - delta_ns[later])
    votes = np.zeros(pairs, np.int64)
    np.add.at(votes, way[earlier] // 2, ahead)
    return votes


def _by_time(
    uneven: tuple[Uneven, ...],
    one: Sightings,
    other_ns: Column,
    rows: Column,
    others: Column,
    way: Column,
    leaving: Column,
) -> tuple[Column, Column]:
    """Match identical packets of which the captures have different numbers, by their times."""
    apart = other_ns[others] - one.time_ns[rows]
    unknown = np.iinfo(np.int64).max
    least = np.full(len(leaving), unknown)
    np.minimum.at(least, way[rows], np.where(leaving[way[rows]], apart, -apart))
    found = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]
    for same in uneven:
        here, there = one.time_ns[same.first], other_ns[same.second]
        number = int(way[same.first[0]])
        # Of a way with no other packet only that no delay is negative.
        least_ns = 0 if least[number] == unknown else int(least[number])
        if leaving[number]:
            matched = pairing.assign(here, there, least_ns)
        else:
            matched = [(at, to) for to, at in pairing.assign(there, here, least_ns)]
        found[0].append(same.first[[at for at, _ in matched]])
        found[1].append(same.second[[to for _, to in matched]])
    return np.concatenate(found[0]), np.concatenate(found[1])


def _on_path(way: Column, path: Column) -> Column:
    """Number way and path together; a path that the other capture has not belongs to no way."""
    found: Column = np.where(
        (way == pairing.NO_WAY) | (path == UNPLACED),
        pairing.NO_WAY,
        way.astype(np.int64) * MOST_PATHS + path - NO_PATH,
    )
    return found


def _paths(
    other: Sightings, other_way: Column, pairs: list[Pair], ledgers: tuple[Ledger, Ledger]
) -> Column:
    """Paths of the second capture's packets, as the first numbers them.

    By packets in both; a path of which there are none by its addresses, or `UNPLACED`.
    """
    numbers, theirs = (
        {
            (row["association"], row["a_address"], row["b_address"]): row["path"]
            for row in ledger.rows("paths")
        }
        for ledger in ledgers
    )
    by_association = {pair.second: number for number, pair in enumerate(pairs)}
    known = {}
    for (association, a, b), path in theirs.items():
        number = by_association.get(association)
        if number is None:
            continue
        pair = pairs[number]
        ends = (b, a) if pair.swapped else (a, b)
        here = pair.paths.get(path, numbers.get((pair.first, *ends), UNPLACED))
        known[number * MOST_PATHS + path] = here
    keys = np.array([-1, *sorted(known)], np.int64)
    values = np.array([NO_PATH, *(known[key] for key in sorted(known))], np.int32)
    own = (other_way // 2).astype(np.int64) * MOST_PATHS + other.path
    places = np.searchsorted(keys, own, side="right") - 1
    found: Column = np.where(keys[places] == own, values[places], NO_PATH).astype(np.int32)
    return found
