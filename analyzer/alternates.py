"""The paths that a handover could have led to, by predicted delay and by the RFC's advice."""

from __future__ import annotations

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
    handovers: Sequence[Handover],
    number: int,
    paths: Sequence[Path],
    delays: dict[int, Average],
    reason: str,
) -> Alternates:
    """Return the alternates of a handover when it was decided, or else when new DATA moved.

    The path that was chosen is one of them, whatever is known of it.
    """
    handover = handovers[number]
    moved_ns = handover.instants["t_first_new"].ns or 0
    at_ns = handover.instants["t_decision"].ns or moved_ns
    now = np.array([at_ns])
    found = [
        path.number
        for path in paths
        if path.number != handover.from_path
        and (
            path.number == handover.to_path
            or usable(context, path.number, path.directions[handover.sender].states, now)[0]
        )
    ]
    forecasts = {path: float(delays[path].at(now)[0]) for path in found if path in delays}
    known = {path: delay for path, delay in forecasts.items() if not np.isnan(delay)}
    return Alternates(
        handover=number,
        at_ns=at_ns,
        forecast=tuple(sorted(known, key=lambda path: (known[path], path))),
        unknown=tuple(path for path in found if path not in known),
        divergent=_divergent(context, handover.sender, handover.from_path, found),
        chosen=handover.to_path,
        excess_rtt_ns=Measure.observed(known[handover.to_path] - min(known.values()))
        if handover.to_path in known
        else Measure.absent(
            reason if len(delays) < 2 else "the chosen path had no samples before the decision"
        ),
    )


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
