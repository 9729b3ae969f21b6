"""The paths that a handover could have led to, by predicted delay and by the RFC's advice."""

from __future__ import annotations

from math import isnan, nan
from typing import TYPE_CHECKING

import numpy as np

from .context import ENDS, other
from .measure import Measure
from .model import Alternates
from .usable import usable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .averages import Average
    from .context import Context
    from .model import End, Handover, Path


def alternates(
    context: Context,
    sender: End,
    handovers: Sequence[Handover],
    paths: Sequence[Path],
    delays: dict[int, Average],
    reason: str,
) -> tuple[Alternates, ...]:
    """Return the alternates of each of a sender's handovers when it was decided, else made.

    The path that was chosen is one of them, whatever is known of it. Without averages of two paths
    there is nothing to compare, for `reason`.
    """
    own = [(n, handover) for n, handover in enumerate(handovers) if handover.sender == sender]
    if not own:
        return ()
    times_ns = np.array([_decided_ns(handover) for _, handover in own])
    numbers = np.array([path.number for path in paths])
    ready = np.array(
        [usable(context, path.number, path.directions[sender].states, times_ns) for path in paths]
    )
    forecasts = {path: average.at(times_ns) for path, average in delays.items()}
    unseen = reason if len(delays) < 2 else "the chosen path had no samples before the decision"
    found = []
    for column, (number, handover) in enumerate(own):
        others = set(numbers[ready[:, column]].tolist()) - {handover.from_path}
        known = {path: float(forecast[column]) for path, forecast in forecasts.items()}
        candidates = sorted(others | {handover.to_path})
        order = _divergent(context, sender, handover.from_path, candidates)
        found.append(_alternates(handover, number, order, known, unseen))
    return tuple(found)


def _alternates(
    handover: Handover,
    number: int,
    order: tuple[int, ...],
    forecasts: dict[int, float],
    unseen: str,
) -> Alternates:
    known = {path: forecasts[path] for path in order if not isnan(forecasts.get(path, nan))}
    chosen = handover.to_path
    return Alternates(
        handover=number,
        at_ns=_decided_ns(handover),
        forecast=tuple(sorted(known, key=lambda path: (known[path], path))),
        unknown=tuple(sorted(set(order) - set(known))),
        divergent=order,
        chosen=chosen,
        excess_rtt_ns=Measure.observed(known[chosen] - min(known.values()))
        if chosen in known
        else Measure.absent(unseen),
    )


def _decided_ns(handover: Handover) -> int:
    return handover.instants["t_decision"].ns or handover.instants["t_first_new"].ns or 0


def _divergent(context: Context, sender: End, old: int, found: list[int]) -> tuple[int, ...]:
    """Order paths by RFC 9260 section 6.4.1: the pair that differs most from the old one first.

    Among those that differ as much, the peer's addresses count in the order in which they became
    known, from the old path's on, and then round; of one peer address, the sender's own likewise.
    """
    places = {end: _places(context, end, old) for end in ENDS}
    before = context.path_addresses(old)

    def key(path: int) -> tuple[int, int, int, int]:
        pair = context.path_addresses(path)
        alike = sum(one == two for one, two in zip(pair, before, strict=True))
        address = dict(zip(ENDS, pair, strict=True))
        far, near = (
            places[end].get(address[end], len(context.paths)) for end in (other(sender), sender)
        )
        return alike, far, near, path

    return tuple(sorted(found, key=key))


def _places(context: Context, end: End, old: int) -> dict[str, int]:
    """Number an end's addresses in their order, from the old path's on and then round."""
    known = list(dict.fromkeys(r["address"] for r in context.addresses if r["endpoint"] == end))
    own = dict(zip(ENDS, context.path_addresses(old), strict=True))[end]
    first = known.index(own) if own in known else 0
    return {address: (place - first) % len(known) for place, address in enumerate(known)}
