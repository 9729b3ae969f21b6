"""Two captures of one run: whether they are, and what became of every packet between them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ..transit import ABSENT_NS, ClockError, Packets
from . import pairing
from .clock import Clock, Points, estimate
from .pairing import NO_WAY, Pair, combinations
from .sightings import FLOWS, NO_PATH, Sightings, columns, is_cut

if TYPE_CHECKING:
    from ...dissectors.ledger import Ledger
    from ..columns import Column
    from ..model import End

LEAST_PACKETS = 16
"""So many packets in both captures are no accident of what a file happens to begin or end with."""

MOST = 0.5
"""Of the packets that either capture has while both ran, this share is in the other."""

Way = tuple[int, int, "End"]
"""A group of the first capture, a path of it (`NO_PATH` for flows), and the sender."""


class NotTwoEnds(ValueError):
    """Two captures that are not of the two ends of one run; the message says why."""


@dataclass(frozen=True, slots=True)
class Sent:
    """What is known of one way: its packets, and those that no number can count.

    Attributes
    ----------
    packets
        Those that the other capture has, or would have had.
    transmission
        Of the DATA chunk of each that was sent least often: 1 for a new one; `NO_DATA` where there is none.
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


@dataclass(frozen=True, slots=True)
class Ends:
    """How two captures of one run fit together; times are by the first's clock.

    Attributes
    ----------
    clock
        The second capture's clock against the first's.
    pairs
        Associations and flows that both have.
    paths
        Of each pair, which path of the first capture is which of the second, by packets in both.
    matched
        Packets that both have.
    shared
        Packets that each capture has of the time in which both ran.
    ways
        What was sent on each way.
    unplaced
        Packets that the second capture's end sent on a path of which nothing arrived, by
        association of the first capture.
    """

    clock: Clock
    pairs: tuple[Pair, ...]
    paths: tuple[dict[int, int], ...]
    matched: int
    shared: tuple[int, int]
    ways: dict[Way, Sent]
    unplaced: dict[int, int]

    @property
    def error(self) -> ClockError:
        """How far delays may be off."""
        return ClockError(self.clock.error_ns, self.clock.drift_ns, self.clock.reason)

    def leaves(self, group: int, sender: End) -> bool | None:
        """Whether the first capture is that of the sender; None where nothing is known of it."""
        return next((sent.leaving for _, sent in self.of(group, sender)), None)

    def of(self, group: int, sender: End) -> list[tuple[int, Sent]]:
        """Return what an end sent, by path."""
        return [
            (path, sent) for (one, path, end), sent in self.ways.items() if (one, end) == (group, sender)
        ]


def find_ends(first: Ledger, second: Ledger, *, forced: bool = False) -> Ends:
    """Fit two captures together, of which both have the table of sightings.

    It is taken out of both ledgers: at 63 bytes a packet there is no room for it beside what is
    made of it.

    Raises
    ------
    NotTwoEnds
        When they have no packet in common; and, unless `forced`, when they have too few, or the
        same packets at the same times, which is one capture twice.
    """
    heads = any(is_cut(ledger.tables["sightings"]) for ledger in (first, second))
    one, other = (
        columns(ledger.tables.pop("sightings"), heads=heads) for ledger in (first, second)
    )
    pairs = pairing.pair_groups(one, other)
    if not pairs:
        raise NotTwoEnds("no packet is in both captures")
    found = _Fit(one, other, pairs, _path_maps(first, second))
    if not forced:
        found.check()
    return found.ends(_span(first), _span(second))


def _span(ledger: Ledger) -> tuple[int, int]:
    return ledger.capture["start_ns"], ledger.capture["end_ns"]


def _path_maps(first: Ledger, second: Ledger) -> list[dict[tuple[int, str, str], int]]:
    """Paths of both captures by association and the addresses of a and b."""
    return [
        {
            (row["association"], row["a_address"], row["b_address"]): row["path"]
            for row in ledger.rows("paths")
        }
        for ledger in (first, second)
    ]


class _Fit:
    """Rows of both captures, and which of them are the same packet."""

    def __init__(
        self,
        one: Sightings,
        other: Sightings,
        pairs: list[Pair],
        paths: list[dict[tuple[int, str, str], int]],
    ) -> None:
        self.one, self.other, self.pairs, self.paths = one, other, pairs, paths
        self.way = pairing.ways(one, pairs, is_second=False)
        self.other_way = pairing.ways(other, pairs, is_second=True)
        matches = pairing.match(one, other, self.way, self.other_way)
        order = np.argsort(other.frame[matches.second], kind="stable")
        self.rows, self.others = matches.first[order], matches.second[order]
        self.leaving = self._sides()
        self.clock = estimate(self._points())
        self.other_ns = self.clock.to_first(other.time_ns, other.frame)
        self._match_uneven(matches.uneven)

    def _points(self) -> Points:
        rows, others = self.rows, self.others
        way = self.way[rows]
        paths = 2 + int(max(self.one.path.max(), 0))
        return Points(
            self.other.time_ns[others],
            self.other.time_ns[others] - self.one.time_ns[rows],
            self.other.frame[others],
            self.leaving[way],
            way * paths + self.one.path[rows] + 1,
        )

    def _sides(self) -> Column:
        """Say of each way whether its sender is at the first capture.

        Of two packets that crossed, the one that left the first capture's place shows the greater
        difference of the times, by a round trip. A pair with one direction alone follows those
        that have both, by their differences; where none has, the sender is where more was seen.
        """
        way, pair = self.way[self.rows], self.way[self.rows] // 2
        delta = self.other.time_ns[self.others] - self.one.time_ns[self.rows]
        order = np.argsort(pair, kind="stable")
        turn = np.flatnonzero((np.diff(pair[order]) == 0) & (np.diff(way[order]) != 0))
        earlier, later = order[turn], order[turn + 1]
        ahead = np.where(way[earlier] % 2 == 0, 1, -1) * np.sign(delta[earlier] - delta[later])
        votes = np.zeros(len(self.pairs), np.int64)
        np.add.at(votes, pair[earlier], ahead.astype(np.int64))
        leaving = np.zeros(2 * len(self.pairs), bool)
        leaving[0::2], leaving[1::2] = votes >= 0, votes < 0
        unsure = votes == 0
        if not unsure.all():
            middle = self._middle(way, delta, leaving, ~unsure)
            for number in np.flatnonzero(unsure).tolist():
                own = delta[pair == number]
                out = bool(np.median(own) >= middle) if len(own) else True
                sender = int(way[pair == number][0] % 2) if len(own) else 0
                leaving[2 * number + sender], leaving[2 * number + 1 - sender] = out, not out
        else:
            seen = [int((rows != NO_WAY).sum()) for rows in (self.way, self.other_way)]
            sender = int(way[0] % 2)
            out = seen[0] > seen[1] or (seen[0] == seen[1] and np.median(delta) >= 0)
            leaving[sender::2], leaving[1 - sender :: 2] = out, not out
        return leaving

    def _middle(self, way: Column, delta: Column, leaving: Column, sure: Column) -> float:
        """About how far the clocks are apart, by the pairs of which both directions are known."""
        known = sure[way // 2]
        out = leaving[way]
        return float(np.median(delta[known & out]) + np.median(delta[known & ~out])) / 2

    def _match_uneven(self, uneven: tuple[pairing.Uneven, ...]) -> None:
        delay = self._delays(self.rows, self.others)
        least = np.full(len(self.leaving), np.iinfo(np.int64).max)
        np.minimum.at(least, self.way[self.rows], delay)
        rows, others = [self.rows], [self.others]
        for one in uneven:
            own, there = self.one.time_ns[one.first], self.other_ns[one.second]
            way = self.way[one.first[0]]
            # Of a way with no other packet only that no delay is negative.
            least_ns = int(least[way]) if least[way] != np.iinfo(np.int64).max else 0
            if self.leaving[way]:
                pairs = pairing.assign(own, there, least_ns)
            else:
                pairs = [(at, to) for to, at in pairing.assign(there, own, least_ns)]
            rows.append(one.first[[at for at, _ in pairs]])
            others.append(one.second[[to for _, to in pairs]])
        self.rows, self.others = np.concatenate(rows), np.concatenate(others)

    def _delays(self, rows: Column, others: Column) -> Column:
        apart = self.other_ns[others] - self.one.time_ns[rows]
        return np.where(self.leaving[self.way[rows]], apart, -apart)

    def shared(self) -> tuple[int, int]:
        """Packets of each capture in the time in which both ran, by their first and last ones."""
        start_ns = max(int(self.one.time_ns.min()), int(self.other_ns.min()))
        end_ns = min(int(self.one.time_ns.max()), int(self.other_ns.max()))
        counts = [
            int((~rows.copy & (times >= start_ns) & (times <= end_ns)).sum())
            for rows, times in ((self.one, self.one.time_ns), (self.other, self.other_ns))
        ]
        return counts[0], counts[1]

    def check(self) -> None:
        """Refuse captures that are not of two ends."""
        count, shared = len(self.rows), self.shared()
        if count < LEAST_PACKETS or count < MOST * min(shared):
            raise NotTwoEnds(
                f"{count} packets are in both captures, of {shared[0]} and {shared[1]} in the time"
                " in which both ran"
            )
        if (self.one.time_ns[self.rows] == self.other.time_ns[self.others]).all():
            raise NotTwoEnds("the same packets at the same times: one capture twice")
        both = [
            {bool(way % 2) for way in np.unique(found[found != NO_WAY]).tolist()}
            for found in (self.way, self.other_way)
        ]
        if len(both[0] & both[1]) < len(both[0] | both[1]):
            raise NotTwoEnds("packets of one direction only are in both captures")

    def ends(self, span: tuple[int, int], other_span: tuple[int, int]) -> Ends:
        """Put together what is known of every way."""
        frames = np.array([1, np.iinfo(np.int64).max])
        other_times = self.clock.to_first(np.array(other_span, np.int64), frames).tolist()
        paths, unplaced = self._paths()
        found: dict[Way, Sent] = {}
        to = np.full(len(self.one), -1, np.int64)
        to[self.rows] = self.others
        back = np.full(len(self.other), -1, np.int64)
        back[self.others] = self.rows
        for leaving in (True, False):
            here, there = (self.one, self.other) if leaving else (self.other, self.one)
            sent_ns = self.one.time_ns if leaving else self.other_ns
            other_ns = self.other_ns if leaving else self.one.time_ns
            way, partner = (self.way, to) if leaving else (self.other_way, back)
            path = self.one.path if leaving else paths
            there_way, there_path = (
                (self.other_way, paths) if leaving else (self.way, self.one.path)
            )
            window = other_times if leaving else list(span)
            arrived = np.where(partner >= 0, other_ns[partner], ABSENT_NS)
            arrival_frame = np.where(partner >= 0, there.frame[partner], 0)
            unsent = self._unsent(there, there_way, there_path, back if leaving else to, leaving)
            copies = self._copies(here, there, way, there_way, partner, path)
            ours = (way != NO_WAY) & ~here.copy & (path != UNPLACED)
            ours &= self.leaving[np.where(way == NO_WAY, 0, way)] == leaving
            for key, rows in _split(ours, way, path, sent_ns):
                name = self._name(*key)
                kept, outside = _inside(sent_ns[rows], arrived[rows], window)
                rows = rows[kept]
                found[name] = Sent(
                    Packets(
                        sent_ns[rows],
                        arrived[rows],
                        here.wire_bytes[rows],
                        here.frame[rows],
                        arrival_frame[rows],
                        copies.get(key, 0) if copies is not None else None,
                    ),
                    here.transmission[rows],
                    leaving,
                    outside,
                    unsent.get(key, 0),
                )
        known: list[dict[int, int]] = [{} for _ in self.pairs]
        pair = self.way[self.rows] // 2
        both = combinations(pair, self.one.path[self.rows], self.other.path[self.others])
        for (number, path, there_path), _ in both:
            known[number][path] = there_path
        return Ends(
            self.clock,
            tuple(self.pairs),
            tuple(known),
            len(self.rows),
            self.shared(),
            found,
            unplaced,
        )

    def _name(self, way: int, path: int) -> Way:
        return self.pairs[way // 2].first, path, "b" if way % 2 else "a"

    def _paths(self) -> tuple[Column, dict[int, int]]:
        """Paths of the second capture's packets, as the first numbers them.

        By the packets that both have, else by addresses that both know.
        """
        known: dict[tuple[int, int], int] = {}
        pair = self.other_way[self.others] // 2
        paths = self.other.path[self.others], self.one.path[self.rows]
        for (number, there, here), _ in sorted(combinations(pair, *paths), key=lambda one: one[1]):
            known[number, there] = here
        for number, one in enumerate(self.pairs):
            for (association, a, b), there in self.paths[1].items():
                if association == one.second and (number, there) not in known:
                    ends = (b, a) if one.swapped else (a, b)
                    known[number, there] = self.paths[0].get((one.first, *ends), UNPLACED)
        found = np.full(len(self.other), NO_PATH, np.int64)
        unplaced: dict[int, int] = {}
        for (number, there), here in known.items():
            if there == NO_PATH:
                continue
            rows = (self.other_way // 2 == number) & (self.other.path == there)
            found[rows] = here
            if here == UNPLACED:
                group = self.pairs[number].first
                unplaced[group] = unplaced.get(group, 0) + int(rows.sum())
        return found, unplaced

    def _unsent(
        self, there: Sightings, way: Column, path: Column, partner: Column, leaving: bool
    ) -> dict[tuple[int, int], int]:
        """Count packets that arrived and that their sender's capture has not."""
        rows = (way != NO_WAY) & ~there.copy & (partner < 0)
        rows &= self.leaving[np.where(way == NO_WAY, 0, way)] == leaving
        return {key: len(found) for key, found in _split(rows, way, path, there.time_ns)}

    def _copies(
        self,
        here: Sightings,
        there: Sightings,
        way: Column,
        there_way: Column,
        partner: Column,
        path: Column,
    ) -> dict[tuple[int, int], int] | None:
        """Count packets that arrived twice; None where their capture has its own packets twice."""
        own = self.leaving[np.where(there_way == NO_WAY, 0, there_way)]
        mine = own if there is self.one else ~own
        if (there.copy & (there_way != NO_WAY) & mine).any():
            return None
        keys = pairing.keys_of(there, there_way)[there.copy & (there_way != NO_WAY) & ~mine]
        sent = np.flatnonzero((partner >= 0) & (way != NO_WAY))
        sent_keys = pairing.keys_of(here, way)[sent]
        twice = pairing.keys_of(here, way)[here.copy & (way != NO_WAY)]
        keys = keys[~np.isin(keys, twice)]
        order = np.argsort(sent_keys)
        places = np.searchsorted(sent_keys[order], keys)
        known = places < len(order)
        rows = sent[order[places[known]]]
        rows = rows[sent_keys[order[places[known]]] == keys[known]]
        found: dict[tuple[int, int], int] = {}
        for key in zip(way[rows].tolist(), path[rows].tolist(), strict=True):
            found[key] = found.get(key, 0) + 1
        return found


UNPLACED = -2
"""A path of the second capture's that the first has not."""


def _split(
    chosen: Column, way: Column, path: Column, time_ns: Column
) -> list[tuple[tuple[int, int], Column]]:
    """Rows by way and path, in order of time."""
    rows = np.flatnonzero(chosen)
    if not len(rows):
        return []
    rows = rows[np.lexsort((time_ns[rows], path[rows], way[rows]))]
    differs = (np.diff(way[rows]) != 0) | (np.diff(path[rows]) != 0)
    parts = np.split(rows, np.flatnonzero(differs) + 1)
    return [((int(way[part[0]]), int(path[part[0]])), part) for part in parts]


def _inside(sent_ns: Column, arrived_ns: Column, window: list[int]) -> tuple[Column, int]:
    """Which packets the other capture has or would have had; and how many it could not have."""
    missing = arrived_ns == ABSENT_NS
    delays = (arrived_ns - sent_ns)[~missing]
    least, most = (int(delays.min()), int(delays.max())) if len(delays) else (0, 0)
    outside = missing & ((sent_ns < window[0] - least) | (sent_ns > window[1] - most))
    return ~outside, int(outside.sum())
