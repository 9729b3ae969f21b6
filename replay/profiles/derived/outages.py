"""Outages: so many packets lost one after the other that the route's losses do not explain it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from .model import Outage

if TYPE_CHECKING:
    from ....analyzer.columns import Column

CHANCE = 0.01
"""A run of losses is an outage where so few such runs are to be expected in the whole capture."""


def outages(sent_ns: Column, lost: Column) -> tuple[list[Outage], Column]:
    """Find the outages of a route, and which packets are in one.

    The longest run of losses is held against what all other packets say: after a lost packet the
    next is lost with Gilbert's 1 - r, or with the loss ratio where that is more. If so long a run
    is not to be expected it is an outage, and the next longest is looked at, without it.

    Parameters
    ----------
    sent_ns
        int64, in sending order.
    lost
        Which packets did not arrive.
    """
    firsts, lengths = _runs(lost)
    inside = np.zeros(len(lost), bool)
    runs, missing, packets = len(lengths), int(lengths.sum()), len(lost)
    found = []
    for at in np.argsort(-lengths, kind="stable").tolist():
        first, length = int(firsts[at]), int(lengths[at])
        runs, missing, packets = runs - 1, missing - length, packets - length
        if not _is_outage(length, runs, missing, packets):
            break
        inside[first : first + length] = True
        found.append(_outage(sent_ns, first, first + length - 1))
    return sorted(found, key=lambda one: one.first_loss_ns), inside


def shared(
    sent_ns: Column, lost: Column, inside: Column, others: list[Outage]
) -> tuple[list[Outage], Column]:
    """Find more outages by those of the path's other direction: a link mostly fails in both.

    Losses are in one where some of them are in an outage of the other direction, and nothing that
    was sent in that outage arrived. Returns all outages, and which packets are in one.
    """
    firsts, lengths = _runs(lost)
    inside = inside.copy()
    arrived_ns = sent_ns[~lost]
    for one in others:
        until_ns = sent_ns[-1] + 1 if one.first_arrival_ns is None else one.last_loss_ns
        came = np.searchsorted(arrived_ns, (one.first_loss_ns, until_ns))
        if came[0] != came[1]:
            continue
        lasts = firsts + lengths - 1
        of_it = (sent_ns[lasts] >= one.first_loss_ns) & (sent_ns[firsts] < until_ns)
        for first, last in zip(firsts[of_it].tolist(), lasts[of_it].tolist(), strict=True):
            inside[first : last + 1] = True
    firsts, lengths = _runs(inside)
    columns = zip(firsts.tolist(), (firsts + lengths - 1).tolist(), strict=True)
    return [_outage(sent_ns, *both) for both in columns], inside


def narrowed(own: list[Outage], others: list[Outage]) -> list[Outage]:
    """Bound outages by the packets of both directions, where they can have failed as one."""
    return [_narrowed(one, others) for one in own]


def _narrowed(outage: Outage, others: list[Outage]) -> Outage:
    """Take the later lower bounds and the earlier upper ones, if they are in order."""
    for other in others:
        began = (
            _most(outage.last_arrival_ns, other.last_arrival_ns),
            min(outage.first_loss_ns, other.first_loss_ns),
        )
        ended = (
            max(outage.last_loss_ns, other.last_loss_ns),
            _least(outage.first_arrival_ns, other.first_arrival_ns),
        )
        if (began[0] is None or began[0] < began[1]) and (ended[1] is None or ended[0] < ended[1]):
            return Outage(*began, *ended, outage.packets, both=True)
    return outage


def _most(one: int | None, other: int | None) -> int | None:
    return max((each for each in (one, other) if each is not None), default=None)


def _least(one: int | None, other: int | None) -> int | None:
    return min((each for each in (one, other) if each is not None), default=None)


def _runs(lost: Column) -> tuple[Column, Column]:
    """First packets and lengths of the runs of losses."""
    edges = np.diff(np.concatenate(([False], lost, [False])).astype(np.int8))
    firsts = np.flatnonzero(edges == 1)
    return firsts, np.flatnonzero(edges == -1) - firsts


def _is_outage(length: int, runs: int, lost: int, packets: int) -> bool:
    """Whether chance makes no such run, by all other packets: of them lost, in so many runs."""
    # Half a loss and a packet more than were seen: of no loss in a few packets little follows.
    ratio = (lost + 0.5) / (packets + 1)
    again = max(ratio, (lost - runs + ratio) / (lost + 1))
    begins = max(runs, ratio * (packets + length))
    return bool(begins * again ** (length - 1) < CHANCE)


def _outage(sent_ns: Column, first: int, last: int) -> Outage:
    return Outage(
        int(sent_ns[first - 1]) if first else None,
        int(sent_ns[first]),
        int(sent_ns[last]),
        int(sent_ns[last + 1]) if last + 1 < len(sent_ns) else None,
        last - first + 1,
    )
