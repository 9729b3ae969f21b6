"""What rules show: how many frames, and which."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..dissectors.ledger import Row

MOST_FRAMES = 10
"""Evidence frames named in one finding; more would not be read."""

OFTEN_SPURIOUS = 0.5
"""From this share on, needless retransmissions are worth a word."""


def evidence(rows: list[Row]) -> tuple[int, ...]:
    """Return the first and last frames of oddities, in order."""
    return tuple(sorted({row[name] for row in rows for name in ("first_frame", "last_frame")}))
