"""What the other capture calls the associations and flows that both have, and by which addresses.

Where these differ, a NAT is between the captures.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..columns import to_numpy
from .model import Counterpart
from .sightings import FLOWS

if TYPE_CHECKING:
    from ...dissectors.ledger import Ledger, Row
    from .pairing import Pair
    from .run import Ends

Both = tuple["Row", "Row"]
"""The rows of one thing in both captures."""


def counterparts(
    ends: Ends, first: Ledger, second: Ledger, flows: set[int]
) -> tuple[Counterpart, ...]:
    """Describe associations, and those flows of the first capture that are described.

    Associations that a flood keeps from being listed are left out; the captures' facts count them.
    """
    ledgers = (first, second)
    rows = [{row["association"]: row for row in one.rows("associations")} for one in ledgers]
    paths = [one.by_association("paths") for one in ledgers]
    found = []
    for pair in ends.pairs:
        if pair.first >= FLOWS:
            if pair.first - FLOWS in flows:
                both = (_flow(first, pair.first - FLOWS), _flow(second, pair.second - FLOWS))
                found.append(_counterpart(pair, both, [both], 0))
        elif pair.first in rows[0] and pair.second in rows[1]:
            here, there = paths[0][pair.first], paths[1][pair.second]
            found.append(
                _counterpart(
                    pair,
                    (rows[0][pair.first], rows[1][pair.second]),
                    [(here[one], there[other]) for other, one in sorted(pair.paths.items())],
                    ends.unplaced.get(pair.first, 0),
                )
            )
    return tuple(sorted(found, key=lambda one: (one.is_flow, one.number)))


def _flow(ledger: Ledger, number: int) -> Row:
    table = ledger.tables["flows"]
    place = int(np.searchsorted(to_numpy(table["flow"]), number))
    row: Row = table.slice(place, 1).to_pylist()[0]
    return row


def _counterpart(pair: Pair, both: Both, ways: list[Both], unplaced: int) -> Counterpart:
    here, there = _sockets(both, "port", swapped=pair.swapped)
    addresses = [_sockets(way, "address", swapped=pair.swapped) for way in ways]
    is_flow = pair.first >= FLOWS
    return Counterpart(
        number=pair.first - FLOWS if is_flow else pair.first,
        other=pair.second - FLOWS if is_flow else pair.second,
        is_flow=is_flow,
        swapped=pair.swapped,
        translated=here != there or any(own != other for own, other in addresses),
        addresses=(
            tuple(dict.fromkeys(other[0] for _, other in addresses)),
            tuple(dict.fromkeys(other[1] for _, other in addresses)),
        ),
        ports=there,
        unplaced_packets=unplaced,
    )


def _sockets(both: Both, what: str, *, swapped: bool) -> tuple[tuple[Any, Any], tuple[Any, Any]]:
    """Addresses or ports of ends a and b, in both captures."""
    (a, b), (other_a, other_b) = ((row[f"a_{what}"], row[f"b_{what}"]) for row in both)
    return (a, b), ((other_b, other_a) if swapped else (other_a, other_b))
